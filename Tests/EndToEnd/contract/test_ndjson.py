# application/x-ndjson: many transactions in one request, answered line by line.

import json

import pytest

TYPE = "application/x-ndjson"


def lines(session, *events, query="", **headers):
    body = b"".join((event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\n" for event in events)
    fields = {"Content-Type": TYPE} | {name.replace("_", "-"): value for name, value in headers.items()}
    return session.server.request("POST", f"{session.path}/events{query}", body, fields)


def answers(answer):
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == TYPE
    assert answer.body.endswith(b"\n")
    return [json.loads(line) for line in answer.body.splitlines()]


def test_each_line_is_a_transaction_and_line_n_answers_line_n(session):
    first, second, third = answers(lines(session, "increment", ["increment", "increment"], {"setCount": 250}))
    assert [answer["version"] for answer in (first, second, third)] == [1, 2, 3]
    assert second["changes"][0] == {"op": "replace", "path": "/p/count", "value": 3}
    assert third["coerced"] == [{"path": "/p/count", "from": 250, "to": 100}]
    assert session.read().headers["etag"] == f'"{third["cursor"]}"'


def test_a_line_that_fails_stops_no_other_and_changes_nothing(session):
    got = answers(
        lines(session, "increment", b"{", {"rename": ""}, b"", ["increment", {"rename": ""}], "nonsense", "increment")
    )
    assert [answer.get("status") for answer in got] == [None, 400, 422, 400, 422, 422, None]
    assert got[2]["detail"] == "title must not be empty" and "errors" not in got[2]
    assert got[4]["errors"] == [{"pointer": "/1", "detail": "title must not be empty"}]
    assert all(answer["title"] and answer["detail"] for answer in got if "status" in answer)
    assert got[6]["version"] == 2 and session.state("/p/count") == 2


def test_a_last_line_without_a_line_feed_and_carriage_returns_are_accepted(session):
    answer = session.server.request("POST", session.path + "/events", b'"increment"\r\n"increment"', {"Content-Type": TYPE})
    assert [line["version"] for line in answers(answer)] == [1, 2]


def test_lines_are_applied_in_their_order_beside_other_clients(session):
    versions = [answer["version"] for answer in answers(lines(session, *[{"setCount": i % 90} for i in range(1, 301)]))]
    assert versions == list(range(1, 301))
    assert session.state("/p/count") == 300 % 90


def test_minimal_lines_have_only_version_and_cursor(session):
    answer = lines(session, "increment", {"rename": ""}, Prefer="return=minimal")
    assert answer.headers["preference-applied"] == "return=minimal"
    first, second = answers(answer)
    assert set(first) == {"version", "cursor", "durable"} and second["status"] == 422


def test_strict_applies_to_each_line(session):
    first, second = answers(lines(session, {"setCount": 250}, {"setCount": 25}, query="?strict=1"))
    assert first["status"] == 422 and second["version"] == 1


def test_each_line_has_a_key_of_its_own(data, serve):
    server = serve(data)
    session = server.session("s")
    first = lines(session, "increment", {"rename": ""}, "increment", Idempotency_Key='"k"')
    server.kill()
    session = serve(data).session("s")
    again = lines(session, "increment", {"rename": ""}, "increment", "increment", Idempotency_Key='"k"')
    # An accepted line is not applied again. A refused line and a new line are tried.
    assert [again.body.splitlines()[i] == first.body.splitlines()[i] for i in range(3)] == [True, True, True]
    assert "idempotency-replayed" not in again.headers
    assert session.state("/p/count") == 3
    other = answers(lines(session, "decrement", Idempotency_Key='"k"'))
    assert other[0]["status"] == 422
    single = session.post("increment", {"Idempotency-Key": '"k"'})
    assert single.status == 200 and "idempotency-replayed" not in single.headers


def test_a_complete_replay_is_marked_in_the_head(session):
    first = lines(session, "increment", "increment", Idempotency_Key='"k"')
    again = lines(session, "increment", "increment", Idempotency_Key='"k"')
    assert again.headers["idempotency-replayed"] == "true" and again.body == first.body
    assert session.state("/p/count") == 2


def test_a_condition_is_refused(session):
    tag = session.post("increment").headers["etag"]
    assert "If-Match" in lines(session, "increment", If_Match=tag).problem["detail"]
    assert session.state("/p/count") == 1


@pytest.mark.parametrize("body", [b"", b"\n"], ids=repr)
def test_a_body_without_lines(session, body):
    answer = session.server.request("POST", session.path + "/events", body, {"Content-Type": TYPE})
    assert answer.status == (400 if body == b"" else 200)


def test_too_many_lines_are_refused_before_anything_happens(session):
    assert lines(session, *["increment"] * 1001).problem["status"] == 413
    assert session.server.get(session.path).status == 404
    assert len(answers(lines(session, *["noop"] * 1000))) == 1000


def test_lines_after_too_large_answers_are_not_applied(todos):
    events = [{"addMany": {"count": count}} for count in (34_000, 67_000, 100_000)] + [{"setFilter": "open"}] * 197
    got = answers(lines(todos, *events))
    done = [answer for answer in got if "status" not in answer]
    undone = got[len(done) :]
    # A few lines wait in the session's queue at once. Those were dispatched before the answers grew too large.
    assert 3 <= len(done) < 200 and {answer["status"] for answer in undone} == {413}
    assert "lineAnswerBytesMax" in undone[0]["detail"]
    assert todos.info()["version"] == 4 and len(todos.state("/p/todos")) == 100_000


def test_a_stream_gets_one_event_per_line(session):
    session.dispatch("noop")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        got = answers(lines(session, "increment", b"{", "increment"))
        assert [stream.expect("change").cursor for _ in range(2)] == [got[0]["cursor"], got[2]["cursor"]]


def test_an_unknown_content_type_is_refused(session):
    answer = session.server.request("POST", session.path + "/events", b'"increment"\n', {"Content-Type": "application/jsonl"})
    assert answer.problem["status"] == 415

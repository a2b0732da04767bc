# Idempotency-Key: a retry gets the first answer again, and an event is in the log exactly once, also after kill -9.

import hashlib
import random
import sqlite3
import threading
import time

import pytest

from harness import all_bytes

KEY = "Idempotency-Key"


def keyed(session, event, key, **headers):
    return session.post(event, {KEY: f'"{key}"'} | headers)


def logged(data, session):
    """The number of log entries of each key."""
    with sqlite3.connect(f"file:{data}/rivulet.db?mode=ro", uri=True) as database:
        rows = database.execute(
            "SELECT cmd, count(*) FROM log JOIN session USING (sid) WHERE id = ? AND cmd IS NOT NULL GROUP BY cmd",
            [session.identifier],
        )
        return dict(rows.fetchall())


def same(first, again):
    """Checks that the retry's answer is the first one, and that it is marked as replayed."""
    assert again.headers.pop("idempotency-replayed") == "true"
    assert "idempotency-replayed" not in first.headers
    for name in ("date",):
        first.headers.pop(name), again.headers.pop(name)
    return first == again


def test_a_retry_gets_the_first_answer_byte_for_byte(session):
    first = keyed(session, {"setCount": 250}, "k")
    assert first.status == 200 and first.json["coerced"]
    session.dispatch("decrement")
    assert same(first, keyed(session, {"setCount": 250}, "k"))
    assert session.state("/p/count") == 99 and session.info()["version"] == 2


def test_quoted_and_bare_keys_are_the_same(session):
    assert session.post("increment", {KEY: '"a-1"'}).status == 200
    assert session.post("increment", {KEY: "a-1"}).headers["idempotency-replayed"] == "true"
    assert session.post("increment", {KEY: '"a-1"; v=1'}).headers["idempotency-replayed"] == "true"
    assert session.state("/p/count") == 1


@pytest.mark.parametrize("key", ["", '""', '"a', "a b", '"a", "b"', '"é"', '"' + "k" * 256 + '"'])
def test_a_malformed_key_is_refused_and_nothing_changes(session, key):
    assert session.post("increment", {KEY: key}).problem["status"] == 400
    assert session.server.get(session.path).status == 404


def test_the_longest_key_is_accepted(session):
    assert keyed(session, "increment", "k" * 255).status == 200


def test_a_key_belongs_to_one_request(session):
    assert keyed(session, "increment", "k").status == 200
    assert keyed(session, "decrement", "k").problem["status"] == 422
    strict = session.server.request("POST", session.path + "/events?strict=1", "increment", {KEY: '"k"'})
    assert strict.problem["status"] == 422
    written = session.server.request("PUT", session.path + "/state/p/count", 5, {KEY: '"k"'})
    assert written.problem["status"] == 422
    assert session.state("/p/count") == 1


def test_a_minimal_answer_is_replayed_as_it_was(session):
    first = keyed(session, "increment", "k", Prefer="return=minimal")
    assert first.status == 204
    assert same(first, keyed(session, "increment", "k"))
    full = keyed(session, "increment", "l")
    assert same(full, keyed(session, "increment", "l", Prefer="return=minimal"))


@pytest.mark.parametrize("event", ["noop", "touch", ["touch", "touch"]], ids=str)
def test_answers_without_a_log_entry_survive_too(data, serve, event):
    server = serve(data)
    session = server.session("s")
    first = keyed(session, event, "k")
    server.kill()
    again = serve(data).session("s")
    assert same(first, keyed(again, event, "k"))
    assert logged(data, again) == {}


def test_a_rejected_dispatch_may_be_tried_again(session):
    assert keyed(session, {"rename": ""}, "k").status == 422
    assert session.post(b"{", {KEY: '"k"', "Content-Type": "application/json"}).status == 400
    answer = keyed(session, {"rename": "x"}, "k")
    assert answer.status == 200 and "idempotency-replayed" not in answer.headers


def test_a_retry_does_not_check_the_condition_again(session):
    tag = session.post("increment").headers["etag"]
    first = keyed(session, "increment", "k", **{"If-Match": tag})
    assert first.status == 200
    assert same(first, keyed(session, "increment", "k", **{"If-Match": tag}))
    assert keyed(session, "increment", "l", **{"If-Match": tag}).status == 412


def test_a_written_value_may_carry_a_key(session):
    def write(value):
        return session.server.request("PUT", session.path + "/state/p/count", value, {KEY: '"k"'})

    first = write(7)
    session.dispatch("increment")
    assert same(first, write(7))
    assert write(8).status == 422
    assert session.state("/p/count") == 8


def test_a_stored_fingerprint_does_not_reveal_the_body_to_guesses(data, serve):
    server = serve(data)
    session = server.session("s")
    body = b'{"rename":"4111 1111"}'
    assert session.post(body, {KEY: '"k"', "Content-Type": "application/json"}).status == 200
    assert server.stop() == 0
    plain = hashlib.sha256(b"events strict=false\0" + body).digest()
    assert plain not in all_bytes(data)
    with sqlite3.connect(f"file:{data}/rivulet.db?mode=ro", uri=True) as database:
        ((kept,),) = database.execute("SELECT print FROM answer").fetchall()
    assert len(kept) == 40 and kept in all_bytes(data)


def test_a_retry_under_another_secret_gets_the_first_answer(data, serve):
    server = serve(data)
    first = keyed(server.session("s"), "increment", "k")
    assert server.stop() == 0
    (data / "secret.key").unlink()
    session = serve(data).session("s")
    assert same(first, keyed(session, "increment", "k"))
    assert session.state("/p/count") == 1
    assert keyed(session, "increment", "l").status == 200
    assert keyed(session, "decrement", "l").problem["status"] == 422


def test_a_resource_without_idempotency_refuses_a_key(shared):
    sessions = "/v1/apps/counter/sessions"
    assert shared.request("POST", sessions, {}, {KEY: '"k"'}).problem["status"] == 400


def test_a_deletion_removes_the_sessions_keys(session):
    keyed(session, "increment", "k")
    assert session.server.request("DELETE", session.path).status == 204
    answer = keyed(session, "increment", "k")
    assert answer.status == 200 and "idempotency-replayed" not in answer.headers


def test_a_retry_streams_nothing(session):
    session.dispatch("noop")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        answer = keyed(session, "increment", "k").json
        assert stream.expect("change").cursor == answer["cursor"]
        keyed(session, "increment", "k")
        stream.quiet_until(session, "increment")


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_answers_survive_a_restart(data, serve, end):
    server = serve(data)
    session = server.session("s")
    first = keyed(session, "increment", "k")
    server.stop() if end == "stop" else server.kill()
    again = serve(data).session("s")
    assert same(first, keyed(again, "increment", "k"))
    assert keyed(again, "decrement", "k").status == 422
    assert again.state("/p/count") == 1
    assert logged(data, again) == {"k": 1}


def test_of_many_simultaneous_equal_requests_one_is_applied(session):
    statuses = []
    begin = threading.Barrier(8)

    def send():
        begin.wait()
        statuses.append(keyed(session, "increment", "k").status)

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {200, 409} and 200 in statuses
    assert session.state("/p/count") == 1


def test_an_event_is_in_the_log_exactly_once_however_often_the_server_is_killed(data, serve):
    """A client retries each event under its key until it is answered, while the server is killed again and again."""
    rounds, events = 6, 0
    dice = random.Random(4)
    answers = {}
    for number in range(rounds):
        server = serve(data)
        session = server.session("s", app="todos")
        # An event may have got no answer before the kill. The client sends it again first, because it cannot know if
        # the event was applied.
        end = threading.Timer(dice.uniform(0.05, 0.4), server.process.kill)
        end.start()
        try:
            while True:
                answer = keyed(session, {"add": {"id": f"t{events}", "title": "x"}}, f"k{events}")
                assert answer.status == 200, answer
                answers[f"k{events}"] = answer.body
                events += 1
        except (OSError, EOFError):
            pass
        end.join()
        server.wait()
    server = serve(data)
    session = server.session("s", app="todos")
    assert keyed(session, {"add": {"id": f"t{events}", "title": "x"}}, f"k{events}").status == 200
    count = events + 1
    assert logged(data, session) == {f"k{i}": 1 for i in range(count)}
    assert [todo["id"] for todo in session.state("/p/todos")] == [f"t{i}" for i in range(count)]
    for key in dice.sample(sorted(answers), min(20, len(answers))):
        event = {"add": {"id": f"t{key[1:]}", "title": "x"}}
        assert keyed(session, event, key).body == answers[key]

# Compressed answers for clients that accept them, and their tags and cursors.

import gzip
import json
import time

import pytest

from harness import Connection, Stream
from notes import note

GZIP = {"Accept-Encoding": "gzip"}
#: The fewest bytes of an answer that is compressed.
LARGE = 1_024


@pytest.fixture
def large(session):
    """A session with a large enough state."""
    session.dispatch({"rename": "A title, and again a title. " * 100})
    return session


def decoded(answer):
    """The decompressed body."""
    assert answer.headers["content-encoding"] == "gzip", answer.headers
    assert "accept-encoding" in answer.headers["vary"].lower()
    body = gzip.decompress(answer.body)
    assert len(answer.body) < len(body)
    return body


def test_a_large_state_is_compressed_and_has_a_tag_of_its_own(large):
    plain, zipped = large.read(), large.read(Accept_Encoding="br, gzip")
    assert "content-encoding" not in plain.headers and plain.headers["vary"] == "Accept-Encoding"
    assert decoded(zipped) == plain.body
    assert plain.headers["etag"] != zipped.headers["etag"]
    assert zipped.headers["rivulet-version"] == plain.headers["rivulet-version"]


@pytest.mark.parametrize(
    "field, is_zipped",
    [("gzip", True), ("gzip;q=0.1", True), ("*", True), ("identity;q=0, gzip", True), ("gzip;q=0", False), ("br", False),
     ("*;q=0", False), ("gzip;q=0, *", False), ("gzip;q=0.2, identity;q=0.9", False), ("", False)],
)
def test_weights_decide(large, field, is_zipped):
    assert ("content-encoding" in large.read(Accept_Encoding=field).headers) == is_zipped


def test_a_small_answer_is_compressed_only_if_the_client_accepts_nothing_else(session):
    session.dispatch({"rename": "A small title" * 8})
    assert "content-encoding" not in session.read(Accept_Encoding="gzip").headers
    assert json.loads(decoded(session.read(Accept_Encoding="gzip, identity;q=0"))) == session.state()


def test_head_says_what_get_says(large):
    for headers in ({}, GZIP):
        get, head = (large.server.request(method, large.path + "/state", headers=headers) for method in ("GET", "HEAD"))
        for name in ("content-length", "content-type", "content-encoding", "etag", "vary", "rivulet-version", "cache-control"):
            assert head.headers.get(name) == get.headers.get(name), name


def test_the_tag_of_an_answer_is_valid_in_every_condition(large):
    tags = {large.read().headers["etag"], large.read(Accept_Encoding="gzip").headers["etag"]}
    assert len(tags) == 2
    for tag in tags:
        for accepted in ("gzip", "identity"):
            answer = large.read(If_None_Match=tag, Accept_Encoding=accepted)
            assert (answer.status, answer.body) == (304, b"")
    zipped = large.read(Accept_Encoding="gzip").headers["etag"]
    assert large.read(If_None_Match=zipped, Accept_Encoding="gzip").headers["etag"] == zipped
    assert large.read(If_None_Match=f'W/{zipped}', Accept_Encoding="gzip").status == 304
    assert large.post("increment", headers={"If-Match": zipped}).status == 200
    # The session has changed since.
    assert large.post("increment", headers={"If-Match": zipped}).status == 412
    assert large.read(If_None_Match=zipped, Accept_Encoding="gzip").status == 200
    written = large.server.request(
        "PUT", large.path + "/state/p/count", 7, {"If-Match": large.read(Accept_Encoding="gzip").headers["etag"]}
    )
    assert written.status == 200


def test_a_stream_resumes_at_the_tag_of_a_compressed_state(large):
    cursor = large.read(Accept_Encoding="gzip").headers["etag"].strip('"')
    large.dispatch({"setCount": 77})
    for place in ({"cursor": cursor}, {"last_event_id": cursor}):
        with Stream(large, ["/p/count"], **({"cursor": None, "last_event_id": None} | place)) as stream:
            assert stream.expect("change").changed == {"/p/count": 77}


def test_a_large_dispatch_answer_is_compressed_with_the_plain_cursor(session):
    answer = session.post({"rename": "x" * 5_000}, headers=GZIP)
    body = json.loads(decoded(answer))
    assert body["changes"][0]["value"] == "x" * 5_000
    assert answer.headers["etag"] == f'"{body["cursor"]}"'


def test_a_compressed_refusal_has_the_tag_of_the_current_state(large):
    answer = large.post("increment", headers=GZIP | {"If-Match": '"zzzzzzzz.1"'})
    assert answer.status == 412
    problem = json.loads(decoded(answer))
    assert answer.headers["etag"] == f'"{problem["cursor"]}"'


def test_the_log_earlier_versions_and_lines_are_compressed(large):
    plain = large.server.get(large.path + "/events", Accept="application/x-ndjson")
    zipped = large.server.get(large.path + "/events", Accept="application/x-ndjson", Accept_Encoding="gzip")
    assert decoded(zipped) == plain.body
    assert {name.strip() for name in zipped.headers["vary"].split(",")} == {"Accept", "Accept-Encoding"}
    version = large.info()["version"]
    past = large.server.get(f"{large.path}/state?version={version}", Accept_Encoding="gzip")
    assert json.loads(decoded(past))["p"]["title"] == large.state()["p"]["title"]
    again = large.server.get(f"{large.path}/state?version={version}", Accept_Encoding="gzip", If_None_Match=past.headers["etag"])
    assert (again.status, again.headers["etag"]) == (304, past.headers["etag"])
    lines = b"".join(b'"increment"\n' for _ in range(30))
    answer = large.server.request("POST", large.path + "/events", lines, GZIP | {"Content-Type": "application/x-ndjson"})
    assert len(decoded(answer).splitlines()) == 30


@pytest.mark.parametrize("target", ["/openapi.json", "/v1/apps/counter", "/v1/apps/counter/types.d.ts", "/metrics"])
def test_documents_of_the_server_are_compressed(shared, target):
    zipped = shared.get(target, Accept_Encoding="gzip")
    if target != "/metrics":
        assert decoded(zipped) == shared.get(target).body
        assert shared.get(target, Accept_Encoding="gzip", If_None_Match=zipped.headers["etag"]).status == 304
    else:
        assert b"rivulet_requests_total" in decoded(zipped)


def test_an_items_tag_is_valid_in_either_form(store):
    assert store.put(note("long", "word " * 1_000), "/long").status == 201
    zipped = store.get("/long", Accept_Encoding="gzip")
    assert json.loads(decoded(zipped))["id"] == "long"
    tag = zipped.headers["etag"]
    assert store.get("/long", If_None_Match=tag, Accept_Encoding="gzip").status == 304
    changed = note("long", "other " * 1_000)
    assert store.put(changed, "/long", If_Match=tag).status == 200
    assert store.put(changed, "/long", If_Match=tag).status == 412


def test_a_list_of_items_is_compressed_and_a_stream_resumes_at_its_tag(store):
    store.post([note(f"n{number}", "text " * 20) for number in range(20)])
    zipped = store.get(Accept_Encoding="gzip")
    assert len(json.loads(decoded(zipped))["items"]) == 20
    cursor = zipped.headers["etag"].strip('"')
    store.put(note("late"), "/late")
    with store.events(cursor=cursor) as stream:
        event = stream.next()
        assert event.name == "insert" and [item["id"] for item in event.data["items"]] == ["late"]


def test_a_large_answer_does_not_delay_other_answers(serve, data):
    server = serve(data, arguments=["--workers", "1"])
    session = server.session("large")
    for number in range(4):
        session.dispatch({"rename": "".join(f"{number} {i} " for i in range(110_000))[:900_000]})
    target = session.path + "/events"
    with Connection(server) as slow, Connection(server) as quick:
        quick.request("GET", "/healthz")
        slow.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        answered = 0
        # Health is answered between the parts, and at least once before the large answer begins.
        slow.socket.setblocking(False)
        while True:
            assert quick.request("GET", "/healthz").status == 200
            try:
                slow.buffer += slow.socket.recv(65536)
                break
            except BlockingIOError:
                answered += 1
        slow.socket.settimeout(20)
        answer = slow.answer()
    assert answered > 3
    assert len(decoded(answer)) > 800_000
    assert decoded(answer) == server.get(target).body


def test_more_large_answers_than_are_compressed_at_once_all_arrive(serve, data):
    server = serve(data, arguments=["--workers", "1"])
    session = server.session("large")
    session.dispatch({"rename": "".join(f"{i} " for i in range(150_000))[:900_000]})
    plain = session.read().body
    connections = [Connection(server) for _ in range(40)]
    for connection in connections:
        connection.send(f"GET {session.path}/state HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    answers = [connection.answer() for connection in connections]
    zipped = [answer for answer in answers if "content-encoding" in answer.headers]
    assert all(decoded(answer) == plain for answer in zipped)
    assert all(answer.body == plain for answer in answers if "content-encoding" not in answer.headers)
    # The server compresses 16 answers at once. A later answer can get the slot of a finished one.
    assert len(zipped) >= 16
    for connection in connections:
        connection.close()


def test_a_client_that_leaves_while_its_answer_is_compressed_frees_its_slot(serve, data):
    server = serve(data, arguments=["--workers", "1"])
    session = server.session("large")
    session.dispatch({"rename": "".join(f"{i} " for i in range(150_000))[:900_000]})
    for _ in range(40):
        with Connection(server) as connection:
            connection.send(f"GET {session.path}/state HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    # If the server had not freed the slots, none would be left.
    deadline = time.monotonic() + 20
    while "content-encoding" not in session.read(Accept_Encoding="gzip").headers:
        assert time.monotonic() < deadline
    assert server.stop() == 0, server.log_text()


def test_pipelined_requests_are_answered_in_order(large):
    with Connection(large.server) as connection:
        request = f"GET {large.path}/state HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.send(((request + health) * 5).encode())
        for _ in range(5):
            assert json.loads(decoded(connection.answer()))["p"]["title"]
            assert connection.answer().json == {"status": "ok"}

# Attempts to read or change more than a credential grants: spellings, two credentials, retries, shared answers.

import concurrent.futures
import json
import signal
import time
import zlib

import pytest

from harness import PATIENCE, Connection, Server, message
from permission_programs import unlimited
from tokens import Issuer

CANARY = b"canary-51c0"
OWNER = {"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"], "views": ["*"], "paths": [""]}
S = "/v1/apps/todos/sessions/s"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    return tmp_path_factory.mktemp("policy") / "policy.json"


@pytest.fixture(scope="module")
def server(issuer, policy):
    member = {"actions": ["list", "read", "history"], "app": "todos", "sessions": ["${claim.team}"], "paths": ["/p/todos/${claim.team}"]}
    policy.write_text(json.dumps({"roles": {"owner": [OWNER], "operator": [{"actions": ["operate"]}], "member": [member]}}))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, *unlimited()]) as server:
        owner = issuer.bearer("owner", "owner")
        for session in ("s", "hidden"):
            event = {"add": {"id": "a", "title": CANARY.decode()}}
            assert server.request("POST", f"/v1/apps/todos/sessions/{session}/events", event, owner).status == 200
        assert server.request("PUT", "/v1/apps/notes/values/theme", CANARY.decode(), owner).status == 200
        yield server
        assert CANARY not in server.log_text().encode()


def granted(issuer, *actions, subject="u", **members):
    grant = {"type": "rivulet", "actions": list(actions), "app": "todos", "sessions": ["s"]} | members
    return issuer.bearer(subject, authorization_details=[grant])


HIDDEN = ["/v1/apps/todos/sessions/hidden/state", "/v1/apps/todos/sessions/hidden/events", "/v1/apps/todos/sessions/hidden", "/v1/apps/notes/values/theme", "/metrics", "/v1/streams"]
SPELLINGS = {
    "as it is": lambda path: path,
    "a slash before it": lambda path: "/" + path,
    "a slash behind it": lambda path: path + "/",
    "each slash twice": lambda path: path.replace("/", "//"),
    "a dot": lambda path: "/." + path,
    "two dots": lambda path: "/v1/.." + path,
    "two dots from a granted session": lambda path: S + "/.." + path.removeprefix("/v1/apps/todos/sessions"),
    "encoded dots": lambda path: S + "/%2e%2e" + path.removeprefix("/v1/apps/todos/sessions"),
    "an encoded slash": lambda path: S + "%2F..%2F" + path.rpartition("sessions/")[2],
    "encoded letters": lambda path: "".join(letter if letter == "/" else f"%{ord(letter):02x}" for letter in path),
    "encoded twice": lambda path: path.replace("s", "%2573"),
    "upper case": lambda path: path.upper(),
    "a parameter": lambda path: path + ";x=1",
    "an empty query": lambda path: path + "?",
    "a granted session in the query": lambda path: path + "?session=s",
    "a zero": lambda path: path + "%00",
    "a newline": lambda path: path + "%0a",
    "an absolute target": lambda path: "http://localhost" + path,
    "a user in an absolute target": lambda path: "http://s@localhost" + path,
    "a fragment": lambda path: path + "%23/s",
    "a back slash": lambda path: path.replace("/", "%5c"),
    "a wide slash": lambda path: path.replace("/hidden", "%EF%BC%8Fhidden"),
}  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_of_a_path_reaches_a_hidden_resource(server, issuer, spelling):
    narrow = granted(issuer, "read", "history", "dispatch", "list")
    for path in HIDDEN:
        target = SPELLINGS[spelling](path)
        for method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            for fields in (narrow, {}):
                answer = server.request(method, target, {"x": 1} if method in ("POST", "PUT", "PATCH") else None, fields)
                assert CANARY not in answer.body and b"rivulet_" not in answer.body, answer
                assert answer.status >= 400 or (method == "OPTIONS" and answer.status == 204), (method, target, answer)
    assert server.request("GET", HIDDEN[0], None, issuer.bearer("owner", "owner")).json["p"]["todos"][0]["title"].encode() == CANARY


def test_headers_that_rename_a_request_have_no_effect(server, issuer):
    narrow = granted(issuer, "read")
    for name, value in {"X-HTTP-Method-Override": "DELETE", "X-Original-URL": HIDDEN[0], "X-Rewrite-URL": HIDDEN[0], "X-Forwarded-User": "owner", "X-User": "owner",
                        "Forwarded": "for=127.0.0.1", "X-Forwarded-For": "127.0.0.1", "Rivulet-Masked": "?0", "Last-Event-ID": "x"}.items():  # fmt: skip
        assert server.request("GET", S + "/state", None, narrow | {name: value}).status == 200
        assert server.request("GET", HIDDEN[0], None, narrow | {name: value}).status == 403, name
        assert server.request("GET", "/", None, {name: value}).status == 200, name


def test_a_header_comes_before_a_cookie_and_two_credentials_are_none(server, issuer):
    owner, narrow = issuer.token("owner", "owner"), issuer.token("u")
    bearer = lambda token: {"Authorization": f"Bearer {token}"}  # noqa: E731
    for cookie in ("rivulet-token", "__Host-rivulet"):
        assert server.request("GET", HIDDEN[0], None, bearer(narrow) | {"Cookie": f"{cookie}={owner}"}).status == 403
        assert server.request("GET", HIDDEN[0], None, {"Cookie": f"{cookie}={narrow}; {cookie}={owner}"}).status == 401
    assert server.request("GET", HIDDEN[0], None, {"Cookie": f"__Host-rivulet={narrow}; rivulet-token={owner}"}).status == 403
    for value in (f"{narrow}, Bearer {owner}", f"{narrow},{owner}", f"{narrow} {owner}", f" {owner} x"):
        assert server.request("GET", HIDDEN[0], None, bearer(value)).status == 401, value
    with Connection(server) as connection:
        connection.send(f"GET {HIDDEN[0]} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {narrow}\r\nAuthorization: Bearer {owner}\r\n\r\n".encode())
        assert connection.answer().status == 400


def test_the_requests_of_one_connection_have_their_own_callers(server, issuer):
    owner, narrow = issuer.bearer("owner", "owner"), granted(issuer, "read", paths=["/p/filter"])
    with Connection(server) as connection:
        connection.send(b"".join(message("GET", S + "/state", headers=fields) for _ in range(20) for fields in (owner, narrow, {})))
        answers = [connection.answer() for _ in range(60)]
    assert [answer.status for answer in answers] == [200, 200, 401] * 20
    assert [CANARY in answer.body for answer in answers] == [True, False, False] * 20


def test_a_kept_answer_is_not_for_a_narrower_credential_of_the_same_caller(server, issuer):
    wide, narrow = granted(issuer, "read", "dispatch"), granted(issuer, "read", "dispatch", paths=["/p/filter"])
    event, key = {"rename": {"id": "a", "title": CANARY.decode() + "-2"}}, {"Idempotency-Key": '"kept"'}
    first = server.request("POST", S + "/events", event, wide | key)
    assert CANARY in first.body and server.request("POST", S + "/events", event, wide | key).body == first.body
    for fields, status in ((narrow, 422), (granted(issuer, "dispatch"), 422), (granted(issuer, "read", paths=["/p"]), 403)):
        answer = server.request("POST", S + "/events", event, fields | key)
        assert answer.status == status and CANARY not in answer.body, answer


def test_a_creation_describes_no_session_that_the_caller_may_not_read(server, issuer):
    for actions, status in ((["create"], 204), (["create", "read"], 200)):
        answer = server.request("PUT", S, None, granted(issuer, *actions))
        assert answer.status == status and (status == 200 or not answer.body), answer
    assert server.request("PUT", "/v1/apps/todos/sessions/new", None, granted(issuer, "create", sessions=["new"])).status == 201


def test_a_masked_log_has_no_positions_among_hidden_elements(server, issuer):
    owner, target = issuer.bearer("owner", "owner"), "/v1/apps/todos/sessions/places"
    for event in ({"add": {"id": "x", "title": "1"}}, {"add": {"id": "a", "title": "2"}}, {"add": {"id": "y", "title": "3"}}, {"move": {"id": "a", "to": 0}}):
        assert server.request("POST", target + "/events", event, owner).status == 200
    one = server.request("GET", target + "/events", None, granted(issuer, "history", sessions=["*"], paths=["/p/todos/a/title"])).json
    assert [entry.get("changes") for entry in one] == [None, [{"op": "add", "path": "/p/todos/a", "value": {"id": "a", "title": "2"}}], None, None]
    every = server.request("GET", target + "/events", None, granted(issuer, "history", sessions=["*"], paths=["/p/todos/*/title"])).json
    assert every[3]["changes"] == [{"op": "move", "path": "/p/todos/a", "index": 0}] and every[2]["changes"][0]["index"] == 2


def test_shared_and_compressed_answers_are_kept_apart_by_their_masks(server, issuer):
    """Large states are written once for a crowd, and their compressed form is kept. Streams share snapshots for a second."""
    owner, target = issuer.bearer("owner", "owner"), "/v1/apps/todos/sessions/large"
    assert server.request("POST", target + "/events", [{"addMany": {"count": 6_000}}, {"setFilter": "done"}], owner).status == 200
    callers = [(owner, b'"done":false', True), (granted(issuer, "read", sessions=["*"], paths=["/p/todos/*/title"]), b'"done":false', False),
               (granted(issuer, "read", sessions=["*"], paths=["/p/filter"]), b"Todo", False), (granted(issuer, "read", subject="v", sessions=["*"]), b'"done":false', True)]  # fmt: skip

    def read(number):
        fields, mark, is_shown = callers[number % len(callers)]
        coding = {"Accept-Encoding": "gzip"} if number % 3 else {}
        if number % 5 == 0:
            connection = Connection(server)
            connection.send(message("GET", target + "/changes", headers=fields | coding))
            connection.stream_head()
            inflater, text = zlib.decompressobj(31), b""
            while b"event: snapshot" not in text or not text.endswith(b"\n\n"):
                connection._more()
                text += inflater.decompress(connection.buffer) if coding else connection.buffer
                connection.buffer = b""
            connection.close()
            return "stream", 200, mark in text, is_shown
        answer = server.request("GET", target + "/state", None, fields | coding)
        text = zlib.decompress(answer.body, 31) if "content-encoding" in answer.headers else answer.body
        return number, answer.status, mark in text, is_shown

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        wrong = [one for one in pool.map(read, range(24)) if one[1] != 200 or one[2] != one[3]]
    assert not wrong


def snapshot(server, target, fields):
    """The first event of a stream."""
    connection = Connection(server)
    connection.send(message("GET", target, headers=fields))
    assert connection.stream_head()[0] == 200
    connection.until(b"event: ")
    return connection, connection.until(b"\n\n")


def test_a_stream_of_many_elements_has_the_granted_parts_only(server, issuer):
    """More paths than a stream lists one by one become the value that contains them, which has other parts too."""
    owner, target = issuer.bearer("owner", "owner"), "/v1/apps/todos/sessions/many"
    assert server.request("POST", target + "/events", {"addMany": {"count": 5_000}}, owner).status == 200
    narrow = granted(issuer, "read", "dispatch", "restore", sessions=["*"], paths=["/p/todos/*/title", "/p/todos/n3/done"])
    titles = json.dumps([{"id": f"n{number}", "title": f"Todo {number}"} for number in range(5_000)], separators=(",", ":"))
    begin = titles.replace('"Todo 3"}', '"Todo 3","done":false}').encode()
    changes = b'{"op":"replace","path":"/p/todos","value":' + titles.encode() + b'},{"op":"add","path":"/p/todos/n3/done","value":false}'
    connection, first = snapshot(server, target + "/changes", narrow)
    with connection:
        assert b'"/p/todos":' + begin in first and first.count(b'"done"') == 1, first[:300]
        answer = server.request("POST", target + "/restore?version=0", None, narrow)
        change = connection.until(b"event: change") + connection.until(b"\n\n")
        for text in (answer.body, change):
            assert b'"path":"/p/todos","value":[]' in text and b'"done"' not in text, text[:300]
        answer = server.request("POST", target + "/restore?version=1", None, narrow)
        change = connection.until(b"event: change") + connection.until(b"\n\n")
        assert changes in answer.body and changes in change and b'"done"' not in answer.body + change
    # A path that is granted as it is asked for is not narrowed.
    connection, first = snapshot(server, target + "/changes?path=/p/todos/*/title", granted(issuer, "read", sessions=["*"], paths=["/p/todos/*/title"]))
    connection.close()
    assert b'"done"' not in first and b"Todo 4999" in first
    # A stream of the whole collection beside the pattern has the whole values once.
    connection, first = snapshot(server, target + "/changes?path=/p/todos&path=/p/todos/*/title", owner)
    connection.close()
    assert first.count(b'"done"') == 5_000 and first.count(b'"/p/todos"') == 1


def test_the_tag_of_another_mask_is_no_304(server, issuer):
    masks = [[""], ["/p"], ["/p/filter"], ["/p/todos/*/title"], ["/p/todos/a"]]
    callers = [granted(issuer, "read", "history", paths=paths) for paths in masks]
    for query in ("", "?version=1"):
        tags = [server.request("GET", S + "/state" + query, None, fields).headers["etag"] for fields in callers]
        assert len(set(tags)) == len(masks)
        for index, fields in enumerate(callers):
            found = [server.request("GET", S + "/state" + query, None, fields | {"If-None-Match": tag}).status for tag in tags]
            assert found == [304 if other == index else 200 for other in range(len(tags))]


def test_a_stream_gets_nothing_after_its_token_has_expired(server, issuer):
    now = int(time.time())
    caller = issuer.bearer("short", exp=now + 2, iat=now, authorization_details=[{"type": "rivulet", "actions": ["read"], "app": "todos", "sessions": ["s"]}])
    connection = Connection(server)
    connection.send(message("GET", S + "/changes", headers=caller))
    with connection:
        assert connection.stream_head()[0] == 200
        end = connection.until(b"event: bye") + connection.until(b"\n\n")
        assert b"token-expired" in end and abs(time.time() - now - 2) < 1.5
        assert server.request("POST", S + "/events", {"rename": {"id": "a", "title": CANARY.decode() + "-late"}}, issuer.bearer("owner", "owner")).status == 200
        assert connection.ended() and CANARY not in connection.buffer


@pytest.mark.parametrize("team", ["\0", "\0\0", "s\0", "\0s", "\n", "\x01", "\x7f", "\x85"])
def test_a_control_character_is_in_no_pattern(server, issuer, team):
    member = issuer.bearer("u", "member", team=team)
    assert [server.request("GET", target, None, member).status for target in ("/v1/apps/todos/sessions", S + "/state", S + "/events")] == [403] * 3
    # A token with such a grant of its own is not valid.
    grants = (granted(issuer, "list", sessions=[team + "*"]), granted(issuer, "read", paths=["/p/" + team]))
    assert [server.request("GET", "/v1/apps/todos/sessions", None, fields).status for fields in grants] == [401] * 2
    assert [entry["id"] for entry in server.request("GET", "/v1/apps/todos/sessions", None, granted(issuer, "list")).json["sessions"]] == ["s"]
    # The server has not stopped, and other values of the claim have their pattern.
    assert server.request("GET", "/v1/apps/todos/sessions", None, issuer.bearer("u", "member", team="é")).json == {"sessions": []}


def test_a_role_that_is_taken_away_ends_its_streams_and_requests(server, issuer, policy):
    before = json.loads(policy.read_text())
    before["roles"]["guest"] = [{"actions": ["read"], "app": "todos", "sessions": ["s"]}]
    guest = issuer.bearer("guest", "guest")

    def reload(document, status):
        policy.write_text(json.dumps(document))
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while server.request("GET", S + "/state", None, guest).status != status:
            assert time.monotonic() < end, "the new policy has no effect"
            time.sleep(0.05)

    reload(before, 200)
    connection = Connection(server)
    connection.send(message("GET", S + "/changes", headers=guest))
    with connection, Connection(server) as kept:
        assert connection.stream_head()[0] == 200 and kept.request("GET", S + "/state", None, guest).status == 200
        del before["roles"]["guest"]
        reload(before, 403)
        # The connection keeps the header and its caller, and both loops take the new policy.
        assert kept.request("GET", S + "/state", None, guest).status == 403
        connection.until(b"event: bye")
        connection.until(b"\n\n")
        assert connection.ended() and b"event:" not in connection.buffer

# The server against public test suites of JSON, HTTP/1 and structured fields. Tests/Corpora has them and names their
# origin.

import json
import socket

import jsonpatch
import pytest

import llhttp_cases
from harness import ROOT, Connection, note_problem

CORPORA = ROOT / "Tests" / "Corpora"
EVENTS = "/v1/apps/counter/sessions/{}/events"
#: Problems of a request with an accepted head and framing.
READ = ("malformed-body", "unexpected-body", "invalid-body")
#: The cases of llhttp that Rivulet answers differently, with the reason.
DIFFERENCES = {
    "connection: CRLF between requests, implicit `keep-alive`": "one empty line before a request is passed over, two are not",
    "connection: CRLF between requests, explicit `close`": "data behind the last request of a connection is ignored",
    "connection: CRLF between requests, explicit `close` followed by tab": "the same",
    "connection: CRLF between requests, explicit `close` (lenient)": "the same",
    "connection: No restart when keep-alive is off (1.0)": "the same",
    "connection: Resetting flags when keep-alive is off (1.0, lenient)": "the same",
    "invalid: HTTP protocol and ANNOUNCE method": "an unknown method is 405",
    "invalid: Invalid method": "an unknown method is 405",
    "method: CONNECT request": "CONNECT is not offered",
    "method: CONNECT request with CAPS": "CONNECT is not offered",
    "method: CONNECT with body": "CONNECT is not offered",
    "uri: Underscore in hostname": "CONNECT is not offered",
    "method: M-SEARCH request": "the target * is for OPTIONS alone",
    "method: OPTIONS request with RTSP": "RTSP is not spoken",
    "method: ANNOUNCE request with RTSP": "RTSP is not spoken",
    "method: SOURCE request with ICE": "ICE is not spoken",
    "method: PRI request HTTP2": "HTTP/2 is not spoken",
    "sample: No HTTP version": "HTTP/0.9 is not spoken",
    "transfer-encoding: POST with `chunked` as last transfer-encoding": "no coding but chunked is known",
    "transfer-encoding: POST with `chunked` as last transfer-encoding (multiple headers)": "no coding but chunked is known",
    "uri: Fragment in URI": "a target has no fragment",
    "uri: `host:port` and basic auth": "a target has no user",
}


@pytest.fixture
def exchange(shared):
    """Sends a request over a connection that stays open as long as the server keeps it."""
    connections = []

    def send(method, target, body, headers):
        connections or connections.append(Connection(shared))
        answer = connections[0].request(method, target, body, headers)
        if answer.headers.get("connection") == "close":
            connections.pop().close()
        return answer

    yield send
    for connection in connections:
        connection.close()


def json_cases(kind):
    return sorted(path for path in (CORPORA / "JSONTestSuite" / "test_parsing").glob(f"{kind}_*.json"))


@pytest.mark.parametrize("method, target", [("POST", EVENTS.format("corpus")), ("PUT", "/v1/apps/notes/values/recent"), ("POST", "/v1/apps/notes/stores/notes")])
def test_json_is_accepted_or_refused_as_the_test_suite_requires(exchange, method, target):
    statuses = {"y": (200, 201, 204, 422), "n": (400,), "i": (200, 201, 204, 400, 422)}
    counts = {}
    for kind, allowed in statuses.items():
        for path in json_cases(kind):
            answer = exchange(method, target, path.read_bytes(), {"Content-Type": "application/json"})
            # Two members of one name are refused. RFC 8259 section 4 permits that.
            is_allowed = answer.status in allowed or answer.status == 400 and "duplicated_key" in path.name
            assert is_allowed, f"{path.name}: {answer}"
            counts[kind] = counts.get(kind, 0) + 1
    assert counts == {"y": 95, "n": 188, "i": 35}


def answers(server, data, is_cut):
    """The status and type of problem of each answer, until the server closes. The client ends its side after the data."""
    with Connection(server) as connection:
        try:
            for part in [data[at : at + 1] for at in range(len(data))] if is_cut else [data]:
                connection.send(part)
            connection.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # The server refused a part of the data, and closed.
        assert connection.ended()
        found = []
        while connection.buffer:
            status, headers = connection.head()
            body = b"" if data.startswith(b"HEAD") else connection._exactly(int(headers.get("content-length", 0)))
            problem = json.loads(body) if status >= 400 and body else {"type": ""}
            if problem["type"]:
                note_problem(problem)
            found.append((status, problem["type"].removeprefix("/problems/")))
        return found


def agrees(case, found):
    """True if Rivulet accepts or refuses a case as strict llhttp does. Rivulet may refuse a lenient case."""
    is_refused = any(status in (400, 413, 414, 431, 501, 505) and problem not in READ for status, problem in found)
    if case.is_refused or is_refused:
        return is_refused and (case.is_refused or "lenient" in case.kind)
    return len(found) == case.messages and "lenient" not in case.kind


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "byte by byte"])
def test_requests_are_accepted_or_refused_like_llhttp_does(shared, is_cut):
    cases = list(llhttp_cases.cases())
    assert len(cases) > 140
    found = {case.name: answers(shared, case.data, is_cut) for case in cases}
    others = {case.name: found[case.name] for case in cases if not agrees(case, found[case.name])}
    assert {name: text for name, text in others.items() if name not in DIFFERENCES} == {}
    assert sorted(DIFFERENCES) == sorted(others), "a difference is gone"


#: The cases in which Rivulet differs from the suite, with the reason: two refused strings, and one bare token that is
#: accepted.
LENGTH = "1 to 255 characters"
KEYS = {"empty string": LENGTH, "long string": LENGTH, "single quoted string": "a bare key of token characters"}


@pytest.mark.parametrize("name", ["string", "string-generated"])
def test_a_key_is_a_structured_string(exchange, name):
    cases = json.loads((CORPORA / "structured-field-tests" / f"{name}.json").read_text())
    others = set()
    for number, case in enumerate(cases):
        # A case with several lines is one field.
        if len(case["raw"]) > 1:
            continue
        target = EVENTS.format(f"{name}-{number}")
        answer = exchange("POST", target, "increment", {"Idempotency-Key": case["raw"][0]})
        assert answer.status in (200, 400), answer
        if (answer.status == 400) != case.get("must_fail", False):
            others.add(case["name"])
        elif answer.status == 200:
            # The canonical form is the same key.
            again = exchange("POST", target, "increment", {"Idempotency-Key": case.get("canonical", case["raw"])[0]})
            assert again.status == 200 and "idempotency-replayed" in again.headers, (case, again)
    assert others == ({*KEYS} if name == "string" else set())


@pytest.mark.parametrize("name", ["tests", "spec_tests"])
def test_the_judge_of_our_patches_applies_patches_right(name):
    """test_json_patch.py and chaos.py judge `format=json-patch` by this library."""
    for case in json.loads((CORPORA / "json-patch-tests" / f"{name}.json").read_text()):
        # Rivulet never sends a patch that replaces a whole list with an object.
        if "patch" not in case or case.get("disabled") or case.get("comment") == "replace array document with object document?":
            continue
        if "error" in case:
            with pytest.raises((jsonpatch.JsonPatchException, jsonpatch.JsonPointerException)):
                jsonpatch.apply_patch(case["doc"], case["patch"])
        else:
            result = jsonpatch.apply_patch(case["doc"], case["patch"])
            assert result == case.get("expected", result), case

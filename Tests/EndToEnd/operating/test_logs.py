# The server's log: its lines about requests, in both formats, and the data that it never has.

import json
import re

import pytest

from damage import damage
from harness import Connection, message, run

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def fields(server, text):
    """The fields of the lines of a JSON log with this message."""
    lines = [json.loads(line) for line in server.log_text().splitlines()]
    assert all(set(line) == {"time", "level", "logger", "message", "fields"} for line in lines), lines
    return [line["fields"] for line in lines if line["message"] == text]


@pytest.fixture
def logged(serve):
    """A server with a log of JSON lines and one loop. When an answer arrives, the log has all lines from before it."""
    return lambda *arguments, data=None: serve(data, arguments=("--log-format", "json", "--workers", "1", *arguments))


def test_a_start_is_one_line_with_address_apps_folder_and_workers(logged, data):
    server = logged(data=data)
    server.get("/healthz")
    (start,) = fields(server, "server started")
    assert start == {"address": server.url, "apps": "counter, notes, todos", "data": str(data), "workers": "1"}


def test_an_unknown_format_is_refused():
    outcome = run("serve", "--memory", "--log-format", "xml")
    assert outcome.returncode == 1 and '"xml" is none of text, json' in outcome.stderr


def test_an_access_line_has_the_route_and_not_the_path(logged):
    server = logged("--log-level", "debug")
    server.session("canary").dispatch("increment")
    server.get("/v1/apps/counter/sessions/me/state/p/count?x=canary", traceparent=PARENT)
    server.get("/canary.html")
    server.get("/v1/canary")
    with Connection(server) as connection:
        connection.send(b"GET /canary\r\n\r\n")
        assert connection.answer().status == 400
    lines = fields(server, "request")
    routes = "/v1/apps/{app}/sessions/{session}/"
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", routes + "events", "200"), ("GET", routes + "state", "400"), ("GET", "/{file}", "404"), ("GET", "none", "404"),
        ("OTHER", "none", "400"),
    ]
    assert lines[1]["trace_id"] == TRACE and all(re.fullmatch("[0-9a-f]{32}", line["trace_id"]) for line in lines)
    assert all(re.fullmatch(r"\d+\.\d{3}", line["milliseconds"]) for line in lines)
    assert "canary" not in server.log_text()


def test_a_stream_has_its_access_line_when_it_opens(logged):
    server = logged("--log-level", "debug")
    session = server.session("s")
    session.dispatch("increment")
    with session.stream() as stream:
        stream.next()
        (line,) = [line for line in fields(server, "request") if line["route"].endswith("/changes")]
    assert (line["method"], line["status"]) == ("GET", "200")


def test_a_refused_dispatch_is_one_line_without_text_of_its_client(logged):
    server = logged()
    server.session("canary").post({"setStep": "canary"}, {"traceparent": PARENT})
    server.session("canary").post({"canary": 1})
    server.session("canary", app="todos").post({"toggle": "canary"})
    server.session("canary", app="canary").post("increment")
    server.request("PUT", "/v1/apps/counter/sessions/canary/state/p/count", b"canary", {"Content-Type": "text/canary"})
    server.session("canary").dispatch("increment")
    counter = {"app": "counter", "kind": "invalid"}
    refused = fields(server, "a dispatch was refused")
    traces = [line.pop("trace_id") for line in refused]
    assert traces[0] == TRACE and len(set(traces)) == 5 and all(re.fullmatch("[0-9a-f]{32}", trace) for trace in traces)
    assert refused == [
        {**counter, "event": "setStep", "status": "422"},
        {**counter, "status": "422"},
        {"app": "todos", "event": "toggle", "kind": "rejected", "status": "422"},
        {"kind": "not_found", "status": "404"},
        {**counter, "status": "415"},
    ]
    assert "canary" not in server.log_text()


def test_refused_dispatches_are_counted_beyond_a_limit_of_lines(logged):
    server = logged()
    with Connection(server) as connection:
        connection.send(message("POST", server.session("s").path + "/events", {"setStep": "x"}) * 60)
        for _ in range(60):
            assert connection.answer("POST").status == 422
    assert server.stop() == 0
    lines = len(fields(server, "a dispatch was refused"))
    left_out = sum(int(line["left_out"]) for line in fields(server, "more dispatches were refused"))
    assert lines < 60 and lines + left_out == 60


def test_traceparent_is_in_answers_and_problems(shared):
    answer = shared.get("/v1/apps", traceparent=PARENT)
    version, trace, span, flags = answer.headers["traceparent"].split("-")
    assert (version, trace, flags) == ("00", TRACE, "01") and re.fullmatch("[0-9a-f]{16}", span) and span not in PARENT
    assert shared.get("/v1/nothing", traceparent=PARENT).problem["trace_id"] == TRACE
    for ignored in (PARENT.upper(), PARENT + "-x", f"00-{'0' * 32}-00f067aa0ba902b7-01", "ff" + PARENT[2:]):
        answer = shared.get("/v1/nothing", traceparent=ignored)
        assert "traceparent" not in answer.headers and "trace_id" not in answer.problem
    me = shared.get("/v1/apps/counter/sessions/me", traceparent=PARENT)
    assert me.headers["traceparent"].startswith(f"00-{TRACE}-") and "set-cookie" in me.headers


def test_a_damaged_session_is_a_trace_id_for_its_client_and_a_cause_in_the_log(logged, data):
    server = logged(data=data)
    server.session("canary").dispatch("increment")
    server.stop()
    damage(data, "canary")
    server = logged(data=data)
    problem = server.session("canary").read().problem
    assert problem["status"] == 500 and str(data) not in problem["detail"] and ".db" not in problem["detail"]
    (failed,) = fields(server, "a request failed")
    assert failed["trace_id"] == problem["trace_id"]
    assert "a stored session is damaged: " in failed["error"] and "`rivulet check` names it" in failed["error"]
    assert "canary" not in server.log_text()


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_has_text_of_a_client_or_of_a_secret(serve, data, monkeypatch, form):
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_SECRET_KEY": "canary-" * 6})
    server = serve(data, arguments=("--log-format", form, "--log-level", "trace"))
    session, todos = server.session("canary-1"), server.session("canary-2", app="todos")
    notes = "/v1/apps/notes"
    requests = [
        ("POST", session.path + "/events", {"rename": "canary"}), ("POST", session.path + "/events", {"canary": 1}),
        ("POST", session.path + "/events?strict=1", {"setCount": 99999999}), ("POST", session.path + "/events", b'{"rename":"canary'),
        ("POST", session.path + "/events", [{"rename": "canary"}, {"setCount": "canary"}]),
        ("PUT", session.path + "/state/p/step", {"canary": "canary"}), ("POST", todos.path + "/events", {"toggle": "canary"}),
        ("POST", todos.path + "/events", {"add": {"id": "canary", "title": "canary"}}),
        ("GET", todos.path + "/state/p/todos/canary", None), ("GET", session.path + "/state?canary=canary", None),
        ("GET", session.path + "?canary", None), ("GET", "/canary", None), ("CANARY", "/canary", None),
        ("POST", notes + "/stores/notes", {"id": "canary", "text": "canary", "canary": 1}), ("GET", notes + "/stores/notes/canary", None),
        ("DELETE", notes + "/stores/notes/canary", None), ("PUT", notes + "/values/theme", "canary"),
        ("PUT", notes + "/secrets/apiToken", "canary"), ("GET", notes + "/secrets/apiToken", None),
        ("PUT", notes + "/secrets/apiToken", {"canary": 1}), ("POST", "/v1/apps/canary/sessions/canary/events", "canary"),
        ("DELETE", session.path, None),
    ]
    headers = {
        "Cookie": "rivulet-session=canary.canary; canary=canary", "Authorization": "Bearer canary", "User-Agent": "canary",
        "Referer": "http://canary/", "If-Match": '"canary"', "traceparent": "canary", "X-Forwarded-For": "canary",
    }
    for method, target, body in requests:
        for extra in ({}, headers, {"Idempotency-Key": '"canary"'}):
            server.request(method, target, body, extra)
    lines = b'"increment"\n{"rename":1,"canary":2}\n{"canary":3}\n'
    server.request("POST", session.path + "/events", lines, {"Content-Type": "application/x-ndjson"})
    with Connection(server) as connection:
        connection.send(b"GET /canary HTTP/1.1\r\nHost: canary canary\r\ncanary canary\r\n\r\n")
        connection.answer()
    assert server.stop() == 0
    log = server.log_text()
    assert "a dispatch was refused" in log and "debug" in log and "canary" not in log.lower(), [
        line for line in log.splitlines() if "canary" in line.lower()
    ]

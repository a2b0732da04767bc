# A ticket opens one stream of its caller, once. Its URL in a log opens nothing, whatever else a reader knows.

import json
import re
import signal
import threading
import time

import pytest

from harness import PATIENCE, Connection, Server, message, threads
from tokens import Issuer

TICKETS = "/v1/tickets"
POLICY = {"authenticated": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}", "team"]},
                            {"actions": ["read"], "app": "notes", "stores": ["notes"], "values": ["theme"]}]}  # fmt: skip
TEAM = "/v1/apps/counter/sessions/team"
STREAM = f"{TEAM}/changes?path=/p/count&path=/p/step"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    file = tmp_path_factory.mktemp("policy") / "policy.json"
    file.write_text(json.dumps(POLICY))
    return file


@pytest.fixture(scope="module")
def server(issuer, policy):
    arguments = ["--jwt-key-file", issuer.file, "--policy", policy, "--workers", "2", "--log-level", "debug"]
    with Server(None, arguments=arguments) as server:
        assert server.request("POST", TEAM + "/events", "increment", issuer.bearer("alice")).status == 200
        yield server
        assert server.stop() == 0, server.log_text()


def ask(server, issuer, stream, subject="alice", **claims):
    return server.request("POST", TICKETS, {"stream": stream}, issuer.bearer(subject, **claims))


def made(server, issuer, stream=STREAM, subject="alice", **claims):
    answer = ask(server, issuer, stream, subject, **claims)
    assert answer.status == 201, answer
    return answer.json["ticket"]


def target_of(stream, ticket):
    return f"{stream}{'&' if '?' in stream else '?'}ticket={ticket}"


class Opened:
    """A stream that was opened with a ticket, or its refusal."""

    def __init__(self, server, ticket, stream=STREAM, **headers):
        self.connection = Connection(server)
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        self.connection.send(message("GET", target_of(stream, ticket), headers={"Accept": "text/event-stream"} | fields))
        self.status, self.headers = self.connection.stream_head()

    def event(self):
        """The next event: its id and its data."""
        while b"data: " not in (block := self.connection.until(b"\n\n")):
            pass
        name = re.search(rb"^id: ?(.*)$", block, re.M)
        return name and name[1].decode(), json.loads(re.search(rb"^data: ?(.*)$", block, re.M)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()


def status(server, ticket, stream=STREAM, **headers):
    with Opened(server, ticket, stream, **headers) as opened:
        return opened.status


def test_a_ticket_opens_its_stream_without_a_header_and_once(server, issuer):
    answer = ask(server, issuer, STREAM)
    assert answer.status == 201 and set(answer.json) == {"ticket", "expires"} and answer.headers["cache-control"] == "no-store"
    ticket = answer.json["ticket"]
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", ticket)
    ends = time.mktime(time.strptime(answer.json["expires"][:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
    assert 25 <= ends - time.time() <= 30
    with Opened(server, ticket) as stream:
        assert stream.status == 200 and stream.event()[1]["values"] == {"/p/count": 1, "/p/step": 1}
        assert status(server, ticket) == 401
    assert status(server, ticket) == 401


def test_the_url_of_a_stream_opens_nothing_for_a_reader_that_knows_its_positions(server, issuer):
    """A stream that is resumed has a position in its URL, and other callers of the session know positions too."""
    known = server.request("POST", TEAM + "/events", "increment", issuer.bearer("bob")).json["cursor"]
    stream = f"{TEAM}/changes?path=/p/count&cursor={known}"
    ticket = made(server, issuer, stream)
    with Opened(server, ticket, stream) as opened:
        assert opened.status == 200
        assert server.request("POST", TEAM + "/events", "increment", issuer.bearer("bob")).status == 200
        second, change = opened.event()
        assert change["changes"][0]["path"] == "/p/count"
        cursors = [known, second, second.rpartition(".")[0], "", "x"]
        # Beside the open stream, and after its end.
        assert [status(server, ticket, stream, Last_Event_ID=cursor) for cursor in cursors] == [401] * len(cursors)
    assert [status(server, ticket, stream, Last_Event_ID=cursor) for cursor in cursors] == [401] * len(cursors)
    # The caller resumes with another ticket.
    with Opened(server, made(server, issuer, stream), stream) as resumed:
        assert resumed.status == 200 and resumed.event()[0] == second


def test_a_ticket_is_for_one_target_in_any_order_of_its_parameters(server, issuer):
    ticket = made(server, issuer)
    for stream in (f"{TEAM}/changes", f"{TEAM}/changes?path=/p/count", STREAM + "&interval=5", STREAM.replace("/p/step", "/p/title"),
                   STREAM.replace("team", "other"), "/v1/apps/notes/values/theme/changes", STREAM + "&path=/p/step"):  # fmt: skip
        assert status(server, ticket, stream) == 401, stream
    # None of these has spent it.
    assert status(server, ticket, f"{TEAM}/changes?path=%2Fp%2Fstep&path=/p/count") == 200


@pytest.mark.parametrize(
    "stream",
    ["/v1/apps/counter/sessions/me/changes", "/v1/apps/counter/sessions/me/changes?path=/p/count&interval=20",
     "/v1/apps/notes/stores/notes/events", "/v1/apps/notes/values/theme/changes"],
)  # fmt: skip
def test_every_kind_of_stream_opens_with_a_ticket(server, issuer, stream):
    with Opened(server, made(server, issuer, stream), stream) as opened:
        assert opened.status == 200 and "set-cookie" not in opened.headers


def test_the_caller_of_the_ticket_decides_and_no_cookie_does(server, issuer):
    ticket = made(server, issuer, "/v1/apps/counter/sessions/me/changes?path=/p/count")
    server.request("POST", "/v1/apps/counter/sessions/me/events", {"setCount": 7}, issuer.bearer("alice"))
    cookie = f"rivulet-token={issuer.token('bob')}"
    with Opened(server, ticket, "/v1/apps/counter/sessions/me/changes?path=/p/count", Cookie=cookie) as stream:
        assert stream.event()[1]["values"] == {"/p/count": 7}
    # Also a cookie that is not valid.
    assert status(server, made(server, issuer), Cookie="rivulet-token=x") == 200


def test_a_stream_of_a_ticket_ends_with_its_token_and_does_not_open_after_it(server, issuer):
    token = {"exp": int(time.time()) + 2}
    ticket, other = made(server, issuer, **token), made(server, issuer, **token)
    with Opened(server, ticket) as stream:
        assert b"token-expired" in stream.connection.until(b'"token-expired"')
    assert status(server, ticket) == 401 and status(server, other) == 401
    assert "or its caller's credential has expired" in server.log_text()


def test_a_renewal_moves_the_end_of_the_stream_and_not_that_of_its_ticket(server, issuer):
    now = int(time.time())
    ticket = made(server, issuer, exp=now + 3)
    with Opened(server, ticket) as stream:
        assert "values" in stream.event()[1]
        name = stream.headers["link"].split("/v1/streams/")[1].split(">")[0]
        renewed = server.request("PATCH", f"/v1/streams/{name}", {"renew": True}, issuer.bearer("alice", exp=now + 6))
        assert (renewed.status, renewed.json["stream"]) == (200, name)
        assert renewed.json["expires"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + 6))
        # Another caller, and a caller without a credential, renew nothing.
        for fields, refused in ((issuer.bearer("bob"), 403), ({}, 401)):
            assert server.request("PATCH", f"/v1/streams/{name}", {"renew": True}, fields).status == refused
        while time.time() < now + 3.2:
            time.sleep(0.05)
        # The end of the first credential has passed, and the stream is open.
        assert server.request("POST", TEAM + "/events", "increment", issuer.bearer("alice")).status == 200
        while "changes" not in stream.event()[1]:
            pass
        assert b"token-expired" in stream.connection.until(b'"token-expired"') and time.time() > now + 5.8
    assert status(server, ticket) == 401


def test_a_caller_that_may_not_open_the_stream_gets_no_ticket(server, issuer):
    refused = ask(server, issuer, "/v1/apps/counter/sessions/other/changes")
    assert refused.problem["type"] == "/problems/not-granted" and refused.problem["needs"]["session"] == "other"
    assert server.request("POST", TICKETS, {"stream": STREAM}).headers["www-authenticate"] == "Bearer"
    assert server.request("POST", TICKETS, {"stream": STREAM}, {"Authorization": "Bearer x"}).status == 401
    # A cookie is a credential for this.
    assert server.request("POST", TICKETS, {"stream": STREAM}, {"Cookie": f"rivulet-token={issuer.token('alice')}"}).status == 201


@pytest.mark.parametrize(
    "stream",
    ["", "x", "/", "/v1/me", f"{TEAM}/events", f"{TEAM}/state", "/v1/apps/counter", "/v1/apps/counter/sessions/a b/changes", TEAM + "/changes#x",
     "http://localhost" + STREAM, STREAM + "&ticket=x", STREAM + "&access_token=x", TEAM + "/changes?path=%zz", "/v1/apps/x!/sessions/a/changes",
     TEAM + "/changes?path=/" + "x" * 9_000, TEAM + "/changes?path=\u0000"],
)  # fmt: skip
def test_a_target_that_is_no_stream_is_422(server, issuer, stream):
    refused = ask(server, issuer, stream)
    assert refused.status == 422 and refused.problem["errors"][0]["pointer"] == "/stream", refused


def test_the_body_and_the_query_are_checked(server, issuer):
    bearer = issuer.bearer("alice")
    assert server.request("POST", TICKETS, b"{", bearer | {"Content-Type": "application/json"}).status == 400
    assert server.request("POST", TICKETS, b"{}", bearer | {"Content-Type": "text/plain"}).status == 415
    assert [server.request("POST", TICKETS, body, bearer).status for body in ({}, {"stream": 1}, {"stream": STREAM, "a": 1}, [])] == [422] * 4
    assert server.request("POST", TICKETS + "?a=b", {"stream": STREAM}, bearer).status == 400
    assert server.request("GET", TICKETS, headers=bearer).headers["allow"] == "POST, OPTIONS"


def test_a_ticket_elsewhere_or_beside_a_header_is_400_and_is_not_spent(server, issuer):
    ticket = made(server, issuer)
    for method, target in (("GET", f"{TEAM}/state"), ("GET", f"{TEAM}/events"), ("POST", f"{TEAM}/events"), ("GET", "/v1/me"), ("GET", "/metrics"),
                           ("GET", "/openapi.json"), ("PUT", "/v1/login"), ("POST", f"{TEAM}/changes"), ("GET", "/v1/nothing")):  # fmt: skip
        refused = server.request(method, target_of(target, ticket))
        assert refused.problem["type"] == "/problems/credential-misplaced", (method, target, refused)
        assert ticket not in refused.body.decode()
    assert server.request("GET", target_of(STREAM, ticket), headers=issuer.bearer("alice")).problem["type"] == "/problems/credential-misplaced"
    assert server.get(target_of(STREAM, ticket) + f"&ticket={ticket}").problem["type"] == "/problems/credential-misplaced"
    # A page may have a parameter of this name.
    assert server.get("/?ticket=42&ticket=43").status == 200
    assert status(server, ticket) == 200


def test_unknown_tickets_are_the_same_401(server, issuer):
    used = made(server, issuer)
    assert status(server, used) == 200
    answers = [server.get(target_of(STREAM, ticket)) for ticket in ("", "x", "A" * 43, used, "%00", "%C3%A4")]
    answers.append(server.get(STREAM, Authorization="Bearer x"))
    # The log is at debug, so each answer has a trace of its own.
    assert len({json.dumps(answer.json | {"trace_id": ""}) for answer in answers}) == 1
    assert {(answer.status, answer.headers["www-authenticate"]) for answer in answers} == {(401, 'Bearer error="invalid_token"')}


def test_of_requests_at_one_moment_one_opens_the_stream(server, issuer):
    for _ in range(4):
        ticket, outcomes, start = made(server, issuer), [], threading.Barrier(8)

        def open_at_once(_, ticket=ticket, outcomes=outcomes, start=start):
            start.wait(PATIENCE)
            outcomes.append(status(server, ticket))

        with threads(8, open_at_once):
            pass
        assert sorted(outcomes) == [200] + [401] * 7


def test_a_ticket_opens_on_every_loop(server, issuer):
    """Two loops take the connections, and each ticket is made and opened on connections of its own."""
    for _ in range(16):
        ticket = made(server, issuer)
        assert [status(server, ticket) for _ in range(2)] == [200, 401]


def test_no_log_line_and_no_answer_has_a_ticket(server, issuer):
    tickets = [made(server, issuer) for _ in range(3)]
    with Opened(server, tickets[0]) as stream:
        assert server.request("GET", "/v1/streams", headers=issuer.bearer("alice")).status == 403
        assert tickets[0] not in json.dumps(stream.headers)
    status(server, tickets[1], f"{TEAM}/changes")
    server.get(target_of("/v1/me", tickets[2]), traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    assert server.get("/").headers["referrer-policy"] == "no-referrer"
    log = server.log_text()
    assert "request" in log and not [ticket for ticket in tickets if ticket in log]


def test_a_caller_has_at_most_64_tickets_and_the_oldest_goes_first(server, issuer):
    first, second = made(server, issuer, subject="many"), made(server, issuer, subject="many")
    for _ in range(63):
        made(server, issuer, subject="many")
    assert [status(server, ticket) for ticket in (first, second)] == [401, 200]


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("limits", "arguments"),
    [({"streams": {"quota": 1}}, []), ({}, ["--streams-per-address", "1"]), ({"requests": {"quota": 1, "window": 2, "burst": 2}}, [])],
    ids=["streams of a caller", "streams of an address", "requests"],
)  # fmt: skip
def test_a_limit_does_not_spend_a_ticket(issuer, policy, tmp_path, limits, arguments):
    file = tmp_path / "limits.json"
    file.write_text(json.dumps({"requests": None, "tickets": None} | limits))
    arguments = ["--jwt-key-file", issuer.file, "--policy", policy, "--rate-limits", file, *arguments]
    with Server(None, arguments=arguments, variables={"RIVULET_RATE_LIMITS": ""}) as server:

        def outcome(ticket):
            with Opened(server, ticket) as opened:
                if opened.status != 200:
                    return opened.status
                text = opened.connection.until(b"}\n\n")
                return re.search(rb'"reason":"(\w+)"|event: (\w+)', text.replace(b"event: bye", b""))[0]

        ticket, other = made(server, issuer), made(server, issuer)
        with Opened(server, other):
            assert outcome(ticket) == b'"reason":"limit"'
        outcomes = []
        eventually(lambda: outcomes.append(outcome(ticket)) or outcomes[-1] != b'"reason":"limit"')
        assert outcomes[-1] == b"event: snapshot" and outcome(ticket) == 401


def test_tickets_end_when_the_keys_and_permissions_are_read_again(issuer, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        fresh, used = made(server, issuer), made(server, issuer)
        with Opened(server, used) as stream:
            policy.write_text(json.dumps({"authenticated": []}))
            server.process.send_signal(signal.SIGHUP)
            assert b'"unauthorized"' in stream.connection.until(b'"unauthorized"')
        assert status(server, fresh) == 401 and status(server, used) == 401
        assert ask(server, issuer, STREAM).status == 403


def test_a_ticket_of_a_revoked_caller_opens_nothing(server, issuer):
    operator = issuer.bearer("op", authorization_details=[{"type": "rivulet", "actions": ["operate"]}])
    ticket, other = made(server, issuer, subject="mallory"), made(server, issuer, subject="alice")
    assert server.request("POST", "/v1/revocations", {"subject": "mallory"}, operator).status == 201
    assert (status(server, ticket), status(server, other)) == (401, 200)


def test_an_open_server_has_no_tickets(shared):
    assert shared.request("POST", TICKETS, {"stream": STREAM}).problem["type"] == "/problems/not-found"
    assert shared.get(target_of(STREAM, "x")).problem["type"] == "/problems/invalid-query"

# Limits: a caller that sends too much is refused at once and told when to come back, and no other caller is.

import json
import signal
import time

import pytest

from harness import PATIENCE, QUOTA_EXCEEDED, Connection, Server, message, run
from tokens import Issuer

POLICY = {"authenticated": [{"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]}],
          "anonymous": [{"actions": ["read"], "app": "counter", "sessions": ["home"]}]}  # fmt: skip
HOME = "/v1/apps/counter/sessions/home"
#: The harness turns limits off; this variable leaves a server its own defaults.
DEFAULTS = {"RIVULET_RATE_LIMITS": ""}


@pytest.fixture
def issuer(tmp_path):
    return Issuer(tmp_path)


@pytest.fixture
def start(tmp_path, issuer):
    """Starts a server with these limits, or with the default limits."""
    servers = []

    def start(limits=None, *arguments):
        (tmp_path / "policy.json").write_text(json.dumps(POLICY))
        if limits is not None:
            (tmp_path / "limits.json").write_text(json.dumps(limits))
            arguments = ("--rate-limits", tmp_path / "limits.json", *arguments)
        servers.append(Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", tmp_path / "policy.json", *arguments], variables=DEFAULTS))
        return servers[-1]

    yield start
    for server in servers:
        assert server.stop() == 0, server.log_text()
        server.__exit__()


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def bad(issuer, number):
    """A token that is refused, and that no earlier request had."""
    return {"Authorization": "Bearer " + issuer.token(f"bad{number}")[:-4] + "AAAA"}



# Failed credentials


def test_bad_tokens_are_not_verified_beyond_a_limit_and_known_callers_pass(start, issuer):
    server = start()
    known, unknown = issuer.bearer("known"), issuer.bearer("unknown")
    assert server.request("GET", "/v1/me", headers=known).status == 200
    metrics = issuer.bearer("operator", authorization_details=[{"type": "rivulet", "actions": ["operate"]}])
    assert server.request("GET", "/metrics", headers=metrics).status == 200
    began = time.monotonic()
    answers = [server.request("GET", "/v1/me", headers=bad(issuer, number)) for number in range(60)]
    refilled = 5 * (time.monotonic() - began) + 1
    statuses = [answer.status for answer in answers]
    assert statuses[:20] == [401] * 20 and set(statuses) == {401, 429}
    assert 20 <= statuses.count(401) <= 20 + refilled
    limited = next(answer for answer in answers if answer.status == 429)
    assert limited.problem["type"] == QUOTA_EXCEEDED and limited.problem["violated-policies"] == ["failed-credentials"]
    assert limited.headers["retry-after"] == "1"
    assert limited.headers["ratelimit-policy"] == '"failed-credentials";q=20;w=4' and limited.headers["ratelimit"] == '"failed-credentials";r=0;t=1'
    # Good tokens that were not seen before are not verified either; a known one passes, as does a request without any.
    good = [server.request("GET", "/v1/me", headers=issuer.bearer(f"unknown{number}")).status for number in range(10)]
    assert 429 in good and 401 not in good
    assert server.request("GET", "/v1/me", headers=known).json["subject"] == "known"
    assert server.get("/v1/me").status == 200
    eventually(lambda: server.request("GET", "/v1/me", headers=unknown).status == 200)
    text = server.request("GET", "/metrics", headers=metrics).body.decode()
    count = statuses.count(429)
    assert int(text.split('rivulet_rate_limited_total{policy="failed-credentials"} ')[1].split()[0]) >= count
    assert int(text.split('rivulet_auth_total{result="limited"} ')[1].split()[0]) >= count


def test_good_tokens_and_misplaced_ones_do_not_count_as_failed(start, issuer):
    server = start()
    with Connection(server) as connection:
        for number in range(60):
            assert connection.request("GET", "/v1/me", headers=issuer.bearer(f"good{number}")).status == 200
        for number in range(60):
            assert connection.request("GET", f"/v1/me?access_token={number}").status == 400
    assert server.request("GET", "/v1/me", headers=bad(issuer, 0)).status == 401


def test_a_connection_closes_after_five_401_in_a_row(start, issuer):
    server = start()
    with Connection(server) as connection:
        for number in range(4):
            assert connection.request("GET", "/v1/me", headers=bad(issuer, number)).status == 401
        assert connection.request("GET", "/v1/me", headers=issuer.bearer("good")).status == 200
        for number in range(5):
            answer = connection.request("GET", HOME + "x/state")
            assert answer.status == 401 and (answer.headers.get("connection") == "close") == (number == 4), number
        assert connection.ended()


def test_only_a_valid_credential_ends_a_row_of_401(start, issuer):
    server = start()
    with Connection(server) as connection:
        for number in range(5):
            assert connection.request("GET", "/healthz").status == 200
            assert connection.request("GET", HOME + "/state").status == 200
            answer = connection.request("GET", "/v1/me", headers=bad(issuer, number))
            assert answer.status == 401 and (answer.headers.get("connection") == "close") == (number == 4), number
        assert connection.ended()


def test_a_refused_credential_that_comes_again_counts_as_a_request_without_one(start, issuer):
    # Each loop verifies the credential once.
    server = start({"anonymous-requests": {"quota": 1, "window": 3600, "burst": 8}}, "--workers", 1)
    refused = bad(issuer, 0)
    answers = [server.request("GET", "/v1/me", headers=refused) for _ in range(12)]
    assert [answer.status for answer in answers] == [401] * 9 + [429] * 3
    assert violated(answers[-1]) == "anonymous-requests"
    for fields in ({"Authorization": "Bearer"}, {"Cookie": "rivulet-token="}, {"Cookie": "rivulet-token=rvk_a"}):
        assert violated(server.request("GET", "/v1/me", headers=fields)) == "anonymous-requests", fields
    # Callers with a credential are not affected, also those that the server does not know yet.
    assert [server.request("GET", "/v1/me", headers=issuer.bearer(f"good{number}")).status for number in range(30)] == [200] * 30


# The other limits


def violated(answer):
    """The limit that refused a request."""
    assert answer.status == 429, answer
    assert answer.problem["type"] == QUOTA_EXCEEDED and 1 <= int(answer.headers["retry-after"]) <= 86_400
    [name] = answer.problem["violated-policies"]
    # The fields of a limit that an earlier part of the request nearly used may come first.
    assert f'"{name}";q=' in answer.headers["ratelimit-policy"] and f'"{name}";r=' in answer.headers["ratelimit"]
    return name


def test_ten_times_the_limit_of_three_subjects_leaves_the_others_alone(start, issuer):
    server = start({"requests": {"quota": 1, "window": 60, "burst": 20}})
    greedy, modest = [issuer.bearer(f"greedy{number}") for number in range(3)], issuer.bearer("modest")
    counts = {number: 0 for number in range(3)}
    with Connection(server) as connection:
        for round in range(200):
            for number, bearer in enumerate(greedy):
                answer = connection.request("GET", "/v1/me", headers=bearer)
                if answer.status == 200:
                    counts[number] += 1
                else:
                    assert violated(answer) == "requests"
            if round % 20 == 0:
                assert connection.request("GET", "/v1/me", headers=modest).status == 200
    # One more each after a minute, if the machine is as slow as that.
    assert all(20 <= count <= 21 for count in counts.values()), counts


def test_requests_without_a_credential_are_limited_by_address_and_files_are_not(start, issuer):
    server = start({"anonymous-requests": {"quota": 1, "window": 3600, "burst": 8}})
    answers = [server.get(HOME + "/state") for _ in range(10)]
    assert [answer.status for answer in answers] == [200] * 8 + [429] * 2
    assert violated(answers[-1]) == "anonymous-requests"
    # Below a quarter, the answer says how much is left.
    assert ["ratelimit" in answer.headers for answer in answers] == [False] * 6 + [True] * 4
    assert answers[6].headers["ratelimit"].startswith('"anonymous-requests";r=1;t=')
    assert [server.get(target).status for target in ("/", "/rivulet.js", "/healthz", "/readyz", "/problems")] == [200] * 5
    assert server.request("GET", HOME + "/state", headers=issuer.bearer("known")).status == 200
    assert server.get("/v1/apps/counter/sessions/other/state").status == 429


def test_sign_ins_are_limited(start, issuer):
    server = start({"requests": {"quota": 1, "window": 3600, "burst": 4}, "anonymous-requests": {"quota": 1, "window": 3600, "burst": 4}})
    for method, fields, name in (("PUT", issuer.bearer("a"), "requests"), ("DELETE", {}, "anonymous-requests")):
        answers = [server.request(method, "/v1/login", headers=fields) for _ in range(5)]
        assert [answer.status for answer in answers] == [204] * 4 + [429] and violated(answers[-1]) == name


def test_events_count_by_their_number(start, issuer):
    server = start({"dispatches": {"quota": 1, "window": 3600, "burst": 10}})
    target, lines = HOME + "/events", {"Content-Type": "application/x-ndjson"}

    def dispatch(subject, body):
        return server.request("POST", target, body, issuer.bearer(subject))

    assert dispatch("a", ["increment"] * 7).status == 200
    assert violated(dispatch("a", ["increment"] * 4)) == "dispatches"
    nearly = dispatch("a", "increment")
    assert nearly.status == 200 and nearly.headers["ratelimit"].startswith('"dispatches";r=2;t=')
    assert nearly.headers["ratelimit-policy"] == '"dispatches";q=10;w=36000'
    assert violated(server.request("POST", target, b'"increment"\n["increment","increment"]\n', issuer.bearer("a") | lines)) == "dispatches"
    assert server.request("PUT", HOME + "/state/p/count", 3, issuer.bearer("a")).status == 200
    assert server.request("POST", HOME + "/reset", headers=issuer.bearer("a")).status == 200
    for refused in (("POST", HOME + "/reset", None), ("PUT", HOME + "/state/p/count", 3), ("POST", HOME + "/restore?version=0", None)):
        assert violated(server.request(*refused, issuer.bearer("a"))) == "dispatches"
    # More events than the burst cost the whole burst.
    assert dispatch("b", ["increment"] * 30).status == 200
    assert violated(dispatch("b", "increment")) == "dispatches"
    count = server.request("GET", HOME + "/state/p/count", headers=issuer.bearer("a")).json
    assert count == 30 and dispatch("c", "increment").status == 200


def test_a_caller_creates_a_limited_number_of_sessions_and_uses_any_number(start, issuer):
    server = start({"sessions-created": {"quota": 1, "window": 3600, "burst": 5}})
    sessions, bearer = "/v1/apps/todos/sessions", issuer.bearer("a")

    def request(method, path, body=None):
        return server.request(method, sessions + path, body, bearer)

    assert request("PUT", "/one").status == 201
    assert [request("PUT", "/one").status for _ in range(8)] == [200] * 8
    assert [request("PUT", f"/refused{number}", {"state": {"p": 1}}).status for number in range(8)] == [422] * 8
    assert request("POST", "").status == 201
    assert request("POST", "/two/events", {"add": {"id": "a", "title": "b"}}).status == 200
    assert [request("POST", "/two/events", {"toggle": "a"}).status for _ in range(8)] == [200] * 8
    # A rejected event creates no session.
    assert [request("POST", f"/none{number}/events", {"toggle": 3}).status for number in range(8)] == [422] * 8
    assert request("POST", "/two/fork", {"id": "three"}).status == 201
    lines = server.request("POST", f"{sessions}/five/events", b'{"add":{"id":"a","title":"b"}}\n', bearer | {"Content-Type": "application/x-ndjson"})
    last = [request("PUT", "/six"), request("POST", ""), request("POST", "/seven/events", {"add": {"id": "a", "title": "b"}}), request("POST", "/two/fork", {"id": "eight"})]
    assert lines.status == 200 and [violated(answer) for answer in last] == ["sessions-created"] * 4
    assert [request("GET", f"/{name}").status for name in ("six", "seven", "eight")] == [404] * 3
    assert server.request("PUT", f"{sessions}/six", headers=issuer.bearer("b")).status == 201


def test_bytes_of_accepted_bodies_count(start, issuer):
    server = start({"bytes-written": {"quota": 1, "window": 3600, "burst": 24}})
    target, body = HOME + "/events", b'"increment"'
    bearer = issuer.bearer("a") | {"Content-Type": "application/json"}
    # A refused body costs nothing.
    assert [server.request("POST", target, b'"incremen"', bearer).status for _ in range(5)] == [422] * 5
    assert [server.request("POST", target, body, bearer).status for _ in range(2)] == [200] * 2
    limited = server.request("POST", target, body, bearer)
    assert violated(limited) == "bytes-written" and 'qu="content-bytes"' in limited.headers["ratelimit-policy"]
    with Connection(server) as connection:
        head = f"POST {target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
        chunked = f"{head}Authorization: {bearer['Authorization']}\r\n\r\nb\r\n".encode() + body + b"\r\n0\r\n\r\n"
        connection.send(chunked)
        assert violated(connection.answer()) == "bytes-written"
    assert server.request("POST", HOME + "/reset", headers=issuer.bearer("a")).status == 200


def bye(server, bearer, target=HOME + "/changes"):
    """The data of a stream that has a single `bye`."""
    with Connection(server) as connection:
        connection.send(message("GET", target, headers=bearer | {"Accept": "text/event-stream"}))
        status, headers = connection.stream_head()
        assert status == 200 and headers["content-type"] == "text/event-stream"
        text = connection.until(b"event: bye\ndata: ") and connection.until(b"\n\n")
        assert connection.ended()
    return json.loads(text.decode().removesuffix("\n\n"))


def opened(server, bearer, target=HOME + "/changes"):
    connection = Connection(server)
    connection.send(message("GET", target, headers=bearer))
    assert connection.stream_head()[0] == 200
    connection.until(b"event: snapshot")
    return connection


def test_a_stream_beyond_a_limit_gets_a_bye_that_says_when(start, issuer):
    server = start({"streams": {"quota": 2}, "requests": {"quota": 1, "window": 10, "burst": 6}})
    a, b = issuer.bearer("a"), issuer.bearer("b")
    streams = [opened(server, a), opened(server, a)]
    refused = bye(server, a)
    assert refused["reason"] == "limit" and refused["reconnect"] and 5_000 <= refused["after"] <= 15_000
    # The address has two streams too.
    assert bye(server, b)["reason"] == "limit"
    streams.pop().close()
    eventually(lambda: b'event: snapshot' in first_event(server, b))
    for _ in range(6):
        server.request("GET", "/v1/me", headers=a)
    refused = bye(server, a)
    assert refused["reason"] == "limit" and 1_000 <= refused["after"] <= 12_000
    assert violated(server.request("GET", HOME + "/state", headers=a)) == "requests"


def first_event(server, bearer):
    with Connection(server) as connection:
        connection.send(message("GET", HOME + "/changes", headers=bearer))
        connection.stream_head()
        return connection.until(b"event: ") + connection.until(b"\n")


def test_an_address_has_a_limited_number_of_connections(start, issuer):
    server = start({"connections": {"quota": 3}})
    kept = [Connection(server) for _ in range(3)]
    assert all(connection.request("GET", "/healthz").status == 200 for connection in kept)
    with Connection(server) as connection:
        assert connection.ended()
    kept.pop().close()

    def is_admitted():
        with Connection(server) as connection:
            try:
                return connection.request("GET", "/healthz").status == 200
            except (EOFError, ConnectionError):
                return False

    eventually(is_admitted)


# The file


def test_me_lists_the_limits(start, issuer):
    server = start({"streams": {"quota": 3}, "requests": None, "tickets": {"quota": 2, "window": 60, "burst": 4}})
    limits = {limit.pop("policy"): limit for limit in server.get("/v1/me").json["limits"]}
    assert list(limits) == ["connections", "streams", "failed-credentials", "anonymous-requests", "dispatches", "tickets", "sessions-created", "bytes-written"]
    assert limits["streams"] == {"quota": 3, "window": None, "burst": None}
    assert limits["tickets"] == {"quota": 2, "window": 60, "burst": 4}
    assert limits["failed-credentials"] == {"quota": 5, "window": 1, "burst": 20}
    with Server(None, variables=DEFAULTS) as open_server:
        assert open_server.get("/v1/me").json["limits"] == []


def test_a_hangup_reads_the_limits_again_and_a_broken_file_keeps_the_old_ones(start, issuer, tmp_path):
    server = start({"requests": {"quota": 1, "window": 3600, "burst": 3}})
    file, bearer = tmp_path / "limits.json", issuer.bearer("a")

    def burst():
        return next(limit["burst"] for limit in server.get("/v1/me").json["limits"] if limit["policy"] == "requests")

    assert [server.request("GET", "/v1/me", headers=bearer).status for _ in range(4)] == [200] * 3 + [429]
    file.write_text('{"requests": {"quota": 0, "window": 1}}')
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: "the credentials and limits were not read again" in server.log_text())
    assert burst() == 3 and str(file) in server.log_text()
    file.write_text('{"requests": {"quota": 1, "window": 3600, "burst": 5}}')
    server.process.send_signal(signal.SIGHUP)
    eventually(lambda: burst() == 5)
    assert [server.request("GET", "/v1/me", headers=bearer).status for _ in range(6)] == [200] * 5 + [429]


def test_a_hangup_takes_all_files_or_none_and_names_the_changed_ones(start, issuer, tmp_path):
    server = start({"requests": {"quota": 90, "window": 3600, "burst": 90}})
    limits, policy, bearer = tmp_path / "limits.json", tmp_path / "policy.json", issuer.bearer("a")

    def hang_up(line):
        seen = len(server.log_text())
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: line in server.log_text()[seen:])
        found = [text for text in server.log_text()[seen:].splitlines() if "read again" in text]
        assert len(found) == 1, found
        return server.request("GET", HOME + "/state", headers=bearer).status, found[0]

    policy.write_text("{}")
    limits.write_text("{")
    assert hang_up("and the earlier ones stay in use")[0] == 200
    limits.write_text('{"requests": {"quota": 80, "window": 3600, "burst": 80}}')
    policy.write_text("{")
    assert hang_up("and the earlier ones stay in use")[0] == 200
    assert {"policy": "requests", "quota": 90, "window": 3600, "burst": 90} in server.get("/v1/me").json["limits"]
    policy.write_text("{}")
    status, line = hang_up("the credentials and limits were read again")
    assert status == 403 and f"changed={policy}, {limits}" in line and str(issuer.file) in line
    policy.write_text(json.dumps(POLICY))
    status, line = hang_up("the credentials and limits were read again")
    assert status == 200 and f"changed={policy}" in line and f"changed={policy}, " not in line
    assert "changed=none" in hang_up("the credentials and limits were read again")[1]


def test_a_broken_file_is_one_line_and_exit_1(tmp_path):
    file = tmp_path / "limits.json"
    for text in ('{"dispatch": null}', "{", '{"dispatches": {"quota": 1, "window": 0}}'):
        file.write_text(text)
        outcome = run("serve", "--memory", "--port", "0", "--rate-limits", file)
        assert outcome.returncode == 1 and len(outcome.stderr.strip().splitlines()) == 1, outcome
        assert str(file) in outcome.stderr
    assert run("serve", "--memory", "--port", "0", "--rate-limits", tmp_path / "none").returncode == 1


def test_a_server_without_credentials_has_the_limits_of_its_file_only(tmp_path):
    file = tmp_path / "limits.json"
    file.write_text('{"dispatches": {"quota": 1, "window": 3600, "burst": 2}}')
    with Server(None, arguments=["--rate-limits", file]) as server:
        assert [limit["policy"] for limit in server.get("/v1/me").json["limits"]] == ["dispatches"]
        statuses = [server.request("POST", HOME + "/events", "increment").status for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert server.stop() == 0


def test_the_limit_of_an_address_names_the_remedy_once_and_no_address(start, issuer):
    server = start({"anonymous-requests": {"quota": 1, "window": 3600, "burst": 1}})
    for _ in range(5):
        server.get(HOME + "/state")
    log = server.log_text()
    assert log.count("--trusted-proxies") == 1 and '"anonymous-requests"' in log and "127.0.0.1:" not in log.split("server started")[1]

# An operator revokes tokens, subjects and API keys. A revocation is durable, in force at once, and ends open streams.
"""Run as a program, it prints how long the end of many streams takes: `PYTHONPATH=Tests/EndToEnd python test_revocations.py 10000`."""

import base64
import hashlib
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import zlib

import pytest

from harness import PATIENCE, Connection, LateBody, Server, message
from tokens import Issuer

POLICY = {
    "roles": {"operator": [{"actions": ["operate"]}], "user": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["*"]}]},
}
R, S = "/v1/revocations", "/v1/apps/counter/sessions/s"
BYE = b'{"reason":"revoked","reconnect":false,"after":0}'


class Callers:
    """The servers of one folder, their operator and their issuer."""

    def __init__(self, folder):
        self.issuer = Issuer(folder)
        self.policy = folder / "policy.json"
        self.policy.write_text(json.dumps(POLICY))
        self.arguments = ["--jwt-key-file", self.issuer.file, "--policy", self.policy]

    def revoke(self, server, body, role="operator"):
        return server.request("POST", R, body, self.issuer.bearer("op", role))

    def take_back(self, server, identifier):
        return server.request("DELETE", f"{R}/{identifier}", headers=self.issuer.bearer("op", "operator"))

    def listed(self, server, query=""):
        return server.request("GET", R + query, headers=self.issuer.bearer("op", "operator"))

    def user(self, subject, **claims):
        return self.issuer.bearer(subject, "user", **claims)


@pytest.fixture(scope="module")
def callers(tmp_path_factory):
    return Callers(tmp_path_factory.mktemp("revocations"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, callers):
    with Server(tmp_path_factory.mktemp("data"), arguments=[*callers.arguments, "--workers", 2]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def status(server, bearer):
    return server.request("GET", S + "/state", headers=bearer).status


def open_stream(server, bearer):
    connection = Connection(server)
    connection.send(message("GET", S + "/changes", headers=bearer))
    assert connection.stream_head()[0] == 200
    return connection


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def bye(connection):
    return connection.until(b"event: bye\ndata: ") and connection.until(b"\n\n").strip()


def test_a_token_is_revoked_by_its_id(server, callers):
    bearers = [callers.user("alice", jti=name) for name in ("a-1", "a-2")]
    assert [status(server, bearer) for bearer in bearers] == [200, 200]
    answer = callers.revoke(server, {"jti": "a-1"})
    assert answer.status == 201 and answer.headers["location"] == f"{R}/{answer.json['id']}", answer
    assert answer.json["jti"] == "a-1" and answer.json["until"].endswith("Z")
    refused = server.request("GET", S + "/state", headers=bearers[0])
    assert refused.problem["type"] == "/problems/unauthorized" and "revoked" not in refused.problem["detail"]
    assert status(server, bearers[1]) == 200 and "reason=revoked" in server.log_text()


def test_it_is_in_force_on_every_loop_and_on_open_connections(server, callers):
    bearer = callers.user("carol", jti="carol-1")
    connections = [Connection(server) for _ in range(16)]
    assert {connection.request("GET", S + "/state", headers=bearer).status for connection in connections} == {200}
    assert callers.revoke(server, {"jti": "carol-1"}).status == 201
    assert {connection.request("GET", S + "/state", headers=bearer).status for connection in connections} == {401}
    for connection in connections:
        connection.close()


def test_a_subject_is_revoked_up_to_a_time(server, callers):
    now = int(time.time())
    old, new = callers.user("dave", iat=now - 600), callers.user("dave", iat=now)
    other = callers.user("dave2", iat=now - 600)
    answer = callers.revoke(server, {"subject": "dave", "before": now - 300})
    assert answer.json["before"] == time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - 300))
    assert [status(server, bearer) for bearer in (old, new, other)] == [401, 200, 200]
    assert callers.revoke(server, {"subject": "dave", "issuer": None, "before": "2099-01-01T00:00:00Z"}).status == 201
    assert status(server, new) == 401
    # Without a time it is the present one.
    assert callers.revoke(server, {"subject": "dave2"}).status == 201 and status(server, other) == 401


def test_a_revocation_ends_the_streams_of_its_credentials_alone(server, callers):
    kept = [open_stream(server, callers.user("erin", jti=f"erin-{number}")) for number in range(4)]
    ended = [open_stream(server, callers.user("erin", jti="erin-x")) for _ in range(4)]
    assert callers.revoke(server, {"jti": "erin-x"}).status == 201
    for connection in ended:
        assert bye(connection) == BYE and connection.ended()
    assert server.request("POST", S + "/events", "increment", callers.user("frank")).status == 200
    for connection in kept:
        connection.until(b"event: change")
    assert callers.revoke(server, {"subject": "erin"}).status == 201
    for connection in kept:
        assert bye(connection) == BYE
    for connection in kept + ended:
        connection.close()


def test_a_body_that_comes_after_the_revocation_is_refused(server, callers):
    revoked, kept = (LateBody(server, "POST", S + "/events", "increment", callers.user("late", jti=name)) for name in ("late-1", "late-2"))
    with revoked, kept:
        assert callers.revoke(server, {"jti": "late-1"}).status == 201
        version = server.request("GET", S, headers=callers.user("late")).json["version"]
        refused = revoked.finish()
        assert refused.status == 401 and refused.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        assert server.request("GET", S, headers=callers.user("late")).json["version"] == version
        assert kept.finish().json["version"] == version + 1


def test_a_body_that_comes_after_a_reload_is_decided_by_the_new_keys_and_permissions(tmp_path):
    own = Callers(tmp_path)

    def reload(**roles):
        own.policy.write_text(json.dumps({"roles": roles}))
        server.process.send_signal(signal.SIGHUP)

    def late(role):
        return LateBody(server, "POST", S + "/events", "increment", own.issuer.bearer("u", role))

    user = POLICY["roles"]["user"]
    with Server(None, arguments=own.arguments) as server:
        reload(a=user, b=user)
        eventually(lambda: server.request("POST", S + "/events", "increment", own.issuer.bearer("u", "a")).status == 200)
        with late("a") as lost, late("b") as kept:
            reload(b=user)
            eventually(lambda: status(server, own.issuer.bearer("u", "a")) == 403)
            assert lost.finish().problem["needs"]["action"] == "dispatch"
            assert kept.finish().json["version"] == 2
        with late("b") as lost:
            own.issuer.file.write_bytes(b"another secret of more than 32 bytes")
            reload(b=user)
            eventually(lambda: status(server, own.issuer.bearer("u", "b")) == 401)
            assert lost.finish().status == 401


def test_a_revocation_is_taken_back(server, callers):
    bearer = callers.user("grace", jti="grace-1")
    identifier = callers.revoke(server, {"jti": "grace-1"}).json["id"]
    assert status(server, bearer) == 401
    assert callers.take_back(server, identifier).status == 204
    assert status(server, bearer) == 200
    again = callers.take_back(server, identifier)
    assert again.problem["type"] == "/problems/not-found" and identifier in again.problem["detail"]
    assert server.request("GET", f"{R}/{identifier}", headers=callers.issuer.bearer("op", "operator")).status == 404


def test_a_list_has_pages_in_the_order_of_the_revocations(server, callers):
    made = [callers.revoke(server, {"jti": f"page-{number}"}).json for number in range(5)]
    assert callers.listed(server, "?limit=1000").json["revocations"][-5:] == made
    page = callers.listed(server, f"?limit=2&after={made[0]['id']}").json
    assert page == {"revocations": made[1:3], "next": made[2]["id"]}
    last = callers.listed(server, f"?limit=2&after={page['next']}").json
    assert last == {"revocations": made[3:]}
    one = server.request("GET", f"{R}/{made[2]['id']}", headers=callers.issuer.bearer("op", "operator"))
    assert one.json == made[2]
    assert callers.listed(server, "?limit=0").status == 400


BAD = [b"", b"{", b"[]", b"{}", {"jti": ""}, {"jti": "x" * 256}, {"jti": 1}, {"jti": "a", "key": "b"}, {"jti": "a", "before": 1}, {"subject": "a", "before": "soon"},
       {"subject": "a", "issuer": 1}, {"sub": "a"}, b'{"jti":"a","jti":"b"}']  # fmt: skip


@pytest.mark.parametrize("body", BAD, ids=str)
def test_a_bad_body_changes_nothing(server, callers, body):
    before = callers.listed(server, "?limit=1000").json
    fields = callers.issuer.bearer("op", "operator") | {"Content-Type": "application/json"}
    answer = server.request("POST", R, body, fields)
    assert answer.status == (400 if answer.problem["type"] == "/problems/malformed-body" else 422), answer
    assert callers.listed(server, "?limit=1000").json == before


def test_only_operators_revoke(server, callers):
    one = callers.revoke(server, {"jti": "x"}).json["id"]
    for method, target, body in (("GET", R, None), ("POST", R, {"jti": "y"}), ("GET", f"{R}/{one}", None), ("DELETE", f"{R}/{one}", None), ("DELETE", f"{R}/none", None)):
        assert server.request(method, target, body).problem["type"] == "/problems/unauthorized", (method, target)
        refused = server.request(method, target, body, callers.user("mallory"))
        assert refused.problem["needs"] == {"action": "operate"}, (method, target)
    assert callers.take_back(server, one).status == 204


def test_an_operator_can_revoke_itself(server, callers):
    bearer = callers.issuer.bearer("op2", "operator", jti="op2-1")
    assert server.request("POST", R, {"jti": "op2-1"}, bearer).status == 201
    assert server.request("GET", R, headers=bearer).status == 401


def test_a_server_without_credentials_has_none_to_revoke():
    with Server(None) as server:
        answers = [server.request("POST", R, {"jti": "a"}), server.get(R), server.get(f"{R}/a"), server.request("DELETE", f"{R}/a")]
        assert {answer.problem["type"] for answer in answers} == {"/problems/not-found"}


def api_key(identifier):
    """An API key and its entry in the file of keys."""
    secret = os.urandom(32)
    beginning = f"rvk_{identifier}_{base64.urlsafe_b64encode(secret).rstrip(b'=').decode()}_"
    entry = {"id": identifier, "sha256": hashlib.sha256(secret).hexdigest(), "grants": POLICY["roles"]["user"]}
    return f"{beginning}{zlib.crc32(beginning.encode()):08x}", entry


def test_an_api_key_is_revoked_and_its_record_never_ends(tmp_path, callers):
    (key, entry), (other, second) = api_key("abcdefgh"), api_key("bcdefghi")
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [entry, second]}))
    keys.chmod(0o600)
    with Server(None, arguments=[*callers.arguments, "--api-keys", keys]) as server:
        bearer = {"Authorization": f"Bearer {key}"}
        stream = open_stream(server, bearer)
        answer = callers.revoke(server, {"key": "abcdefgh"})
        assert answer.status == 201 and set(answer.json) == {"id", "key"}
        assert bye(stream) == BYE and status(server, bearer) == 401
        assert status(server, {"Authorization": f"Bearer {other}"}) == 200


@pytest.mark.parametrize("body", [{"jti": "k-1"}, {"subject": "kate"}], ids=str)
def test_a_revocation_survives_kill_9(tmp_path, callers, body):
    bearer = callers.user("kate", jti="k-1", iat=int(time.time()) - 60)
    with Server(tmp_path / "data", arguments=callers.arguments) as server:
        assert status(server, bearer) == 200
        record = callers.revoke(server, body).json
        server.kill()
    with Server(tmp_path / "data", arguments=callers.arguments) as server:
        assert status(server, bearer) == 401
        assert callers.listed(server).json == {"revocations": [record]}
        assert callers.take_back(server, record["id"]).status == 204
        server.kill()
    with Server(tmp_path / "data", arguments=callers.arguments) as server:
        assert status(server, bearer) == 200 and callers.listed(server).json == {"revocations": []}


@pytest.mark.parametrize("body", [{"jti": "m-1"}, {"subject": "mallory", "issuer": "a"}], ids=str)
def test_a_revocation_outlives_the_tokens_of_an_issuer_that_comes_back(tmp_path, body):
    """Tokens of the issuer that is left last for a second, and those of the other one for a month."""
    (tmp_path / "a").mkdir()
    month, auth, policy = 30 * 86_400, tmp_path / "auth.json", tmp_path / "policy.json"
    issuer, left = Issuer(tmp_path / "a"), Issuer(tmp_path)
    policy.write_text(json.dumps(POLICY))
    described = {name: {"issuer": name, "keyFile": str(key.file), "audiences": ["x"], "lifetime": lifetime} for name, key, lifetime in (("a", issuer, month), ("b", left, 1))}
    now = int(time.time())
    stolen = issuer.bearer("mallory", "user", iss="a", aud="x", jti="m-1", iat=now, exp=now + month)
    auth.write_text(json.dumps({"issuers": [described["b"]]}))
    with Server(tmp_path / "data", arguments=["--auth", auth, "--policy", policy]) as server:
        now = int(time.time())
        operator = left.bearer("op", "operator", iss="b", aud="x", iat=now, exp=now + 1)
        until = server.request("POST", R, body, operator).json["until"]
        assert until >= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + month))
    auth.write_text(json.dumps({"issuers": list(described.values())}))
    with Server(tmp_path / "data", arguments=["--auth", auth, "--policy", policy]) as server:
        assert status(server, stolen) == 401 and "reason=revoked" in server.log_text()


def seconds_to_end(server, callers, count):
    """Opens streams of a subject, half as many of another one, and revokes the first: the seconds until all of them have their `bye`."""
    streams = [open_stream(server, callers.user("many")) for _ in range(count)]
    kept = [open_stream(server, callers.user("few")) for _ in range(count // 2)]
    began = time.monotonic()
    assert callers.revoke(server, {"subject": "many"}).status == 201
    for stream in streams:
        assert bye(stream) == BYE
    seconds = time.monotonic() - began
    assert server.request("POST", S + "/events", "increment", callers.user("few")).status == 200
    for stream in kept:
        stream.until(b"event: change")
    for stream in streams + kept:
        stream.close()
    return seconds


def test_a_revocation_ends_a_thousand_streams(server, callers):
    # The bound is for slow machines. The program at the end of this file measures.
    assert seconds_to_end(server, callers, 1_000) < 10


if __name__ == "__main__":
    folder = pathlib.Path(tempfile.mkdtemp())
    users = Callers(folder)
    with Server(folder / "data", arguments=users.arguments) as running:
        print(f"{seconds_to_end(running, users, int(sys.argv[1])):.3f} s")

# Callers sign in with a token or an API key. A credential that is not valid is refused, and is never anonymous.

import json
import os
import signal
import time

import pytest

from harness import PATIENCE, Connection, Server, message, run
from tokens import Issuer, encoded

PUBLIC = {"anonymous": [{"actions": ["read"], "app": "counter", "sessions": ["home"]},
                        {"actions": ["read", "dispatch", "create"], "app": "todos", "sessions": ["${me}"]}],
          "authenticated": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}"]}]}  # fmt: skip
HOME = "/v1/apps/counter/sessions/home/state"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("credentials")


@pytest.fixture(scope="module")
def issuer(folder):
    return Issuer(folder)


@pytest.fixture(scope="module")
def server(folder, issuer):
    (folder / "policy.json").write_text(json.dumps(PUBLIC))
    # A test sends more bad credentials from one address than the default limit admits.
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", folder / "policy.json", "--rate-limits", "off"]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def bad_credentials(issuer):
    now = int(time.time())
    none = f'{encoded({"alg": "none", "typ": "at+jwt"})}.{encoded({"sub": "a", "iat": now, "exp": now + 60})}.'
    return {
        "no token": "Bearer x", "another scheme": "Basic YTpi", "an empty one": "Bearer ", "two words": "Bearer a b", "alg none": "Bearer " + none,
        "expired": "Bearer " + issuer.token("a", iat=now - 100, exp=now - 10), "early": "Bearer " + issuer.token("a", nbf=now + 100),
        "no subject": "Bearer " + issuer.token(None), "no end": "Bearer " + issuer.token("a", exp=None), "another type": "Bearer "
        + issuer.token("a", header={"typ": "JWT"}), "another signature": "Bearer " + issuer.token("a")[:-4] + "AAAA",
        "an audience": "Bearer " + issuer.token("a", aud="b"), "an unknown API key": "Bearer rvk_7m2k9xq4_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_421608d8",
        "a bad grant": "Bearer " + issuer.token("a", authorization_details=[{"type": "rivulet", "actions": ["fly"]}]),
    }  # fmt: skip


def test_a_bad_credential_is_the_same_401_everywhere_and_never_anonymous(server, issuer):
    bodies = set()
    for name, value in bad_credentials(issuer).items():
        for target in (HOME, "/v1/me", "/v1/apps", "/metrics", "/v1/apps/counter/sessions/hidden/state", "/"):
            answer = server.request("GET", target, headers={"Authorization": value})
            assert answer.status == 401, (name, target, answer)
            assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
            bodies.add(answer.body)
    assert len(bodies) == 1 and server.get(HOME).status == 200


def test_the_log_has_the_reason_and_no_part_of_the_credential(folder, issuer):
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--log-format", "json"]) as server:
        credentials = bad_credentials(issuer)
        for value in list(credentials.values())[:8]:
            server.request("GET", "/v1/me", headers={"Authorization": value})
        lines = [json.loads(line) for line in server.log_text().splitlines()]
        reasons = [line["fields"]["reason"] for line in lines if line["message"] == "a credential was refused"]
        assert {"malformed", "alg", "exp", "nbf", "sub"} == set(reasons), reasons
        log = server.log_text()
        assert not [value for value in credentials.values() if len(value) > 20 and (value[-20:] in log or value[7:60] in log)]


def test_a_request_without_a_credential_gets_what_the_policy_gives_to_all(server):
    assert server.get(HOME).status == 200
    refused = server.get("/v1/apps/counter/sessions/other/state")
    assert refused.problem["type"] == "/problems/unauthorized" and refused.headers["www-authenticate"] == "Bearer"
    assert [server.get(target).status for target in ("/", "/healthz", "/readyz", "/problems", "/v1/me")] == [200] * 5
    assert [server.get(target).status for target in ("/metrics", "/v1/streams", "/openapi.json", "/v1/apps", "/v1/apps/nothing")] == [401] * 5


def test_me_is_one_session_of_the_caller_on_every_connection(server, issuer):
    me = server.request("GET", "/v1/me", headers=issuer.bearer("alice")).json
    assert me["subject"] == "alice" and me["issuer"] is None and len(me["me"]) == 26 and me["expires"].endswith("Z")
    for _ in range(2):
        answer = server.request("POST", "/v1/apps/counter/sessions/me/events", "increment", issuer.bearer("alice"))
        assert answer.status == 200 and "set-cookie" not in answer.headers
    assert server.request("GET", f"/v1/apps/counter/sessions/{me['me']}/state/p/count", headers=issuer.bearer("alice")).json == 2
    # A caller with another name, also one that looks like the first, has another session.
    for other in ("bob", "alice ", me["me"], "*", "${me}"):
        assert server.request("GET", "/v1/apps/counter/sessions/me/state/p/count", headers=issuer.bearer(other)).json == 0
        assert server.request("GET", f"/v1/apps/counter/sessions/{me['me']}/state", headers=issuer.bearer(other)).status == 403
    assert server.request("GET", "/v1/me", headers=issuer.bearer("alice", iss="https://a.example")).status == 401


def test_two_headers_and_a_credential_in_a_url_are_400(server, issuer):
    token = issuer.token("alice")
    with Connection(server) as connection:
        connection.send(f"GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        assert connection.answer().problem["type"] == "/problems/credential-misplaced"
    for target in (f"/v1/me?access_token={token}", f"{HOME}?authorization={token}"):
        assert server.get(target).problem["type"] == "/problems/credential-misplaced"


def test_a_cookie_has_a_credential_too_and_the_page_that_renews_it_loads(server, issuer):
    now = int(time.time())
    old = issuer.token("alice", iat=now - 100, exp=now - 10)
    for name in ("__Host-rivulet", "rivulet-token"):
        assert server.get("/v1/me", Cookie=f"a=b; {name}={issuer.token('alice')}").json["subject"] == "alice"
        assert server.get(HOME, Cookie=f"{name}={old}").status == 401
        assert [server.get(target, Cookie=f"{name}={old}").status for target in ("/", "/rivulet.js", "/healthz")] == [200] * 3
    # The header comes before the cookie.
    both = server.request("GET", "/v1/me", headers=issuer.bearer("bob") | {"Cookie": f"rivulet-token={old}"})
    assert both.json["subject"] == "bob"
    double = f"__Host-rivulet={issuer.token('alice')}; __Host-rivulet={issuer.token('bob')}"
    assert server.get("/v1/me", Cookie=double).status == 401


def test_a_body_is_not_read_before_the_caller_is_known(server):
    head, _, _ = message("POST", "/v1/apps/counter/sessions/x/events", b"[" + b" " * 900_000, {"Content-Type": "application/json"}).partition(b"\r\n\r\n")
    with Connection(server) as connection:
        connection.send(head + b"\r\n\r\n")
        assert connection.answer().status == 401


def test_a_stream_ends_when_its_token_does(server, issuer):
    with Connection(server) as connection:
        token = issuer.token("alice", exp=int(time.time()) + 2)
        connection.send(message("GET", "/v1/apps/counter/sessions/me/changes", headers={"Authorization": f"Bearer {token}"}))
        assert connection.stream_head()[0] == 200
        text = connection.until(b'"token-expired"') + connection.until(b"\n\n")
        assert b'{"reason":"token-expired","reconnect":true,"after":0}' in text
        assert connection.ended()


# Starting and reloading


def refused(*arguments):
    outcome = run("serve", "--memory", "--port", "0", *arguments)
    assert outcome.returncode == 1 and len(outcome.stderr.strip().splitlines()) == 1, outcome
    return outcome.stderr


def test_keys_and_rules_that_cannot_be_used_are_one_line_and_exit_1(tmp_path):
    short, policy, keys = tmp_path / "short", tmp_path / "policy.json", tmp_path / "keys.json"
    short.write_bytes(b"x" * 31)
    short.chmod(0o600)
    assert str(short) in refused("--jwt-key-file", short) and "openssl rand" in refused("--jwt-key-file", short)
    assert "cannot read" in refused("--jwt-key-file", tmp_path / "none")
    issuer = Issuer(tmp_path)
    policy.write_text('{"roles": {"a": [{"actions": ["read"], "app": "todos"}]}}')
    assert str(policy) in refused("--jwt-key-file", issuer.file, "--policy", policy)
    assert "no key" in refused("--policy", policy)
    keys.write_text('{"keys": 1}')
    keys.chmod(0o600)
    assert str(keys) in refused("--api-keys", keys)
    issuer.file.chmod(0o644)
    assert f"chmod 600 {issuer.file}" in refused("--jwt-key-file", issuer.file)


def key_set(folder, issuer, *more):
    """A file with the issuer's secret as a key set, which only its owner reads."""
    file = folder / "keys.jwks"
    file.write_text(json.dumps({"keys": [{"kty": "oct", "alg": "HS256", "kid": "k", "k": encoded(issuer.secret)}, *more]}))
    file.chmod(0o600)
    return file


def test_a_key_set_with_a_secret_is_for_its_owner_alone_and_public_keys_are_for_all(tmp_path):
    issuer = Issuer(tmp_path)
    file = key_set(tmp_path, issuer)
    options = ["--issuer", "i", "--audience", "a"]
    for mode in (0o640, 0o604, 0o644):
        file.chmod(mode)
        assert f"others may read {file}, which has secrets; run: chmod 600 {file}" in refused("--jwks", file, *options)
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"issuers": [{"issuer": "i", "jwks": "keys.jwks", "audiences": ["a"]}]}))
    assert f"chmod 600 {file}" in refused("--auth", auth)
    file.chmod(0o600)
    with Server(None, arguments=["--jwks", file, *options]) as server:
        bearer = {"Authorization": "Bearer " + issuer.token("u", header={"kid": "k"}, iss="i", aud="a")}
        assert server.request("GET", "/v1/me", headers=bearer).json["subject"] == "u"
        # A file that others may read now is not taken, and the earlier keys stay.
        file.chmod(0o644)
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: "the earlier ones stay in use" in server.log_text())
        assert f"chmod 600 {file}" in server.log_text()
        assert server.request("GET", "/v1/me", headers=bearer).status == 200
    # A public key is no secret. A secret that is for another purpose is one.
    public = {"kty": "OKP", "crv": "Ed25519", "kid": "p", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    file.write_text(json.dumps({"keys": [public]}))
    with Server(None, arguments=["--jwks", file, *options]) as server:
        assert server.get("/v1/me").status in (200, 401)
    file.write_text(json.dumps({"keys": [public, {"kty": "oct", "use": "enc", "k": encoded(issuer.secret)}]}))
    assert "chmod 600" in refused("--jwks", file, *options)


def test_an_address_that_other_machines_reach_needs_credentials_or_open(tmp_path):
    assert "--jwt-key-file" in refused("--host", "0.0.0.0") and "--open" in refused("--public-url", "https://a.example")
    issuer = Issuer(tmp_path)
    with Server(None, arguments=["--host", "0.0.0.0", "--public-url", "https://a.example", "--jwt-key-file", issuer.file]) as server:
        server.host = "127.0.0.1"
        assert server.get("/v1/apps").status == 401
        assert "This server is open" not in server.log_text()


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_hangup_reads_the_files_again_and_a_broken_file_keeps_the_old_rules(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps(PUBLIC))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server, Connection(server) as kept:
        target, bearer = "/v1/apps/counter/sessions/s/state", issuer.bearer("alice")
        assert kept.request("GET", target, headers=bearer).status == 403
        policy.write_text(json.dumps({"authenticated": [{"actions": ["read"], "app": "counter", "sessions": ["*"]}]}))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: kept.request("GET", target, headers=bearer).status == 200)
        with Connection(server) as stream:
            stream.send(message("GET", "/v1/apps/counter/sessions/s/changes", headers=bearer))
            assert stream.stream_head()[0] == 200
            policy.write_text(json.dumps(PUBLIC))
            server.process.send_signal(signal.SIGHUP)
            assert b'{"reason":"unauthorized","reconnect":false' in stream.until(b'"unauthorized"') + stream.until(b"\n\n")
        assert kept.request("GET", target, headers=bearer).status == 403
        policy.write_text("{")
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: "the earlier ones stay in use" in server.log_text())
        assert kept.request("GET", target, headers=bearer).status == 403
        assert str(policy) in server.log_text() and os.path.exists(f"/proc/{server.process.pid}")


def test_a_policy_may_publish_the_descriptions(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps({"anonymous": [{"actions": ["describe"], "app": "*"}]}))
    described = ("/openapi.json", "/v1/apps", "/v1/apps/counter", "/v1/apps/counter/types.d.ts")
    for arguments, status in ((["--policy", policy], 200), ([], 401)):
        with Server(None, arguments=["--jwt-key-file", issuer.file, *arguments]) as server:
            assert [server.get(target).status for target in described] == [status] * len(described)
            assert server.get("/problems/not-granted").status == 200 and server.get(HOME).status == 401


def test_a_caller_without_a_credential_has_the_session_of_its_cookie(server):
    me = "/v1/apps/todos/sessions/me"
    first = server.request("POST", f"{me}/events", {"add": {"id": "a", "title": "b"}})
    assert first.status == 200
    cookie = {"Cookie": first.headers["set-cookie"].split(";")[0]}
    own = cookie["Cookie"].split("=")[1].split(".")[0]
    for target in (me, f"/v1/apps/todos/sessions/{own}"):
        assert server.request("GET", f"{target}/state/p/todos/a/title", headers=cookie).json == "b"
    assert server.get(f"/v1/apps/todos/sessions/{own}/state").status == 401
    forged = {"Cookie": cookie["Cookie"][:-1] + ("0" if cookie["Cookie"][-1] != "0" else "1")}
    assert server.request("GET", f"/v1/apps/todos/sessions/{own}/state", headers=forged).status == 401
    with Connection(server) as connection:
        connection.send(message("GET", f"{me}/changes", headers=cookie))
        name = connection.stream_head()[1]["link"].split("/v1/streams/")[1].split(">")[0]
        assert server.request("PATCH", f"/v1/streams/{name}", {"paths": ["/p"]}).status == 401
        assert server.request("PATCH", f"/v1/streams/{name}", {"paths": ["/p"]}, cookie).status == 200


# Explanations for developers


def test_explain_auth_puts_the_reason_into_the_401(issuer, folder):
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--explain-auth"]) as server:
        now = int(time.time())
        for token, reason in {
            issuer.token("a", iat=now - 100, exp=now - 10): "expired 1", issuer.token("a", iss="b"): 'issuer "b" is not configured',
            issuer.token("a")[:-4] + "AAAA": "signature", issuer.token("a", aud="b"): "another audience",
            "rvk_canary7f3a": "mistyped", "canary7f3a": "1 parts",
        }.items():  # fmt: skip
            # The second answer comes from the cache.
            for _ in range(2):
                answer = server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"})
                assert answer.status == 401 and reason in answer.problem["detail"] and "canary" not in answer.problem["detail"], answer
        assert "needs a valid credential" in server.get("/v1/apps").problem["detail"]


@pytest.mark.parametrize("option", [["--host", "0.0.0.0"], ["--public-url", "https://a.example"], ["--trusted-proxies", "10.0.0.1"], None], ids=str)
def test_explain_auth_is_for_a_server_of_this_machine_alone(option, issuer):
    keys = ["--jwt-key-file", issuer.file] if option else []
    assert ("--explain-auth" if option else "--jwt-key-file") in refused(*keys, "--explain-auth", *(option or []))

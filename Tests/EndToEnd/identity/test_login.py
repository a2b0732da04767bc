# A page signs in with a cookie. The cookie outlives its token, so an expired caller gets 401 and is never anonymous.

import hashlib
import json
import time

import pytest

from harness import Connection, Server, message
from tokens import Issuer

LOGIN = "/v1/login"
POLICY = {"anonymous": [{"actions": ["read"], "app": "counter", "sessions": ["home"]}],
          "authenticated": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}", "home"]}]}  # fmt: skip
HOME = "/v1/apps/counter/sessions/home/state"
CLEARED = {
    "__Host-rivulet": ["", "Max-Age=0", "Path=/", "HttpOnly", "SameSite=Strict", "Secure"],
    "rivulet-token": ["", "Max-Age=0", "Path=/", "HttpOnly", "SameSite=Strict"],
}


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
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def cookies(server, method, headers=None, target=LOGIN):
    """The status of a request, and the cookies that its answer sets, each with its value and its attributes."""
    with Connection(server) as connection:
        connection.send(message(method, target, headers=headers))
        lines = connection.until(b"\r\n\r\n").decode().split("\r\n")
        fields = [line.partition(": ")[2] for line in lines if line.lower().startswith("set-cookie: ")]
        pairs = [field.split("=", 1) for field in fields]
        assert "Cache-Control: no-store" in lines
        return int(lines[0].split()[1]), {name: rest.split("; ") for name, rest in pairs}


def test_a_page_signs_in_and_out(server, issuer):
    token = issuer.token("alice", exp=int(time.time()) + 100)
    status, fields = cookies(server, "PUT", {"Authorization": f"Bearer {token}"})
    assert status == 204
    value, age, *attributes = fields.pop("rivulet-token")
    # A browser keeps the cookie for a week after the end of the token.
    assert value == token and 604_800 + 95 <= int(age.removeprefix("Max-Age=")) <= 604_800 + 100
    assert attributes == ["Path=/", "HttpOnly", "SameSite=Strict"]
    assert fields == {"__Host-rivulet": CLEARED["__Host-rivulet"]}
    assert server.get("/v1/me", Cookie=f"rivulet-token={value}").json["subject"] == "alice"
    assert cookies(server, "DELETE", {"Cookie": f"rivulet-token={value}"}) == (204, CLEARED)


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [(["--public-url", "https://a.example"], {}), (["--secure-cookies"], {}),
     (["--trusted-proxies", "127.0.0.1"], {"X-Forwarded-Proto": "https", "Host": "localhost"})],
    ids=["public URL", "secure cookies", "trusted proxy"],
)  # fmt: skip
def test_over_tls_the_cookie_is_of_this_host_and_secure(issuer, policy, arguments, headers):
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, *arguments]) as server:
        token = issuer.token("alice")
        status, fields = cookies(server, "PUT", {"Authorization": f"Bearer {token}"} | headers)
        assert status == 204 and fields["rivulet-token"] == CLEARED["rivulet-token"]
        assert fields["__Host-rivulet"][0] == token and fields["__Host-rivulet"][2:] == CLEARED["__Host-rivulet"][2:]


def test_a_claim_of_tls_by_a_client_is_not_believed_and_a_foreign_name_is_no_loopback(issuer, policy):
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--allowed-hosts", "a.example"]) as server:
        bearer = issuer.bearer("alice")
        assert "Secure" not in cookies(server, "PUT", bearer | {"X-Forwarded-Proto": "https"})[1]["rivulet-token"]
        for host in ("localhost:80", "a.localhost", "127.0.0.9", "[::1]:8080"):
            assert cookies(server, "PUT", bearer | {"Host": host})[0] == 204, host
        for host in ("a.example", "10.0.0.1"):
            refused = server.request("PUT", LOGIN, headers=bearer | {"Host": host})
            assert refused.problem["type"] == "/problems/login-refused" and "--public-url" in refused.problem["detail"]
            assert "set-cookie" not in refused.headers


def test_a_token_that_no_cookie_takes_is_422_with_the_remedy(server, issuer):
    long = issuer.token("alice", padding="x" * 3_000)
    refused = server.request("PUT", LOGIN, headers={"Authorization": f"Bearer {long}"})
    assert refused.status == 422 and refused.problem["type"] == "/problems/login-refused"
    assert str(len(long)) in refused.problem["detail"] and "4000" in refused.problem["detail"]
    assert server.get("/v1/me", Authorization=f"Bearer {long}").status == 200


def test_an_api_key_is_no_cookie(tmp_path):
    key = "rvk_7m2k9xq4_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_421608d8"
    keys = tmp_path / "keys.json"
    row = {"id": "7m2k9xq4", "sha256": hashlib.sha256(bytes(range(32))).hexdigest(), "grants": POLICY["authenticated"]}
    keys.write_text(json.dumps({"keys": [row]}))
    keys.chmod(0o600)
    with Server(None, arguments=["--api-keys", keys]) as server:
        bearer = {"Authorization": f"Bearer {key}"}
        assert server.request("GET", "/v1/me", headers=bearer).status == 200
        assert "API key" in server.request("PUT", LOGIN, headers=bearer).problem["detail"]
        assert server.get("/v1/me", Cookie=f"rivulet-token={key}").status == 401
        assert "An API key is in a cookie" in server.log_text() and key[-20:] not in server.log_text()


def test_neither_looks_at_the_cookie(server, issuer):
    now = int(time.time())
    old = issuer.token("alice", iat=now - 100, exp=now - 10)
    for name in ("__Host-rivulet", "rivulet-token"):
        for bad in (f"{name}={old}", f"{name}=x", f"{name}=", f"{name}=x; {name}=y"):
            assert server.get(HOME, Cookie=bad).status == 401
            assert cookies(server, "DELETE", {"Cookie": bad})[0] == 204
            assert cookies(server, "PUT", issuer.bearer("alice") | {"Cookie": bad})[0] == 204
            # The cookie is no credential for the sign-in, also if it is valid.
            assert server.request("PUT", LOGIN, headers={"Cookie": bad}).status == 401
        good = issuer.token("alice")
        assert server.request("PUT", LOGIN, headers={"Cookie": f"{name}={good}"}).headers["www-authenticate"] == "Bearer"
    assert cookies(server, "DELETE") == (204, CLEARED)


def test_an_expired_cookie_is_401_and_not_what_anonymous_callers_get(server, issuer):
    token = issuer.token("alice", iat=int(time.time()) - 100, exp=int(time.time()) - 10)
    assert server.get(HOME).status == 200
    refused = server.get(HOME, Cookie=f"rivulet-token={token}")
    assert refused.status == 401 and refused.headers["www-authenticate"] == 'Bearer error="invalid_token"'


def test_a_bad_credential_in_the_header_sets_no_cookie(server, issuer):
    for value in ("Bearer x", "Basic YTpi", "Bearer " + issuer.token("a", exp=int(time.time()) - 10)):
        for method in ("PUT", "DELETE"):
            refused = server.request(method, LOGIN, headers={"Authorization": value})
            assert refused.status == 401 and "set-cookie" not in refused.headers
    assert server.request("PUT", f"{LOGIN}?access_token={issuer.token('a')}").status == 400
    assert server.request("PUT", LOGIN, {"token": "x"}, issuer.bearer("alice")).problem["type"] == "/problems/unexpected-body"
    assert server.request("PUT", f"{LOGIN}?a=b", headers=issuer.bearer("alice")).status == 400
    assert server.request("GET", LOGIN, headers=issuer.bearer("alice")).headers["allow"] == "PUT, DELETE, OPTIONS"


def test_the_doors_hold_for_the_login(issuer, policy):
    origin = "https://a.example"
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--allowed-origins", origin]) as server:
        bearer = issuer.bearer("alice")
        for method in ("PUT", "DELETE"):
            assert server.request(method, LOGIN, headers=bearer | {"Host": "evil.example"}).status == 421
            assert server.request(method, LOGIN, headers=bearer | {"Origin": "https://b.example", "Sec-Fetch-Site": "cross-site"}).status == 403
        # The browser of an allowed page of another site would not keep the cookie.
        far = server.request("PUT", LOGIN, headers=bearer | {"Origin": origin, "Sec-Fetch-Site": "cross-site"})
        assert far.problem["type"] == "/problems/cross-site" and "cannot sign in" in far.problem["detail"]
        assert cookies(server, "PUT", bearer | {"Origin": origin, "Sec-Fetch-Site": "same-site"})[0] == 204


def test_a_page_that_only_the_star_allows_is_known_by_no_cookie(issuer, tmp_path):
    counter, policy = "/v1/apps/counter/sessions", tmp_path / "policy.json"
    own = {"actions": ["read", "create", "restore"], "app": "counter", "sessions": ["${me}"]}
    policy.write_text(json.dumps({"authenticated": [own], "anonymous": [own]}))
    arguments = ["--jwt-key-file", issuer.file, "--policy", policy, "--allowed-origins", "*,http://named.example:9"]
    with Server(None, arguments=arguments) as server:
        bearer, login = issuer.bearer("alice"), {"Cookie": f"rivulet-token={issuer.token('alice')}"}
        alice = server.request("GET", "/v1/me", headers=bearer).json["me"]
        session = {"Cookie": server.get(f"{counter}/me/state").headers["set-cookie"].partition(";")[0]}
        anonymous = server.request("GET", "/v1/me", headers=session).json["me"]
        for cookie, me in ((login, alice), (session, anonymous)):
            assert server.request("PUT", f"{counter}/me", headers=cookie).status in (200, 201)
            for site in ("same-site", "cross-site"):
                page = {"Origin": "http://evil.example:9", "Sec-Fetch-Site": site}
                answer = server.request("GET", "/v1/me", headers=page | cookie)
                assert (answer.json["subject"], answer.json["me"]) == (None, None) and answer.headers["access-control-allow-origin"] == "*"
                # No preflight comes before a request without a body.
                assert server.request("POST", f"{counter}/{me}/reset", headers=page | cookie).status == 401
                assert server.request("POST", f"{counter}/me/reset", headers=page | cookie).problem["type"] == "/problems/unknown-caller"
                # The header is a credential for such a page, beside any cookie.
                assert server.request("POST", f"{counter}/me/reset", headers=page | cookie | bearer).status == 200
            named = {"Origin": "http://named.example:9", "Sec-Fetch-Site": "same-site"}
            assert server.request("POST", f"{counter}/{me}/reset", headers=named | cookie).status == 200


def test_an_open_server_has_no_sign_in(shared):
    assert shared.request("PUT", LOGIN).problem["type"] == "/problems/not-found"
    assert cookies(shared, "DELETE") == (204, CLEARED)

# `--auth FILE` names several issuers. Each has its own keys, audiences, types and roles, and they are never mixed.

import json
import signal
import time

import pytest

from harness import PATIENCE, Server, run
from tokens import Issuer

POLICY = {"roles": {"operator": [{"actions": ["operate"]}]}}


@pytest.fixture
def issuers(tmp_path):
    """Two issuers with their secrets in a folder of the file."""
    found = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        found.append(Issuer(tmp_path / name))
    return found


@pytest.fixture
def auth(tmp_path, issuers):
    file = tmp_path / "auth.json"
    write(file, {"issuer": "https://a.example", "keyFile": "a/secret", "audiences": ["x"]},
          {"issuer": "b", "keyFile": str(issuers[1].file), "types": ["JWT"], "rolesClaim": "access.roles", "lifetime": 172_800})  # fmt: skip
    return file


def write(file, *issuers):
    file.write_text(json.dumps({"issuers": issuers}))


def status(server, token):
    return server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"}).status


def refused(*arguments):
    outcome = run("serve", "--memory", "--port", "0", *arguments)
    assert outcome.returncode == 1 and len(outcome.stderr.strip().splitlines()) == 1, outcome
    return outcome.stderr


def test_each_issuer_has_its_own_keys_audiences_types_roles_and_lifetime(tmp_path, issuers, auth):
    first, second = issuers
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    now = int(time.time())
    with Server(None, arguments=["--auth", auth, "--policy", tmp_path / "policy.json", "--audience", "y"]) as server:
        own, other = {"iss": "https://a.example", "aud": "x"}, {"iss": "b", "aud": "y", "header": {"typ": "JWT"}}
        assert status(server, first.token("alice", **own)) == 200 and status(server, second.token("bob", **other)) == 200
        # The keys, audiences, types and lifetimes of one issuer are not those of the other.
        for token in (
            second.token("alice", **own), first.token("bob", **other), first.token("alice", **own | {"aud": "y"}), second.token("bob", **other | {"aud": "x"}),
            first.token("alice", header={"typ": "JWT"}, **own), first.token("alice", **own | {"iss": "c"}), first.token("alice", **own | {"iss": None}),
            first.token("alice", iat=now, exp=now + 100_000, **own),
        ):
            assert status(server, token) == 401
        assert status(server, second.token("bob", iat=now, exp=now + 100_000, **other)) == 200
        metrics = lambda token: server.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"}).status
        assert metrics(second.token("bob", access={"roles": ["operator"]}, **other)) == 200
        assert metrics(first.token("alice", access={"roles": ["operator"]}, **own)) == 403 and metrics(first.token("alice", "operator", **own)) == 200
        names = [server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"}).json["me"] for token in (first.token("c", **own), second.token("c", **other))]
        assert len(set(names)) == 2
        document = server.get("/.well-known/oauth-protected-resource").json
        assert document["authorization_servers"] == ["b", "https://a.example"]


def test_the_public_url_is_the_audience_of_issuers_that_name_none(issuers, auth):
    write(auth, {"issuer": "a", "keyFile": "a/secret"})
    with Server(None, arguments=["--auth", auth, "--public-url", "https://api.example"]) as server:
        assert status(server, issuers[0].token("alice", iss="a", aud="https://api.example")) == 200
        assert status(server, issuers[0].token("alice", iss="a")) == 401


def test_an_option_of_one_issuer_contradicts_the_file(issuers, auth):
    for option in (["--jwt-key-file", issuers[0].file], ["--jwks", "x"], ["--jwt-alg", "HS256"], ["--issuer", "a"], ["--token-type", "JWT"]):
        line = refused("--auth", auth, *option)
        assert "--auth names a file with all issuers" in line and option[0] in line, line


def test_a_fault_in_the_file_or_in_a_key_is_named(tmp_path, issuers, auth):
    for issuer, remedy in [
        ({"issuer": "a", "keyFile": "none"}, f"cannot read {tmp_path}/none"), ({"issuer": "a"}, 'needs one of "keyFile" and "jwks"'),
        ({"issuer": "a", "keyFile": "a/secret", "algorithm": "ES256"}, f"{tmp_path}/a/secret: "), ({"keyFile": "a/secret", "key": 1}, '"key"'),
        ({"issuer": "a", "jwks": "auth.json", "audiences": ["x"]}, f"{tmp_path}/auth.json: "), ({"issuer": "a", "jwks": "http://a.example/"}, "https"),
    ]:
        write(auth, issuer)
        assert remedy in refused("--auth", auth), issuer
    write(auth, {"issuer": "a", "keyFile": "a/secret"}, {"issuer": "a", "keyFile": "b/secret"})
    line = refused("--auth", auth)
    assert str(auth) in line and "configured twice" in line
    issuers[0].file.chmod(0o644)
    write(auth, {"issuer": "a", "keyFile": "a/secret"})
    assert "chmod 600" in refused("--auth", auth)


def test_a_hangup_reads_the_file_and_its_keys_again(tmp_path, issuers, auth):
    first, second = issuers
    claims = {"iss": "https://a.example", "aud": "x"}
    with Server(None, arguments=["--auth", auth]) as server:
        assert status(server, first.token("alice", **claims)) == 200
        write(auth, {"issuer": "https://a.example", "keyFile": "b/secret", "audiences": ["x"]})
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while status(server, second.token("alice", **claims)) != 200:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert status(server, first.token("alice", **claims)) == 401
        log = server.log_text()
        assert str(auth) in log and f"{tmp_path}/b/secret" in log


def test_the_variable_names_the_file_and_inspect_reads_it(issuers, auth):
    token = issuers[0].token("alice", iss="https://a.example", aud="x")
    with Server(None, variables={"RIVULET_AUTH": str(auth)}) as server:
        assert status(server, token) == 200
    assert run("token", "inspect", "-", "--auth", auth, input=token).returncode == 0
    assert run("token", "inspect", "-", "--auth", auth, input=issuers[1].token("a", iss="c")).returncode == 1

# `rivulet token make` signs tokens that a server takes. `token inspect` says if a server would take one.

import json
import os
import re
import subprocess
import time

import pytest

from harness import Server, binary, environment, run
from tokens import Issuer, encoded

GRANT = {"actions": ["read"], "app": "counter", "sessions": ["home"]}
#: The commands of openssl that make a private key for each algorithm.
KEYS = {
    "RS256": "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048", "PS256": "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048",
    "ES256": "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", "ES384": "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384",
    "EdDSA": "genpkey -algorithm ed25519",
}  # fmt: skip


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def pair(folder, algorithm):
    """A new private key and its public key, as files."""
    private, public = folder / f"{algorithm}.pem", folder / f"{algorithm}.pub.pem"
    openssl(*KEYS[algorithm].split(), "-out", str(private))
    openssl("pkey", "-in", str(private), "-pubout", "-out", str(public))
    private.chmod(0o600)
    return private, public


def make(*arguments):
    outcome = run("token", "make", *arguments)
    assert outcome.returncode == 0 and re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+\n", outcome.stdout), outcome
    return outcome.stdout.strip()


def refused(*arguments):
    outcome = run("token", "make", *arguments)
    assert outcome.returncode == 1 and outcome.stdout == "" and len(outcome.stderr.strip().splitlines()) == 1, outcome
    return outcome.stderr


def inspect(token, *arguments, **variables):
    """The exit status and the output. No part of the signature is in the output."""
    outcome = subprocess.run(
        [binary(), "token", "inspect", "-", *map(str, arguments)], input=token, capture_output=True, text=True, env=environment() | variables, timeout=20
    )
    signature = token.strip().rpartition(".")[2]
    assert len(signature) < 8 or signature[:20] not in outcome.stdout + outcome.stderr
    return outcome.returncode, outcome.stdout + outcome.stderr


@pytest.fixture
def issuer(tmp_path):
    return Issuer(tmp_path)


@pytest.mark.parametrize("algorithm", KEYS)
def test_a_token_of_each_private_key_is_taken_under_the_public_key(algorithm, tmp_path):
    private, public = pair(tmp_path, algorithm)
    token = make("--jwt-key-file", private, "--jwt-alg", algorithm, "--subject", "alice", "--issuer", "me", "--audience", "here")
    options = ["--jwt-key-file", public, "--jwt-alg", algorithm, "--issuer", "me", "--audience", "here"]
    status, text = inspect(token, *options)
    assert status == 0 and "accepted" in text and f'"{algorithm}"' in text, text
    with Server(None, arguments=options) as server:
        me = server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"}).json
        assert me["subject"] == "alice" and me["issuer"] == "me"
    _, other = pair(tmp_path, algorithm)
    assert inspect(token, "--jwt-key-file", other, *options[2:])[1].splitlines()[-1].startswith("refused (signature)")


def test_a_token_has_the_roles_and_grants_that_were_asked_for(tmp_path, issuer):
    grants, policy = tmp_path / "grants.json", tmp_path / "policy.json"
    grants.write_text(json.dumps(GRANT))
    policy.write_text(json.dumps({"roles": {"editor": [{"actions": ["dispatch", "create"], "app": "todos", "sessions": ["*"]}]}}))
    token = make("--jwt-key-file", issuer.file, "--subject", "alice", "--roles", "editor, reader", "--grants", grants, "--expires", "10m")
    status, text = inspect(token, "--jwt-key-file", issuer.file, "--policy", policy)
    assert status == 0 and '["editor","reader"]' in text and re.search(r"in (9|10) min", text), text
    [credential, role] = [json.loads(line) for line in text.partition("\ngrants\n")[2].splitlines()[:2]]
    assert credential == GRANT and role["app"] == "todos"
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        bearer = {"Authorization": f"Bearer {token}"}
        assert server.request("POST", "/v1/apps/todos/sessions/s/events", {"add": {"id": "a", "title": "b"}}, bearer).status == 200
        assert server.request("GET", "/v1/apps/counter/sessions/home/state", headers=bearer).status == 200
        assert server.request("GET", "/v1/apps/counter/sessions/other/state", headers=bearer).status == 403
    # Each token has an id of its own, by which it can be revoked.
    again = make("--jwt-key-file", issuer.file, "--subject", "alice")
    assert len({re.search(r'jti +"([\w-]{16})"', inspect(each)[1])[1] for each in (token, again)}) == 2


def test_the_variables_of_a_server_are_those_of_its_tokens(issuer, monkeypatch):
    variables = {"RIVULET_JWT_KEY_FILE": str(issuer.file), "RIVULET_ISSUER": "me", "RIVULET_AUDIENCE": "a,b"}
    monkeypatch.setattr("harness.environment", lambda: environment() | variables)
    token = make("--subject", "alice")
    status, text = inspect(token, **variables)
    assert status == 0 and '["a","b"]' in text and "accepted" in text, text


def test_times_are_dates_and_a_refusal_has_its_reason(issuer):
    now = int(time.time())
    options = ["--jwt-key-file", issuer.file]
    for reason, token in {
        "exp": issuer.token("a", iat=now - 4000, exp=now - 400), "nbf": issuer.token("a", nbf=now + 400), "sub": issuer.token(None),
        "typ": issuer.token("a", header={"typ": "JWT"}), "iss": issuer.token("a", iss="b"), "aud": issuer.token("a", aud="b"),
        "signature": issuer.token("a")[:-8] + "AAAAAAAA", "alg": issuer.token("a", header={"alg": "ES256"}),
        "authorization_details": issuer.token("a", authorization_details=[{"type": "rivulet", "actions": ["fly"]}]),
    }.items():  # fmt: skip
        status, text = inspect(token, *options)
        assert status == 1 and text.splitlines()[-1].startswith(f"refused ({reason}): "), (reason, text)
        # Without keys the token is shown all the same.
        status, text = inspect(token)
        assert status == 0 and text.splitlines()[-1].startswith("not verified: "), text
    status, text = inspect(issuer.token("a", iat=now - 4000, exp=now - 400))
    assert re.search(rf"exp +{now - 400} = \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ, 6 min ago", text), text


def test_text_that_is_no_token_is_refused_without_being_shown(issuer):
    canary = "canary7f3a"
    for text in (canary, f"{canary}.{canary}.{canary}", f"{canary} {canary}", "", f"eyJ{canary}" * 2000, f"Basic {canary}"):
        status, output = inspect(text, "--jwt-key-file", issuer.file)
        assert status == 1 and canary not in output, output
        assert inspect(text)[0] == 1
    assert inspect(f"rvk_{canary}")[0] == 1
    # Nor does the parser of arguments show one.
    for arguments in ([canary, canary], [canary, canary, canary]):
        outcome = run("token", "inspect", *arguments)
        assert outcome.returncode == 1 and canary not in outcome.stdout + outcome.stderr, outcome


def test_claims_cannot_write_to_a_terminal(issuer):
    text = inspect(issuer.token("a", name="x\u001b[2J\u202ey", **{"b\u001b]0;c": 1}))[1]
    assert "\u001b" not in text and "\u202e" not in text and "\\u001b" in text


def test_a_token_of_a_header_and_an_argument_is_read_too(issuer):
    token = issuer.token("alice")
    assert inspect(f"  Bearer {token}\n", "--jwt-key-file", issuer.file)[0] == 0
    outcome = run("token", "inspect", token)
    assert outcome.returncode == 0 and '"alice"' in outcome.stdout


def test_an_api_key_is_read_by_its_id_alone(tmp_path):
    keys, grants = tmp_path / "keys.json", tmp_path / "grants.json"
    grants.write_text(json.dumps([GRANT]))
    key = run("keys", "add", "--api-keys", keys, "--grants", grants).stdout.strip()
    status, text = inspect(key, "--api-keys", keys)
    assert status == 0 and f"API key {key[4:12]}" in text and key[13:40] not in text and "accepted" in text
    assert run("keys", "remove", key[4:12], "--api-keys", keys).returncode == 0
    status, text = inspect(key, "--api-keys", keys)
    assert status == 1 and "refused (key)" in text and key[13:40] not in text


def test_a_key_that_cannot_sign_is_named_with_the_remedy(tmp_path, issuer):
    private, public = pair(tmp_path, "ES256")
    for arguments, remedy in {
        ("--jwt-key-file", public, "--jwt-alg", "ES256"): "private key", ("--jwt-key-file", private): "--jwt-alg",
        ("--jwt-key-file", private, "--jwt-alg", "ES384"): "ES384", ("--jwt-key-file", private, "--jwt-alg", "HS256"): "--jwt-alg",
        ("--jwt-key-file", issuer.file, "--jwt-alg", "ES256"): "PRIVATE KEY", ("--jwt-key-file", issuer.file, "--jwt-alg", "none"): "none of",
        ("--jwt-key-file", tmp_path / "no"): "cannot read", (): "--jwt-key-file",
    }.items():  # fmt: skip
        public.chmod(0o600)
        assert remedy in refused(*arguments, "--subject", "a")
    encrypted, short = tmp_path / "encrypted.pem", tmp_path / "short"
    openssl("pkey", "-in", str(private), "-aes128", "-passout", "pass:secret", "-out", str(encrypted))
    encrypted.chmod(0o600)
    assert "encrypted" in refused("--jwt-key-file", encrypted, "--jwt-alg", "ES256", "--subject", "a")
    short.write_bytes(b"x" * 31)
    short.chmod(0o600)
    assert "31 bytes" in refused("--jwt-key-file", short, "--subject", "a")
    issuer.file.chmod(0o640)
    assert f"chmod 600 {issuer.file}" in refused("--jwt-key-file", issuer.file, "--subject", "a")


def test_claims_that_no_server_takes_are_refused(tmp_path, issuer):
    file, grants = ["--jwt-key-file", issuer.file], tmp_path / "grants.json"
    assert '"sub"' in refused(*file, "--subject", "x" * 256) and '"sub"' in refused(*file, "--subject", "a\nb")
    assert "--expires" in refused(*file, "--subject", "a", "--expires", "soon")
    assert "--subject" in refused(*file)
    # Wide grants make the token too long.
    grants.write_text(json.dumps([GRANT | {"sessions": [f"{number:0120}" for number in range(60)]}]))
    assert "8000 bytes" in refused(*file, "--subject", "a", "--grants", grants)
    outcome = run("token", "make", *file, "--subject", "a", "--expires", "2d")
    assert outcome.returncode == 0 and "a day" in outcome.stderr


def test_a_key_set_with_several_keys_needs_the_id_of_one(tmp_path):
    private, public = pair(tmp_path, "EdDSA")
    raw = subprocess.run(["openssl", "pkey", "-pubin", "-in", public, "-outform", "DER"], check=True, capture_output=True).stdout[-32:]
    # The point of another key: that of RFC 8032 section 7.1, test 1.
    other = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")
    keys = [{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encoded(point)} for kid, point in (("a", other), ("b", raw))]
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps({"keys": keys}))
    token = ["--jwt-key-file", private, "--jwt-alg", "EdDSA", "--subject", "s", "--issuer", "i", "--audience", "https://a.example"]
    options = ["--jwks", jwks, "--issuer", "i", "--public-url", "https://a.example"]
    assert inspect(make(*token, "--key-id", "b"), *options)[0] == 0
    for arguments, reason in (([], "kid"), (["--key-id", "c"], "kid"), (["--key-id", "a"], "signature")):
        assert f"refused ({reason})" in inspect(make(*token, *arguments), *options)[1]


def test_keys_with_a_fault_are_one_line(tmp_path, issuer):
    outcome = run("token", "inspect", "-", "--jwt-key-file", tmp_path / "none", stdin=subprocess.DEVNULL)
    assert outcome.returncode == 1 and os.linesep not in outcome.stderr.strip() and "one token" in outcome.stderr
    status, text = inspect(issuer.token("a"), "--jwt-key-file", tmp_path / "none")
    assert status == 1 and "cannot read" in text
    assert "add --jwt-key-file" in inspect(issuer.token("a"), "--issuer", "x")[1]

# `--jwks https://…`: the server fetches the keys with curl, and a key set that cannot be fetched stops the start.

import contextlib
import http.server
import json
import os
import signal
import ssl
import subprocess
import threading
import time

import pytest

from harness import PATIENCE, Server, binary, environment, run
from tokens import encoded

CLAIMS = ["--issuer", "i", "--audience", "a"]


def openssl(*arguments):
    return subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True).stdout


class Key:
    """A private key, and its public key as a member of a set."""

    def __init__(self, folder, kid):
        self.kid, self.file = kid, folder / f"{kid}.pem"
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        self.file.chmod(0o600)
        point = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        self.public = {"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": encoded(point)}

    def bearer(self):
        made = run("token", "make", "--jwt-key-file", self.file, "--jwt-alg", "EdDSA", "--subject", "s", *CLAIMS, "--key-id", self.kid)
        return {"Authorization": f"Bearer {made.stdout.strip()}"}


class Provider:
    """An https server with a key set, which counts the requests for it."""

    def __init__(self, folder):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "tls.key", "-out", folder / "tls.pem")  # fmt: skip
        self.trust = {"SSL_CERT_FILE": str(folder / "tls.pem"), "CURL_CA_BUNDLE": str(folder / "tls.pem")}
        self.status, self.body, self.headers, self.count = 200, b"", {}, 0
        self.answers = threading.Event()
        self.answers.set()
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                provider.count += 1
                provider.answers.wait(PATIENCE)
                self.send_response(provider.status)
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(provider.body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.pem", folder / "tls.key")
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_port}/keys?a=b"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def give(self, *keys):
        self.status, self.body, self.headers = 200, json.dumps({"keys": [key.public for key in keys]}).encode(), {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("provider")


@pytest.fixture(scope="module")
def keys(folder):
    return Key(folder, "one"), Key(folder, "two")


@pytest.fixture
def provider(tmp_path, keys):
    provider = Provider(tmp_path)
    provider.give(keys[0])
    yield provider
    provider.server.shutdown()
    provider.server.server_close()


def refused(*arguments, **variables):
    outcome = subprocess.run(
        [binary(), "serve", "--memory", "--port", "0", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, env=environment() | variables
    )
    assert outcome.returncode == 1 and outcome.stdout == "" and len(outcome.stderr.strip().splitlines()) == 1, outcome
    return outcome.stderr


def eventually(check):
    end = time.monotonic() + PATIENCE
    while not check():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_keys_of_a_url_verify_tokens_and_an_unknown_key_fetches_them_again(provider, keys):
    first, second = keys
    with Server(None, arguments=["--jwks", provider.url, *CLAIMS], variables=provider.trust) as server:
        status = lambda key: server.request("GET", "/v1/me", headers=key.bearer()).status
        assert status(first) == 200 and provider.count == 1
        provider.give(second)
        eventually(lambda: status(second) == 200)
        assert status(first) == 401 and provider.count == 2
        # A second unknown key has to wait for a minute.
        provider.give(first)
        for _ in range(3):
            assert status(first) == 401
            time.sleep(0.5)
        assert provider.count == 2
        assert server.stop() == 0


def test_a_failed_fetch_keeps_the_last_keys(provider, keys):
    first, second = keys
    with Server(None, arguments=["--jwks", provider.url, *CLAIMS], variables=provider.trust) as server:
        provider.status, provider.body = 503, b"{}"
        assert server.request("GET", "/v1/me", headers=second.bearer()).status == 401
        eventually(lambda: "stay in use" in server.log_text())
        assert "curl ended with 22" in server.log_text() and server.request("GET", "/v1/me", headers=first.bearer()).status == 200
        assert server.stop() == 0


def test_a_hangup_reads_the_files_and_keeps_the_set(provider, keys, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text("{}")
    with Server(None, arguments=["--jwks", provider.url, *CLAIMS, "--policy", policy], variables=provider.trust) as server:
        assert server.request("GET", "/metrics", headers=keys[0].bearer()).status == 403
        policy.write_text('{"authenticated": [{"actions": ["operate"]}]}')
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: server.request("GET", "/metrics", headers=keys[0].bearer()).status == 200)
        assert provider.count == 1


def test_a_set_that_does_not_come_delays_no_reload_and_is_the_only_one_that_is_fetched(tmp_path, keys):
    providers, trust = [], tmp_path / "trust.pem"
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        providers.append(Provider(tmp_path / name))
        providers[-1].give(keys[0])
    trust.write_bytes(b"".join((tmp_path / name / "tls.pem").read_bytes() for name in ("a", "b", "c")))
    auth, file, grants = tmp_path / "auth.json", tmp_path / "keys.json", tmp_path / "grants.json"
    described = [{"issuer": f"i{number}", "jwks": provider.url, "audiences": ["a"]} for number, provider in enumerate(providers)]
    auth.write_text(json.dumps({"issuers": described}))
    grants.write_text('[{"actions": ["operate"]}]')
    key = run("keys", "add", "--api-keys", file, "--grants", grants, "--name", "x").stdout.split()[-1]
    claims = encoded({"iss": "i1", "aud": "a", "sub": "s", "iat": int(time.time()), "exp": int(time.time()) + 60})
    unknown = f"{encoded({'alg': 'EdDSA', 'typ': 'at+jwt', 'kid': 'nothing'})}.{claims}.{encoded(bytes(64))}"
    variables = {"SSL_CERT_FILE": str(trust), "CURL_CA_BUNDLE": str(trust)}
    with Server(None, arguments=["--auth", auth, "--api-keys", file], variables=variables) as server:
        status = lambda credential: server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {credential}"}).status
        try:
            for provider in providers:
                provider.answers.clear()
            # Any client can send an unknown key, also one of an API key.
            assert [status(credential) for credential in (key, unknown, key.replace("rvk_", "rvk_x"))] == [200, 401, 401]
            eventually(lambda: providers[1].count == 2)
            assert run("keys", "remove", "--api-keys", file, key.split("_")[1]).returncode == 0
            server.process.send_signal(signal.SIGHUP)
            began = time.monotonic()
            eventually(lambda: status(key) == 401)
            assert time.monotonic() - began < 5
            assert [provider.count for provider in providers] == [1, 2, 1]
            # A new URL waits for the fetch that is under way, and not for more of them.
            described[0]["jwks"] += "&again"
            auth.write_text(json.dumps({"issuers": described}))
            server.process.send_signal(signal.SIGHUP)
        finally:
            for provider in providers:
                provider.answers.set()
        eventually(lambda: server.log_text().count("read again") >= 2)
        assert [provider.count for provider in providers] == [2, 2, 1]
        assert server.stop() == 0
    for provider in providers:
        provider.server.shutdown()
        provider.server.server_close()


def test_a_url_in_the_file_of_issuers_and_in_inspect(provider, keys, tmp_path):
    auth = tmp_path / "auth.json"
    auth.write_text(json.dumps({"issuers": [{"issuer": "i", "jwks": provider.url, "audiences": ["a"]}]}))
    with Server(None, arguments=["--auth", auth], variables=provider.trust) as server:
        assert server.request("GET", "/v1/me", headers=keys[0].bearer()).status == 200
        # Another URL after a hangup is fetched, also by the thread.
        provider.give(keys[1])
        auth.write_text(auth.read_text().replace(provider.url, provider.url + "&again"))
        server.process.send_signal(signal.SIGHUP)
        eventually(lambda: server.request("GET", "/v1/me", headers=keys[1].bearer()).status == 200)
        # A token with an unknown key may have fetched the first URL before.
        assert provider.count in (2, 3) and server.stop() == 0
    provider.give(keys[0])
    for key, code in ((keys[0], 0), (keys[1], 1)):
        outcome = subprocess.run(
            [binary(), "token", "inspect", "-", "--jwks", provider.url, *CLAIMS], input=key.bearer()["Authorization"], text=True, capture_output=True,
            env=environment() | provider.trust, timeout=PATIENCE,
        )  # fmt: skip
        assert outcome.returncode == code, outcome


def test_a_set_that_cannot_be_fetched_is_one_line_and_exit_1(provider):
    options = ["--jwks", provider.url, *CLAIMS]
    assert "not trusted" in refused(*options)
    for status, body, headers, reason in [
        (404, b"", {}, "ended with 22"), (302, b'{"keys": []}', {"Location": provider.url + "&again"}, "status 302"), (204, b"", {}, "status 204"),
        (200, b"<html>", {}, "not a JSON Web Key Set"), (200, b'{"keys": []}', {}, "no key that verifies"),
        (200, b" " * 65_537, {"Content-Length": "65537"}, "over 65536 bytes"), (200, b" " * 2_000_000, {}, "65536 bytes"),
    ]:  # fmt: skip
        provider.status, provider.body, provider.headers = status, body, headers
        assert reason in refused(*options, **provider.trust), reason
    count = provider.count
    provider.server.shutdown()
    provider.server.server_close()
    assert "ended with 7" in refused(*options, **provider.trust) and provider.count == count


def test_a_url_that_is_not_safe_is_refused_before_a_fetch():
    for url in ("http://localhost/keys", "HTTP://localhost/keys", "https://user:password@localhost/", "https://", "https://a b/", "https://a/#b"):
        line = refused("--jwks", url, *CLAIMS)
        assert "https://" in line and "password" not in line, line


def test_a_machine_without_curl_says_what_to_do(provider, tmp_path):
    line = refused("--jwks", provider.url, *CLAIMS, PATH=str(tmp_path))
    assert "no curl" in line and "name the file" in line


def test_curl_gets_no_secret_and_reads_no_file_of_options(provider, tmp_path, keys):
    program = tmp_path / "bin" / "curl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nenv > {tmp_path}/env\necho "$@" > {tmp_path}/arguments\nls -l /proc/self/fd > {tmp_path}/open\nexec /usr/bin/curl "$@"\n')
    program.chmod(0o755)
    variables = provider.trust | {"PATH": f"{program.parent}:{os.environ['PATH']}", "RIVULET_SECRET_KEY": "canary" * 8, "OTHER": "canary"}
    with Server(None, arguments=["--jwks", provider.url, *CLAIMS], variables=variables) as server:
        assert server.request("GET", "/v1/me", headers=keys[0].bearer()).status == 200
    assert "canary" not in (tmp_path / "env").read_text()
    arguments = (tmp_path / "arguments").read_text()
    assert arguments.startswith("--disable --fail --silent ") and "--proto =https --max-redirs 0 --max-time 10 --max-filesize 65536" in arguments
    assert "socket:" not in (tmp_path / "open").read_text()

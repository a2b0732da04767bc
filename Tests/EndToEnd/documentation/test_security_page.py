# The policy of Security.md is one that a server takes, and gives each role what the page says.

import json
import os
import re
import subprocess

import pytest

from fences import block, fenced
from harness import Server, binary, environment
from tokens import Issuer, encoded

PAGE = "Documentation/Security.md"


@pytest.fixture
def shell(tmp_path):
    """Runs commands of the page in an empty folder, and returns their output."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rivulet").symlink_to(binary())
    variables = environment() | {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}

    def run(commands):
        ended = subprocess.run(["sh", "-euc", commands], cwd=tmp_path, env=variables, capture_output=True, text=True, timeout=20)
        assert ended.returncode == 0, ended
        return ended.stdout

    return run


def until(command, text):
    """The commands before one that begins so, and the arguments of that command."""
    before, _, last = text.partition(command)
    return before, last.split("\n")[0].split()


def test_the_checks_of_the_page_print_what_it_shows(shell, tmp_path):
    policy = block(PAGE, "json", '{\n  "roles"')
    (tmp_path / "policy.json").write_text(policy)
    shown = block(PAGE, "console", "$ echo '{\"sub\"")
    for part in shown.removeprefix("$ ").split("\n$ "):
        command, _, output = part.partition("\n")
        assert shell(command + " || [ $? -eq 1 ]").strip() == output.strip()


def test_the_file_of_issuers_of_the_page_is_one_that_its_server_takes(shell, tmp_path):
    (tmp_path / "auth.json").write_text(block(PAGE, "json", '{\n  "issuers"'))
    shell("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out key.pem; chmod 600 key.pem")
    shell("openssl pkey -in key.pem -pubout -out backend.pem")
    point = subprocess.run(["openssl", "pkey", "-pubin", "-in", tmp_path / "backend.pem", "-outform", "DER"], capture_output=True, check=True).stdout[-64:]
    key = {"kty": "EC", "crv": "P-256", "kid": "a", "x": encoded(point[:32]), "y": encoded(point[32:])}
    (tmp_path / "login.jwks").write_text(json.dumps({"keys": [key]}))
    token = shell("rivulet token make --jwt-key-file key.pem --jwt-alg ES256 --subject a --issuer backend --audience https://b.example --expires 5m")
    with Server(None, arguments=["--auth", tmp_path / "auth.json", "--public-url", "https://b.example"]) as server:
        assert server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token.strip()}"}).json["issuer"] == "backend"


def test_readers_and_editors_of_the_page_get_what_it_shows(shell, tmp_path):
    (tmp_path / "policy.json").write_text(block(PAGE, "json", '{\n  "roles"'))
    [start] = [code for language, code in fenced(PAGE) if language == "sh" and "--policy policy.json" in code]
    before, arguments = until("rivulet serve ", start)
    shell(before)
    commands = block(PAGE, "console", "$ umask 077").removeprefix("$ ").split("\n$ ")
    assert len(commands) == 8
    variables = ""
    with Server(tmp_path / "data", arguments=[tmp_path / word if (tmp_path / word).exists() else word for word in arguments]) as server:
        for part in commands:
            command, _, output = part.partition("\n")
            if command.startswith("T="):
                variables = command.replace("http://127.0.0.1:8080", server.url) + "; "
                continue
            # The cursor differs each time.
            printed = [re.sub('"cursor":"[^"]*"', "", text.strip()) for text in (shell(variables + command), output)]
            assert printed[0] == printed[1], command


def test_the_token_of_the_page_is_one_that_its_server_takes(shell, tmp_path):
    [made] = [code for language, code in fenced(PAGE) if language == "sh" and "alice.token" in code]
    before, arguments = until("rivulet serve ", made)
    assert "accepted" in shell(before)
    token = (tmp_path / "alice.token").read_text().strip()
    with Server(None, arguments=[tmp_path / word if word == "secret" else word for word in arguments]) as server:
        assert server.request("GET", "/v1/me", headers={"Authorization": f"Bearer {token}"}).json["subject"] == "alice"


def test_the_key_of_the_page_is_one_that_its_server_takes(shell, tmp_path):
    before, arguments = until("rivulet serve ", block(PAGE, "sh", "echo '["))
    assert "\tbilling\t" in shell(before)
    key = (tmp_path / "billing.key").read_text().strip()
    bearer = {"Authorization": f"Bearer {key}"}
    with Server(None, arguments=[tmp_path / word if word.endswith(".json") else word for word in arguments]) as server:
        assert server.request("GET", "/v1/apps/todos/sessions/home/state", headers=bearer).status in (200, 404)
        assert server.request("GET", "/v1/apps/todos/sessions/other/state", headers=bearer).status == 403
    shell(f"rivulet keys remove {key[4:12]} --api-keys keys.json")
    assert shell("rivulet keys list --api-keys keys.json") == ""


def test_the_policy_of_the_page_gives_its_roles_what_it_says(tmp_path):
    policy = block(PAGE, "json", '{\n  "roles"')
    issuer, file = Issuer(tmp_path), tmp_path / "policy.json"
    file.write_text(policy)
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", file]) as server:
        todos = "/v1/apps/todos/sessions"
        editor, reader, operator, user = (issuer.bearer(name, name) for name in ("editor", "reader", "operator", "user"))
        assert server.request("POST", f"{todos}/home/events", {"add": {"id": "milk", "title": "Buy milk"}}, editor).status == 200
        assert server.request("GET", f"{todos}/other/state", headers=reader).status == 200
        masked = server.request("GET", f"{todos}/home/state", headers=reader)
        # The reader also has the whole of `home`, as every caller.
        assert json.loads(masked.body)["p"]["filter"] == "all"
        assert server.request("POST", f"{todos}/home/events", "clearDone", reader).status == 403
        assert server.get(f"{todos}/home/state").status == 200 and server.get(f"{todos}/other/state").status == 401
        assert server.request("POST", f"{todos}/me/events", {"add": {"id": "a", "title": "b"}}, user).status == 200
        assert server.request("GET", f"{todos}/other/state", headers=user).status == 403
        assert server.request("GET", "/metrics", headers=operator).status == 200
        assert server.request("GET", "/metrics", headers=editor).status == 403

# Documentation/Deploying.md: its options, its image and its unit work with a real server.

import json
import re

from fences import block, text
from fronts import NAME, Authority, Front
from harness import Server, run
from tokens import Issuer, encoded

PAGE = "Documentation/Deploying.md"


def commands(beginning):
    """The text of each `sh` block that begins with this pattern, in the order of the page."""
    return re.findall(rf"^```sh\n({beginning}.*?)^```$", text(PAGE), re.S | re.M)


def test_each_option_of_the_page_is_one_of_the_command_line():
    shown = run("serve", "--help").stdout + run("doctor", "--help").stdout
    options = set(re.findall(r"`(--[a-z-]+)", text(PAGE))) - {"--static-swift-stdlib"}
    assert len(options) > 10
    assert {option for option in options if not re.search(rf"{option}\b", shown)} == set()


def test_the_defaults_of_the_page_are_those_of_the_command_line():
    shown = re.sub(r"\s+", " ", run("serve", "--help").stdout)
    rows = dict(re.findall(r"^\| (`--.*?) \| (.*?) \|", text(PAGE), re.M))
    assert rows["`--data`"] == "`./data`" and "(default: ./data)" in shown
    assert rows["`--host`, `--port`"] == "`127.0.0.1`, `8080`" and "(default: 127.0.0.1)" in shown and "(default: 8080)" in shown
    assert rows["`--log-format`"] == "`text`" and "(default: text)" in shown
    assert rows["`--workers`"] == "the cores" and "(default: the cores)" in shown


def test_the_build_is_that_of_the_image():
    command = block(PAGE, "sh", "swift build").strip()
    assert set(command.split()) == set(re.search(r"^RUN (swift build .*?) \\", text("Dockerfile"), re.M)[1].split())


def test_the_image_is_open_and_is_published_to_this_machine_only():
    dockerfile = text("Dockerfile")
    [command] = re.findall(r"^CMD (\[.*\])$", dockerfile, re.M)
    arguments = json.loads(command)
    assert arguments[0] == "serve" and arguments[arguments.index("--host") + 1] == "0.0.0.0"
    # Without this argument, a server on that address does not start.
    assert "--open" in arguments
    runs = re.findall(r"docker run .*", text(PAGE) + dockerfile)
    assert len(runs) >= 2 and all("-p 127.0.0.1:8080:8080" in run and "--read-only" in run for run in runs)
    assert all(f"-v rivulet-data:{arguments[arguments.index('--data') + 1]} " in run for run in runs)


def test_the_commands_for_data_succeed(tmp_path):
    """The commands of the page, with other folders."""
    folders = {"/var/lib/rivulet-again": "again", "/var/lib/rivulet": "data", "/backups/monday": "monday", "/backups/before": "before"}
    with Server(tmp_path / "data") as server:
        server.session("s").dispatch("increment")
        backup, upgrade = commands("rivulet backup")
        lines = (backup + upgrade).splitlines()
        assert len(lines) == 5
        for line in lines:
            program, *arguments = line.split()
            assert program == "rivulet"
            ended = run(*[tmp_path / folders[word] if word in folders else word for word in arguments])
            assert ended.returncode == 0, f"{line}: {ended.stdout}{ended.stderr}"
    with Server(tmp_path / "again") as restored:
        assert restored.session("s").state("/p/count") == 1


def test_the_server_of_the_unit_serves_through_a_proxy(serve, data, tmp_path):
    [start] = re.findall(r"^ExecStart=/usr/local/bin/rivulet serve (.*)$", block(PAGE, "ini", "[Unit]"), re.M)
    options = re.fullmatch(r"--data /var/lib/rivulet --public /usr/share/rivulet/Public (.*)", start)[1]
    issuer, policy = Issuer(tmp_path), json.loads(block("Documentation/Security.md", "json", '{\n  "roles"'))
    (tmp_path / "policy.json").write_text(json.dumps(policy))
    (tmp_path / "jwks.json").write_text(json.dumps({"keys": [{"kty": "oct", "alg": "HS256", "k": encoded(issuer.secret)}]}))
    (tmp_path / "jwks.json").chmod(0o600)
    server = serve(data, arguments=options.replace("/etc/rivulet", f"{tmp_path}").split())
    claims = {"iss": "https://login.example", "aud": f"https://{NAME}"}
    bearer = issuer.bearer("alice", "editor", "operator", **claims)
    with Front("nginx", server.port, Authority(tmp_path), tmp_path / "nginx") as front:
        todos = "/v1/apps/todos/sessions/home"
        assert front.request("POST", f"{todos}/events", {"add": {"id": "milk", "title": "Buy milk"}}, bearer).status == 200
        assert front.request("GET", f"{todos}/state", headers=bearer).json["p"]["todos"][0]["id"] == "milk"
        # The table of actions names the resources for operators.
        for closed in ("/metrics", "/v1/streams"):
            assert server.request("GET", closed, headers=bearer).status == 200
            assert front.request("GET", closed, headers=bearer).status == 404

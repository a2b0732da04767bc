# Documentation/Deploying.md: its options, its image, its unit and its proxy work with a real server.

import contextlib
import json
import re
import socket
import subprocess
import time

import pytest

import harness
from fences import block, text
from harness import PATIENCE, Server, run

PAGE = "Documentation/Deploying.md"
#: The name of the server on the page.
NAME = "rivulet.example"


def commands(beginning):
    """The text of each `sh` block that begins with this pattern, in the order of the page."""
    return re.findall(rf"^```sh\n({beginning}.*?)^```$", text(PAGE), re.S | re.M)


def test_each_option_of_the_page_is_one_of_the_command_line():
    shown = run("serve", "--help").stdout
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


@pytest.fixture
def server(serve, data):
    """A server with the options of the unit on the page."""
    [start] = re.findall(r"^ExecStart=/usr/local/bin/rivulet serve (.*)$", block(PAGE, "ini", "[Unit]"), re.M)
    options = re.fullmatch(r"--data /var/lib/rivulet --public /usr/share/rivulet/Public (.*)", start)[1]
    return serve(data, arguments=options.split())


@pytest.fixture
def proxy(server, tmp_path):
    """The port of an nginx with the configuration of the page, in front of the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", f"/CN={NAME}", "-keyout", f"{tmp_path}/{NAME}.key", "-out", f"{tmp_path}/{NAME}.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    site = block(PAGE, "nginx", "server {")
    for shown, used in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/", f"{tmp_path}/"),
        ("http://127.0.0.1:8080", f"http://127.0.0.1:{server.port}"),
    ):
        assert shown in site
        site = site.replace(shown, used)
    temporary = "".join(
        f"{kind}_temp_path {tmp_path}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{site}}}\n"
    )
    process = subprocess.Popen(["/usr/sbin/nginx", "-c", tmp_path / "nginx.conf", "-e", tmp_path / "errors"])
    end = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            break
        assert process.poll() is None and time.monotonic() < end, (tmp_path / "errors").read_text()
    yield port
    process.kill()
    process.wait()


def test_the_server_of_the_unit_serves_through_the_proxy_of_the_page(server, proxy):
    def curl(path, *arguments):
        """Starts curl through the proxy. It prints the head, too."""
        return subprocess.Popen(
            ["curl", "-sSki", "--max-time", str(PATIENCE), "--resolve", f"{NAME}:{proxy}:127.0.0.1", f"https://{NAME}:{proxy}{path}", *arguments],
            stdout=subprocess.PIPE, text=True, env=harness.environment(),
        )  # fmt: skip

    def answer(path, *arguments):
        return curl(path, *arguments).communicate()[0]

    session = "/v1/apps/counter/sessions/s"
    assert answer(f"{session}/events", "--json", '"increment"').startswith("HTTP/1.1 200 ")
    stream = curl(f"{session}/changes?path=/p/count", "-N")
    for expected in ('"values":{"/p/count":1}', '"value":2'):
        while expected not in (line := stream.stdout.readline()):
            assert line, f"the stream ended before {expected}"
        server.session("s").dispatch("increment")
    stream.kill()
    stream.communicate()
    # The proxy is trusted, so the cookie is for TLS only.
    assert re.search(r"^set-cookie: rivulet-session=.*; Secure", answer("/v1/apps/counter/sessions/me/state"), re.I | re.M)
    for closed in ("/metrics", "/v1/streams", "/v1/apps/counter/sessions"):
        assert server.get(closed).status == 200
        assert answer(closed).startswith("HTTP/1.1 403 "), closed
    assert answer("/v1/apps/counter/sessions", "-X", "POST").startswith("HTTP/1.1 201 ")

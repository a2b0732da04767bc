# The command `rivulet`: options, environment, signals, and errors that name their fix.

import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

from harness import PATIENCE, Connection, Server, binary, environment, message, run


def test_version_and_help_answer():
    assert run("--version").stdout.strip()
    assert "serve" in run("--help").stdout
    options = run("serve", "--help").stdout
    for option in ("--host", "--port", "--data", "--memory", "--workers", "--public", "--log-level"):
        assert option in options


@pytest.mark.parametrize(
    "arguments",
    [["--nonsense"], ["serve", "--nonsense"], ["serve", "--port", "x"], ["serve", "--port", "65536"], ["nonsense"]],
    ids=" ".join,
)
def test_an_unknown_option_or_value_is_refused_and_named(arguments):
    outcome = run(*arguments)
    assert outcome.returncode not in (0, None) and outcome.stdout == ""
    assert arguments[-1].lstrip("-") in outcome.stderr


@pytest.mark.parametrize("text", ["-1", "65536", "x", "1e3"])
def test_a_wrong_port_says_what_a_port_is(text, monkeypatch):
    remedy = f'is a number from 0 to 65535, where 0 takes a free port; found "{text}"'
    assert "--port " + remedy in run("serve", "--memory", "--port", text).stderr
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_PORT": text})
    assert "RIVULET_PORT " + remedy in run("serve", "--memory").stderr


def test_memory_and_a_data_folder_contradict_each_other(tmp_path, monkeypatch):
    outcome = run("serve", "--port", "0", "--memory", "--data", tmp_path / "data")
    assert outcome.returncode == 1 and "give one of the two" in outcome.stderr
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_MEMORY": "1", "RIVULET_DATA": str(tmp_path / "data")})
    outcome = run("serve", "--port", "0")
    assert outcome.returncode == 1 and "unset one of the two" in outcome.stderr
    assert not (tmp_path / "data").exists()


def test_an_option_wins_over_the_variable_that_contradicts_it(tmp_path, serve, monkeypatch):
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_MEMORY": "1"})
    assert serve(tmp_path / "kept").session("s").dispatch("increment")["durable"] is True
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_DATA": str(tmp_path / "unused")})
    assert serve(None).session("s").dispatch("increment")["durable"] is False
    assert not (tmp_path / "unused").exists()


@pytest.mark.parametrize("place", ["/proc/foo", "/etc/hostname", "read-only"])
def test_an_unusable_data_folder_is_named_in_the_error(place, tmp_path):
    options = {}
    if place == "read-only":
        tmp_path.chmod(0o500)
        place = tmp_path / "data"
        # Root may write to any file.
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    outcome = run("serve", "--port", "0", "--data", place, **options)
    tmp_path.chmod(0o700)
    assert outcome.returncode == 1 and outcome.stderr.count("\n") == 1, outcome.stderr
    assert "data folder" in outcome.stderr and "choose another folder with --data" in outcome.stderr
    assert "SECRET" not in outcome.stderr and "secret key" not in outcome.stderr


def test_the_error_about_another_users_folder_names_the_folder_and_not_its_key(serve, data, tmp_path):
    server = serve(data)
    assert server.stop() == 0 and (data / "secret.key").exists()
    tmp_path.chmod(0o755)
    # The process may search the folder for the key, but may neither read the key nor write in the folder.
    data.chmod(0o555)
    (data / "secret.key").chmod(0o000)
    options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    outcome = run("serve", "--port", "0", "--data", "data", cwd=tmp_path, **options)
    assert outcome.returncode == 1 and outcome.stderr.count("\n") == 1, outcome.stderr
    assert "cannot write in the data folder data: Permission denied" in outcome.stderr and "choose another folder with --data" in outcome.stderr
    assert "SECRET" not in outcome.stderr and "secret key" not in outcome.stderr


def output(*arguments, **variables):
    """The first line, and the output until the stop, with both streams as one."""
    process = subprocess.Popen(
        [binary(), "serve", "--port", "0", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=environment() | variables,
    )
    with process.stdout as lines:
        first = lines.readline()
        process.terminate()
        rest = lines.read()
    assert process.wait(PATIENCE) == 0, rest
    return first, rest


def test_the_first_line_is_the_address(tmp_path):
    first, rest = output("--data", tmp_path / "data")
    assert first.startswith("rivulet listening on http://127.0.0.1:")
    assert "secret key made: " in rest and "warning" not in rest
    first, rest = output("--memory")
    assert first.startswith("rivulet listening on http://127.0.0.1:") and "key" not in rest


def test_unknown_variables_are_one_warning_without_their_values(tmp_path):
    variables = {
        "RIVULET_PROT": "canary-1", "RIVULET_SERVICE_HOST": "canary-2", "RIVULET_PORT": "tcp://canary-3:8080",
        "RIVULET_PORT_8080_TCP_ADDR": "canary-4", "RIVULET_LOG_LEVEL": "info",
    }
    first, rest = output("--memory", **variables)
    (warning,) = [line for line in rest.splitlines() if "warning" in line]
    names = "RIVULET_PORT, RIVULET_PORT_8080_TCP_ADDR, RIVULET_PROT (is it RIVULET_PORT?), RIVULET_SERVICE_HOST;"
    assert first.startswith("rivulet listening on ") and names in warning
    assert "canary" not in first + rest


def test_a_start_that_fails_warns_of_unknown_variables_too(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_PROT": "0"})
    outcome = run("serve", "--data", "/proc/foo")
    assert outcome.returncode == 1 and "RIVULET_PROT (is it RIVULET_PORT?)" in outcome.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("--host", "0.0.0.0"), ("--allowed-hosts", "*"), ("--allowed-origins", "null"), ("--public-url", "x"), ("--trusted-proxies", "x"),
        ("--content-security-policy", ""), ("--public", "/nowhere"), ("--workers", "0"), ("--port", "-1"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_start_that_is_refused_makes_no_data_folder(arguments, tmp_path):
    outcome = run("serve", "--data", tmp_path / "data", *arguments)
    assert outcome.returncode != 0 and outcome.stderr
    assert not (tmp_path / "data").exists()


def test_the_options_for_hosts_and_origins_have_environment_variables(monkeypatch):
    variables = {
        "HOST": "0.0.0.0", "OPEN": "1", "ALLOWED_HOSTS": "a.example", "ALLOWED_ORIGINS": "http://localhost:5173", "PUBLIC_URL": "https://p.example",
        "TRUSTED_PROXIES": "127.0.0.1", "CONTENT_SECURITY_POLICY": "default-src 'none'", "HSTS": "1", "LOG_FORMAT": "json",
    }
    plain = environment()
    monkeypatch.setattr("harness.environment", lambda: plain | {f"RIVULET_{name}": value for name, value in variables.items()})
    with Server(None) as server:
        assert [server.get("/openapi.json", Host=host).status for host in ("a.example", "p.example", "b.example")] == [200, 200, 421]
        page = server.get("/", Origin="http://localhost:5173")
        assert page.headers["access-control-allow-origin"] == "http://localhost:5173"
        assert page.headers["content-security-policy"] == "default-src 'none'"
        assert page.headers["strict-transport-security"] == "max-age=86400"
        me = server.request("POST", "/v1/apps/counter/sessions/me/events", "increment", {"X-Forwarded-Proto": "https"})
        assert "Secure" in me.headers["set-cookie"]
        lines = [json.loads(line) for line in server.log_text().splitlines()]
    assert any("This server is open" in line["message"] for line in lines), lines


@pytest.mark.parametrize(
    "command",
    [("serve",), ("check",), ("vacuum",), ("backup", "to"), ("backup", "create", "to"), ("backup", "restore", "from")],
    ids=" ".join,
)
def test_an_empty_data_folder_is_refused(command, tmp_path):
    outcome = run(*command, "--data", "", cwd=tmp_path)
    assert outcome.returncode == 1 and "--data is empty" in outcome.stderr and not list(tmp_path.iterdir())


def test_an_error_of_arguments_names_the_help_of_its_command(monkeypatch):
    assert run("serve", "--prot", "1").stderr.strip().endswith("see 'rivulet serve --help'")
    assert run("backup").stderr.strip().endswith("see 'rivulet backup --help'")
    assert run("served").stderr.strip().endswith("see 'rivulet --help'")
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_MEMORY": "maybe"})
    assert 'RIVULET_MEMORY is 1, true or yes, or 0, false or no; found "maybe"' in run("serve").stderr


def test_a_key_that_is_too_short_is_named(tmp_path, monkeypatch):
    (tmp_path / "secret.key").write_text("short")
    (tmp_path / "secret.key").chmod(0o600)
    stderr = run("serve", "--data", tmp_path).stderr
    assert f"{tmp_path}/secret.key has 5 bytes and needs 32; restore it from a backup" in stderr
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_OLDER_SECRET_KEY": "x"})
    assert "RIVULET_OLDER_SECRET_KEY: the secret key has 1 bytes" in run("serve", "--memory").stderr


def test_a_server_without_a_public_folder_says_so(tmp_path):
    command = [binary(), "serve", "--memory", "--port", "0", "--log-level", "error"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path) as process:
        url = process.stdout.readline().split()[-1]
        answer = subprocess.run(["curl", "-sS", url], capture_output=True, text=True, timeout=PATIENCE).stdout
        process.terminate()
    assert json.loads(answer)["status"] == 404 and "--public" in answer


def test_a_busy_port_is_named(serve):
    port = serve(None).port
    outcome = run("serve", "--port", port, "--memory")
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert str(port) in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome.stderr


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_server_works_with_any_number_of_loops(serve, workers):
    server = serve(None, arguments=["--workers", workers])
    for n in range(20):
        assert server.session(f"s{n}").dispatch("increment")["version"] == 1
        assert server.session(f"s{n}").state("/p/count") == 1


def test_options_have_environment_variables(tmp_path):
    variables = {"RIVULET_PORT": "0", "RIVULET_DATA": str(tmp_path / "here"), "RIVULET_LOG_LEVEL": "error"}
    process = subprocess.Popen(
        [binary(), "serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment() | variables, cwd=tmp_path
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("rivulet listening on http://127.0.0.1:") and not line.rstrip().endswith(":8080")
        assert os.path.isdir(variables["RIVULET_DATA"])
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_the_server_with_success(serve, data, number):
    server = serve(data)
    server.session("s").dispatch("increment")
    server.process.send_signal(number)
    assert server.wait() == 0


def test_other_signals_leave_the_server_as_it_is(serve):
    server = serve(None)
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):
        server.process.send_signal(number)
        assert server.get("/readyz").status == 200
    assert "stopping" not in server.log_text() and server.stop() == 0


def test_a_request_that_ends_while_several_loops_drain_is_answered_and_the_stop_is_quick(tmp_path):
    with Server(tmp_path / "data", arguments=("--workers", "3")) as server:
        connections = []
        for number in range(6):
            path = server.session(f"drained-{number}").path + "/events"
            head, _, body = message("POST", path, "increment", {"Expect": "100-continue"}).partition(b"\r\n\r\n")
            connection = Connection(server)
            connection.send(head + b"\r\n\r\n")
            assert b" 100 " in connection.until(b"\r\n\r\n")  # The loop has the request before the stop.
            connections.append((connection, body))
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while "stopping" not in server.log_text() and time.monotonic() < deadline:
            pass
        for connection, rest in connections:
            connection.send(rest)
            assert connection.answer("POST").status in (200, 503)  # The loop may not know of the stop yet.
            connection.close()
        assert server.wait() == 0


def test_arguments_are_read_without_proc():
    hidden = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$0" "$@"']
    if subprocess.run([*hidden, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespaces here, so /proc cannot be hidden")
    outcome = subprocess.run([*hidden, binary(), "health", "--port", "1"], capture_output=True, text=True, timeout=PATIENCE, env=environment())
    assert outcome.returncode == 1 and "127.0.0.1:1: Connection refused" in outcome.stderr, outcome


def health(*arguments, **variables):
    """Runs `rivulet health`, and returns its exit status and its line of output."""
    variables = {f"RIVULET_{name}": str(value) for name, value in variables.items()}
    outcome = subprocess.run(
        [binary(), "health", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, env=environment() | variables
    )
    assert outcome.stdout == "" and len(outcome.stderr.splitlines()) == (outcome.returncode != 0), outcome
    return outcome.returncode, outcome.stderr


@contextlib.contextmanager
def peer(*parts):
    """A server that reads a request, sends these parts, and then stays silent. Returns its port and the bytes that it has read."""
    requests = []

    def serve():
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                requests.append(connection.recv(65536))
                for part in parts:
                    connection.sendall(part)
                done.wait(PATIENCE)

    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1], requests
        done.set()
    thread.join(PATIENCE)


def test_health_asks_the_server_that_the_options_or_variables_name(shared):
    port = shared.port
    assert health("--port", port) == (0, "")
    assert health("--host", "localhost", "--port", port) == (0, "")
    assert health(PORT=port) == (0, "")
    assert health(HOST="0.0.0.0", PORT=port) == (0, ""), "a server on all addresses is asked on the loopback address"
    assert health(HOST="::", PORT=port) == (0, ""), "also if the server cannot be reached by IPv6"
    assert health("--port", port, PORT=1) == (0, ""), "options win"


def test_health_sends_a_host_that_names_the_server():
    with peer(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as (port, requests):
        assert health("--port", port) == (0, "")
    assert requests[0] == f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode()


def test_health_prints_the_reason_in_one_line_if_a_server_is_not_alive():
    with peer(b"HTTP/1.1 5", b"03 Service Unavailable\r\n\r\n") as (port, _):
        status, line = health("--port", port)
        assert status == 1 and f"127.0.0.1:{port} answers 503" in line
    status, line = health("--port", port)
    assert status == 1 and f"127.0.0.1:{port}: Connection refused" in line
    with peer(b"SSH-2.0-OpenSSH\r\n") as (port, _):
        status, line = health("--port", port)
        assert status == 1 and "does not answer in HTTP" in line
    status, line = health("--host", "example.org")
    assert status == 1 and '"example.org" is not an IP address' in line


def test_health_waits_for_a_silent_server_no_longer_than_3_seconds():
    with peer(b"HTTP/1.1 20") as (port, _):
        begin = time.monotonic()
        status, line = health("--port", port)
        assert status == 1 and "does not answer within 3 s" in line
        assert 2.5 < time.monotonic() - begin < 4, "3 s, and the time that a busy machine takes to start a process"

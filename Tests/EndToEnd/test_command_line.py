# Part of Rivulet. See README.md for the architecture.
# The command `rivulet`: options, environment, signals, and errors that name their remedy.

import os
import signal
import subprocess
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


def test_a_request_that_ends_while_several_loops_drain_is_answered_and_the_stop_is_quick(tmp_path):
    with Server(tmp_path / "data", arguments=("--workers", "3")) as server:
        connections = []
        for number in range(6):
            path = server.session(f"drained-{number}").path + "/events"
            head, _, body = message("POST", path, "increment", {"Expect": "100-continue"}).partition(b"\r\n\r\n")
            connection = Connection(server)
            connection.send(head + b"\r\n\r\n")
            assert b" 100 " in connection.until(b"\r\n\r\n")  # So the loop has the request before the stop.
            connections.append((connection, body))
        server.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE
        while "stopping" not in server.log_text() and time.monotonic() < deadline:
            pass
        for connection, rest in connections:
            connection.send(rest)
            assert connection.answer("POST").status in (200, 503)  # Its loop may not have heard of the stop yet.
            connection.close()
        assert server.wait() == 0

# A server on a Unix socket: its file, its peers, and the errors at its start.

import os
import re
import signal
import socket
import stat
import subprocess

import pytest

from harness import PATIENCE, Connection, Server, binary, environment, run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "rivulet.sock"


def on(path, *arguments, data=None, **options):
    """A server that listens on the Unix socket alone."""
    return Server(data, port=None, arguments=["--listen", f"unix:{path}", *arguments], **options)


def health(*arguments, **variables):
    outcome = subprocess.run(
        [binary(), "health", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, env=environment() | variables
    )
    return outcome.returncode, outcome.stderr.strip()


def refused_start(*arguments):
    outcome = run("serve", "--memory", *arguments)
    assert outcome.returncode != 0 and outcome.stdout == "", outcome
    return outcome.stderr.strip()


def test_dispatches_and_streams_work_as_on_a_port(path, data):
    with on(path, "--workers", "2", data=data) as server:
        assert server.line == f"rivulet listening on unix:{path}\n"
        session = server.session("s")
        with session.stream("/p/count") as stream:
            assert stream.expect("snapshot").data["values"] == {"/p/count": 0}
            assert session.dispatch("increment")["durable"] is True
            assert stream.expect("change")
        curl = ["curl", "-sS", "--max-time", "10", "--unix-socket", path, "http://localhost/v1/apps/counter/sessions/s/state/p/count"]
        assert subprocess.run(curl, capture_output=True, text=True).stdout == "1"
        assert server.stop() == 0, server.log_text()
        assert f"address=unix:{path}" in server.log_text()


def test_many_connections_reach_all_workers(path):
    with on(path, "--workers", "3") as server:
        connections = [Connection(server) for _ in range(60)]
        for connection in connections:
            assert connection.request("GET", "/healthz").status == 200
        for connection in connections:
            connection.__exit__()
        with on(path.with_name("other.sock")) as other:
            assert other.get("/healthz").status == 200


def test_a_slow_client_is_merged_as_on_a_port(path):
    with on(path) as server:
        session = server.session("s")
        with session.stream() as stream:
            stream.expect("snapshot")
            for number in range(300):
                session.dispatch({"rename": f"{number}" * 900})
            events = [stream.next()]
            while events[-1].data.get("version") != 300:
                events.append(stream.next())
            assert len(events) < 300


def test_only_the_user_and_the_group_may_connect_and_the_file_is_gone_after_the_end(path):
    for umask in (0o000, 0o077):
        with on(path, umask=umask) as server:
            status = path.stat()
            assert stat.S_ISSOCK(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o660
            assert server.stop() == 0
            assert not path.exists()


def test_a_file_that_a_killed_server_left_is_replaced(path):
    with on(path) as server:
        server.kill()
    assert path.exists()
    with on(path) as server:
        assert server.get("/healthz").status == 200
        assert server.stop() == 0 and not path.exists()


def test_a_socket_on_which_a_process_answers_is_not_taken(path):
    with on(path) as server:
        line = refused_start("--listen", f"unix:{path}")
        assert line.count("\n") == 0 and f"{path}: EADDRINUSE" in line and "choose another path with --listen" in line
        assert server.get("/healthz").status == 200
    # The queue of a listening socket is full, or a socket takes datagrams.
    path.unlink()
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_UNIX, kind) as busy:
            busy.bind(str(path))
            if kind == socket.SOCK_STREAM:
                busy.listen(0)
                waiting = [socket.socket(socket.AF_UNIX) for _ in range(2)]
                for client in waiting:
                    client.setblocking(False)
                    client.connect_ex(str(path))
            assert "EADDRINUSE" in refused_start("--listen", f"unix:{path}") and path.exists()
            for client in waiting:
                client.close()
        path.unlink()


def test_a_file_of_another_kind_stays(path):
    path.write_text("kept")
    line = refused_start("--listen", f"unix:{path}")
    assert "ENOTSOCK" in line and "remove the file at this path" in line and path.read_text() == "kept"
    path.unlink()
    path.symlink_to(path.with_name("elsewhere"))
    assert "ENOTSOCK" in refused_start("--listen", f"unix:{path}") and path.is_symlink()


def test_a_server_that_ends_leaves_the_file_of_another_server(path):
    with on(path) as first:
        path.unlink()
        with on(path) as second:
            assert first.stop() == 0
            assert path.exists() and second.get("/healthz").status == 200
            assert second.stop() == 0 and not path.exists()


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        ("unix:", "write unix:/run/rivulet/rivulet.sock"), ("/run/rivulet.sock", "write unix:/run/rivulet/rivulet.sock"),
        ("unix:/nowhere/x.sock", "create the socket's folder"), ("unix:/proc/x.sock", "choose another path"), ("tcp,tcp", "leave one of the two out"),
        ("unix:/tmp/" + "x" * 103, "at most 107; choose a shorter one"), (",".join(f"unix:/tmp/{n}" for n in range(9)), "it takes 1 to 8"),
    ],
    ids=lambda value: value[:20],
)  # fmt: skip
def test_a_place_that_is_none_is_refused_in_one_line(value, remedy, tmp_path):
    outcome = run("serve", "--data", tmp_path / "data", "--listen", value)
    assert outcome.returncode == 1 and outcome.stderr.count("\n") == 1 and remedy in outcome.stderr, outcome.stderr


def test_the_longest_path_is_served():
    folder = f"/tmp/{os.getpid()}-"
    path = folder + "x" * (107 - len(folder))
    with on(path) as server:
        assert server.get("/healthz").status == 200 and health("--listen", f"unix:{path}") == (0, "")
        assert server.stop() == 0 and not os.path.exists(path)


def test_an_option_for_a_port_needs_a_port(path):
    for option in (["--port", "0"], ["--host", "127.0.0.1"]):
        assert "add --listen tcp" in refused_start("--listen", f"unix:{path}", *option)
    # A variable, such as that of an image, does not matter.
    with Server(None, port=None, variables={"RIVULET_LISTEN": f"unix:{path}", "RIVULET_HOST": "0.0.0.0", "RIVULET_PORT": "0"}) as server:
        assert server.path == str(path) and server.port is None


def test_a_port_and_a_socket_serve_the_same_sessions(path):
    for listen in ([f"unix:{path},tcp"], ["tcp", f"unix:{path}"]):
        with Server(None, arguments=[word for place in listen for word in ("--listen", place)]) as server:
            assert re.fullmatch(rf"rivulet listening on http://127.0.0.1:\d+ and unix:{re.escape(str(path))}\n", server.line)
            server.session("s").dispatch("increment")
            server.port = None
            assert server.get("/v1/apps/counter/sessions/s/state/p/count").body == b"1"


def test_if_one_place_fails_nothing_is_left(path):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        line = refused_start("--listen", f"unix:{path},tcp", "--port", busy.getsockname()[1])
        assert "EADDRINUSE" in line and not path.exists()


def test_no_option_is_needed_for_access_because_other_machines_do_not_reach_a_socket(path):
    with Server(None, port=None, variables={"RIVULET_LISTEN": f"unix:{path}", "RIVULET_HOST": "0.0.0.0"}) as server:
        assert server.get("/v1/apps").status == 200 and "This server is open" not in server.log_text()
    assert "--open" in refused_start("--listen", f"unix:{path},tcp", "--host", "0.0.0.0")
    assert "--open" in refused_start("--listen", f"unix:{path}", "--public-url", "https://rivulet.example")


def test_peers_are_trusted_proxies(path):
    with on(path, "--streams-per-address", "1") as server:
        def first(*lines):
            connection = Connection(server)
            head = ["GET /v1/apps/counter/sessions/s/changes HTTP/1.1", "Host: localhost", *lines]
            connection.send("\r\n".join(head).encode() + b"\r\n\r\n")
            assert connection.stream_head()[0] == 200
            return connection, connection.until(b"\nevent: ") and connection.until(b"\n").strip()

        streams = [first(*lines) for lines in (["X-Forwarded-For: 203.0.113.7"], ["X-Forwarded-For: 203.0.113.8"], [], ["Forwarded: for=203.0.113.7"], [])]
        assert [name for _, name in streams] == [b"snapshot", b"snapshot", b"snapshot", b"bye", b"bye"]
        for connection, _ in streams:
            connection.__exit__()
        answer = server.request("GET", "/v1/apps/counter/sessions/me/state", headers={"X-Forwarded-Proto": "https"})
        assert "; Secure" in answer.headers["set-cookie"]


def test_the_host_list_holds_for_sockets_too(path):
    with on(path) as server:
        assert server.request("GET", "/v1/apps", headers={"Host": "evil.example"}).status == 421


def test_health_asks_a_socket(path):
    with on(path) as server:
        assert health("--listen", f"unix:{path}") == (0, "") and health(RIVULET_LISTEN=f"unix:{path}") == (0, "")
        assert server.stop() == 0
    status, line = health("--listen", f"unix:{path}")
    assert status == 1 and f"unix:{path}: No such file or directory" in line and "--listen" in line
    assert health("--listen", "unix:" + "x" * 108)[0] == 1 and health("--listen", "x")[0] == 1
    with Server(None, arguments=["--listen", f"unix:{path},tcp"]) as server:
        assert health("--listen", f"unix:{path},tcp", "--port", server.port) == (0, "")
        assert health("--port", server.port, RIVULET_LISTEN=f"unix:{path}") == (0, "")


def test_a_drain_ends_streams_and_keeps_accepted_requests(path):
    with on(path) as server:
        with server.session("s").stream("/p/count") as stream:
            stream.expect("snapshot")
            server.process.send_signal(signal.SIGTERM)
            assert stream.expect("bye").data["reason"] == "draining"
        assert server.wait() == 0 and not path.exists()

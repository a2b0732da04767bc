# The PROXY protocol: each connection begins with the header of a trusted proxy, or it is closed.

import re
import socket
import struct
import subprocess
import time

import pytest

from harness import PATIENCE, Connection, Server, binary, environment, message, run

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
STREAM = message("GET", "/v1/apps/counter/sessions/s/changes?path=/p/count", headers={"Accept": "text/event-stream"})
HEALTH = message("GET", "/healthz")


def v1(source):
    kind, other = ("TCP6", "::1") if ":" in source else ("TCP4", "127.0.0.1")
    return f"PROXY {kind} {source} {other} 4711 8080\r\n".encode()


def v2(source, command=1, fields=b""):
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    kind = 0x21 if ":" in source else 0x11
    block = socket.inet_pton(family, source) * 2 + struct.pack(">HH", 4711, 8080) + fields
    return SIGNATURE + struct.pack(">BBH", 0x20 | command, kind, len(block)) + block


def options(*further):
    return ["--proxy-protocol", "on", "--trusted-proxies", "127.0.0.1", "--streams-per-address", "1", *further]


@pytest.fixture(scope="module")
def server():
    with Server(None, arguments=options("--workers", "2")) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def opened(connection, start, request=STREAM):
    """The name of the first event of a stream behind this header."""
    connection.send(start + request)
    assert connection.stream_head()[0] == 200
    return connection.until(b"\nevent: ") and connection.until(b"\n").decode().strip()


def streams(server, *starts, request=STREAM):
    """The first events of streams that are all open at once."""
    connections = [Connection(server) for _ in starts]
    try:
        return [opened(connection, start, request) for connection, start in zip(connections, starts, strict=True)]
    finally:
        for connection in connections:
            connection.__exit__()
        server.wait_for_streams_to_end(v1("198.51.100.99"))


def is_closed(server, data):
    """True if the server closes the connection without an answer."""
    with Connection(server) as connection:
        connection.send(data)
        try:
            return connection.socket.recv(1) == b""
        except ConnectionResetError:
            return True


@pytest.mark.parametrize("header", [v1, v2, lambda source: v2(source, fields=b"\x03\0\4\1\2\3\4\x02\0\1a")], ids=["v1", "v2", "fields"])
def test_the_header_names_the_client(server, header):
    first, second = header("203.0.113.7"), header("203.0.113.8")
    assert streams(server, first, second, first) == ["snapshot", "snapshot", "bye"]
    near, far = header("2001:db8::1"), header("2001:db8:0:1::1")
    assert streams(server, near, header("2001:db8::2"), far) == ["snapshot", "bye", "snapshot"]
    assert streams(server, v1("::ffff:203.0.113.7"), v2("203.0.113.7")) == ["snapshot", "bye"]


def test_several_requests_follow_one_header(server):
    with Connection(server) as connection:
        connection.send(v2("203.0.113.7") + HEALTH * 2)
        assert [connection.answer().status for _ in range(2)] == [200, 200]
        assert connection.request("POST", "/v1/apps/counter/sessions/s/events", "increment").status == 200
        # A second header is no request.
        connection.send(v1("203.0.113.8") + HEALTH)
        assert connection.answer().status in (400, 501, 505)


@pytest.mark.parametrize("start", [v1("203.0.113.7"), v2("2001:db8::1", fields=b"\x04\0\2ab")], ids=["v1", "v2"])
def test_the_header_may_come_in_any_pieces(server, start):
    with Connection(server) as connection:
        for byte in start + HEALTH:
            connection.send(bytes([byte]))
        assert connection.answer().status == 200


def test_the_fields_of_the_named_client_are_not_believed(server):
    request = STREAM.replace(b"\r\n\r\n", b"\r\nX-Forwarded-For: 198.51.100.%d\r\nForwarded: for=198.51.100.%d\r\n\r\n")
    first, second = (request % (number, number) for number in (1, 2))
    with Connection(server) as one, Connection(server) as two:
        assert opened(one, v1("203.0.113.7"), first) == "snapshot" and opened(two, v1("203.0.113.7"), second) == "bye"
    server.wait_for_streams_to_end(v1("198.51.100.99"))
    for start in (b"PROXY UNKNOWN\r\n", SIGNATURE + b"\x21\0\0\0", SIGNATURE + b"\x21\x31\0\0", v2("::")):
        with Connection(server) as one, Connection(server) as two:
            assert opened(one, start, first) == "snapshot" and opened(two, start, second) == "bye"
        server.wait_for_streams_to_end(v1("198.51.100.99"))
    # A connection of the proxy itself has the proxy's rights.
    assert streams(server, v2("0.0.0.0", command=0), v2("0.0.0.0", command=0)) == ["snapshot", "bye"]
    with Connection(server) as one, Connection(server) as two:
        local = SIGNATURE + b"\x20\0\0\0"
        assert opened(one, local, first) == "snapshot" and opened(two, local, second) == "snapshot"
    server.wait_for_streams_to_end(v1("198.51.100.99"))


@pytest.mark.parametrize(
    "data",
    [HEALTH, b"\n", b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n", b"PROXY TCP4 1.2.3.400 5.6.7.8 1 2\r\n", b"PROXY TCP6 1::2::3 ::1 1 2\r\n", b"P" * 200,
     b"PROXY " + b"x" * 200, SIGNATURE + b"\x31\x11\0\0", SIGNATURE + b"\x21\x11\0\0", SIGNATURE + b"\x21\x11\xff\xff", SIGNATURE[:-1] + b"X"],
)  # fmt: skip
def test_a_connection_without_a_header_is_closed_without_an_answer(server, data):
    def refused():
        with Connection(server) as probe:
            probe.send(v1("203.0.113.7") + message("GET", "/metrics"))
            text = probe.answer().body.decode()
        return int(re.search(r'^rivulet_connections_refused_total\{cause="proxy_header"\} (\d+)$', text, re.M)[1])

    before = refused()
    assert is_closed(server, data) and refused() == before + 1


def test_a_peer_that_is_no_trusted_proxy_is_closed_with_any_header(serve):
    with Server(None, arguments=["--proxy-protocol", "on", "--trusted-proxies", "10.0.0.1"]) as server:
        for data in (v1("203.0.113.7") + HEALTH, v2("10.0.0.1") + HEALTH, HEALTH):
            assert is_closed(server, data)
        assert server.stop() == 0
        assert server.log_text().count("the peer is not in --trusted-proxies") == 1 and "203.0.113" not in server.log_text()


def test_without_the_option_a_header_is_no_request(shared):
    for start in (v1("203.0.113.7"), v2("203.0.113.7")):
        with Connection(shared) as connection:
            connection.send(start + HEALTH)
            assert connection.answer().status >= 400


def test_a_header_that_does_not_come_in_time_is_not_waited_for(server):
    begin = time.monotonic()
    with Connection(server) as silent, Connection(server) as slow:
        slow.send(b"PROXY ")
        assert silent.ended() and slow.ended()
    assert 9 < time.monotonic() - begin < PATIENCE
    # The time for the header is not the time between requests.
    with Connection(server) as connection:
        connection.send(v1("203.0.113.7") + HEALTH)
        assert connection.answer().status == 200
    with Connection(server) as ended:
        ended.send(b"PROXY TCP4")
        ended.socket.shutdown(socket.SHUT_WR)
        assert ended.ended()


def test_a_unix_socket_expects_the_header_too(tmp_path):
    path = tmp_path / "a.sock"
    with Server(None, port=None, arguments=["--listen", f"unix:{path}", "--proxy-protocol", "on", "--streams-per-address", "1"]) as server:
        assert streams(server, v1("203.0.113.7"), v2("203.0.113.8"), v2("203.0.113.7")) == ["snapshot", "snapshot", "bye"]
        assert is_closed(server, HEALTH)
        health = [binary(), "health", "--listen", f"unix:{path}"]
        assert subprocess.run([*health, "--proxy-protocol", "on"], env=environment()).returncode == 0
        assert subprocess.run(health, env=environment() | {"RIVULET_PROXY_PROTOCOL": "on"}).returncode == 0
        assert subprocess.run(health, env=environment(), capture_output=True).returncode == 1


def test_the_option_needs_a_proxy():
    outcome = run("serve", "--memory", "--port", "0", "--proxy-protocol", "on")
    assert outcome.returncode == 1 and "--trusted-proxies" in outcome.stderr and outcome.stderr.count("\n") == 1
    for value in ("yes", "v2", ""):
        outcome = run("serve", "--memory", "--port", "0", "--proxy-protocol", value)
        assert outcome.returncode != 0 and "on or off" in outcome.stderr

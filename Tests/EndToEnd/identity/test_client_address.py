# The address of a client behind proxies: the fields of a trusted proxy name it, and those of any other peer do not.

import pytest

from harness import Connection, Server, message
from tokens import Issuer

CHANGES = "/v1/apps/counter/sessions/s/changes?path=/p/count"


def opened(connection, fields):
    """Opens a stream with these header lines, and returns the name of its first event."""
    lines = [f"GET {CHANGES} HTTP/1.1", "Host: localhost", "Accept: text/event-stream", *fields]
    connection.send("\r\n".join(lines).encode() + b"\r\n\r\n")
    assert connection.stream_head()[0] == 200
    return connection.until(b"\nevent: ") and connection.until(b"\n").decode().strip()


def streams(server, *requests):
    """The first events of streams that are all open at once; each request has its header lines."""
    connections = [Connection(server) for _ in requests]
    try:
        return [opened(connection, fields) for connection, fields in zip(connections, requests, strict=True)]
    finally:
        for connection in connections:
            connection.__exit__()
        server.wait_for_streams_to_end()


@pytest.fixture(scope="module")
def behind():
    """A server with one stream for each client, behind a proxy at 127.0.0.1 and others at 10.0.0.0/8."""
    with Server(None, arguments=["--streams-per-address", "1", "--trusted-proxies", "127.0.0.1,10.0.0.0/8", "--workers", "2"]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


@pytest.mark.parametrize("field", ["X-Forwarded-For: {}, 10.0.0.2", "Forwarded: for={};proto=https, for=10.0.0.2"])
def test_clients_behind_a_proxy_are_counted_apart(behind, field):
    first, second = field.format("203.0.113.7"), field.format("203.0.113.8")
    assert streams(behind, [first], [second], [first], [second]) == ["snapshot", "snapshot", "bye", "bye"]
    # The places are free again, whatever the client was.
    assert streams(behind, [first], []) == ["snapshot", "snapshot"]


def test_a_client_cannot_take_another_address(behind):
    spoofed = [[f"X-Forwarded-For: 198.51.100.{number}, 203.0.113.9"] for number in range(3)]
    assert streams(behind, *spoofed) == ["snapshot", "bye", "bye"]
    # The proxy passed the client's own Forwarded on: the client is the proxy's address.
    mixed = [[f"Forwarded: for=198.51.100.{number}", "X-Forwarded-For: 203.0.113.9"] for number in range(2)]
    assert streams(behind, *mixed, []) == ["snapshot", "bye", "bye"]


def test_addresses_of_one_ipv6_network_are_one_client(behind):
    near, far = ["X-Forwarded-For: [2001:db8::1]:80"], ["X-Forwarded-For: 2001:db8:0:1::1"]
    assert streams(behind, near, ["X-Forwarded-For: 2001:db8::2"], far) == ["snapshot", "bye", "snapshot"]


def test_the_fields_of_a_peer_that_is_no_trusted_proxy_are_ignored(serve):
    for options in ([], ["--trusted-proxies", "10.0.0.0/8,::1"]):
        server = serve(None, arguments=["--streams-per-address", "1", *options])
        fields = [["X-Forwarded-For: 203.0.113.7"], ["Forwarded: for=203.0.113.8"], ["X-Real-IP: 203.0.113.9"]]
        assert streams(server, *fields) == ["snapshot", "bye", "bye"]


def test_forwarded_says_that_the_client_uses_tls(behind):
    def is_secure(*lines):
        with Connection(behind) as connection:
            connection.send("\r\n".join(["GET /v1/apps/counter/sessions/me/state HTTP/1.1", "Host: localhost", *lines]).encode() + b"\r\n\r\n")
            return "; Secure" in connection.answer().headers["set-cookie"]

    assert is_secure("Forwarded: for=203.0.113.7;proto=https")
    assert is_secure("Forwarded: for=203.0.113.7;proto=https, for=10.0.0.2;proto=http")
    assert not is_secure("Forwarded: for=203.0.113.7;proto=https", "X-Forwarded-Proto: http")
    assert not is_secure("Forwarded: for=_a;proto=https") and not is_secure("Forwarded: proto=https")


def test_a_host_that_a_proxy_names_is_not_believed(behind):
    for line in ("Forwarded: for=203.0.113.7;host=localhost", "X-Forwarded-Host: localhost"):
        name, _, value = line.partition(": ")
        assert behind.request("GET", "/v1/apps", headers={"Host": "evil.example", name: value}).status == 421


def test_a_cookie_without_secure_is_read_from_loopback_clients_only(serve, tmp_path):
    issuer = Issuer(tmp_path)
    arguments = ["--jwt-key-file", issuer.file, "--trusted-proxies", "127.0.0.1"]
    server = serve(None, arguments=arguments)
    cookie = {"Cookie": "rivulet-token=" + issuer.token("a")}

    def subject(**fields):
        return server.request("GET", "/v1/me", headers=cookie | fields).json["subject"]

    assert subject() == "a"
    assert subject(Forwarded="for=203.0.113.7") is None and subject(Forwarded='for="[::1]"') == "a"


def test_pipelined_requests_of_one_connection_have_their_own_clients(behind):
    with Connection(behind) as connection:
        for address in ("203.0.113.20", "203.0.113.21"):
            connection.send(message("GET", "/healthz", headers={"X-Forwarded-For": address}))
            assert connection.answer().status == 200
        assert opened(connection, ["X-Forwarded-For: 203.0.113.22"]) == "snapshot"
        with Connection(behind) as free, Connection(behind) as taken:
            assert opened(free, ["X-Forwarded-For: 203.0.113.20"]) == "snapshot"
            assert opened(taken, ["X-Forwarded-For: 203.0.113.22"]) == "bye"
    behind.wait_for_streams_to_end()

# The proxy of the cluster tests passes, drops, holds and delays bytes as it is told.

import contextlib
import socket
import threading
import time

import pytest

from proxy import Proxy


class Echo:
    """A server that answers each piece with its upper case, and remembers all that came."""

    def __init__(self):
        self.received = b""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listener.accept()[:1], daemon=True).start()

    def _serve(self, client):
        with client, contextlib.suppress(OSError):
            while piece := client.recv(65_536):
                self.received += piece
                client.sendall(piece.upper())


@pytest.fixture
def echo():
    echo = Echo()
    yield echo
    echo._listener.close()


@pytest.fixture
def link(echo):
    with Proxy() as proxy:
        yield proxy.link(echo.port)


def connected(link):
    client = socket.create_connection(("127.0.0.1", link.port), 5)
    client.settimeout(5)
    return client


def is_silent(client, seconds=0.15):
    client.settimeout(seconds)
    try:
        return client.recv(1) and False
    except TimeoutError:
        return True
    finally:
        client.settimeout(5)


def until(holds):
    end = time.monotonic() + 5
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def exactly(client, count):
    received = b""
    while len(received) < count:
        piece = client.recv(count - len(received))
        assert piece, received[:100]
        received += piece
    return received


def test_bytes_pass(link):
    with connected(link) as client:
        data = b"a" * 1_000_000
        threading.Thread(target=client.sendall, args=(data,), daemon=True).start()
        assert exactly(client, len(data)) == data.upper()
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""
    until(lambda: link.connections == 0)


def test_a_dropped_link_closes_its_connections_and_new_ones(link):
    with connected(link) as client:
        client.sendall(b"a")
        assert client.recv(1) == b"A"
        link.set("drop")
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""
    with connected(link) as client, contextlib.suppress(ConnectionResetError):
        assert client.recv(1) == b""
    link.set("pass")
    with connected(link) as client:
        client.sendall(b"b")
        assert client.recv(1) == b"B"


def test_a_frozen_link_accepts_and_holds_all_bytes(link, echo):
    with connected(link) as old:
        old.sendall(b"a")
        assert old.recv(1) == b"A"
        with link.during("freeze"), connected(link) as new:
            old.sendall(b"b")
            new.sendall(b"c")
            assert is_silent(old) and is_silent(new) and echo.received == b"a"
            link.set("pass")
            assert old.recv(1) == b"B" and new.recv(1) == b"C"


@pytest.mark.parametrize(("mode", "expected"), [("to_server", b"ab"), ("to_client", b"a")])
def test_a_link_of_one_way_holds_the_other_direction(link, echo, mode, expected):
    with connected(link) as client:
        client.sendall(b"a")
        assert client.recv(1) == b"A"
        with link.during(mode):
            client.sendall(b"b")
            assert is_silent(client) and echo.received == expected
        assert client.recv(1) == b"B"


def test_a_delayed_link_is_late_in_both_directions(link):
    with connected(link) as client, link.during("pass", delay=0.1):
        begin = time.monotonic()
        client.sendall(b"a")
        assert client.recv(1) == b"A" and 0.2 <= time.monotonic() - begin < 1


def test_a_link_without_a_server_closes_its_connections(link, echo):
    echo._listener.shutdown(socket.SHUT_RDWR)
    echo._listener.close()
    with connected(link) as client, contextlib.suppress(ConnectionResetError):
        assert client.recv(1) == b""


def test_the_end_of_the_proxy_closes_everything(echo):
    with Proxy() as proxy:
        link = proxy.link(echo.port)
        client = connected(link)
        client.sendall(b"a")
        assert client.recv(1) == b"A"
    with client, contextlib.suppress(ConnectionResetError):
        assert client.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        connected(link)

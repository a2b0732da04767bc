# HTTP/1.1 itself: framing, limits, pipelining and refusals, by <Documentation/HTTP.md#errors>.

import time

import pytest

from harness import Connection, message

EVENT = {"Content-Type": "application/json"}
CHUNKED = b"POST /v1/apps/counter/sessions/malformed/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" \
    b"Content-Type: application/json\r\n\r\n"


def test_a_body_at_the_limit_is_read_and_one_byte_more_is_413(session):
    padding = b" " * (1_048_576 - len(b'"increment"'))
    assert session.post(b'"increment"' + padding, EVENT).status == 200
    assert session.post(b'"increment" ' + padding, EVENT).problem["status"] == 413


def test_a_chunked_body_beyond_the_limit_is_413(shared, session):
    with Connection(shared) as connection:
        head = f"POST {session.path}/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.send(head.encode())
        chunk = b"10000\r\n" + b" " * 65536 + b"\r\n"
        try:
            for _ in range(17):
                connection.send(chunk)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert connection.answer("POST").problem["status"] == 413


def test_a_target_beyond_8_kib_is_414(shared):
    assert shared.get("/" + "x" * 8192).problem["status"] == 414
    assert shared.get("/" + "x" * 8000).status == 404


def test_a_header_block_beyond_16_kib_is_431(shared):
    assert shared.get("/healthz", X_Long="x" * 15_000).status == 200
    assert shared.get("/healthz", X_Long="x" * 17_000).problem["status"] == 431


def test_a_head_that_does_not_end_is_408_after_ten_seconds(shared):
    with Connection(shared) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        began = time.monotonic()
        assert connection.answer().problem["status"] == 408
        assert 8 < time.monotonic() - began < 14
        assert connection.ended()


def test_pipelined_requests_are_answered_in_order(shared, session):
    with Connection(shared) as connection:
        posts = b"".join(message("POST", session.path + "/events", {"setCount": n}) for n in range(1, 21))
        connection.send(posts + message("GET", session.path + "/state/p/count"))
        versions = [connection.answer("POST").json["version"] for _ in range(20)]
        assert versions == list(range(1, 21))
        assert connection.answer().json == 20


def test_a_request_in_single_bytes_is_the_same_request(shared, session):
    with Connection(shared) as connection:
        for byte in message("POST", session.path + "/events", {"setCount": 42}):
            connection.send(bytes([byte]))
        assert connection.answer("POST").json["version"] == 1


def test_a_chunked_body_is_joined(shared, session):
    with Connection(shared) as connection:
        head = f"POST {session.path}/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.send(head.encode() + b'5;a=b\r\n{"set\r\n' + b'C\r\nCount": 12} \r\n' + b"0\r\nX-Trailer: 1\r\n\r\n")
        assert connection.answer("POST").json["version"] == 1
        assert connection.request("GET", session.path + "/state/p/count").json == 12


def test_expect_100_continue_is_answered_before_the_body(shared, session):
    with Connection(shared) as connection:
        body = b'"increment"'
        connection.send(message("POST", session.path + "/events", None, {
            **EVENT, "Content-Length": str(len(body)), "Expect": "100-continue",
        }))
        assert connection.head()[0] == 100
        connection.send(body)
        assert connection.answer("POST").status == 200


def test_a_connection_is_kept_until_one_side_closes_it(shared):
    with Connection(shared) as connection:
        for _ in range(3):
            assert connection.request("GET", "/healthz").status == 200
        assert connection.request("GET", "/healthz", headers={"Connection": "close"}).status == 200
        assert connection.ended()


@pytest.mark.parametrize(
    "text",
    [
        b"GET /healthz HTTP/1.1\nHost: x\n\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: y\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n folded: y\r\n\r\n",
        b"GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: +1\r\n\r\nx",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Zero: a\0b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: %zz\r\n\r\n",
        CHUNKED + b"5;\r\nhello\r\n0\r\n\r\n",
        CHUNKED + b'5;a="b\r\nhello\r\n0\r\n\r\n',
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
    ids=["bare LF", "no Host", "two Hosts", "space before colon", "folded", "two spaces", "TE and CL", "two lengths",
         "signed length", "NUL", "escaped Host", "extension without a name", "open quote", "TLS"],
)
def test_malformed_http_is_400_and_closes(shared, text):
    with Connection(shared) as connection:
        connection.send(text)
        assert connection.answer().problem["status"] == 400
        assert connection.ended()


def test_the_server_outlives_clients_that_vanish(shared, session):
    for cut in (1, 30, 80):
        with Connection(shared) as connection:
            connection.send(message("POST", session.path + "/events", "increment")[:cut])
    for _ in range(20):
        session.stream().close()
    assert session.dispatch("increment")["version"] == 1

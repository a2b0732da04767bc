# Streams as gzip bodies, read by Python, by curl and by a reader of single bytes.

import gzip
import json
import subprocess
import urllib.parse
import zlib

import pytest
from harness import Connection, message


class Body:
    """A stream that was requested with gzip, decoded as it arrives."""

    def __init__(self, session, *paths, chunk=65536):
        self.connection = Connection(session.server)
        query = "?" + urllib.parse.urlencode([("path", path) for path in paths])
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
        self.connection.send(message("GET", session.path + "/changes" + query, headers=headers))
        self.status, self.headers = self.connection.stream_head()
        self.decoder = zlib.decompressobj(31)
        self.chunk = chunk
        self.raw, self.text = self.connection.buffer, b""
        self.connection.buffer = b""
        self.text = self.decoder.decompress(self.raw)

    def until(self, end):
        while end not in self.text:
            part = self.connection.socket.recv(self.chunk)
            assert part, (end, self.text)
            self._take(part)
        return self.text

    def rest(self):
        while part := self.connection.socket.recv(65536):
            self._take(part)
        assert self.connection.chunks.is_ended

    def _take(self, part):
        part = self.connection.chunks.feed(part)
        self.raw += part
        self.text += self.decoder.decompress(part)


def changes(text):
    """The data of all `change` events."""
    blocks = [block.splitlines() for block in text.decode().split("\n\n")]
    return [json.loads(block[-1].removeprefix("data: ")) for block in blocks if block[:1] == ["event: change"]]


@pytest.mark.parametrize("chunk", [1, 37, 65536])
def test_a_compressed_stream_has_each_event_at_once(session, chunk):
    body = Body(session, "/p/title", chunk=chunk)
    assert body.headers["content-encoding"] == "gzip" and "accept-encoding" in body.headers["vary"].lower()
    body.until(b"event: snapshot")
    for number in range(20):
        session.dispatch({"rename": f"title {number} " + "long " * (200 if number == 7 else 1)})
        body.until(f"title {number} ".encode())
    body.until(b"title 19 long \"}]}\n\n")
    assert [change["version"] for change in changes(body.text + b"\n\n")] == list(range(1, 21))
    # A change that resembles the previous change compresses to a fraction of its text.
    assert len(body.raw) < len(body.text) / 2


def test_readers_who_joined_at_other_times_get_the_same_texts(session):
    bodies = []
    for number in range(6):
        bodies.append(Body(session, "/p/title"))
        bodies[-1].until(b"event: snapshot")
        session.dispatch({"rename": f"title {number}"})
        for body in bodies:
            body.until(f'"title {number}"'.encode())
    for began, body in enumerate(bodies):
        assert [change["version"] for change in changes(body.until(b'"title 5"}]}\n\n'))] == list(range(began + 1, 7))


def test_a_stream_that_the_server_ends_is_a_complete_gzip_body(session):
    session.dispatch({"setCount": 1})
    body = Body(session, "/p/count")
    body.until(b"event: snapshot")
    for count in range(2, 6):
        session.dispatch({"setCount": count})
        body.until(f'"value":{count}'.encode())
    assert session.server.request("DELETE", session.path).status == 204
    body.until(b"event: bye")
    body.rest()
    assert body.decoder.eof and body.decoder.unused_data == b""
    assert gzip.decompress(body.raw) == body.text
    assert b'"reason":"deleted"' in body.text


def test_curl_decodes_a_stream(session):
    session.dispatch({"rename": "before"})
    target = f"http://127.0.0.1:{session.server.port}{session.path}/changes?path=/p/title"
    curl = subprocess.Popen(["curl", "-sSN", "--compressed", target], stdout=subprocess.PIPE)
    try:
        text = b""
        while b'"before"' not in text:
            text += curl.stdout.read1()
        session.dispatch({"rename": "after"})
        while b'"after"' not in text:
            text += curl.stdout.read1()
        assert session.server.request("DELETE", session.path).status == 204
        text += curl.stdout.read()
        assert curl.wait(20) == 0 and b"event: bye" in text
    finally:
        curl.kill()
        curl.wait()


def test_a_client_that_does_not_request_gzip_gets_plain_text(session):
    with session.stream("/p/title") as stream:
        assert "content-encoding" not in stream.headers
        stream.expect("snapshot")

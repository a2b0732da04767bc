# The readers of the chaos test: an HTTP response and the event stream in it, byte by byte. Malformed bytes are never
# accepted.
"""Readers without I/O: bytes go in, blocks and events come out. Any deviation from the exact format is `Malformed`."""

import functools
import json
import typing
import zlib

from chunks import Chunks, Malformed

#: The most bytes of a response's head and of one block. A longer one is a block or head without an end.
HEAD_MAX, BLOCK_MAX = 65_536, 64 << 20


class Event(typing.NamedTuple):
    """One event. Streams that got the same bytes share it, so no code changes an event."""

    name: str
    cursor: str | None
    data: object
    raw: bytes


class ResponseReader:
    """Reads the head of a response, and its body by chunks or by length."""

    def __init__(self):
        self.status, self.headers = None, {}
        self._bytes = bytearray()
        self._rest = None  # The remaining bytes of the body that is being read.
        self._chunks = self._inflate = None
        self.is_ended = False

    def feed(self, received):
        """Returns the body bytes that these bytes complete."""
        self._bytes += received
        if self.status is None and not self._head():
            return b""
        body = self._plain() if self._chunks is None else self._chunked()
        if self._inflate is None:
            return body
        try:
            text = self._inflate.decompress(body)
        except zlib.error as error:
            raise Malformed(f"not gzip: {error}") from error
        if self._inflate.unused_data or (self.is_ended and not self._inflate.eof):
            raise Malformed("the body and its gzip data end at different positions")
        return text

    def _head(self):
        end = self._bytes.find(b"\r\n\r\n")
        if end < 0:
            if len(self._bytes) > HEAD_MAX:
                raise Malformed("a head without an end")
            return False
        lines = self._bytes[:end].decode("latin-1").split("\r\n")
        del self._bytes[: end + 4]
        version, _, rest = lines[0].partition(" ")
        if version != "HTTP/1.1" or not rest[:3].isdigit():
            raise Malformed(f"no status line: {lines[0]!r}")
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if not colon or name.lower() in self.headers:
                raise Malformed(f"a malformed or repeated field: {line!r}")
            self.headers[name.lower()] = value.strip()
        self.status = int(rest[:3])
        if "transfer-encoding" in self.headers:
            if self.headers["transfer-encoding"] != "chunked" or "content-length" in self.headers:
                raise Malformed(f"an invalid framing: {self.headers}")
            self._chunks = Chunks()
        elif self.status == 200 and "content-length" not in self.headers:
            raise Malformed("a body without framing: its end looks like a lost connection")
        if self.headers.get("content-encoding") == "gzip":
            self._inflate = zlib.decompressobj(31)
        if self._chunks is None:
            self._rest = int(self.headers["content-length"]) if "content-length" in self.headers else None
            if self.status == 204:
                self._rest = 0
        return True

    def _plain(self):
        body = bytes(self._bytes)
        self._bytes.clear()
        if self._rest is not None:
            if len(body) > self._rest:
                raise Malformed(f"{len(body) - self._rest} bytes after the body")
            self._rest -= len(body)
            self.is_ended = self._rest == 0
        return body

    def _chunked(self):
        body = self._chunks.feed(self._bytes)
        self._bytes.clear()
        self.is_ended = self._chunks.is_ended
        return body


class BlockReader:
    """Cuts the body of an event stream into its blocks, each with its blank line."""

    def __init__(self):
        self._bytes = bytearray()
        self._seen = 0

    @property
    def is_between_blocks(self):
        return not self._bytes

    def feed(self, body):
        self._bytes += body
        blocks, at = [], 0
        while (end := self._bytes.find(b"\n\n", max(at, self._seen - 1))) >= 0:
            blocks.append(bytes(self._bytes[at : end + 2]))
            at = end + 2
        del self._bytes[:at]
        self._seen = len(self._bytes)
        if self._seen > BLOCK_MAX:
            raise Malformed("a block without an end")
        return blocks


@functools.lru_cache(maxsize=4_096)
def parse_block(block):
    """The event of a block; None for a comment. A `retry` line is an event with its milliseconds as data."""
    try:
        lines = block.decode("utf-8").split("\n")[:-2]
    except UnicodeDecodeError as error:
        raise Malformed(f"not UTF-8: {block[:200]!r}") from error
    fields = {}
    for line in lines:
        if line.startswith(":"):
            continue
        name, colon, value = line.partition(": ")
        if not colon or name not in ("event", "id", "data", "retry") or name in fields or "\r" in line:
            raise Malformed(f"a line that the server never writes in a block: {line[:200]!r} in {block[:300]!r}")
        fields[name] = value
    if not fields:
        return None
    if set(fields) == {"retry"}:
        if not fields["retry"].isdigit():
            raise Malformed(f"no time: {block!r}")
        return Event("retry", None, int(fields["retry"]), block)
    if not {"event", "data"} <= set(fields):
        raise Malformed(f"a block without event or data: {block[:300]!r}")
    try:
        data = json.loads(fields["data"], object_pairs_hook=_unique)
    except ValueError as error:
        raise Malformed(f"data that is no JSON ({error}): {block[:300]!r}") from error
    return Event(fields["event"], fields.get("id"), data, block)


def _unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members

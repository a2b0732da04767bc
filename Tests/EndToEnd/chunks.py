"""A strict reader of the chunked transfer coding of a body that a server under test sends."""

import re

#: The most bytes of the line with the size of a chunk.
SIZE_LINE_MAX = 18


class Malformed(Exception):
    """The server sent bytes that are no response, no event stream, or no event of the HTTP contract."""


class Chunks:
    """Removes the framing from a body. The bytes may come in any pieces.

    A size is in lower-case hexadecimal digits without a leading zero. Extensions and trailers are not allowed.
    Any other byte, and any byte after the last chunk, is `Malformed`. A body that ends while `is_ended` is false was cut off.
    """

    def __init__(self):
        self.is_ended = False
        self._bytes = bytearray()
        self._rest = None  # The remaining content of the chunk that is being read.
        self._is_last = False

    def feed(self, received):
        """Returns the content that these bytes complete."""
        self._bytes += received
        parts = []
        while self._step(parts):
            pass
        return b"".join(parts)

    def _step(self, parts):
        """Takes one step; false if more bytes are needed."""
        if not self._bytes:
            return False
        if self.is_ended:
            raise Malformed(f"after the last chunk: {bytes(self._bytes[:40])!r}")
        if self._rest is None:
            return self._size()
        if self._rest > 0:
            parts.append(bytes(self._bytes[: self._rest]))
            self._rest -= len(parts[-1])
            del self._bytes[: len(parts[-1])]
            return True
        if not b"\r\n".startswith(self._bytes[:2]):
            raise Malformed(f"a chunk that does not end: {bytes(self._bytes[:40])!r}")
        if len(self._bytes) < 2:
            return False
        del self._bytes[:2]
        self._rest, self.is_ended = None, self._is_last
        return True

    def _size(self):
        end = self._bytes.find(b"\r\n", 0, SIZE_LINE_MAX)
        line = bytes(self._bytes[:end]) if end >= 0 else bytes(self._bytes[:SIZE_LINE_MAX]).removesuffix(b"\r")
        size = re.fullmatch(b"0|[1-9a-f][0-9a-f]*", line)
        if size is None or (end < 0 and len(self._bytes) >= SIZE_LINE_MAX):
            raise Malformed(f"no size of a chunk: {bytes(self._bytes[:40])!r}")
        if end < 0:
            return False
        del self._bytes[: end + 2]
        self._rest = int(line, 16)
        self._is_last = self._rest == 0
        return True

# A client of HTTP/2 that sends any frame, also frames with fields that no client may send.
"""Frames and literal fields of HTTP/2, without the compression of fields. Source: RFC 9113, RFC 7541 section 6.2.2."""

import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, GOAWAY = 0, 1, 3, 4, 7
END_STREAM, END_HEADERS, ACKNOWLEDGED = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def length(text):
    """A string's length as an integer with a prefix of 7 bits. Source: RFC 7541 section 5.1."""
    rest = len(text) - 127
    if rest < 0:
        return bytes([len(text)])
    encoded = bytearray([127])
    while rest >= 128:
        encoded.append(rest % 128 + 128)
        rest //= 128
    return bytes(encoded) + bytes([rest])


def block(fields):
    """The fields as literals without indexing."""
    return b"".join(b"\0" + length(name) + name + length(value) + value for name, value in fields)


def exchange(fields, body=None):
    """The bytes of a connection with one request."""
    opening = PREFACE + frame(SETTINGS, 0, 0)
    flags = END_HEADERS | (END_STREAM if body is None else 0)
    data = b"" if body is None else frame(DATA, END_STREAM, 1, body)
    return opening + frame(HEADERS, flags, 1, block(fields)) + data


def read(connection):
    """Reads frames to the end of the answer, and returns how it ended: answered, reset or closed."""
    received = b""
    while True:
        while len(received) >= 9:
            size = int.from_bytes(received[:3], "big")
            if len(received) < 9 + size:
                break
            kind, flags, stream = received[3], received[4], int.from_bytes(received[5:9], "big")
            received = received[9 + size :]
            if kind == SETTINGS and not flags & ACKNOWLEDGED:
                connection.sendall(frame(SETTINGS, ACKNOWLEDGED, 0))
            if kind in (DATA, HEADERS) and stream == 1 and flags & END_STREAM:
                return "answered"
            if kind == RESET:
                return "reset"
            if kind == GOAWAY:
                return "closed"
        part = connection.recv(65536)
        if not part:
            return "closed"
        received += part

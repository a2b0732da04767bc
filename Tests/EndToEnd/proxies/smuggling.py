# Requests with a second request inside, written for the ways in which two parsers can disagree about an end.
"""The payloads. The inner request is one that every proxy refuses, so only a smuggled one reaches the server."""

from fronts import NAME
from http2 import exchange

#: The inner request. The server counts it by its method, which no other request of the test has.
CANARY = f"DELETE /metrics HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 0\r\n\r\n".encode()
TARGET = b"/v1/apps/counter/sessions/smuggled/events"
#: A complete chunked body, and the canary after it.
ENDED = b"0\r\n\r\n" + CANARY
#: A chunk that has the canary.
SIZE = b"%x\r\n" % len(CANARY)
CHUNKED = SIZE + CANARY + b"\r\n0\r\n\r\n"

#: Spellings of `Transfer-Encoding: chunked` that only some parsers know. Source: RFC 9112 sections 5 and 6.
CODINGS = {
    "plain": b"Transfer-Encoding: chunked\r\n",
    "space before the colon": b"Transfer-Encoding : chunked\r\n",
    "tab before the colon": b"Transfer-Encoding\t: chunked\r\n",
    "tab before the value": b"Transfer-Encoding:\tchunked\r\n",
    "vertical tab": b"Transfer-Encoding:\x0bchunked\r\n",
    "form feed after the value": b"Transfer-Encoding: chunked\x0c\r\n",
    "no-break space": b"Transfer-Encoding: \xa0chunked\r\n",
    "folded value": b"Transfer-Encoding:\r\n chunked\r\n",
    "folded by a bare LF": b"Transfer-Encoding:\n chunked\r\n",
    "folded into another field": b"X-Other: a\r\n Transfer-Encoding: chunked\r\n",
    "after a bare LF": b"X-Other: a\nTransfer-Encoding: chunked\r\n",
    "after a bare CR": b"X-Other: a\rTransfer-Encoding: chunked\r\n",
    "after a NUL": b"X-Other: a\0\r\nTransfer-Encoding: chunked\r\n",
    "NUL in the value": b"Transfer-Encoding: chunked\0\r\n",
    "capitals": b"TRANSFER-ENCODING: CHUNKED\r\n",
    "underscore": b"Transfer_Encoding: chunked\r\n",
    "quoted": b'Transfer-Encoding: "chunked"\r\n',
    "comma after": b"Transfer-Encoding: chunked,\r\n",
    "comma before": b"Transfer-Encoding: ,chunked\r\n",
    "parameter": b"Transfer-Encoding: chunked;a=b\r\n",
    "identity after": b"Transfer-Encoding: chunked, identity\r\n",
    "identity before": b"Transfer-Encoding: identity, chunked\r\n",
    "twice chunked": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
    "unknown after": b"Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n",
    "unknown before": b"Transfer-Encoding: cow\r\nTransfer-Encoding: chunked\r\n",
    "hop by hop": b"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n",
}

#: A field with the length of the body, or with two lengths, for a body that is the canary: RFC 9112 section 6.3.
LENGTHS = {
    "0 and the length": b"Content-Length: 0\r\nContent-Length: %d\r\n",
    "the length and 0": b"Content-Length: %d\r\nContent-Length: 0\r\n",
    "list": b"Content-Length: 0, %d\r\n",
    "plus": b"Content-Length: +0\r\nX-Size: %d\r\n",
    "minus": b"Content-Length: -0\r\nX-Size: %d\r\n",
    "underscored number": b"Content-Length: 0_0\r\nX-Size: %d\r\n",
    "hexadecimal": b"Content-Length: 0x0\r\nX-Size: %d\r\n",
    "folded": b"Content-Length:\r\n %d\r\n",
    "number over two lines": b"Content-Length: 0\r\n %d\r\n",
    "space before the colon": b"Content-Length : %d\r\n",
    "space within": b"Content-Length: 0 %d\r\n",
    "wrapped": b"Content-Length: 18446744073709551616\r\nX-Size: %d\r\n",
    "hop by hop": b"Connection: Content-Length\r\nContent-Length: %d\r\n",
    "none": b"X-Size: %d\r\n",
}

#: Chunked bodies with sizes, extensions and ends that parsers read differently: RFC 9112 section 7.1.
BODIES = {
    "extension with a bare LF": b"0;a\n\r\n\r\n" + CANARY,
    "extension that hides a chunk": b"2;\nxx\r\n%x\r\n0\r\n\r\n" % len(ENDED) + CANARY + b"\r\n0\r\n\r\n",
    "extension with a bare CR": b"0;\r\r\n\r\n" + CANARY,
    "quoted extension": b'0;a="\r\n\r\n' + CANARY,
    "size with a prefix": b"0x0\r\n\r\n" + CANARY,
    "size with a sign": b"+0\r\n\r\n" + CANARY,
    "size with a space": b"0 \r\n\r\n" + CANARY,
    "size that wraps": b"10000000000000000\r\n\r\n" + CANARY,
    "size before a bare LF": b"0\n\n" + CANARY,
    "no size": b"\r\n\r\n" + CANARY,
    "chunk without an end": b"1\r\nxx0\r\n\r\n" + CANARY,
    "chunk that ends with a bare LF": b"1\r\nx\n0\r\n\r\n" + CANARY,
    "trailer": b"0\r\nContent-Length: 5\r\n\r\n" + CANARY,
    "trailer that folds": b"0\r\n \r\n\r\n" + CANARY,
}


def head(fields, method=b"POST", target=TARGET, version=b"HTTP/1.1"):
    request = method + b" " + target + b" " + version + b"\r\nHost: " + NAME.encode() + b"\r\n"
    return request + b"Content-Type: application/json\r\n" + fields + b"\r\n"


def payloads():
    """All payloads of HTTP/1.1 by name."""
    found = {}
    for name, coding in CODINGS.items():
        # One parser goes by the length, and the other by the coding.
        found[f"length, then coding: {name}"] = head(b"Content-Length: %d\r\n" % len(ENDED) + coding) + ENDED
        found[f"coding, then length: {name}"] = head(coding + b"Content-Length: %d\r\n" % len(SIZE)) + CHUNKED
    for name, fields in LENGTHS.items():
        found[f"lengths: {name}"] = head(fields % len(CANARY)) + CANARY
    for name, body in BODIES.items():
        found[f"chunks: {name}"] = head(CODINGS["plain"]) + body
    size = b"Content-Length: %d\r\n" % len(CANARY)
    found |= {
        "GET with a body": head(size, b"GET", b"/v1/me") + CANARY,
        "HEAD with a body": head(size, b"HEAD", b"/v1/me") + CANARY,
        "chunked HTTP/1.0": head(CODINGS["plain"] + size, version=b"HTTP/1.0") + ENDED,
        "HTTP/0.9": b"GET /v1/me\r\n" + CANARY,
        "line break in the target": head(b"Content-Length: 0\r\n", target=b"/v1/me HTTP/1.1\r\n\r\n" + CANARY),
        "encoded line break in the target": head(b"Content-Length: 0\r\n", target=b"/v1/me%20HTTP/1.1%0d%0a%0d%0aDELETE%20/metrics"),
        "expectation": head(size + b"Expect: 100-continue\r\n") + CANARY,
        "unknown expectation": head(size + b"Expect: y 100-continue\r\n") + CANARY,
        "upgrade to HTTP/2": head(b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n") + CANARY,
        "upgrade to WebSocket": head(b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 9\r\nSec-WebSocket-Key: AA==\r\n", b"GET",
                                     b"/v1/me") + CANARY,
        "absolute target": head(size, target=b"http://127.0.0.1" + TARGET) + CANARY,
    }  # fmt: skip
    return found


def downgrades():
    """Requests of HTTP/2 that would be two requests after a careless translation to HTTP/1.1: RFC 9113 section 10.3."""

    def request(*further, method=b"POST", path=TARGET, authority=NAME.encode(), scheme=b"https", body=CANARY):
        pseudo = [(b":method", method), (b":scheme", scheme), (b":authority", authority), (b":path", path)]
        return exchange([*pseudo, (b"content-type", b"application/json"), *further], body)

    broken = b" HTTP/1.1\r\nHost: " + NAME.encode() + b"\r\n\r\n" + CANARY
    return {
        "coding": request((b"transfer-encoding", b"chunked"), body=ENDED),
        "short length": request((b"content-length", b"0")),
        "long length": request((b"content-length", b"%d" % (len(CANARY) + 40))),
        "two lengths": request((b"content-length", b"0"), (b"content-length", b"%d" % len(CANARY))),
        "line break in a value": request((b"x-other", b"a\r\n\r\n" + CANARY), body=None),
        "bare LF in a value": request((b"x-other", b"a\nTransfer-Encoding: chunked"), body=ENDED),
        "line break in a name": request((b"x: a\r\ntransfer-encoding: chunked\r\nx", b"a"), body=ENDED),
        "colon in a name": request((b"transfer-encoding: chunked", b""), body=ENDED),
        "space after a name": request((b"transfer-encoding ", b"chunked"), body=ENDED),
        "line break in the path": request(path=b"/v1/me" + broken, method=b"GET", body=None),
        "line break in the method": request(method=b"GET /v1/me" + broken, body=None),
        "line break in the authority": request(authority=NAME.encode() + b"\r\n\r\n" + CANARY, body=None),
        "line break in the scheme": request(scheme=b"https://a/" + broken, body=None),
        "connection field": request((b"connection", b"transfer-encoding"), (b"transfer-encoding", b"chunked"), body=ENDED),
        "GET with a body": request(method=b"GET", path=b"/v1/me"),
    }

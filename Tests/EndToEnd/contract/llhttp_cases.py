# The request cases of llhttp, read as its own test program reads them.

import dataclasses
import re

from harness import ROOT

FOLDER = ROOT / "Tests" / "Corpora" / "llhttp" / "request"
#: The first line of a head, a line that announces a body, and the line of the host.
START = re.compile(rb"^([A-Z-]+) ([^ \r\n]+) (HTTP/1\.[01]\r?\n)", re.M)
BODY = re.compile(rb"^(transfer-encoding|content-length):", re.M | re.I)
HOST = re.compile(rb"^(host: *)[\w.:-]+", re.M | re.I)


@dataclasses.dataclass(frozen=True)
class Case:
    """One case: the bytes of its requests, the number of complete ones, and true if llhttp's strict parser refuses them."""

    name: str
    kind: str
    data: bytes
    messages: int
    is_refused: bool


def decoded(text):
    """The bytes of a block of the page."""
    text = re.sub(r"\\(\r\n|\r|\n)", "", text.removesuffix("\n"))
    text = re.sub(r"\r\n|\r|\n", "\r\n", text)
    for escape, character in (("\\r", "\r"), ("\\n", "\n"), ("\\t", "\t"), ("\\f", "\f")):
        text = text.replace(escape, character)
    text = re.sub(r"\\x([0-9a-fA-F]+)", lambda match: chr(int(match[1], 16)), text)
    text = re.sub(r"\\([0-7]{1,3})", lambda match: chr(int(match[1], 8)), text)
    # The cases have no other JavaScript.
    text = re.sub(r"\$\{'(.)'\.repeat\((\d+)\)\}", lambda match: match[1] * int(match[2]), text)
    assert "${" not in text, text
    return text.encode()


def addressed(data):
    """The requests with a host of this server, and with a resource that reads bodies. Rivulet requires both, and llhttp neither."""

    def start(match):
        method, target, version = match.groups()
        lines = b"" if HOST.search(data) else b"Host: localhost\r\n"
        if method in (b"POST", b"PUT", b"PATCH") or method == b"GET" and BODY.search(data):
            method, target = b"POST", b"/v1/apps/counter/sessions/llhttp/events"
            lines += b"Content-Type: application/json\r\n"
        return b" ".join((method, target, version)) + lines

    without_type = re.sub(rb"^content-type: [^\r\n]*\r\n", b"", data, flags=re.M | re.I)
    return START.sub(start, HOST.sub(rb"\1localhost", without_type))


def cases():
    """All cases, except cases that pause the parser or let it skip bodies."""
    for path in sorted(FOLDER.glob("*.md")):
        seen = {}
        for title, block in re.findall(r"^#+ (.+?)\n(.*?)(?=^#+ |\Z)", path.read_text(), re.M | re.S):
            meta = re.search(r'<!-- meta=\{"type": "([a-z-]+)"(.*?)\} -->', block)
            http = re.search(r"^```http\n(.*?)^```$", block, re.M | re.S)
            log = re.search(r"^```log\n(.*?)^```$", block, re.M | re.S)
            if not (meta and http and log) or re.search('"(pause|skipBody)"', meta[2]):
                continue
            seen[title] = seen.get(title, 0) + 1
            name = f"{path.stem}: {title}" + (f" ({seen[title]})" if seen[title] > 1 else "")
            refused = re.search(r"error code=(\d+)", log[1])
            # The codes 21 to 23 pause the parser, as for an upgrade.
            is_refused = bool(refused) and refused[1] not in ("21", "22", "23")
            data = addressed(decoded(http[1]))
            if is_refused and b"\r\n\r\n" not in data:
                # llhttp refuses a head before its end, Rivulet at its end.
                data += b"\r\n\r\n"
            yield Case(name, meta[1], data, log[1].count("message complete"), is_refused)

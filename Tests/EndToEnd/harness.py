# Runs the real binary and speaks HTTP to it with exact bytes. No library corrects what is sent or received.
"""The server under test as a process, and the clients that the tests use."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse
import zlib

from chunks import Chunks
from damage import edited

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "Public"
SCREENSHOTS = ROOT / ".build" / "screenshots"
#: The types of the problem documents that came, each with its statuses and its members. conftest.py checks their pages.
PROBLEMS = {}
#: The registered type of 429.
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
#: The longest wait of a test, in seconds.
PATIENCE = 20.0


def binary():
    """The binary under test: $RIVULET_BINARY, or the debug build, or the release build."""
    named = os.environ.get("RIVULET_BINARY")
    candidates = [pathlib.Path(named)] if named else [ROOT / ".build" / kind / "rivulet" for kind in ("debug", "release")]
    for candidate in candidates:
        if candidate.exists():
            return str(candidate)
    raise SystemExit(f"no binary at {' or '.join(map(str, candidates))}: build it with `swift build`, or name it in RIVULET_BINARY")


def environment():
    """This process's environment without the variables that configure the server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("RIVULET_")}


def run(*arguments, seconds=PATIENCE, **options):
    """Runs the binary to its end, and returns its output and its exit status."""
    return subprocess.run(
        [binary(), *map(str, arguments)], capture_output=True, text=True, timeout=seconds, env=environment(), **options
    )


def give_sessions_to(app, folder, of):
    """Moves the stored sessions of an app to another app, as if a build with another state had been deployed."""
    with edited(folder) as database:
        rows = database.execute("SELECT sid, id, epoch, created FROM session WHERE app = ?", [of]).fetchall()
        for sid, *texts, created in rows:
            texts = b"".join(struct.pack("<q", len(text.encode())) + text.encode() for text in (app, *texts))
            checksum = zlib.crc32(struct.pack("<q", sid) + texts + struct.pack("<q", created))
            database.execute("UPDATE session SET app = ?, crc = ? WHERE sid = ?", [app, checksum, sid])


class Server:
    """One running server. If `data` is None, it stores everything in memory. `variables` are added to its environment; `under` is a program that starts it.

    If `port` is None, the arguments or variables say where it listens.
    """

    def __init__(self, data, port=0, arguments=(), umask=-1, variables=None, under=()):
        self.data = data
        self.log = tempfile.TemporaryFile()
        keep = ["--memory"] if data is None else ["--data", str(data)]
        listen = [] if port is None else ["--port", str(port)]
        command = [*map(str, under), binary(), "serve", *listen, "--public", str(PUBLIC), *keep, *map(str, arguments)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=environment() | {"RIVULET_RATE_LIMITS": "off"} | (variables or {}), umask=umask,
        )
        self.line = self._first_line()
        match = re.fullmatch(r"rivulet listening on (?:http://(.+):(\d+))?(?:(?: and )?unix:(.+))?\n", self.line or "")
        if match is None:
            self.kill()
            printed = "nothing in time" if self.line is None else repr(self.line)
            raise AssertionError(f"the server printed {printed}, and ended with {self.process.returncode}; its log: {self.log_text()}")
        self.host, self.port, self.path = match[1], match[2] and int(match[2]), match[3]
        self.url = f"http://{self.host}:{self.port}"

    def _first_line(self):
        lines = []
        reader = threading.Thread(target=lambda: lines.append(self.process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(PATIENCE)
        return lines[0] if lines else None

    def request(self, method, target, body=None, headers=None):
        """Sends one request on a separate connection."""
        with Connection(self) as connection:
            return connection.request(method, target, body, headers)

    def get(self, target, **headers):
        return self.request("GET", target, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def session(self, identifier, app="counter"):
        return Session(self, identifier, app)

    def wait_for_streams_to_end(self, start=b""):
        """Waits until the server has seen the end of all streams. `start` comes before the requests on each connection."""
        end = time.monotonic() + PATIENCE
        while True:
            with Connection(self) as connection:
                connection.send(start + message("GET", "/v1/streams"))
                if not connection.answer().json["streams"]:
                    return
            assert time.monotonic() < end, "a stream goes on"
            time.sleep(0.02)

    def stop(self):
        """Sends SIGTERM, and returns the exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def memory(self):
        """The resident bytes of the process."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) * 1024

    def wait(self):
        status = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return status

    def kill(self):
        """Sends SIGKILL. The server has no chance to clean up."""
        self.process.kill()
        self.wait()

    def log_text(self):
        # The server writes at the shared position of this open file, so the read must not move it.
        log = self.log.fileno()
        return os.pread(log, os.fstat(log).st_size, 0).decode("utf-8", "replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        self.log.close()


@dataclasses.dataclass
class Answer:
    """A response. Header names are in lower case."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        """The problem document. Checks its form."""
        assert self.headers["content-type"].split(";")[0] == "application/problem+json", self
        document = self.json
        assert document["status"] == self.status, document
        assert document["type"] and document["title"] and document["detail"], document
        return document


class Connection:
    """One connection, which reads and writes bytes as they are. A server without a port has a Unix socket."""

    def __init__(self, server, seconds=PATIENCE, receive_buffer=None):
        self.socket = socket.socket(socket.AF_INET if server.port else socket.AF_UNIX)
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(seconds)
        self.socket.connect(("127.0.0.1", server.port) if server.port else server.path)
        if server.port:
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        #: Removes the framing of a stream before its content reaches the buffer.
        self.chunks = None

    def request(self, method, target, body=None, headers=None):
        self.send(message(method, target, body, headers))
        return self.answer(method)

    def send(self, data):
        self.socket.sendall(data)

    def answer(self, method="GET"):
        """The next response: its head, and a body with a Content-Length. Only streams have chunked bodies."""
        status, headers = self.head()
        while status == 100:
            status, headers = self.head()
        if method == "HEAD" or status in (204, 304):
            return Answer(status, headers, b"")
        answer = Answer(status, headers, self._exactly(int(headers["content-length"])))
        if headers.get("content-type") == "application/problem+json" and "content-encoding" not in headers:
            note_problem(answer.problem)
        return answer

    def head(self):
        lines = self.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        version, status, _ = (lines[0] + " ").split(" ", 2)
        assert version == "HTTP/1.1", lines[0]
        pairs = (line.split(":", 1) for line in lines[1:] if line)
        return int(status), {name.lower(): value.strip() for name, value in pairs}

    def stream_head(self):
        """The head of an event stream, or of another answer. The bytes after it are read without the framing of chunks."""
        status, headers = self.head()
        if status == 200:
            assert headers["transfer-encoding"] == "chunked" and headers["connection"] == "close", headers
            assert "content-length" not in headers
            self.chunks = Chunks()
            self.buffer = self.chunks.feed(self.buffer)
        return status, headers

    def until(self, mark):
        """All bytes up to the mark, including the mark."""
        while mark not in self.buffer:
            self._more()
        part, _, self.buffer = self.buffer.partition(mark)
        return part + mark

    def ended(self):
        """True if the server closed the connection, after any bytes that it still sent."""
        try:
            while received := self.socket.recv(65536):
                self.buffer += received if self.chunks is None else self.chunks.feed(received)
            return True
        except ConnectionResetError:
            return True

    def _exactly(self, count):
        while len(self.buffer) < count:
            self._more()
        part, self.buffer = self.buffer[:count], self.buffer[count:]
        return part

    def _more(self):
        received = self.socket.recv(65536)
        if not received:
            raise EOFError(f"the server closed; unread: {self.buffer[:200]!r}")
        self.buffer += received if self.chunks is None else self.chunks.feed(received)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class LateBody(Connection):
    """A request that the server has admitted by its head, and whose body is still to come."""

    def __init__(self, server, method, target, body, headers):
        super().__init__(server)
        head, end, self.body = message(method, target, body, headers | {"Expect": "100-continue"}).partition(b"\r\n\r\n")
        self.send(head + end)
        assert self.head()[0] == 100

    def finish(self):
        """Sends the body, and returns the answer."""
        self.send(self.body)
        return self.answer()


def message(method, target, body=None, headers=None):
    """The bytes of a request. A body that is no bytes object is sent as JSON."""
    fields = {"Host": "localhost"} | (headers or {})
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        fields = {"Content-Type": "application/json"} | fields
    if body is not None:
        fields = {"Content-Length": str(len(body))} | fields
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b"")


def note_problem(document):
    """Records the type of a problem document."""
    assert document["type"].startswith("/problems/") or document["type"] == QUOTA_EXCEEDED, document
    statuses, members = PROBLEMS.setdefault(document["type"], (set(), set()))
    statuses.add(document["status"])
    members.update(document)


class Session:
    """A session of an app, as a client sees it."""

    def __init__(self, server, identifier, app="counter"):
        self.server = server
        self.identifier = identifier
        self.path = f"/v1/apps/{app}/sessions/{identifier}"

    def dispatch(self, event):
        """Dispatches an event that must be accepted, and returns the answer."""
        answer = self.post(event)
        assert answer.status == 200, answer
        return answer.json

    def post(self, event, headers=None):
        return self.server.request("POST", self.path + "/events", event, headers)

    def state(self, pointer=""):
        answer = self.server.get(self.path + "/state" + urllib.parse.quote(pointer))
        assert answer.status == 200, answer
        return answer.json

    def read(self, pointer="", **headers):
        return self.server.get(self.path + "/state" + urllib.parse.quote(pointer), **headers)

    def info(self):
        answer = self.server.get(self.path)
        assert answer.status == 200, answer
        return answer.json

    def stream(self, *paths, cursor=None, last_event_id=None, receive_buffer=None, **options):
        """A change stream; `options` are further parameters of its query."""
        return Stream(self, paths, cursor, last_event_id, receive_buffer, options)


@dataclasses.dataclass
class Event:
    """One event of a stream. `raw` has the bytes of its block."""

    name: str
    cursor: str | None
    data: dict
    raw: bytes

    @property
    def changed(self):
        """The new values by path."""
        return {change["path"]: change.get("value") for change in self.data["changes"]}


class Stream:
    """A change stream, read block by block."""

    #: The streamed resource, below the path of its owner.
    resource = "/changes"

    def __init__(self, session, paths, cursor=None, last_event_id=None, receive_buffer=None, options=None):
        query = [("path", path) for path in paths] + ([("cursor", cursor)] if cursor is not None else [])
        query += (options or {}).items()
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_event_id} if last_event_id is not None else {})
        self.connection = Connection(session.server, receive_buffer=receive_buffer)
        target = session.path + self.resource + ("?" + urllib.parse.urlencode(query) if query else "")
        self.connection.send(message("GET", target, headers=headers))
        self.status, self.headers = self.connection.stream_head()
        self.comments = 0

    def next(self):
        """The next event. Skips comments and `retry:`."""
        end = time.monotonic() + PATIENCE
        while True:
            # A quiet stream has comments, and each comment ends a wait of the socket.
            if time.monotonic() > end:
                raise TimeoutError("the stream has nothing but comments")
            block = self._block()
            fields = {}
            for line in re.split("\r\n|\r|\n", block.decode()):
                if line == "":
                    continue
                name, _, value = line.partition(":")
                fields.setdefault(name, []).append(value.removeprefix(" "))
            if "" in fields:
                self.comments += 1
            if "data" in fields:
                name = fields.get("event", ["message"])[0]
                return Event(name, fields.get("id", [None])[0], json.loads("\n".join(fields["data"])), block)

    def comment(self, seconds):
        """Waits for a comment."""
        self.connection.socket.settimeout(seconds)
        while not self._block().startswith(b":"):
            pass

    def expect(self, name):
        event = self.next()
        assert event.name == name, event
        return event

    def quiet_until(self, session, event):
        """The event of this dispatch. If the stream had sent anything before it, the test fails."""
        answer = session.dispatch(event)
        received = self.expect("change")
        assert received.cursor == answer["cursor"], received
        return received

    def ended(self):
        """True if the server ended the stream without another event: the last chunk, then the end of the connection."""
        return self._closed() and self.connection.chunks.is_ended and not self.connection.buffer

    def cut(self):
        """True if the connection ended without another event and without the last chunk."""
        return self._closed() and not self.connection.chunks.is_ended

    def _closed(self):
        try:
            event = self.next()
        except (EOFError, ConnectionResetError):
            return True
        raise AssertionError(f"the stream went on with {event}")

    def _block(self):
        return self.connection.until(b"\n\n")

    def close(self):
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def all_bytes(folder):
    """Every byte of every file below a folder, including the write-ahead log."""
    return b"".join(path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file())


@contextlib.contextmanager
def threads(count, body):
    """Runs `body(i)` on `count` threads beside the block of the `with` statement. The first error in a thread fails the test."""
    faults = []

    def guarded(i):
        try:
            body(i)
        except BaseException as fault:
            faults.append(fault)

    started = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in started:
        thread.start()
    yield
    for thread in started:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in started), "a client thread hangs"
    if faults:
        raise faults[0]

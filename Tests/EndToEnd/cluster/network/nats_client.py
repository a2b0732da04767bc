# A small client of NATS in its own protocol, so that the tests share no code with Rivulet's client.
"""Requests to NATS and its JetStream, with bytes and replies as they are."""

import asyncio
import itertools
import json
import re
import socket
import threading
import time

#: The longest wait for a reply, in seconds. An election of NATS takes 4 to 9 s.
PATIENCE = 10.0
#: The code of an append after a failed condition.
#: Source: <https://github.com/nats-io/nats-server/blob/main/server/errors.json>
WRONG_LAST_SEQUENCE = 10071
#: The code of an append while another one of its subject is on its way through the quorum. On a busy machine, NATS
#: 2.15.1 also gives it to one of about 2,000 appends that directly follow the acknowledgement of the one before.
IN_FLIGHT = 10164
#: The code of an append to a stream that has reached its `max_bytes`.
STREAM_FULL = 10077


class Refused(Exception):
    """An error that JetStream answered."""

    def __init__(self, error):
        super().__init__(f"{error.get('err_code')}: {error.get('description')}")
        self.code = error.get("err_code")


class Unanswered(Exception):
    """No reply came: the operation may have happened."""


class Lines:
    """Cuts received bytes into messages: tuples of an operation, its arguments, its headers and its body."""

    def __init__(self):
        self._bytes = b""

    def feed(self, received):
        self._bytes += received
        while (end := self._bytes.find(b"\r\n")) >= 0:
            operation, _, rest = self._bytes[:end].decode().partition(" ")
            operation = operation.upper()
            if operation not in ("MSG", "HMSG"):
                self._bytes = self._bytes[end + 2 :]
                yield operation, rest, b"", b""
                continue
            *names, size = rest.split()
            if len(self._bytes) < end + 2 + int(size) + 2:
                return
            body = self._bytes[end + 2 : end + 2 + int(size)]
            self._bytes = self._bytes[end + 2 + int(size) + 2 :]
            heads = int(names.pop()) if operation == "HMSG" else 0
            yield operation, names, body[:heads], body[heads:]


def publish(subject, body, reply, headers=()):
    """The bytes of a message."""
    if not headers:
        return b"PUB %s %s %d\r\n%s\r\n" % (subject.encode(), reply.encode(), len(body), body)
    head = "NATS/1.0\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
    return b"HPUB %s %s %d %d\r\n%s%s\r\n" % (
        subject.encode(), reply.encode(), len(head), len(head) + len(body), head.encode(), body,
    )  # fmt: skip


def after(sequence):
    """The headers of an append that must follow this message of its subject. 0 means an empty subject."""
    return [] if sequence is None else [("Nats-Expected-Last-Subject-Sequence", sequence)]


def outcome(heads, body):
    """The reply of JetStream as an object. Raises for an error."""
    if b" 503" in heads[:16]:
        raise Unanswered("no server responds to this subject")
    answer = json.loads(body)
    if "error" in answer:
        raise Refused(answer["error"])
    return answer


class Client:
    """A connection that makes one request at a time. Used by one thread at a time."""

    def __init__(self, port, host="127.0.0.1", seconds=PATIENCE):
        self._socket = socket.create_connection((host, port), seconds)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines, self._messages, self._numbers = Lines(), iter(()), itertools.count(1)
        self._lock = threading.Lock()
        self._inbox = f"_INBOX.test.{id(self)}.{time.monotonic_ns()}"
        try:
            #: The server's description of itself.
            self.info = self._begin(seconds)
        except BaseException:
            self.close()
            raise

    def _begin(self, seconds):
        operation, rest, *_ = self._next(seconds)
        assert operation == "INFO", operation
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "lang": "test", "version": "1"}
        self._socket.sendall(b"CONNECT %s\r\nSUB %s.* 1\r\nPING\r\n" % (json.dumps(options).encode(), self._inbox.encode()))
        while self._next(seconds)[0] != "PONG":
            pass
        return json.loads(rest)

    def _next(self, seconds):
        """The next message; answers PING."""
        end = time.monotonic() + seconds
        while True:
            for message in self._messages:
                if message[0] == "PING":
                    self._socket.sendall(b"PONG\r\n")
                elif message[0] == "-ERR":
                    raise ConnectionError(message[1])
                elif message[0] != "+OK":
                    return message
            left = end - time.monotonic()
            if left <= 0:
                raise Unanswered(f"nothing came within {seconds:g} s")
            self._socket.settimeout(left)
            try:
                received = self._socket.recv(1 << 20)
            except TimeoutError:
                continue
            if not received:
                raise ConnectionError("NATS closed the connection")
            self._messages = self._lines.feed(received)

    def request(self, subject, body=b"", headers=(), seconds=PATIENCE):
        """The headers and the body of the reply."""
        with self._lock:
            reply = f"{self._inbox}.{next(self._numbers)}"
            self._socket.sendall(publish(subject, body, reply, headers))
            end = time.monotonic() + seconds
            while True:
                operation, names, heads, answer = self._next(end - time.monotonic())
                # A reply that came too late for an earlier request is skipped.
                if operation in ("MSG", "HMSG") and names[0] == reply:
                    return heads, answer

    def ask(self, subject, question=None, seconds=PATIENCE):
        """The answer of JetStream's API to a question."""
        body = b"" if question is None else json.dumps(question).encode()
        return outcome(*self.request(f"$JS.API.{subject}", body, seconds=seconds))

    def append(self, subject, body, last=None, seconds=PATIENCE):
        """Appends a message under the condition that `last` is its subject's last sequence, and returns its sequence."""
        return outcome(*self.request(subject, body, after(last), seconds))["seq"]

    def make_stream(self, name, subjects, replicas=1, seconds=PATIENCE, **options):
        settings = {
            "name": name, "subjects": subjects, "num_replicas": replicas, "storage": "file", "retention": "limits",
            "discard": "new", "max_msgs": -1, "max_bytes": -1, "allow_direct": True, **options,
        }  # fmt: skip
        return self.ask(f"STREAM.CREATE.{name}", settings, seconds)

    def update_stream(self, settings):
        return self.ask(f"STREAM.UPDATE.{settings['name']}", settings)

    def stream(self, name):
        """The configuration, the state and the servers of a stream."""
        return self.ask(f"STREAM.INFO.{name}")

    def streams(self):
        """The names of all streams."""
        return self.ask("STREAM.NAMES").get("streams") or []

    def message(self, stream, sequence):
        """A message of a stream, as JetStream's API describes it."""
        return self.ask(f"STREAM.MSG.GET.{stream}", {"seq": sequence})["message"]

    def delete_stream(self, name):
        return self.ask(f"STREAM.DELETE.{name}")

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Publisher(asyncio.Protocol):
    """A connection with many conditional appends under way, for the rate of NATS alone."""

    def __init__(self):
        self._lines, self._waiting, self._numbers = Lines(), {}, itertools.count(1)
        self.ready = asyncio.get_running_loop().create_future()

    @classmethod
    async def connect(cls, port):
        _, publisher = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        await asyncio.wait_for(publisher.ready, PATIENCE)
        return publisher

    def connection_made(self, transport):
        self.transport = transport
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        transport.write(b"CONNECT %s\r\nSUB _INBOX.rate%x.* 1\r\nPING\r\n" % (json.dumps(options).encode(), id(self)))

    def data_received(self, data):
        for operation, names, heads, body in self._lines.feed(data):
            if operation == "PING":
                self.transport.write(b"PONG\r\n")
            elif operation == "PONG" and not self.ready.done():
                self.ready.set_result(None)
            elif operation in ("MSG", "HMSG") and (waiter := self._waiting.pop(names[0].rpartition(".")[2], None)):
                if not waiter.done():
                    waiter.set_result((heads, body))

    def connection_lost(self, error):
        for waiter in self._waiting.values():
            if not waiter.done():
                waiter.set_exception(ConnectionError(f"NATS closed the connection: {error}"))

    async def append(self, subject, body, last):
        """Appends a message behind the message `last` of its subject, and returns its sequence."""
        while True:
            try:
                return await self._append(subject, body, last)
            except Refused as refused:
                if refused.code != IN_FLIGHT:
                    raise

    async def _append(self, subject, body, last):
        number = str(next(self._numbers))
        self._waiting[number] = waiter = asyncio.get_running_loop().create_future()
        self.transport.write(publish(subject, body, f"_INBOX.rate{id(self):x}.{number}", after(last)))
        return outcome(*await waiter)["seq"]


def parsed(listed):
    """The hosts and ports of `nats://a:1,b:2`."""
    return [(host, int(port)) for host, port in re.findall(r"([^/:,]+):(\d+)", listed)]

# The load of the cluster's figures: dispatches and appends in closed loops, and many streams of one session.
"""Clients that do little themselves, because they share the machine with all servers."""

import asyncio
import contextlib
import json
import re
import selectors
import socket
import threading
import time

import nats_client

#: The bytes of an append, about those of a dispatch in the log.
BODY = b"x" * 250
LENGTH = re.compile(rb"content-length: (\d+)", re.I)


class Dispatcher(asyncio.Protocol):
    """A connection with one request under way."""

    def __init__(self):
        self._received, self._answer = b"", None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        if not blank:
            return
        length = LENGTH.search(head)
        if length is None or len(body) >= int(length[1]):
            self._received = b""
            if not self._answer.done():
                self._answer.set_result(int(head[9:12]))

    def connection_lost(self, error):
        if self._answer and not self._answer.done():
            self._answer.set_exception(ConnectionError(str(error)))

    def request(self, message):
        """A future with the status of the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(message)
        return self._answer


def dispatch(session, number):
    """The bytes of a dispatch. Its answer has no body."""
    body = json.dumps({"rename": f"title {number}"}).encode()
    return (f"POST /v1/apps/counter/sessions/load-{session}/events HTTP/1.1\r\nHost: localhost\r\nPrefer: return=minimal\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body  # fmt: skip


class Rate:
    """The seconds of the requests of one run."""

    def __init__(self, times, seconds, cpu):
        self.times, self.seconds, self.cpu = sorted(times), seconds, cpu

    @property
    def per_second(self):
        return len(self.times) / self.seconds

    @property
    def p50(self):
        return self.times[len(self.times) // 2]

    @property
    def p99(self):
        return self.times[len(self.times) * 99 // 100]

    def __str__(self):
        return f"{self.per_second:,.0f}/s, p50 {self.p50 * 1e3:.2f} ms, p99 {self.p99 * 1e3:.2f} ms (client's CPU {self.cpu / self.seconds:.0%})"


async def closed_loop(clients, seconds, step):
    """Runs `step(client, count)` again and again on each of the clients."""
    times, end, before = [], time.perf_counter() + seconds, time.process_time()

    async def loop(client):
        count = 0
        while (begin := time.perf_counter()) < end:
            await step(client, count)
            count += 1
            times.append(time.perf_counter() - begin)

    begin = time.perf_counter()
    await asyncio.gather(*map(loop, range(clients)))
    return Rate(times, time.perf_counter() - begin, time.process_time() - before)


async def dispatches(nodes, clients, sessions, seconds):
    """The rate of dispatches, spread over these nodes. Each client has sessions of its own."""
    loop, statuses = asyncio.get_running_loop(), set()
    connections = [(await loop.create_connection(Dispatcher, "127.0.0.1", nodes[number % len(nodes)].port))[1] for number in range(clients)]
    mine = [range(number, sessions, clients) for number in range(clients)]

    async def step(client, count):
        session = mine[client][count % len(mine[client])]
        statuses.add(await connections[client].request(dispatch(session, time.monotonic_ns())))

    rate = await closed_loop(clients, seconds, step)
    for connection in connections:
        connection.transport.abort()
    assert statuses <= {204}, statuses
    return rate


async def appends(nats, stream, last, clients, subjects, seconds):
    """The rate of conditional appends to one stream. `last` has the last sequences of its subjects, and is kept up to date."""
    publisher = await nats_client.Publisher.connect(nats.leader(stream).port)
    mine = [range(number, subjects, clients) for number in range(clients)]

    async def step(client, count):
        subject = f"{stream}.{mine[client][count % len(mine[client])]}"
        last[subject] = await publisher.append(subject, BODY, last.get(subject, 0))

    rate = await closed_loop(clients, seconds, step)
    publisher.transport.abort()
    return rate


class Crowd:
    """Many streams of one session, on a thread of their own. It counts the events by their text."""

    def __init__(self, nodes, count, session, mark=b"event: change"):
        self._selector, self._mark = selectors.DefaultSelector(), mark
        self._request = (f"GET /v1/apps/counter/sessions/{session}/changes?path=/p/title HTTP/1.1\r\nHost: localhost\r\n"
                         "Accept: text/event-stream\r\n\r\n").encode()  # fmt: skip
        self.begun = self.events = self.ended = 0
        self._is_over = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        for number in range(count):
            self._open(nodes[number % len(nodes)].port)
            # The listener's queue is short.
            while number - self.begun > 200:
                time.sleep(0.001)
        self.wait(lambda: self.begun >= count)

    def _open(self, port):
        stream = socket.create_connection(("127.0.0.1", port), 30)
        stream.sendall(self._request)
        stream.setblocking(False)
        self._selector.register(stream, selectors.EVENT_READ)

    def _read(self):
        while not self._is_over:
            for key, _ in self._selector.select(0.05):
                with contextlib.suppress(BlockingIOError):
                    received = key.fileobj.recv(65_536)
                    self.begun += b"event: snapshot" in received
                    self.events += received.count(self._mark)
                    if not received:
                        self.ended += 1
                        self._selector.unregister(key.fileobj)

    def wait(self, holds, seconds=120):
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"{self.begun} streams began, {self.events} events came, {self.ended} ended"
            time.sleep(0.005)

    def close(self):
        self._is_over = True
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()

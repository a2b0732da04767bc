# The load generator of Benchmarks, against a server that loses, doubles, swaps and garbles events on purpose.
"""The load generator counts each error of a server, and reports no error that did not happen."""

import contextlib
import json
import pathlib
import re
import socket
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "Benchmarks"))

import tools  # noqa: E402  (the folder of the benchmarks is no package)

EVENTS, STREAMS = 100, 3
PATIENCE = 30.0


def is_fifth(number):
    """True for event 5 and each tenth after it."""
    return number % 10 == 5


def faithful(number, event):
    return [event]


def losing(number, event):
    return [] if is_fifth(number) else [event]


def doubling(number, event):
    return [event, event] if is_fifth(number) else [event]


def garbling(number, event):
    """Sends an additional event that was never published."""
    return [event, re.sub(rb'("t":)\d', rb"\g<1>9", event)] if is_fifth(number) else [event]


def swapping():
    """Event 9 comes after event 10, event 19 after 20, and so on. The last event never comes."""
    held = []

    def swap(number, event):
        if number % 10 == 9:
            held.append(event)
            return []
        return [event, *(held.pop() for _ in held[:])]

    return swap


class Framing:
    """The bytes of a stream's head and of its events."""

    def __init__(self, is_chunked, line_end):
        self.head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + (b"Transfer-Encoding: chunked\r\n" if is_chunked else b"") + b"\r\n"
        self.is_chunked, self.line_end = is_chunked, line_end

    def frame(self, text):
        """Splits the text at odd positions, because a chunk may end anywhere in a line."""
        pieces = [piece for piece in (text[:7], text[7:8], text[8:]) if piece]
        return b"".join(b'%x;ext="ab"\r\n%s\r\n' % (len(piece), piece) for piece in pieces) if self.is_chunked else text

    def event(self, body):
        return self.line_end.join([b"event: x", b"data: " + body, b"", b""])


FRAMINGS = {"to_the_end": Framing(False, b"\n"), "chunked": Framing(True, b"\n"), "chunked_crlf": Framing(True, b"\r\n")}


class FaultyServer:
    """Streams of one topic. `fault` takes the number and the text of an event, and returns the events to send in its place."""

    def __init__(self, fault, framing):
        self.fault, self.framing = fault, framing
        self.streams, self.count = [], 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        # The streams connect first and the one publisher last, so the connections are served in turn.
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            for _ in range(STREAMS):
                stream = stack.enter_context(self.listener.accept()[0])
                read_head(stream.makefile("rb"))
                stream.sendall(self.framing.head + self.framing.frame(self.framing.event(b"hello")))
                self.streams.append(stream)
            publisher = stack.enter_context(self.listener.accept()[0])
            self.answer(publisher, publisher.makefile("rb"))

    def answer(self, publisher, requests):
        while head := read_head(requests):
            body = requests.read(int(re.search(rb"Content-Length: (\d+)", head)[1]))
            for event in self.fault(self.count, self.framing.event(body)):
                for stream in self.streams:
                    stream.sendall(self.framing.frame(event))
            self.count += 1
            publisher.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join(PATIENCE)


def read_head(requests):
    lines = []
    while (line := requests.readline()) not in (b"\r\n", b""):
        lines.append(line)
    return b"".join(lines)


def load(port, *arguments):
    """The figures of a run, and its exit status. The run begins after each stream got one event, which the server sends by itself."""
    command = [tools.build("load"), "--port", port, "--subs", STREAMS, "--ready-events", 1, "--count", EVENTS,
               "--window", 0, "--settle", 0.01, "--drain", 0.2, *arguments]
    outcome = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=PATIENCE)
    assert outcome.stdout, outcome.stderr
    return json.loads(outcome.stdout), outcome.returncode


#: For each error: the function or its factory, and the numbers of lost, doubled, late and unknown events of each
#: stream.
CASES = {
    "faithful": (lambda: faithful, (0, 0, 0, 0)),
    "losing": (lambda: losing, (10, 0, 0, 0)),
    "doubling": (lambda: doubling, (0, 10, 0, 0)),
    "swapping": (swapping, (1, 0, 9, 0)),
    "garbling": (lambda: garbling, (0, 0, 0, 10)),
}


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("case", CASES)
def test_each_error_is_counted(framing, case):
    make, faults = CASES[case]
    with FaultyServer(make(), FRAMINGS[framing]) as server:
        figures, status = load(server.port)
    assert tuple(figures[name] for name in ("lost", "duplicate", "out_of_order", "unmatched")) == tuple(count * STREAMS for count in faults)
    assert (figures["published"], figures["expected"], figures["ack_errors"]) == (EVENTS, EVENTS * STREAMS, 0)
    assert (figures["ready"], figures["other_events"]) == (STREAMS, STREAMS)
    assert status == (0 if case == "faithful" else 3)


def test_events_of_the_warm_up_are_counted_and_not_measured():
    with FaultyServer(losing, FRAMINGS["chunked"]) as server:
        figures, _ = load(server.port, "--warmup", 5, "--rate", 500)
    assert (figures["expected"], figures["lost"]) == (EVENTS * STREAMS, 10 * STREAMS)
    assert figures["events_per_s"] * figures["wall_s"] == pytest.approx(EVENTS - 5, rel=0.01)
    assert figures["deliveries_per_s"] * figures["wall_s"] == pytest.approx((EVENTS - 5 - 10) * STREAMS, rel=0.01)


def test_a_rate_is_kept():
    with FaultyServer(faithful, FRAMINGS["chunked"]) as server:
        figures, status = load(server.port, "--rate", 500)
    # The last of 100 events is due after 99 intervals. A busy machine only takes longer.
    assert status == 0
    assert figures["wall_s"] >= 99 / 500


def test_a_refused_stream_ends_the_run():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def refuse():
            with listener.accept()[0] as stream:
                read_head(stream.makefile("rb"))
                stream.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        outcome = subprocess.run(
            [tools.build("load"), "--port", str(listener.getsockname()[1]), "--subs", "1"], capture_output=True, text=True, timeout=PATIENCE
        )
        thread.join(PATIENCE)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "a stream got HTTP/1.1 404 Not Found" in outcome.stderr


@pytest.mark.parametrize("arguments, text", [
    (["--port", "x"], "--port takes a number of 0 to 65535, not x"),
    (["--pubs", "2"], "--pubs is at most --topics"),
    (["--warmup", "10", "--count", "10"], "--warmup is less than --count"),
])
def test_meaningless_options_are_refused(arguments, text):
    outcome = subprocess.run([tools.build("load"), *arguments], capture_output=True, text=True, timeout=PATIENCE)
    assert (outcome.returncode, outcome.stderr) == (1, f"load: {text}\n")


def test_the_other_programs_build():
    assert tools.build("floor").exists()


@pytest.mark.parametrize("mode", ["sqlite", "fdatasync"])
def test_a_commit_is_timed(tmp_path, mode):
    outcome = subprocess.run([tools.build("commit"), tmp_path, mode, "1", "0.05"], capture_output=True, text=True, timeout=PATIENCE)
    assert outcome.returncode == 0, outcome.stderr
    figures = json.loads(outcome.stdout)
    assert (figures["mode"], figures["batch"]) == (mode, 1)
    assert 0 < figures["commit_us"]["p50"] <= figures["commit_us"]["max"]

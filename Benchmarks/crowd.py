# Crowds on a large state: many connections that join or read at once, that never read, or that send large bodies.
"""crowd.py PORT: probes /healthz every 10 ms until it is ended, and prints the milliseconds of each probe."""

import contextlib
import json
import os
import pathlib
import re
import select
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import servers
from goals import Figure, Quiet
from servers import CLIENT_CORE, cpu_seconds

SESSION = "/v1/apps/todos/sessions/crowd"
#: The numbers of items of the states: 5 MB and 44 KiB.
LARGE, SMALL = 100_000, 984
READERS, JOINS, MUTE, BODIES = 1_000, 5_000, 1_000, 3_000
BODY_BYTES, SENT_BYTES = 1_048_576, 1_000_000
#: The connections that are being opened at once. A listener's queue is not much longer.
CONNECTING_MOST = 512
#: Seconds: the time limit of a crowd that reads, the time for which a crowd that never reads is watched, and the pause
#: before the memory is measured again.
READ_MOST, MUTE_SECONDS, REST_SECONDS = 120.0, 12.0, 10.0
#: The bounds of the goals: bytes for each connection beside three snapshots, `heldBytesMax`, and `heldBodyBytesMax`.
CONNECTION_BYTES, HELD_BYTES, HELD_BODY_BYTES = 8 << 10, 256 << 20, 64 << 20
#: A stream that got all may have this many bytes fewer than another stream: its compressed name may be shorter, and a
#: shared snapshot may be older.
SLACK = 256
COMMAND = "Benchmarks/run crowd"


def get(port, path):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).read()


def request(path, is_gzip=False):
    encoding = "Accept-Encoding: gzip\r\n" if is_gzip else ""
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{encoding}\r\n".encode()


def memory(pid, name="VmRSS"):
    """The resident bytes of a process. `VmHWM` gives their maximum so far."""
    return int(re.search(rf"{name}:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) * 1024


def longest_turn(port):
    """The milliseconds of the loop's longest turn since the last call."""
    return float(re.search(rb"^rivulet_loop_longest_turn_seconds (\S+)", get(port, "/metrics"), re.M)[1]) * 1_000


def answer_bytes(port, message):
    """The bytes that one connection gets until none arrive for a second."""
    with socket.create_connection(("127.0.0.1", port), 30) as connection:
        connection.sendall(message)
        count = 0
        with contextlib.suppress(TimeoutError):
            while received := connection.recv(1 << 20):
                count += len(received)
                connection.settimeout(1)
        return count


class Crowd:
    """Connections that are opened at once. Each has a message to send and a number of bytes to receive. A connection with 0 bytes never reads."""

    def __init__(self, port, members):
        self._port, self._waiting = port, list(reversed(members))
        self._poll, self._open = select.epoll(), {}
        self.complete, self.cut, self.received = 0, 0, 0
        self.seconds = 0.0

    def run(self, seconds):
        """Reads until all connections have their bytes, or until the time is over. Connections that never read are watched for the same time."""
        begin, trash = time.monotonic(), bytearray(1 << 20)
        connecting, reading = 0, len(self._waiting)
        while reading and time.monotonic() - begin < seconds:
            while self._waiting and connecting < CONNECTING_MOST:
                self._connect()
                connecting += 1
            for descriptor, events in self._poll.poll(0.1):
                member = self._open[descriptor]
                if member[1]:  # It has bytes to send.
                    connecting -= member[3]
                    member[3] = 0
                    if not self._send(member):
                        self.cut += 1
                        reading -= 1
                    elif not member[1]:
                        self._poll.modify(descriptor, select.EPOLLIN if member[2] else 0)
                    continue
                try:
                    # The kernel discards the bytes. Otherwise the measurement would include the client's copies.
                    count = member[0].recv_into(trash, len(trash), socket.MSG_TRUNC)
                except BlockingIOError:
                    continue
                except OSError:
                    count = 0
                self.received += count
                member[2] -= count
                if count == 0 or member[2] <= 0:
                    self._poll.unregister(descriptor)
                    self.cut += count == 0
                    self.complete += count != 0
                    reading -= 1
        self.seconds = time.monotonic() - begin
        return self

    def _connect(self):
        message, wanted = self._waiting.pop()
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self._port))
        self._open[connection.fileno()] = [connection, memoryview(message), wanted, 1]
        self._poll.register(connection.fileno(), select.EPOLLOUT)

    def _send(self, member):
        try:
            member[1] = member[1][member[0].send(member[1]) :]
        except BlockingIOError:
            pass
        except OSError:
            self._poll.unregister(member[0].fileno())
            return False
        return True

    def close(self):
        for member in self._open.values():
            member[0].close()
        self._poll.close()


@contextlib.contextmanager
def probed(port):
    """Probes /healthz from a separate process. Yields a list that has the milliseconds afterwards."""
    milliseconds = []
    with tempfile.TemporaryFile("w+") as output:
        probe = subprocess.Popen([*CLIENT_CORE, sys.executable, __file__, str(port)], stdout=output)
        try:
            yield milliseconds
        finally:
            probe.terminate()
            probe.wait()
            output.seek(0)
            milliseconds += map(float, output.read().split())


def probe(port):
    with contextlib.suppress(PermissionError):
        os.nice(-10)  # It shares a core with the readers, and measures the server.
    while True:
        begin = time.perf_counter()
        get(port, "/healthz")
        print((time.perf_counter() - begin) * 1_000, flush=True)
        time.sleep(0.01)


@contextlib.contextmanager
def large_state(items):
    """Yields a folder with a session of `items` items, and the bytes of its state."""
    with servers.data_folder() as folder:
        with servers.rivulet(folder=folder) as (_, port):
            body = json.dumps({"addMany": {"count": items}}).encode()
            address = f"http://127.0.0.1:{port}{SESSION}/events"
            urllib.request.urlopen(urllib.request.Request(address, body, {"Content-Type": "application/json"}), timeout=60).read()
            size = len(get(port, SESSION + "/state"))
        yield folder, size


def at_rest(folder, messages):
    """The resident bytes of a server with the session in memory, and the bytes of the answer to each message."""
    with servers.rivulet(folder=folder) as (pid, port):
        get(port, SESSION + "/state/p/filter")
        time.sleep(1)
        resident = memory(pid)
        return resident, [answer_bytes(port, message) for message in messages]


def readers(folder, size, is_gzip, count):
    """Runs one crowd of `count` streams and `count` reads, on a server that has just started."""
    messages = [request(f"{SESSION}/{resource}", is_gzip) for resource in ("changes", "state")]
    resident, wanted = at_rest(folder, messages)
    with servers.rivulet(folder=folder) as (pid, port):
        longest_turn(port)
        watch = Quiet(lambda: cpu_seconds(pid))
        with probed(port) as milliseconds:
            crowd = Crowd(port, [(message, bytes_ - SLACK) for message, bytes_ in zip(messages, wanted)] * count).run(READ_MOST)
        row = {"turn": longest_turn(port), "is_quiet": bool(watch), "seconds": crowd.seconds, "received": crowd.received}
        growth = memory(pid, "VmHWM") - resident
        crowd.close()
        time.sleep(REST_SECONDS)
        row["health"] = statistics.quantiles(milliseconds, n=100)[98]
        row["memory"] = growth / (3 * size + 2 * count * CONNECTION_BYTES)
        row["growth"] = growth
        row["whole"] = crowd.complete / (2 * count) * 100
        row["rest"] = memory(pid) - resident
        return row


def joins(folder, count):
    """Runs a crowd of `count` streams, and the same crowd against the floor."""
    message = request(SESSION + "/changes")
    _, (wanted,) = at_rest(folder, [message])
    row = {}
    with servers.rivulet(folder=folder) as (pid, port):
        longest_turn(port)
        watch = Quiet(lambda: cpu_seconds(pid))
        crowd = Crowd(port, [(message, wanted - SLACK)] * count).run(READ_MOST)
        row |= {"turn": longest_turn(port), "seconds": crowd.seconds, "whole": crowd.complete / count * 100, "is_quiet": bool(watch)}
        crowd.close()
    with servers.snapshots(wanted) as (pid, port):
        watch = Quiet(lambda: cpu_seconds(pid))
        crowd = Crowd(port, [(message, wanted - SLACK)] * count).run(READ_MOST)
        row |= {"floor": crowd.seconds, "is_quiet": row["is_quiet"] and bool(watch)}
        crowd.close()
    return row


def unread(folder, members):
    """The growth of a server by connections that never read, and the remaining growth some time after they ended."""
    with servers.rivulet(folder=folder) as (pid, port):
        get(port, SESSION + "/state/p/filter")
        time.sleep(1)
        resident = memory(pid)
        crowd = Crowd(port, members).run(MUTE_SECONDS)
        growth = memory(pid, "VmHWM") - resident
        crowd.close()
        time.sleep(REST_SECONDS)
        return {"growth": growth, "rest": memory(pid) - resident}


def measure(rounds, readers_count, figures):
    """Yields a line for each crowd. The goals are for crowds of `READERS` readers only."""
    scale = readers_count / READERS
    notes = figures if readers_count == READERS else {}

    def note(name, rows, member):
        notes[name] = Figure([row[member] for row in rows if row.get("is_quiet", True)], rounds, COMMAND)

    with large_state(LARGE) as (folder, size):
        rests = []
        for coding, is_gzip in (("plain", False), ("gzip", True)):
            rows = [readers(folder, size, is_gzip, readers_count) for _ in range(rounds)]
            for name in ("turn", "health", "memory", "whole"):
                note(f"crowd_{name}_{coding}", rows, name)
            # Rounds on a busy machine are included. Other work changes neither the memory nor the share of complete
            # readers.
            for name in ("memory", "whole"):
                notes[f"crowd_{name}_{coding}"] = Figure([row[name] for row in rows], rounds, COMMAND)
            rests += [row["rest"] for row in rows]
            middle = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
            yield (f"{readers_count:,} streams and {readers_count:,} reads of {size:,} bytes at once, {coding}",
                   f"{middle['whole']:.1f} % got all of it, {middle['received'] / 1e9:.1f} GB in {middle['seconds']:.1f} s, longest turn {middle['turn']:.0f} ms, "
                   f"/healthz p99 {middle['health']:.0f} ms, memory +{middle['growth'] / 2**20:.0f} MiB, {middle['memory']:.2f} of the goal")
        message = request(SESSION + "/changes", is_gzip=True)
        rows = [unread(folder, [(message, 0)] * int(MUTE * scale)) for _ in range(rounds)]
        notes["crowd_mute"] = Figure([row["growth"] / HELD_BYTES for row in rows], rounds, COMMAND)
        rests += [row["rest"] for row in rows]
        yield f"{int(MUTE * scale):,} gzip streams of it that never read", f"memory +{max(row['growth'] for row in rows) / 2**20:.0f} MiB at most"
        body = f"POST {SESSION}/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {BODY_BYTES}\r\n\r\n".encode()
        body += b" " * SENT_BYTES
        rows = [unread(folder, [(body, 0)] * int(BODIES * scale)) for _ in range(rounds)]
        notes["crowd_bodies"] = Figure([row["growth"] / (HELD_BODY_BYTES + BODIES * CONNECTION_BYTES) for row in rows], rounds, COMMAND)
        rests += [row["rest"] for row in rows]
        notes["crowd_rest"] = Figure([max(rests) / 2**20], rounds, COMMAND)
        yield f"{int(BODIES * scale):,} bodies of {SENT_BYTES:,} bytes under way", f"memory +{max(row['growth'] for row in rows) / 2**20:.0f} MiB at most"
        yield f"{REST_SECONDS:.0f} s after each of these crowds", f"memory +{max(rests) / 2**20:.0f} MiB at most"
    with large_state(SMALL) as (folder, size):
        rows = [joins(folder, int(JOINS * scale)) for _ in range(rounds)]
        note("joins_turn", rows, "turn")
        notes["joins"] = Figure([row["seconds"] / row["floor"] for row in rows if row["is_quiet"]], rounds, COMMAND)
        notes["joins_whole"] = Figure([row["whole"] for row in rows], rounds, COMMAND)
        middle = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
        yield (f"{int(JOINS * scale):,} streams of {size:,} bytes at once", f"{middle['whole']:.1f} % got all of it in {middle['seconds']:.2f} s, the floor's in "
               f"{middle['floor']:.2f} s, longest turn {middle['turn']:.0f} ms")


if __name__ == "__main__":
    probe(int(sys.argv[1]))

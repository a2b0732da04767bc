#!/usr/bin/env python3
# A flood of bad tokens from one address: the cost of a refusal, and an honest client beside the flood. Run it by hand.
"""bad_tokens.py [--seconds S] [--rate N] [--no-count]

Prints two results:
- the instructions of a token that is refused beyond the limit, beside those of a transient dispatch of a known caller, counted by callgrind. The goal: fewer than two dispatches;
- the p50 and p99 of an honest client's dispatches, alone and beside a flood of N bad tokens a second from the address 127.0.0.2. The goal: a p99 that rises by 20 % at most.

The exit status is 1 if a request of the honest client failed, or if a goal is missed. Needs valgrind and binutils. Set RIVULET_BINARY to a release build for figures that mean something.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness
from tokens import Issuer

POLICY = {"authenticated": [{"actions": ["*"], "app": "*", "sessions": ["*"]}]}
#: The limits of a server on which only bad credentials are limited.
LIMITS = {"requests": None, "dispatches": None, "bytes-written": None, "anonymous-requests": None}
EVENTS, BODY = "/v1/apps/counter/sessions/honest/events", b'"increment"'
COUNTED = 300
REFUSED_MAX, RISE_MAX = 2.0, 1.2


def arguments(folder, **limits):
    folder = pathlib.Path(folder)
    issuer = Issuer(folder)
    (folder / "policy.json").write_text(json.dumps(POLICY))
    (folder / "limits.json").write_text(json.dumps(LIMITS | limits))
    return issuer, ("--workers", "1", "--log-level", "error", "--jwt-key-file", issuer.file, "--policy", folder / "policy.json", "--rate-limits", folder / "limits.json")


def bad(issuer, number):
    return harness.message("GET", "/v1/me", headers={"Authorization": f"Bearer {issuer.token(f'bad{number}')[:-6]}AAAAAA"})


class Counted(harness.Server):
    """A server under callgrind."""

    def __init__(self, folder, arguments):
        self.file = pathlib.Path(folder) / "callgrind.out"
        # valgrind cannot read the debug information of the compiler.
        program = pathlib.Path(folder) / "rivulet"
        subprocess.run(["strip", "--strip-debug", "-o", program, harness.binary()], check=True)
        os.environ["RIVULET_BINARY"] = str(program)
        under = ("valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={self.file}")
        super().__init__(None, under=under, arguments=arguments)

    def count(self, work):
        """The instructions of the work."""
        self.control("-z")
        work()
        self.control("-d")
        [dump] = self.file.parent.glob("callgrind.out.*")
        total = int(re.search(r"^(?:summary|totals): (\d+)", dump.read_text(errors="replace"), re.M)[1])
        dump.unlink()
        return total

    def control(self, *options):
        subprocess.run(["callgrind_control", *options, str(self.process.pid)], check=True, capture_output=True, timeout=120)


def counted():
    """The instructions of a dispatch, and those of a refused token."""
    named = os.environ.get("RIVULET_BINARY")
    with tempfile.TemporaryDirectory() as folder:
        # Under callgrind, so much time passes that the default limit would admit some of the tokens.
        issuer, options = arguments(folder, **{"failed-credentials": {"quota": 1, "window": 3600, "burst": 5}})
        requests = [bad(issuer, number) for number in range(COUNTED + 10)]
        dispatch = harness.message("POST", EVENTS, BODY, {"Content-Type": "application/json"} | issuer.bearer("honest"))
        harness.PATIENCE = 120.0
        with Counted(folder, options) as server, harness.Connection(server, 120) as honest:

            def send(messages, status):
                statuses = []
                for message in messages:
                    honest.send(message)
                    statuses.append(honest.answer().status)
                assert set(statuses) == {status}, set(statuses)

            send([dispatch] * 20, 200)
            dispatches = server.count(lambda: send([dispatch] * COUNTED, 200)) / COUNTED
            for request in requests[:10]:
                with harness.Connection(server, 120) as connection:
                    connection.send(request)
                    connection.answer()
            statuses = []

            def refuse():
                for request in requests[10:]:
                    honest.send(request)
                    statuses.append(honest.answer().status)

            refusals = server.count(refuse) / COUNTED
        os.environ.pop("RIVULET_BINARY")
        if named is not None:
            os.environ["RIVULET_BINARY"] = named
        return dispatches, refusals, statuses.count(429)


class Flood:
    """A client at 127.0.0.2 that sends this many bad tokens a second, each of them once.

    It is a process of its own, at the priority of idle time: only the server's work is to delay the honest client, and
    neither the interpreter that both would share nor a processor that the flood's own work takes."""

    def __init__(self, server, requests, rate):
        self._port, self._requests, self._rate = server.port, requests, rate
        self._sent, self._is_over = multiprocessing.Value("q", 0), multiprocessing.Event()
        self._process = multiprocessing.Process(target=self._run, daemon=True)
        self._process.start()

    def end(self):
        """Ends the flood, and gives the number of tokens that it sent."""
        self._is_over.set()
        self._process.join(harness.PATIENCE)
        assert self._process.exitcode == 0, self._process.exitcode
        return self._sent.value

    def _run(self):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        connection, begin = None, time.monotonic()
        for number, request in enumerate(self._requests, 1):
            if self._is_over.is_set():
                break
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", self._port), source_address=("127.0.0.2", 0))
            connection.sendall(request)
            answer = connection.recv(65536)
            self._sent.value = number
            if not answer or b"\r\nConnection: close" in answer:
                connection.close()
                connection = None
            time.sleep(max(0.0, begin + number / self._rate - time.monotonic()))


def latencies(server, bearer, seconds):
    milliseconds, end = [], time.monotonic() + seconds
    message = harness.message("POST", EVENTS, BODY, {"Content-Type": "application/json"} | bearer)
    with harness.Connection(server) as connection:
        while time.monotonic() < end:
            begin = time.perf_counter()
            connection.send(message)
            assert connection.answer().status == 200
            milliseconds.append((time.perf_counter() - begin) * 1_000)
            time.sleep(0.002)
    milliseconds.sort()
    return milliseconds[len(milliseconds) // 2], milliseconds[len(milliseconds) * 99 // 100], len(milliseconds)


def flooded(seconds, rate):
    """The honest client's p50 and p99, alone and beside the flood, in turns."""
    with tempfile.TemporaryDirectory() as folder:
        issuer, options = arguments(folder)
        requests = [bad(issuer, number) for number in range(rate * seconds)]
        with harness.Server(None, arguments=options) as server:
            bearer, alone, beside, sent = issuer.bearer("honest"), [], [], 0
            latencies(server, bearer, 1)
            for _ in range(3):
                alone.append(latencies(server, bearer, seconds))
                flood = Flood(server, requests, rate)
                beside.append(latencies(server, bearer, seconds))
                sent += flood.end()
            return sorted(alone, key=lambda run: run[1])[1], sorted(beside, key=lambda run: run[1])[1], sent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--no-count", action="store_true")
    options = parser.parse_args()
    is_missed = False
    if not options.no_count:
        dispatch, refusal, limited = counted()
        ratio = refusal / dispatch
        is_missed |= ratio >= REFUSED_MAX
        print(f"instructions: dispatch {dispatch:,.0f}, refused token {refusal:,.0f}: {ratio:.2f} dispatches (goal: under {REFUSED_MAX:g}); {limited} of {COUNTED} were 429", flush=True)
    alone, beside, sent = flooded(options.seconds, options.rate)
    rise = beside[1] / alone[1]
    is_missed |= rise > RISE_MAX
    print(f"honest client: alone p50 {alone[0]:.2f} ms, p99 {alone[1]:.2f} ms; beside {sent:,} bad tokens p50 {beside[0]:.2f} ms, p99 {beside[1]:.2f} ms: {rise:.2f} of it (goal: at most {RISE_MAX:g})")
    sys.exit(is_missed)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# An honest client beside 4,000 slow ones, made by slowhttptest. It is run by hand, because it takes some minutes.
"""slow_clients.py [--connections N] [--seconds S] [MODE ...]

Modes: H slow heads, B slow bodies, R many ranges, X slow reading. Without a mode, all are run. For each mode, a server starts and slowhttptest attacks it.
An honest client sends a dispatch and requests /healthz every 20 ms.
The honest client's p50 and p99, the server's memory and slowhttptest's counts are printed.
The exit status is 1 if a request of the honest client failed, or if its p99 is above 50 ms. Needs slowhttptest (Debian).
"""

import argparse
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness

GOAL = 50.0
FOLLOW = "/v1/apps/counter/sessions/slow/events"
#: The arguments of each mode, and the requested path.
MODES = {
    "H": (["-i", "5", "-x", "24", "-t", "GET"], "/"),
    "B": (["-i", "5", "-x", "10", "-s", "8192", "-t", "POST", "-f", "application/json"], FOLLOW),
    "R": (["-a", "1", "-b", "3000", "-t", "HEAD"], "/"),
    "X": (["-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3"], "/v1/apps/todos/sessions/slow/state"),
}


class Honest(threading.Thread):
    """A client that keeps its connection, and records the milliseconds of each request."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.milliseconds, self.failures, self.is_over = server, [], [], False

    def run(self):
        with harness.Connection(self.server) as connection:
            while not self.is_over:
                for method, target, body in (("POST", "/v1/apps/counter/sessions/honest/events", "increment"), ("GET", "/healthz", None)):
                    begin = time.perf_counter()
                    answer = connection.request(method, target, body)
                    self.milliseconds.append((time.perf_counter() - begin) * 1_000)
                    if answer.status != 200:
                        self.failures.append(answer)
                time.sleep(0.02)


def attacked(mode, connections, seconds):
    """Runs one attack, and returns true if the honest client was served."""
    arguments, target = MODES[mode]
    with tempfile.TemporaryDirectory() as folder, harness.Server(pathlib.Path(folder) / "data", arguments=("--workers", "1", "--log-level", "error")) as server:
        server.session("slow", app="todos").dispatch({"addMany": {"count": 2_000}})
        honest, before = Honest(server), server.memory()
        command = ["slowhttptest", f"-{mode}", "-c", str(connections), "-r", str(connections), "-l", str(seconds), "-p", "10", *arguments, "-u", server.url + target]
        honest.start()
        outcome = subprocess.run(command, capture_output=True, text=True)
        turn = float(re.search(rb"^rivulet_loop_longest_turn_seconds (\S+)", server.get("/metrics").body, re.M)[1]) * 1_000
        most = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1]) * 1024
        honest.is_over = True
        honest.join(harness.PATIENCE)
        text = re.sub(r"\x1b\[[0-9;]*[mHJ]", "", outcome.stdout)
        counts = {name: re.findall(rf"{name}:\s+(\d+|YES|NO)", text) for name in ("connected", "error", "closed", "service available")}
        p99 = statistics.quantiles(honest.milliseconds, n=100)[98]
        is_served = not honest.failures and not honest.is_alive() and p99 <= GOAL
        print(f"-{mode}: honest p50 {statistics.median(honest.milliseconds):.1f} ms, p99 {p99:.1f} ms, most {max(honest.milliseconds):.0f} ms of {len(honest.milliseconds):,} requests, "
              f"{len(honest.failures)} failed; longest turn {turn:.0f} ms; memory {before / 2**20:.0f} to {most / 2**20:.0f} MiB at most; most connected "
              f"{max(map(int, counts['connected']), default=0):,}, closed {(counts['closed'] or ['?'])[-1]}, "
              f"service available {counts['service available'].count('YES')} of {len(counts['service available'])} times")
        print("   " + " ".join(command), flush=True)
        return is_served


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modes", nargs="*", metavar="MODE", help=" ".join(MODES))
    parser.add_argument("--connections", type=int, default=4_000)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    if unknown := set(options.modes) - set(MODES):
        parser.error(f"no mode {', '.join(sorted(unknown))}: there are {', '.join(MODES)}")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    outcomes = [attacked(mode, options.connections, options.seconds) for mode in options.modes or MODES]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())

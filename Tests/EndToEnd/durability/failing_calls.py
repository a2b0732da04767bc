#!/usr/bin/env python3
# The test of failing system calls: any call of the server may fail, and no acknowledged operation is lost.
"""failing_calls.py [--calls CALL,...] [--errors ERROR,...] [--most K] [--step N] [--servers N] [--seed S]

For each call, each error and each K, a server runs under strace. strace makes the K-th call of a thread fail, alone or with all later calls.
Clients use the server, in a new folder and in a folder with sessions. Then a server without injected errors starts on the folder.
The folder must have the acknowledged operations once and in order. A server that refuses a request or stops must name the error.
The findings are printed, and the exit status is then 1.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import sys
import tempfile
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness
from power_cut_work import CUT, Writer, differences

ARGUMENTS = ("--workers", "1", "--log-level", "warning")
CALLS = ("fsync", "fdatasync", "pwrite64", "ftruncate", "openat", "accept4")
#: The patterns that name an error in a log line or an answer. For most errors, SQLite writes "disk I/O error" and the
#: number of the call.
NAMES = {
    "EIO": r"I/O error|nput/output|EIO",
    "ENOSPC": r"full|o space|ENOSPC",
    "EMFILE": r"EMFILE|oo many open files",
    "EINTR": r"EINTR|nterrupted",
}
OPERATIONS, TRIES = 40, 5


@dataclasses.dataclass(frozen=True)
class Case:
    """One kind of failure. `is_lasting`: all calls after the K-th fail, too. `is_new`: the folder is new."""

    call: str
    error: str
    number: int
    is_lasting: bool = False
    is_new: bool = True

    def __str__(self):
        return f"{self.call} {self.error} {self.number}{'+' if self.is_lasting else ''}{'' if self.is_new else ' on sessions'}"

    def command(self, data, trace):
        """The command that the server is started under."""
        when = f"when={self.number}{'+' if self.is_lasting else ''}"
        # strace counts the calls for these files only, because the program also opens libraries before the server runs.
        files = [data, *(data / name for name in ("rivulet.db", "rivulet.db-wal", "rivulet.lock", "secret.key")), harness.PUBLIC / "index.html"]
        paths = [part for file in files for part in ("-P", file)] if self.call == "openat" else []
        return ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-o", trace, *paths, "-e", f"trace={self.call}", "-e", f"inject={self.call}:error={self.error}:{when}"]


class Clients:
    """Clients that continue after refusals and lost connections, up to a number of attempts."""

    def __init__(self, seed, log):
        self._writers = [Writer(number, seed, log) for number in range(2)]
        self.things = [thing for writer in self._writers for thing in writer.things]
        self.refusals = []

    def work(self, server, count, seconds=harness.PATIENCE):
        """Performs `count` operations, and returns true if all were acknowledged."""
        failures = 0
        while failures < TRIES and count:
            try:
                # Every few operations use a new connection, and request a file that the server opens.
                with harness.Connection(server, seconds) as connection:
                    for _ in range(min(count, 4)):
                        self._writers[count % 2].step(connection)
                        count -= 1
                    connection.request("GET", "/index.html")
            except (AssertionError, *CUT) as fault:
                failures += 1
                self.refusals.append(str(fault))
                time.sleep(0.01)
        return count == 0

    def sent(self):
        return {operation[0] for thing in self.things for operation in thing.operations}

    def acknowledged(self):
        return self.sent() - {writer._open[1][0] for writer in self._writers if writer._open}


def judge(case, seed):
    """The outcome of a case as a word, and the findings."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        folder = pathlib.Path(os.path.realpath(folder))
        data, trace, log = folder / "data", folder / "trace", os.open("/dev/null", os.O_WRONLY)
        clients = Clients(seed, log)
        try:
            if not case.is_new:
                with harness.Server(data, arguments=ARGUMENTS) as server:
                    assert clients.work(server, OPERATIONS)
            word, findings = under_faults(case, data, trace, clients)
            with harness.Server(data, arguments=ARGUMENTS) as server, harness.Connection(server) as connection:
                findings += differences(clients.things, connection, clients.sent(), clients.acknowledged())
                if "damage" in (text := server.log_text()):
                    findings.append(f"the server reports damage: {text[:1000]}")
        except AssertionError as fault:
            return "fault", [f"{case}: in a run without injected errors: {fault}"]
        finally:
            os.close(log)
        return word, [f"{case}: {finding}" for finding in findings]


def under_faults(case, data, trace, clients):
    """Runs the clients on a server with failing calls, and returns the outcome and the findings."""
    try:
        server = harness.Server(data, arguments=ARGUMENTS, under=case.command(data, trace))
    except AssertionError as fault:
        is_named = re.search(NAMES[case.error], str(fault))
        return "start refused", [] if is_named else [f"the start was refused without the error: {fault}"]
    findings = []
    with server:
        # A server that can never accept a connection gives no answer.
        seconds = 0.5 if case.is_lasting else harness.PATIENCE
        is_done = clients.work(server, OPERATIONS, seconds)
        text = server.log_text()
        status = server.process.poll()
        if status is None and "INJECTED" in trace.read_text():
            # The server must still be healthy, even after it refused requests.
            if not case.is_lasting and not any(is_healthy(server) for _ in range(TRIES)):
                findings.append(f"the server runs but does not answer: {text[-1000:]}")
    is_reached = "INJECTED" in trace.read_text()
    word = "not reached" if not is_reached else "stopped" if status is not None else "unnoticed" if is_done and not clients.refusals else "refused"
    is_named = re.search(NAMES[case.error], text) or any(re.search(NAMES[case.error], refusal) for refusal in clients.refusals)
    if status == 0 or word in ("refused", "stopped") and not is_named:
        findings.append(f"{word} ({status}) without the error: {clients.refusals[:1]} {text[-1000:]}")
    if not is_done and not case.is_lasting and case.call in ("accept4", "openat"):
        findings.append(f"the server did not recover from one failed call: {clients.refusals[-1]} {text[-1000:]}")
    return word, findings


def is_healthy(server):
    try:
        return server.get("/healthz").status == 200
    except CUT:
        return False


def run(cases, seed, servers=4):
    """The values of K for each outcome, and the findings."""
    words, found = {}, []
    with concurrent.futures.ThreadPoolExecutor(servers) as pool:
        for case, (word, findings) in zip(cases, pool.map(lambda case: judge(case, seed), cases)):
            words.setdefault((case.call, case.error, word), []).append(case.number)
            found += findings
    return words, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", default=",".join(CALLS))
    parser.add_argument("--errors", default=",".join(NAMES))
    parser.add_argument("--most", type=int, default=40, help="the largest K (40)")
    parser.add_argument("--step", type=int, default=1, help="test only each STEP-th value of K (1)")
    parser.add_argument("--servers", type=int, default=os.cpu_count(), help="servers at once (the cores)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cases = [Case(call, error, number, is_lasting, is_new)
             for call in options.calls.split(",") for error in options.errors.split(",")
             for number in range(1, options.most + 1, options.step) for is_lasting in (False, True) for is_new in (True, False)
             # The server repeats an interrupted call. A call that is always interrupted would be repeated without end.
             if not (is_lasting and error == "EINTR")]
    words, found = run(cases, options.seed, options.servers)
    for (call, error, word), numbers in sorted(words.items()):
        print(f"{call} {error}: {word} {len(numbers)} times, K {min(numbers)} to {max(numbers)}")
    print(f"{len(cases)} cases, {len(found)} findings")
    for finding in found[:20]:
        print(finding, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

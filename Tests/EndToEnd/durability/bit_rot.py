#!/usr/bin/env python3
# The bit rot test: it flips single bits of a database, as a disk may do, and starts a server on the result.
"""bit_rot.py [--flips N] [--logs N] [--seed S] [--together N] [--servers N] [--keep FOLDER]

A server fills a data folder and stops. Then bits of copies of its database are flipped, and a server starts on each copy.
Flips are aimed at every kind of page, and at random. Each read must answer as before the flip, or with 500 or 503.
A start may be refused. A retry must be replayed or refused. A dispatch must follow the last version or be refused.
Any other outcome is a finding. Findings are printed, and the exit status is then 1.
Other flips are in write-ahead logs of killed servers. bit_rot_log.py has the rules for them.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import shutil
import sqlite3
import sys
import tempfile
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import bit_rot_log
import harness
from notes import APP, STORE, note

PAGE_BYTES = 4096
MEMORY = "/dev/shm"
ARGUMENTS = ("--workers", "1", "--log-level", "warning")
FINDINGS_MAX = 10
SESSIONS = [f"s{index}" for index in range(12)]
KEY = "Idempotency-Key"


class Truth:
    """The answers of a server before any bit is flipped."""

    def __init__(self, folder):
        self.data = folder / "data"
        self.retries = {}
        self._fill()
        shutil.copyfile(self.data / "rivulet.db", folder / "rivulet.db")
        self.database = folder / "rivulet.db"
        with harness.Server(self.data, arguments=ARGUMENTS) as server, harness.Connection(server) as connection:
            self.reads = {path: read(connection, path) for path in self._paths()}
            assert all(isinstance(answer, (dict, list, str, int)) for answer in self.reads.values()), self.reads
            server.kill()

    def _fill(self):
        with harness.Server(self.data, arguments=ARGUMENTS) as server:
            for index, name in enumerate(SESSIONS):
                session = server.session(name)
                for number in range(index % 4 + 1):
                    answer = session.post("increment", {KEY: f'"{name}-{number}"'})
                    assert answer.status == 200, answer
                    self.retries[name, number] = answer.json["version"]
            # The server updates the index of the log after 4,096 entries.
            many = server.session("many")
            for _ in range(11):
                lines = b"".join(b'{"setStep": %d}\n' % (number % 9 + 1) for number in range(400))
                answer = many.post(lines, {"Content-Type": "application/x-ndjson"})
                assert answer.status == 200, answer
            todos = server.session("list", app="todos")
            for index in range(8):
                todos.dispatch({"add": {"id": f"t{index}", "title": f"{index}" * 3_000}})
            # These entries are not in the index yet.
            for name in SESSIONS[:6]:
                server.session(name).dispatch("increment")
            for index in range(60):
                assert server.request("POST", STORE, note(f"n{index}", "text " * (index * 4))).status == 201
            assert server.request("PUT", f"{APP}/values/theme", "dark").status == 200
            assert server.request("PUT", f"{APP}/secrets/apiToken", "hunter2").status == 204
            assert server.stop() == 0

    def _paths(self):
        sessions = [f"/v1/apps/counter/sessions/{name}" for name in [*SESSIONS, "many"]] + ["/v1/apps/todos/sessions/list"]
        yield from (path + part for path in sessions for part in ("", "/state"))
        yield "/v1/apps/counter/sessions/s3/events?after=0"
        yield "/v1/apps/counter/sessions"
        yield "/v1/apps/todos/sessions"
        yield STORE
        yield f"{STORE}/n7"
        yield f"{APP}/values/theme"
        yield f"{APP}/secrets/apiToken"


def read(connection, path):
    """The JSON of a read. An int is a status that reports damage."""
    answer = connection.request("GET", path)
    if answer.status in (500, 503):
        assert answer.problem["detail"]
        return answer.status
    assert answer.status == 200, f"{path}: {answer.status} {answer.body[:200]}"
    return answer.json


class Pages:
    """The pages of a database by their kinds. Each kind is a list of ranges of bytes."""

    def __init__(self, path):
        self.content = path.read_bytes()
        self.kinds = collections.defaultdict(list)
        self.kinds["file header"].append(range(100))
        self.kinds["anywhere"].append(range(len(self.content)))
        database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        roots = set()
        for name, root in database.execute("SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0"):
            roots.add(root)
            self._add(f"root of {name}", root)
            self.kinds["cell counts of roots"].append(self._range(root, 3, 5))
        for name, page, kind in database.execute("SELECT name, pageno, pagetype FROM dbstat"):
            if page in roots:
                continue
            self._add(f"{kind} of {name}", page)
            if kind == "leaf":
                self.kinds[f"cell counts of {name}"].append(self._range(page, 3, 5))
                self.kinds["page headers"].append(self._range(page, 0, 12))
        database.close()
        for page in range(1, len(self.content) // PAGE_BYTES + 1):
            self.kinds["checksums"].append(self._range(page, PAGE_BYTES - 8, PAGE_BYTES))

    def _add(self, kind, page):
        self.kinds[kind].append(self._range(page, 0, PAGE_BYTES))

    @staticmethod
    def _range(page, first, last):
        start = (page - 1) * PAGE_BYTES
        # The first page begins with the file header.
        first += 100 if page == 1 and first < 100 else 0
        return range(start + first, start + max(last, first + 1))

    def flips(self, count, chooser):
        """Yields bits of each kind in turn, so that each kind has the same number."""
        kinds = sorted(self.kinds)
        for index in range(count):
            kind = kinds[index % len(kinds)]
            yield kind, chooser.choice(chooser.choice(self.kinds[kind])), chooser.randrange(8)


def is_as_before(path, expected, found):
    """True if an answer is correct or reports damage."""
    if isinstance(found, int) and found in (500, 503) or found == expected:
        return True
    if path.endswith("/sessions") and isinstance(found, dict):
        # The list shows a damaged session with the time of its snapshot, so times are not compared. A read of the
        # session itself is refused.
        def known(page):
            return [(session["id"], session["version"]) for session in page["sessions"]]

        return known(found) == known(expected)
    if path == STORE and found.get("damaged"):
        items = {json.dumps(item, sort_keys=True) for item in expected["items"]}
        return all(json.dumps(item, sort_keys=True) in items for item in found["items"])
    return False


def judge(truth, folder, flips):
    """Starts a server on a copy with flipped bits, and returns the outcome and the findings."""
    data = folder / "data"
    shutil.copytree(truth.data, data)
    try:
        content = bytearray(truth.database.read_bytes())
        for _, offset, bit in flips:
            content[offset] ^= 1 << bit
        (data / "rivulet.db").write_bytes(content)
        for rest in ("rivulet.db-wal", "rivulet.db-shm"):
            (data / rest).unlink(missing_ok=True)
        try:
            server = harness.Server(data, arguments=ARGUMENTS)
        except AssertionError as error:
            refused = "its log: " in str(error) and "rivulet" in str(error)
            return "refused", [] if refused else [f"the start: {error}"]
        with server:
            return ask(truth, server)
    finally:
        shutil.rmtree(data)


def ask(truth, server):
    findings, reported = [], 0
    try:
        with harness.Connection(server) as connection:
            for path, expected in truth.reads.items():
                found = read(connection, path)
                reported += found in (500, 503) if isinstance(found, int) else 0
                if not is_as_before(path, expected, found):
                    findings.append(f"{path}: {str(found)[:300]} instead of {str(expected)[:300]}")
            for (name, number), version in truth.retries.items():
                path = f"/v1/apps/counter/sessions/{name}"
                answer = connection.request("POST", f"{path}/events", "increment", {KEY: f'"{name}-{number}"'})
                if answer.status in (500, 503):
                    reported += 1
                elif answer.status != 200 or answer.json["version"] != version or "idempotency-replayed" not in answer.headers:
                    findings.append(f"the retry {name}-{number}: {answer}")
            for name in SESSIONS:
                path = f"/v1/apps/counter/sessions/{name}"
                answer = connection.request("POST", f"{path}/events", "increment")
                if answer.status in (500, 503):
                    reported += 1
                elif answer.status != 200 or answer.json["version"] != truth.reads[path]["version"] + 1:
                    findings.append(f"a dispatch to {name}: {answer}")
            answer = connection.request("GET", "/healthz")
            if answer.status != 200:
                findings.append(f"/healthz: {answer}")
    except (AssertionError, EOFError, OSError) as error:
        findings.append(f"{type(error).__name__}: {error}")
    if (status := server.process.poll()) is not None:
        findings.append(f"the server ended with {status}: {server.log_text()[-500:]}")
    return "reported" if reported else "served", findings


def options_of(arguments, **overrides):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flips", type=int, default=200)
    parser.add_argument("--logs", type=int, default=None, help="flips in write-ahead logs instead of databases (a fifth of --flips)")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--together", type=int, default=1, help="flips in the copy of each server (1)")
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, default=None, help="the folder that keeps copies with findings")
    options = parser.parse_args(arguments)
    for name, value in overrides.items():
        setattr(options, name, value)
    if options.logs is None:
        options.logs = options.flips // 5
    if options.seed is None:
        options.seed = random.randrange(1 << 32)
    return options


class Outcome:
    """The figures of a run."""

    def __init__(self, seed):
        self.seed = seed
        self.counts = collections.Counter()
        self.findings = []

    def add(self, flips, result, findings, keep):
        self.counts[result] += 1
        self.counts["flips"] += len(flips)
        for finding in findings:
            self.findings.append(f"{flips}: {finding}")
        if findings and keep is not None:
            with (keep / "findings.txt").open("a") as file:
                file.write(f"seed {self.seed}, {flips}: {findings}\n")

    def summary(self):
        counts = self.counts
        starts = counts["served"] + counts["reported"] + counts["refused"]
        return (
            f"{counts['flips']} flips, {starts} starts: {counts['served']} served all, {counts['reported']} reported damage, "
            f"{counts['refused']} refused to start; {len(self.findings)} findings"
        )


def run(options):
    outcome = Outcome(options.seed)
    chooser = random.Random(options.seed)
    base = pathlib.Path(MEMORY) if pathlib.Path(MEMORY).is_dir() else None
    with tempfile.TemporaryDirectory(dir=base) as name, concurrent.futures.ThreadPoolExecutor(options.servers) as pool:
        folder = pathlib.Path(name)
        truth = Truth(folder)
        flips = list(Pages(truth.database).flips(options.flips - options.logs, chooser))
        chooser.shuffle(flips)
        # No server starts with a damaged first page. Such a flip would hide the other flips of its group.
        flips.sort(key=lambda flip: flip[1] < PAGE_BYTES)
        groups = [flips[start : start + options.together] for start in range(0, len(flips), options.together)]
        pending = {}
        for number, group in enumerate(groups):
            place = folder / str(number)
            place.mkdir()
            pending[pool.submit(judge, truth, place, group)] = group
        for number, (log, flip) in enumerate(bit_rot_log.flips(folder, options.logs, chooser)):
            place = folder / f"log {number}"
            place.mkdir()
            pending[pool.submit(bit_rot_log.judge, log, place, [flip], random.Random(f"{options.seed} {number}"))] = [(log.name, *flip)]
        for future in concurrent.futures.as_completed(pending):
            outcome.add(pending[future], *future.result(), options.keep)
    return outcome


def main(arguments):
    options = options_of(arguments)
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    outcome = run(options)
    print(f"{outcome.summary()}; {time.monotonic() - started:.0f} s")
    for finding in outcome.findings[:FINDINGS_MAX]:
        print(finding)
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

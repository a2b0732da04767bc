#!/usr/bin/env python3
# The power-cut test: folders as a power cut may leave them, and a server that starts on each.
"""power_cut.py [--states N] [--seed S] [--recordings N] [--operations N] [--servers N] [--keep FOLDER]

Clients use a server that is stopped and killed in between, while Tests/Support/CPowerCut records each change of its files.
The test then builds folders as a power cut at any record may leave them, and starts a server on each.
Each folder must have the acknowledged operations once and in order. It may also have operations
that were sent before the cut but not acknowledged, and no others.
No start may be refused.
The findings are printed, and the exit status is then 1. The seed decides the operations and the positions of the power cuts.
It does not decide the order in which the machine runs the clients.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import harness
import power_cut_disk as disk
from power_cut_work import Writer, differences

WRITERS = 6
ARGUMENTS = ("--workers", "1", "--log-level", "warning")
MEMORY = "/dev/shm"
FINDINGS_MAX = 10
#: The bytes of SQLite's index of its log. A power cut leaves garbage in it.
INDEX_BYTES = 32_768


def compiled(folder):
    """Compiles the recorder to a library."""
    library = folder / "recorder.so"
    source = harness.ROOT / "Tests" / "Support" / "CPowerCut" / "recorder.c"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread", "-o", library, source], check=True)
    return library


class Recording:
    """One run of clients and servers, and its recorded log."""

    def __init__(self, folder, seed, operations):
        self.seed = seed
        folder.mkdir()
        self.data = pathlib.Path(os.path.realpath(folder)) / "data"
        self.log, library = folder / "log", compiled(folder)
        self._variables = {"LD_PRELOAD": str(library), "RIVULET_CUT_FOLDER": str(self.data), "RIVULET_CUT_LOG": str(self.log)}
        # The folder itself exists before the recording, because its name belongs to the parent folder.
        self.data.mkdir(mode=0o700)
        marks = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            writers = [Writer(number, seed, marks) for number in range(WRITERS)]
            for number, (end, part) in enumerate((("stop", 0.4), ("kill", 0.7), ("kill", 1))):
                os.write(marks, disk.mark(disk.Kind.START, number))
                self._life(writers, end, part * operations)
        finally:
            os.close(marks)
        self.things = [thing for writer in writers for thing in writer.things]
        self.records = disk.read(self.log)

    def summary(self):
        kinds = [record.kind for record in self.records]
        return ", ".join(f"{kinds.count(kind)} {kind.name.lower()}" for kind in disk.Kind)

    def _life(self, writers, end, goal):
        """Runs one server until `goal` operations were begun in total. A kill comes in the middle of the work."""
        begun = lambda: sum(len(thing.operations) for writer in writers for thing in writer.things)
        with harness.Server(self.data, arguments=ARGUMENTS, variables=self._variables) as server:
            until = (lambda: begun() >= goal) if end == "stop" else lambda: False
            with harness.threads(len(writers), lambda number: writers[number].run(server, until)):
                while end == "kill" and begun() < goal:
                    time.sleep(0.002)
                if end == "kill":
                    server.kill()
            if end == "stop":
                assert server.stop() == 0, server.log_text()

    def unsynced_starts(self):
        """The servers that write to the write-ahead log of an earlier server before they sync it."""
        found, server, log, waits = [], 0, None, False
        for record in self.records:
            match record.kind:
                case disk.Kind.START:
                    server, waits = record.file, log is not None
                case disk.Kind.CREATE if record.name == "rivulet.db-wal":
                    log, waits = record.file, False
                case disk.Kind.SYNC if record.file == log:
                    waits = False
                case disk.Kind.WRITE if record.file == log and waits:
                    found.append(server)
                    waits = False
        return found

    def missed(self):
        """The files with contents that the log does not explain. The recorder missed changes of them."""
        whole = disk.Disk()
        for record in self.records:
            whole.take(record)
        known = whole.whole()
        real = {path.name: path.read_bytes() for path in self.data.iterdir() if not path.name.endswith("-shm")}
        return sorted(name for name in known.keys() | real.keys() if known.get(name) != real.get(name))

    def cuts(self, chance, count, is_late):
        """Positions in the log: a third anywhere, a third at or shortly after an acknowledgement, a third near a rare change.

        With `is_late`, all positions are just after an acknowledgement in the second half of the run."""
        kinds = [record.kind for record in self.records]
        names = (disk.Kind.CREATE, disk.Kind.TRUNCATE, disk.Kind.RENAME, disk.Kind.UNLINK, disk.Kind.LINK)
        acknowledged = [at + 1 for at, kind in enumerate(kinds) if kind == disk.Kind.ACKNOWLEDGED]
        rare = [at for at, kind in enumerate(kinds) if kind in names]
        # The first writes of a checkpoint are writes to the database itself.
        database = {record.file for record in self.records if record.kind == disk.Kind.CREATE and record.name == "rivulet.db"}
        rare += [at for at, record in enumerate(self.records) if record.kind == disk.Kind.WRITE and record.file in database][::10]
        places = []
        if is_late:
            return sorted(chance.choices(acknowledged[len(acknowledged) // 2 :], k=count))
        for number in range(count):
            match number % 3:
                case 0:
                    places.append(chance.randrange(len(kinds) + 1))
                case 1:
                    places.append(chance.choice(acknowledged) + chance.choice((0, 0, chance.randrange(30))))
                case _:
                    places.append(chance.choice(rare) + chance.randrange(12))
        return sorted(min(place, len(kinds)) for place in places)

    def states(self, chance, count, folder, ignores_syncs=False):
        """Builds `count` folders in sequence. Each comes with the operations that were sent and acknowledged before its cut."""
        current, at, sent, acknowledged = disk.Disk(ignores_syncs), 0, set(), set()
        for number, cut in enumerate(self.cuts(chance, count, is_late=ignores_syncs)):
            for record in self.records[at:cut]:
                if record.kind in (disk.Kind.SENT, disk.Kind.ACKNOWLEDGED):
                    (sent if record.kind == disk.Kind.SENT else acknowledged).add(record.file)
                else:
                    current.take(record)
            at = max(at, cut)
            path = folder / f"{number}-at-{cut}"
            current.cut(chance, path)
            if chance.random() < 0.3:
                (path / "rivulet.db-shm").write_bytes(chance.randbytes(INDEX_BYTES))
            yield path, frozenset(sent), frozenset(acknowledged)


def judge(things, state, keeps):
    """The findings on one folder. Then deletes the folder."""
    folder, sent, acknowledged = state
    if keeps:
        shutil.copytree(folder, keeps / folder.name)
    try:
        with harness.Server(folder, arguments=ARGUMENTS) as server:
            with harness.Connection(server) as connection:
                found = differences(things, connection, sent, acknowledged)
            server.kill()
            if "damage" in (log := server.log_text()):
                found.append(f"the server reports damage: {log[:2000]}")
    except AssertionError as fault:
        found = [f"the start is refused: {fault}"]
    if keeps and not found:
        shutil.rmtree(keeps / folder.name)
    shutil.rmtree(folder)
    return [f"{folder.name}: {finding}" for finding in found]


#: A kill between a write and its record leaves a change without a record, about once in forty recordings.
TRIES = 3


def recorded(folder, seed, operations):
    """A recording that explains all files of the servers."""
    folder.mkdir()
    for number in range(TRIES):
        recording = Recording(folder / str(number), seed, operations)
        missed = recording.missed()
        if not missed:
            return recording
    raise AssertionError(f"the recorder misses changes of {missed}")


def findings(recording, states, servers=4, ignores_syncs=False, keeps=None):
    """The findings on `states` states of a recording, as lines."""
    found, waiting = [], collections.deque()
    # The folder is in memory, so that the syncs of the tested servers cost nothing.
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder, \
            concurrent.futures.ThreadPoolExecutor(servers) as pool:
        for state in recording.states(random.Random(f"cuts {recording.seed}"), states, pathlib.Path(folder), ignores_syncs):
            waiting.append(pool.submit(judge, recording.things, state, keeps))
            if len(waiting) > servers:
                found += waiting.popleft().result()
        for judged in waiting:
            found += judged.result()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=2_000, help="folders to build and judge (2,000)")
    parser.add_argument("--recordings", type=int, default=8, help="recorded runs of clients that the folders come from (8)")
    parser.add_argument("--operations", type=int, default=1_500, help="operations of each (1,500)")
    parser.add_argument("--servers", type=int, default=os.cpu_count(), help="servers at once (the cores)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--lying-disk", action="store_true", help="pretend that no sync works; the test must then find losses")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the folders with findings there")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    count = 0
    for number in range(options.recordings):
        begin, states = time.monotonic(), options.states * (number + 1) // options.recordings - options.states * number // options.recordings
        keeps = pathlib.Path(options.keep) / str(options.seed + number) if options.keep else None
        with tempfile.TemporaryDirectory() as folder:
            recording = recorded(pathlib.Path(folder) / "recording", options.seed + number, options.operations)
            found = findings(recording, states, options.servers, options.lying_disk, keeps)
        print(f"recording {number + 1}: {recording.summary()}; {states} states, {len(found)} findings, {time.monotonic() - begin:.0f} s", flush=True)
        for line in found[:FINDINGS_MAX]:
            print(line, file=sys.stderr, flush=True)
        count += len(found)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

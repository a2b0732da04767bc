# The part of the bit rot test about the write-ahead log. It flips bits in the logs of servers that ended with
# kill -9.
"""Defines the data that a server must serve after a flip in its write-ahead log, and the damage that it must report.

A bad frame removes its commit and all later commits, except commits that a checkpoint has copied into the database. Earlier commits are served exactly.
Lost commits are reported, and the sessions get new epochs.
The exception is the last commit. It looks like a commit that a power cut interrupted, and is reported as information only.
A start is refused only if an interrupted checkpoint has copied a part of the lost commits.
"""

import dataclasses
import os
import pathlib
import shutil
import struct

import harness
from damage import PAGE_BYTES, checksum
from power_cut_work import Session, Writer, differences

ARGUMENTS = ("--workers", "1", "--log-level", "info")
HEADER_BYTES, MARK_BYTES = 32, 24
FRAME_BYTES = MARK_BYTES + PAGE_BYTES
OPERATIONS, OPERATIONS_MAX, TRIES = 30, 3_000, 10
#: The parts of the header and of a frame, as https://sqlite.org/fileformat2.html#walformat defines them.
HEADER_PARTS = {"magic number": (0, 4), "version and page size": (4, 12), "sequence": (12, 16), "salts": (16, 24), "checksum": (24, 32)}
FRAME_PARTS = {"page number": (0, 4), "commit mark": (4, 8), "salts": (8, 16), "checksum": (16, 24), "page": (24, FRAME_BYTES)}
DAMAGED, UNFINISHED, PARTLY = "was damaged: ", "was not finished: ", "has a part of the "


def marks(log, first=0):
    """Yields the frames of the log's current round: the page, and true if the frame ends a commit."""
    with log.open("rb") as file:
        salts = file.read(HEADER_BYTES)[16:24]
        while True:
            file.seek(HEADER_BYTES + first * FRAME_BYTES)
            mark = file.read(MARK_BYTES)
            if len(mark) < MARK_BYTES or mark[8:16] != salts:
                return
            page, size = struct.unpack(">II", mark[:8])
            yield page, size != 0
            first += 1


class Work:
    """A sequence of operations, and the frames of the log after each operation."""

    def __init__(self, data):
        self.data, self.log = data, data / "rivulet.db-wal"
        self._notes = os.open(os.devnull, os.O_WRONLY)
        self.writers = [Writer(number, 22, self._notes) for number in range(2)]
        for writer in self.writers:
            # The erasure of a session truncates the log.
            writer.things = [thing for thing in writer.things if not getattr(thing, "is_deleted", False)]
        self.things = [thing for writer in self.writers for thing in writer.things]
        #: The salts of the log after each operation, and the ends of the operation's commits as numbers of frames.
        self.ends = {}
        self.epochs = {}
        self.round = None, 0

    def run(self, is_enough):
        """Runs a server, performs at least `OPERATIONS` operations, and kills the server."""
        with harness.Server(self.data, arguments=ARGUMENTS) as server, harness.Connection(server) as connection:
            for count in range(OPERATIONS_MAX):
                if count >= OPERATIONS and is_enough():
                    break
                self.writers[count % 2].step(connection)
                last = max((thing.operations[-1] for thing in self.writers[count % 2].things if thing.operations), key=lambda operation: operation[0])
                self.ends[last[0]] = self._look()
            else:
                raise AssertionError("the write-ahead log never reached the wanted state")
            for thing in self.things:
                if isinstance(thing, Session) and thing.state:
                    self.epochs[thing.path] = connection.request("GET", thing.path).json["epoch"]
            server.kill()
        return self

    def _look(self):
        with self.log.open("rb") as file:
            salts = file.read(HEADER_BYTES)[16:24]
        first = self.round[1] if self.round[0] == salts else 0
        found = [first + at + 1 for at, (_, is_commit) in enumerate(marks(self.log, first)) if is_commit]
        # A deletion of nothing makes no commit.
        found = found or [first]
        self.round = salts, found[-1]
        return salts, found

    @property
    def salts(self):
        return self.round[0]

    @property
    def frames(self):
        return self.round[1]

    def is_copied(self):
        """True if a checkpoint has copied the log into the database since the last operation."""
        with (self.data / "rivulet.db").open("rb") as database, self.log.open("rb") as log:
            newest = {}
            for at, (page, _) in enumerate(marks(self.log)):
                newest[page] = at
            for page, at in newest.items():
                log.seek(HEADER_BYTES + at * FRAME_BYTES + MARK_BYTES)
                database.seek((page - 1) * PAGE_BYTES)
                if log.read(PAGE_BYTES - 8) != database.read(PAGE_BYTES - 8):
                    return False
        return True


@dataclasses.dataclass(frozen=True)
class Folder:
    """A data folder that a killed server left."""

    name: str
    data: pathlib.Path
    frames: int
    commits: list
    #: The operations of the log's current round with the ends of their commits, and the earlier operations.
    ends: dict
    before: frozenset
    things: list
    epochs: dict
    is_copied: bool
    is_partly_copied: bool = False

    @classmethod
    def of(cls, work, name, folder, **options):
        data = folder / name.replace(" ", "-")
        shutil.copytree(work.data, data)
        (data / "rivulet.db-shm").unlink(missing_ok=True)
        log = data / "rivulet.db-wal"
        found = list(marks(log))
        commits = [at + 1 for at, (_, is_commit) in enumerate(found) if is_commit]
        salts = log.read_bytes()[16:24]
        ends = {number: ends for number, (round_salts, ends) in work.ends.items() if round_salts == salts}
        before = frozenset(number for number in work.ends if number not in ends)
        things = [copy_of(thing) for thing in work.things]
        return cls(name, data, commits[-1], commits, ends, before, things, dict(work.epochs), work.is_copied(), **options)

    def kinds(self):
        """The parts of the log. Each has a function that chooses a byte."""
        def header(first, last):
            return lambda chooser: chooser.randrange(first, last)

        def frame(first, last):
            def choose(chooser):
                # The last commits have other rules, so they are chosen more often.
                low = self.commits[-3] if len(self.commits) > 2 and chooser.random() < 0.3 else 0
                return HEADER_BYTES + chooser.randrange(low, self.frames) * FRAME_BYTES + chooser.randrange(first, last)
            return choose

        yield "log header", header(0, HEADER_BYTES)
        for name, part in HEADER_PARTS.items():
            yield f"{name} of the log", header(*part)
        for name, part in FRAME_PARTS.items():
            yield f"{name} of a frame", frame(*part)
        size = (self.data / "rivulet.db-wal").stat().st_size
        yield "anywhere in the log", lambda chooser: chooser.randrange(size)

    def first_bad(self, flips):
        """The number of the first bad frame. It is -1 for the header, and `frames` for a byte behind the last commit."""
        return min((-1 if at < HEADER_BYTES else min((at - HEADER_BYTES) // FRAME_BYTES, self.frames) for _, at, _ in flips))

    def kept(self, bad):
        """The operations that are certainly kept if this frame is bad, and the operations that may be kept."""
        kept = {number for number, ends in self.ends.items() if ends[-1] <= bad}
        return self.before | kept, self.before | kept | {number for number, ends in self.ends.items() if ends[0] <= bad}


def copy_of(thing):
    """A copy of a thing as it is now. The server of a later folder changes the original."""
    other = object.__new__(type(thing))
    other.__dict__ = dict(thing.__dict__) | {"states": list(thing.states), "operations": list(thing.operations)}
    return other


def folders(folder):
    """Yields the kinds of folders that a kill leaves."""
    work = Work(folder / "work")
    first = Folder.of(work.run(lambda: work.frames > 150), "a first round", folder)
    yield first
    yield dataclasses.replace(first, name="a checkpoint amid its work", is_partly_copied=True)
    salts = work.salts
    # A checkpoint has copied the first round, and the log has started again from its beginning.
    yield Folder.of(work.run(lambda: work.salts != salts and work.frames > 100), "a second round", folder)
    for number in range(TRIES):
        # A commit of the server's maintenance may follow the checkpoint.
        if (copied := Folder.of(work.run(work.is_copied), f"a copied log {number}", folder)).is_copied:
            yield copied
            return
    raise AssertionError("no checkpoint was the last work before a kill")


def flips(folder, count, chooser):
    """Yields bits of the parts of the logs in turn, each with its folder."""
    parts = [(left, kind, choose) for left in folders(folder) for kind, choose in left.kinds()] if count else []
    # The order is random, so that a short run has parts of all folders.
    chooser.shuffle(parts)
    for index in range(count):
        left, kind, choose = parts[index % len(parts)]
        yield left, (kind, choose(chooser), chooser.randrange(8))


def copy_partly(folder, data, chooser):
    """Copies pages of the log into the database in page order, up to a random page, as a killed checkpoint does."""
    log = (data / "rivulet.db-wal").read_bytes()
    end, newest = chooser.choice(folder.commits[len(folder.commits) // 2:]), {}
    for at, (page, _) in enumerate(marks(data / "rivulet.db-wal")):
        if at < end:
            newest[page] = at
    pages = sorted(newest)
    with (data / "rivulet.db").open("r+b") as database:
        for page in pages[:chooser.randrange(len(pages) + 1)]:
            start = HEADER_BYTES + newest[page] * FRAME_BYTES + MARK_BYTES
            image = log[start:start + PAGE_BYTES]
            database.seek((page - 1) * PAGE_BYTES)
            database.write(image[:-8] + checksum(image))


def judge(folder, place, flips, chooser):
    """Starts a server on a copy with flipped bits of the log, and returns the outcome and the findings."""
    data = place / "data"
    shutil.copytree(folder.data, data)
    try:
        if folder.is_partly_copied:
            copy_partly(folder, data, chooser)
        log = bytearray((data / "rivulet.db-wal").read_bytes())
        for _, offset, bit in flips:
            log[offset] ^= 1 << bit
        (data / "rivulet.db-wal").write_bytes(log)
        try:
            server = harness.Server(data, arguments=ARGUMENTS)
        except AssertionError as error:
            is_known = folder.is_partly_copied and PARTLY in str(error)
            return "refused", [] if is_known else [f"the start: {error}"]
        with server:
            try:
                return ask(folder, data, server, flips, bytes(log))
            except (AssertionError, EOFError, OSError) as error:
                return "served", [f"{type(error).__name__}: {error} {server.log_text()[-500:]}"]
    finally:
        shutil.rmtree(data)


def fits(folder, connection, end):
    """True if all things are as they were after the commits up to a frame."""
    kept, _ = folder.kept(end)
    return all(thing.read(connection) == thing.states[sum(number in kept for number, *_ in thing.operations)] for thing in folder.things)


def ask(folder, data, server, flips, log):
    findings = []
    bad, text = folder.first_bad(flips), server.log_text()
    is_damaged = DAMAGED in text
    end = folder.frames if folder.is_copied else bad
    if folder.is_partly_copied:
        with harness.Connection(server) as connection:
            # A checkpoint that finished has copied more, up to one of the commits.
            end = next((end for end in reversed(folder.commits) if end >= bad and fits(folder, connection, end)), bad)
    least, most = folder.kept(end)
    if end < folder.frames and not is_damaged:
        is_last = bad >= ([0] + folder.commits)[-2]
        if not is_last or UNFINISHED not in text:
            findings.append(f"lost commits are not reported: {text[-500:]}")
    if bad >= folder.frames and (is_damaged or UNFINISHED in text):
        findings.append(f"damage is reported, but no commit was lost: {text[-500:]}")
    if is_damaged:
        (kept,) = data.glob("rivulet.db-wal.damaged-*")
        if kept.read_bytes() != log:
            findings.append(f"{kept} differs from the damaged write-ahead log")
    with harness.Connection(server) as connection:
        for path, old in folder.epochs.items():
            answer = connection.request("GET", path)
            # A lost session gets another epoch when it begins again.
            if answer.status == 200 and is_damaged == (answer.json["epoch"] == old):
                findings.append(f"the epoch of {path} was {old}: {answer.body[:200]}")
        findings += differences(folder.things, connection, most, least)
        answer = connection.request("GET", "/healthz")
        if answer.status != 200:
            findings.append(f"/healthz: {answer}")
    if (status := server.process.poll()) is not None:
        findings.append(f"the server ended with {status}: {server.log_text()[-500:]}")
    return "reported" if is_damaged or UNFINISHED in text else "served", findings

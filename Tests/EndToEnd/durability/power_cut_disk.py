# The contents that a disk may have after a power cut, derived from the log of Tests/Support/CPowerCut.
"""A `Disk` follows the recorded changes of a folder. At any record, it builds a folder as a power cut may leave it there.

Synced bytes are kept. A later write may be lost or kept in each of its sectors of 512 bytes. A kept sector includes the earlier writes to it.
Some of the later changes of names are kept. If a truncation is lost, later writes behind its end are lost, too, as on each file system with a journal."""

import dataclasses
import enum
import mmap
import os
import struct

HEAD = struct.Struct("<IIQQQ")
SECTOR = 512
FOLDER = object()


class Kind(enum.IntEnum):
    """The subject of a record: a change below the folder, or a mark of the test.

    The `file` of a mark is the number of an operation, or of a server that is started."""

    CREATE, WRITE, TRUNCATE, SYNC, SYNCED, RENAME, UNLINK, LINK, MAKE_FOLDER = range(1, 10)
    SENT, ACKNOWLEDGED, START = range(20, 23)


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """One entry of the log."""

    kind: int
    name: str
    file: int
    offset: int
    data: bytes


def mark(kind, number):
    """The bytes of a mark."""
    return HEAD.pack(kind, 0, number, 0, 0)


def read(path):
    """Reads the records of a log. The last record may be cut off if its writer was killed."""
    records, at = [], 0
    with open(path, "rb") as log, mmap.mmap(log.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while at + HEAD.size <= len(data):
            kind, name, file, offset, length = HEAD.unpack_from(data, at)
            begin, at = at + HEAD.size, at + HEAD.size + name + length
            if at <= len(data):
                records.append(Record(kind, data[begin : begin + name].decode(), file, offset, data[begin + name : at]))
    return records


def resize(data, length):
    """Shortens the data, or extends it with zeros."""
    if len(data) > length:
        del data[length:]
    else:
        data.extend(bytes(length - len(data)))


class File:
    """The bytes of a file: the safe bytes, and the writes after the last sync."""

    def __init__(self):
        self.safe = bytearray()
        self.pending = []
        #: The number of changes that are in `safe`.
        self.count = 0

    def advance(self, count):
        """Moves the first pending changes to the safe bytes."""
        self.count += count
        for record in self.pending[:count]:
            if record.kind == Kind.TRUNCATE:
                resize(self.safe, record.offset)
            else:
                if len(self.safe) < record.offset:
                    resize(self.safe, record.offset)
                self.safe[record.offset : record.offset + len(record.data)] = record.data
        del self.pending[:count]

    def whole(self):
        """The bytes with all writes."""
        copy = File()
        copy.safe, copy.pending = bytearray(self.safe), list(self.pending)
        copy.advance(len(copy.pending))
        return bytes(copy.safe)

    def after_a_cut(self, chance):
        """The bytes that a power cut may leave."""
        if not self.pending:
            return bytes(self.safe)
        keeps = Kept(chance, len(self.pending))
        written, left, size, freed = bytearray(self.safe), bytearray(self.safe), len(self.safe), None
        for number, record in enumerate(self.pending):
            is_sized = number < keeps.sizes
            if record.kind == Kind.TRUNCATE:
                resize(written, record.offset)
                if is_sized:
                    resize(left, min(record.offset, len(left)))
                    size = record.offset
                else:
                    freed = record.offset if freed is None else min(freed, record.offset)
                continue
            end = record.offset + len(record.data)
            if len(written) < end:
                resize(written, end)
            written[record.offset : end] = record.data
            size = max(size, end) if is_sized else size
            for sector in range(record.offset // SECTOR * SECTOR, end, SECTOR):
                if (freed is None or sector < freed) and keeps.has(number):
                    part = written[sector : sector + SECTOR]
                    if len(left) < sector:
                        left.extend(keeps.filling(sector - len(left)))
                    left[sector : sector + len(part)] = part
        if len(left) < size:
            left.extend(keeps.filling(size - len(left)))
        return bytes(left[:size])


class Kept:
    """The random decisions of one cut about one file."""

    def __init__(self, chance, count):
        self._chance, self._mode = chance, chance.choice(("none", "all", "writes", "sectors", "sectors", "prefix", "prefix"))
        self._part = chance.random()
        self._last = chance.randrange(count + 1)
        self._writes = [chance.random() < self._part for _ in range(count)]
        #: The number of pending changes, from the first on, that keep their effect on the file's size.
        self.sizes = {"none": 0, "all": count, "prefix": self._last}.get(self._mode, chance.choice((count, chance.randrange(count + 1))))
        self._fills_with_rubbish = chance.random() < 0.25

    def has(self, number):
        match self._mode:
            case "none" | "all":
                return self._mode == "all"
            case "writes":
                return self._writes[number]
            case "sectors":
                return self._chance.random() < self._part
            case _:
                return number < self._last or number == self._last and self._chance.random() < 0.5

    def filling(self, count):
        """The bytes of a part by which the file was extended without a write."""
        return self._chance.randbytes(count) if self._fills_with_rubbish else bytes(count)


class Disk:
    """The folder at one position of the log. With `ignores_syncs`, nothing is ever safe, as on a disk that lies."""

    def __init__(self, ignores_syncs=False):
        self.ignores_syncs = ignores_syncs
        self.files = {}
        self._safe, self._pending, self._names = {}, [], {}
        self._syncs = {}

    def take(self, record):
        match record.kind:
            case Kind.WRITE | Kind.TRUNCATE:
                self.files[record.file].pending.append(record)
            case Kind.SYNC:
                file = self._synced(record)
                self._syncs[record.offset] = (list(self._pending) if file is None else file.count + len(file.pending)), file
            case Kind.SYNCED:
                covered, file = self._syncs.pop(record.offset)
                if self.ignores_syncs:
                    return
                if file is None:
                    self._save(covered, record.name)
                else:
                    # Another sync of the same file may have ended before this one.
                    file.advance(max(0, covered - file.count))
            case Kind.CREATE:
                self.files[record.file] = File()
                self._change(record, ((record.name, self.files[record.file]),))
            case Kind.MAKE_FOLDER:
                self._change(record, ((record.name, FOLDER),))
            case Kind.RENAME:
                self._change(record, ((record.name, None), (record.data.decode(), self._names[record.name])))
            case Kind.LINK:
                self._change(record, ((record.data.decode(), self._names[record.name]),))
            case Kind.UNLINK:
                self._change(record, ((record.name, None),))

    def _synced(self, record):
        """The file of a sync; None if the sync is of a folder."""
        is_folder = record.name == "" or self._names.get(record.name) is FOLDER
        return None if is_folder else self.files[record.file]

    def _change(self, record, entries):
        apply(self._names, entries)
        self._pending.append((record.name.rpartition("/")[0], entries))

    def _save(self, changes, folder):
        for change in changes:
            if change[0] == folder and change in self._pending:
                self._pending.remove(change)
                apply(self._safe, change[1])

    def names(self, chance):
        """The names that a power cut may leave. The cut keeps the first pending changes of names, or a random selection of them."""
        names = dict(self._safe)
        part, count = chance.random(), chance.randrange(len(self._pending) + 1)
        is_ordered = chance.random() < 0.7
        for number, (_, entries) in enumerate(self._pending):
            if number < count if is_ordered else chance.random() < part:
                apply(names, entries)
        return names

    def cut(self, chance, folder):
        """Builds the folder as a power cut may leave it."""
        build(folder, {name: file if file is FOLDER else file.after_a_cut(chance) for name, file in self.names(chance).items()})

    def whole(self):
        """The bytes of each file as the server sees them."""
        return {name: file.whole() for name, file in self._names.items() if file is not FOLDER}


def apply(names, entries):
    for name, file in entries:
        if file is None:
            names.pop(name, None)
        else:
            names[name] = file


def build(folder, contents):
    folder.mkdir(mode=0o700)
    for name, data in sorted(contents.items()):
        path = folder / name
        if data is FOLDER:
            path.mkdir(mode=0o700)
        elif path.parent.is_dir():
            path.touch(mode=0o600)
            # Trailing zeros become a hole. A reserve of disk space has only zeros.
            path.write_bytes(data.rstrip(b"\0"))
            os.truncate(path, len(data))

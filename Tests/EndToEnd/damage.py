# Damage to a data folder, as a failing disk causes it, and valid edits of it, as one of our programs makes them.

import contextlib
import pathlib
import sqlite3
import struct

PAGE_BYTES = 4096


def checksum(page):
    """The checksum of a page without its last eight bytes, as https://sqlite.org/cksumvfs.html defines it."""
    first = second = 0
    words = struct.unpack(f"<{len(page) // 4}I", page)
    for index in range(0, len(words) - 2, 2):
        first = (first + words[index] + second) & 0xFFFFFFFF
        second = (second + words[index + 1] + first) & 0xFFFFFFFF
    return struct.pack("<II", first, second)


def stamp(path):
    """Writes the page checksums of a database file that no process uses, if the file has page checksums."""
    content = bytearray(pathlib.Path(path).read_bytes())
    if len(content) <= 20 or content[20] != 8:
        return
    for start in range(0, len(content), PAGE_BYTES):
        content[start + PAGE_BYTES - 8 : start + PAGE_BYTES] = checksum(content[start : start + PAGE_BYTES])
    pathlib.Path(path).write_bytes(content)


@contextlib.contextmanager
def edited(data, name="rivulet.db"):
    """Opens a database for edits. Commits them, and writes the checksums of the pages.

    Beside a server, the edits stay in the write-ahead log, and the server's checkpoint writes the checksums.
    """
    path = pathlib.Path(data) / name
    database = sqlite3.connect(path)
    try:
        database.execute("PRAGMA wal_autocheckpoint = 0")
        yield database
        database.commit()
    finally:
        database.close()
    if not path.with_name(name + "-wal").exists():
        stamp(path)


def damage(data, session):
    """Flips one byte in the newest log entry of a session, and stamps its page. Only the row's own checksum reveals the damage."""
    with edited(data) as database:
        row = database.execute(
            "SELECT seq, changes FROM log WHERE sid = (SELECT sid FROM session WHERE id = ?) ORDER BY v DESC", (session,)
        ).fetchone()
        broken = bytearray(row[1])
        broken[len(broken) // 2] ^= 1
        database.execute("UPDATE log SET changes = ? WHERE seq = ?", (bytes(broken), row[0]))

# Damage to a data folder, as a failing disk does it.

import sqlite3


def damage(data, session):
    """Flips one byte in the newest log entry of a session, as a failing disk would."""
    with sqlite3.connect(data / "rivulet.db") as database:
        row = database.execute(
            "SELECT seq, changes FROM log WHERE sid = (SELECT sid FROM session WHERE id = ?) ORDER BY v DESC", (session,)
        ).fetchone()
        broken = bytearray(row[1])
        broken[len(broken) // 2] ^= 1
        database.execute("UPDATE log SET changes = ? WHERE seq = ?", (bytes(broken), row[0]))
    database.close()

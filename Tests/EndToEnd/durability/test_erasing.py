# A deletion erases: no file of the data folder has the text of the deleted data, also after kill -9.

import re
import sqlite3
import stat
import time

import pytest

from damage import edited
from harness import PATIENCE, run
from notes import note

CANARY = "canary-5e1f90ab"
VALUE = "/v1/apps/notes/values/theme"
SECRET = "/v1/apps/notes/secrets/apiToken"
NOTES = "/v1/apps/notes/stores/notes"


def files_with(folder, text=CANARY):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes())


def wait_until_gone(folder, text=CANARY):
    deadline = time.monotonic() + PATIENCE
    while found := files_with(folder, text):
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def fill(server, identifier=CANARY, events=12, padding=20):
    """A session with the canary in its id, events, state and idempotency records."""
    session = server.session(identifier, app="todos")
    for index in range(events):
        title = f"{CANARY} {'x' * padding} {CANARY}"
        answer = session.post({"add": {"id": f"{CANARY}-{index}", "title": title}}, {"Idempotency-Key": f"{CANARY}-{index}"})
        assert answer.status == 200, answer
    return session


def delete(server, target):
    answer = server.request("DELETE", target)
    assert answer.status == 204, answer


def test_a_deleted_session_is_in_no_file_after_a_clean_stop(serve, data):
    server = serve(data)
    kept = server.session("kept", app="todos")
    kept.dispatch({"add": {"id": "a", "title": "A"}})
    session = fill(server)
    assert files_with(data)
    delete(server, session.path)
    assert server.get(session.path).status == 404
    assert server.stop() == 0
    assert files_with(data) == []
    assert "rivulet vacuum" not in server.log_text()
    assert serve(data).session("kept", app="todos").info()["version"] == 1


def test_kill_9_between_the_mark_and_the_erasing_leaves_it_to_the_next_start(serve, data):
    server = serve(data)
    session = fill(server, events=24, padding=100_000)
    delete(server, session.path)
    server.kill()
    assert files_with(data)
    server = serve(data)
    assert server.get(session.path).status == 404
    again = server.session(CANARY, app="todos")
    again.dispatch({"add": {"id": "b", "title": "B"}})
    assert again.info()["version"] == 1
    delete(server, again.path)
    wait_until_gone(data)
    assert "rivulet_storage_sessions_to_erase 0" in server.get("/metrics").body.decode()
    assert server.stop() == 0
    assert files_with(data) == []


def test_items_values_and_secrets_that_were_removed_or_replaced_are_in_no_file(serve, data):
    server = serve(data)
    for identifier in (CANARY, "replaced"):
        document = note(identifier, f"{CANARY} {'y' * 6_000} {CANARY}")
        assert server.request("POST", NOTES, document).status == 201
    assert server.request("PUT", VALUE, "dark").status == 200
    for token in (CANARY, "other"):
        assert server.request("PUT", SECRET, token).status == 204
    assert files_with(data)
    sealed = secret_bytes(data)
    delete(server, f"{NOTES}/{CANARY}")
    assert server.request("PUT", f"{NOTES}/replaced", note("replaced", "short")).status == 200
    delete(server, SECRET)
    wait_until_gone(data)
    wait_until_gone(data, sealed)
    assert server.stop() == 0
    assert files_with(data) == [] and files_with(data, sealed) == []


def secret_bytes(folder):
    """A unique part of the sealed secret."""
    database = sqlite3.connect(folder / "rivulet.db")
    [(document,)] = database.execute("SELECT document FROM item WHERE key LIKE '%apiToken%'").fetchall()
    database.close()
    return document.decode("latin-1")[-60:-10]


def test_an_older_database_is_reported_and_erases_deletions_after_a_vacuum(serve, data):
    server = serve(data)
    fill(server, "one", events=3)
    assert server.stop() == 0
    with edited(data) as database:
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("DELETE FROM log")
        database.execute("DELETE FROM log_index")
        database.execute("DELETE FROM session")
        database.execute("DELETE FROM answer")
        database.execute("DELETE FROM snapshot")
        database.execute("DROP TABLE replica")
        database.execute("DROP INDEX session_owner")
        database.execute("DROP TABLE usage")
        database.execute("ALTER TABLE log DROP COLUMN caller")
        database.execute("ALTER TABLE session DROP COLUMN owner")
        database.execute("ALTER TABLE session DROP COLUMN bytes")
        database.execute("DROP TABLE renewal")
        database.execute("DROP TABLE erasing")
        database.execute("DROP TABLE secured")
        database.execute("ALTER TABLE log DROP COLUMN earlier_sid")
        database.execute("ALTER TABLE log DROP COLUMN earlier_v")
        database.execute("PRAGMA user_version = 5")
    assert files_with(data)
    server = serve(data)
    server.session("two").dispatch("increment")
    assert re.search(f'warning rivulet: .*the database {data}/rivulet.db was .* run "rivulet vacuum --data {data}" once', server.log_text())
    refused = run("vacuum", "--data", data)
    assert refused.returncode == 1 and "is locked by process" in refused.stderr
    assert server.stop() == 0
    outcome = run("vacuum", "--data", data)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith(f"vacuumed {data}/rivulet.db: ") and "deletions erase data from now on" in outcome.stdout
    assert files_with(data) == []
    server = serve(data)
    assert server.session("two").info()["version"] == 1
    assert "rivulet vacuum" not in server.log_text()
    assert server.stop() == 0
    assert "deletions erase data, as before" in run("vacuum", "--data", data).stdout
    assert "there is no database" in run("vacuum", "--data", data / "none").stderr


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_the_folder_and_its_files_are_for_their_owner_alone_whatever_the_umask(serve, data, tmp_path, umask):
    server = serve(data, umask=umask)
    server.session("one").dispatch("increment")
    assert modes(data) == {"data": 0o700} | dict.fromkeys(
        ["rivulet.db", "rivulet.db-wal", "rivulet.db-shm", "rivulet.db.reserve", "rivulet.lock", "secret.key"], 0o600
    )
    assert run("backup", "--data", data, tmp_path / "backup", umask=umask).returncode == 0
    assert modes(tmp_path / "backup") == {"backup": 0o700} | dict.fromkeys(["rivulet.db", "rivulet.backup", "secret.key"], 0o600)
    assert run("backup", "restore", "--data", tmp_path / "restored", tmp_path / "backup", umask=umask).returncode == 0
    assert run("vacuum", "--data", tmp_path / "restored", umask=umask).returncode == 0
    assert modes(tmp_path / "restored") == {"restored": 0o700} | dict.fromkeys(["rivulet.db", "rivulet.lock", "secret.key"], 0o600)


def modes(folder):
    """The modes of a folder and of its files."""
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}

# `rivulet check`: the data of a folder that a build cannot read, found before the deployment.

import contextlib
import sqlite3

from damage import edited, stamp
from harness import give_sessions_to, run


def fill(serve, folder):
    """A folder with a session of each app."""
    server = serve(folder)
    server.session("one").dispatch("increment")
    server.session("list", app="todos").dispatch({"add": {"id": "a", "title": "A"}})
    return server


def test_a_folder_that_can_be_read_is_clean_also_while_a_server_uses_it(serve, tmp_path):
    server = fill(serve, tmp_path)
    outcome = run("check", "--data", tmp_path)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout == "2 sessions: 2 can be read, 0 of them would be migrated; 0 cannot\n"
    assert server.session("one").dispatch("increment")["version"] == 2


def test_unreadable_sessions_are_listed_and_left_alone(serve, tmp_path):
    server = fill(serve, tmp_path)
    server.session("two").dispatch({"setStep": 3})
    server.stop()
    with edited(tmp_path) as database:
        database.execute("UPDATE session SET app = 'gone' WHERE app = 'todos'")
        damage = "UPDATE log SET changes = CAST(replace(changes, '3', 'x') AS BLOB)"
        database.execute(f"{damage} WHERE sid = (SELECT sid FROM session WHERE id = 'two')")
    before = (tmp_path / "rivulet.db").read_bytes()
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1 and outcome.stderr == ""
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("counter/two: ")
    assert lines[1] == 'gone/*: this build hosts no app "gone"'
    assert lines[2] == "2 sessions: 1 can be read, 0 of them would be migrated; 1 cannot"
    assert lines[3].startswith("damage: rivulet.db: session counter/two: ")
    assert (tmp_path / "rivulet.db").read_bytes() == before


def test_items_and_values_that_cannot_be_read_are_listed(serve, tmp_path):
    server = serve(tmp_path)
    for identifier in ("a", "b"):
        note = {"id": identifier, "text": "", "created": "2026-01-01T00:00:00Z"}
        assert server.request("POST", "/v1/apps/notes/stores/notes", note).status == 201
    assert server.request("PUT", "/v1/apps/notes/values/theme", "dark").status == 200
    assert server.request("PUT", "/v1/apps/notes/secrets/apiToken", "hunter2").status == 204
    outcome = run("check", "--data", tmp_path)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.splitlines()[1:] == ["3 items and values: 0 cannot be read"]
    server.stop()
    with edited(tmp_path) as database:
        database.execute("UPDATE item SET document = x'7b' WHERE key = CAST('a' AS BLOB) OR key = 'a'")
        assert database.total_changes == 1
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1
    assert outcome.stdout.splitlines()[0].startswith("notes/stores/notes/a: ")
    assert outcome.stdout.splitlines()[-2] == "3 items and values: 1 cannot be read"
    assert outcome.stdout.splitlines()[-1].startswith("damage: rivulet.db: item ")
    assert "hunter2" not in outcome.stdout


def test_ignored_key_paths_are_listed_and_fail_a_strict_check(serve, tmp_path):
    server = fill(serve, tmp_path)
    server.session("other", app="todos").dispatch({"setFilter": "done"})
    server.stop()
    give_sessions_to("counter", tmp_path, of="todos")
    outcome = run("check", "--data", tmp_path)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.splitlines() == [
        "counter/*: this build ignores what is stored at /p/filter; sessions that have it: 2",
        "counter/*: this build ignores what is stored at /p/todos; sessions that have it: 2",
        "3 sessions: 3 can be read, 0 of them would be migrated; 0 cannot",
    ]
    strict = run("check", "--strict", "--data", tmp_path)
    assert (strict.returncode, strict.stdout) == (1, outcome.stdout)


def test_a_folder_without_ignored_key_paths_is_clean_for_a_strict_check(serve, tmp_path):
    fill(serve, tmp_path)
    assert run("check", "--strict", "--data", tmp_path).returncode == 0


def test_a_folder_without_a_database_is_refused_in_one_line(tmp_path):
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert str(tmp_path) in outcome.stderr and len(outcome.stderr.splitlines()) == 1


def break_index(data, name):
    """Flips a bit of a session's name in the index of names, and stamps the page, so that only the index is wrong."""
    path = data / "rivulet.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_session_1'").fetchone()
    content = bytearray(path.read_bytes())
    content[content.index(f"counter{name}".encode(), (root - 1) * 4096) + len(f"counter{name}") - 1] ^= 16
    path.write_bytes(content)
    stamp(path)


def test_a_damaged_index_is_named_and_repaired(serve, tmp_path):
    fill(serve, tmp_path).stop()
    server = serve(tmp_path)
    server.session("two").dispatch("increment")
    refused = run("check", "--repair", "--data", tmp_path)
    assert refused.returncode == 1 and "rivulet.lock is locked by process" in refused.stderr
    state = server.session("two").state()
    assert server.stop() == 0
    break_index(tmp_path, "two")
    before = (tmp_path / "rivulet.db").read_bytes()

    found = run("check", "--data", tmp_path)
    assert found.returncode == 1 and found.stderr == ""
    assert any(line.startswith("damage: rivulet.db: session counter/two: ") for line in found.stdout.splitlines()), found.stdout
    assert (tmp_path / "rivulet.db").read_bytes() == before

    repaired = run("check", "--repair", "--data", tmp_path)
    assert (repaired.returncode, repaired.stderr) == (0, ""), repaired
    (kept,) = tmp_path.glob("rivulet.db.before-repair-*")
    assert kept.read_bytes() == before
    lines = repaired.stdout.splitlines()
    assert lines[0] == f"{tmp_path}/rivulet.db was copied to {kept}"
    assert lines[1].startswith(f"{tmp_path}/rivulet.db was written anew: all indexes are built from its rows (")
    assert run("check", "--data", tmp_path).returncode == 0
    assert run("check", "--repair", "--data", tmp_path).stdout == f"{tmp_path}/rivulet.db has no damage\n"
    server = serve(tmp_path)
    assert server.session("two").state()["p"] == state["p"]
    assert server.stop() == 0

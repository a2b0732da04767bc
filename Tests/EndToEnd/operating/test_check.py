# `rivulet check`: what a build could not read of a data folder, before it is deployed.

import sqlite3

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


def test_what_cannot_be_read_is_listed_and_left_alone(serve, tmp_path):
    server = fill(serve, tmp_path)
    server.session("two").dispatch({"setStep": 3})
    server.stop()
    database = sqlite3.connect(tmp_path / "rivulet.db")
    database.execute("UPDATE session SET app = 'gone' WHERE app = 'todos'")
    damage = "UPDATE log SET changes = CAST(replace(changes, '3', 'x') AS BLOB)"
    database.execute(f"{damage} WHERE sid = (SELECT sid FROM session WHERE id = 'two')")
    database.commit()
    database.close()
    before = (tmp_path / "rivulet.db").read_bytes()
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1 and outcome.stderr == ""
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("counter/two: ")
    assert lines[1] == 'gone/*: this build hosts no app "gone"'
    assert lines[2] == "2 sessions: 1 can be read, 0 of them would be migrated; 1 cannot"
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
    database = sqlite3.connect(tmp_path / "rivulet.db")
    database.execute("UPDATE item SET document = x'7b' WHERE key = CAST('a' AS BLOB) OR key = 'a'")
    assert database.total_changes == 1
    database.commit()
    database.close()
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1
    assert outcome.stdout.splitlines()[0].startswith("notes/stores/notes/a: ")
    assert outcome.stdout.splitlines()[-1] == "3 items and values: 1 cannot be read"
    assert "hunter2" not in outcome.stdout


def test_what_no_field_takes_is_listed_and_counts_where_it_is_asked_for(serve, tmp_path):
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


def test_a_folder_of_which_everything_is_taken_is_clean_for_strict_too(serve, tmp_path):
    fill(serve, tmp_path)
    assert run("check", "--strict", "--data", tmp_path).returncode == 0


def test_a_folder_without_a_database_is_refused_in_one_line(tmp_path):
    outcome = run("check", "--data", tmp_path)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert str(tmp_path) in outcome.stderr and len(outcome.stderr.splitlines()) == 1

# Part of Rivulet. See README.md for the architecture.
# `rivulet backup`: one command beside a running server, and the way back.

import os
import shutil
import sqlite3
import stat
import subprocess
import time

from harness import binary, environment, run

NOTES = "/v1/apps/notes/stores/notes"
SECRET = "/v1/apps/notes/secrets/apiToken"
ME = "/v1/apps/counter/sessions/me"


def fill(server):
    """One of everything; answers the cookie of a session `me`."""
    server.session("list", app="todos").dispatch({"add": {"id": "a", "title": "A"}})
    document = {"id": "n", "text": "kept", "created": "2026-01-01T00:00:00Z"}
    assert server.request("POST", NOTES, document).status == 201
    assert server.request("PUT", "/v1/apps/notes/values/theme", "dark").status == 200
    assert server.request("PUT", SECRET, "hunter2").status == 204
    answer = server.request("POST", ME + "/events", "increment")
    return answer.headers["set-cookie"].split(";")[0]


def test_a_backup_beside_a_running_server_can_be_restored_with_everything(serve, data, tmp_path):
    server = serve(data)
    cookie = fill(server)
    secret = server.get(SECRET).json
    deleted = server.session("deleted")
    deleted.dispatch("increment")
    assert server.request("DELETE", deleted.path).status == 204
    target = tmp_path / "backups" / "first"
    outcome = run("backup", "--data", data, target)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout.startswith(f"backup of {data} in {target}: 2 sessions, 3 items and values, ")
    assert f"the key {data}/secret.key is in the backup" in outcome.stdout
    server.session("later").dispatch("increment")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [target, *target.iterdir()]}
    assert modes == {"first": 0o700, "rivulet.db": 0o600, "secret.key": 0o600, "rivulet.backup": 0o600}
    verified = run("backup", "verify", target)
    assert (verified.returncode, verified.stderr) == (0, "") and "is whole: 2 sessions" in verified.stdout
    restored = tmp_path / "restored"
    outcome = run("backup", "restore", "--data", restored, target)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [restored, *restored.iterdir()]}
    assert modes == {"restored": 0o700, "rivulet.db": 0o600, "secret.key": 0o600}
    again = serve(restored)
    assert again.session("list", app="todos").info()["version"] == 1
    assert again.get(NOTES + "/n").json["text"] == "kept"
    assert again.get("/v1/apps/notes/values/theme").json == "dark"
    assert again.get(SECRET).json == secret
    answer = again.request("POST", ME + "/events", "increment", {"Cookie": cookie})
    assert answer.json["version"] == 2 and "set-cookie" not in answer.headers
    assert again.get(again.session("later").path).status == 404
    assert "rivulet vacuum" not in again.log_text()


def test_dispatches_go_on_while_a_backup_runs(serve, data, tmp_path):
    server = serve(data)
    for index in range(12):
        server.session(f"large-{index}", app="todos").dispatch({"add": {"id": "a", "title": "x" * 500_000}})
    times = []
    session = server.session("busy")
    session.dispatch("increment")
    command = [binary(), "backup", "--data", str(data), str(tmp_path / "backup")]
    backup = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
    while backup.poll() is None:
        start = time.monotonic()
        assert session.dispatch("increment")["durable"]
        times.append(time.monotonic() - start)
    assert backup.returncode == 0
    # A checkpoint that waited for the reader would take 5 s.
    assert times and max(times) < 2, max(times)
    backup.stdout.close()


def test_a_key_outside_the_folder_is_named(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    server.stop()
    (data / "secret.key").unlink()
    outcome = run("backup", "--data", data, tmp_path / "a")
    assert outcome.returncode == 0 and f"there is no key in {data}" in outcome.stdout
    command = [binary(), "backup", "--data", str(data), str(tmp_path / "b")]
    outcome = subprocess.run(
        command, capture_output=True, text=True, env=environment() | {"RIVULET_SECRET_KEY_FILE": "/run/key", "RIVULET_OLDER_SECRET_KEY": "z" * 40}
    )
    assert outcome.returncode == 0
    assert "the key in RIVULET_SECRET_KEY_FILE (/run/key) is not in the backup: keep it, too" in outcome.stdout
    assert "the key in RIVULET_OLDER_SECRET_KEY is not in the backup" in outcome.stdout and "zzz" not in outcome.stdout


def test_what_is_not_empty_or_not_there_is_refused_and_left_alone(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    outcome = run("backup", "--data", data, full)
    assert outcome.returncode == 1 and f"{full} is not empty" in outcome.stderr
    outcome = run("backup", "--data", tmp_path / "none", tmp_path / "to")
    assert outcome.returncode == 1 and "there is no database" in outcome.stderr and not (tmp_path / "to").exists()
    assert run("backup", "--data", data, tmp_path / "good").returncode == 0
    for folder in (full, data):
        outcome = run("backup", "restore", "--data", folder, tmp_path / "good")
        assert outcome.returncode == 1 and f"{folder} is not empty" in outcome.stderr
    assert [path.name for path in full.iterdir()] == ["mine"]
    outcome = run("backup", "restore", "--data", tmp_path / "new", full)
    assert outcome.returncode == 1 and "is no backup, or one that was not finished" in outcome.stderr
    assert not (tmp_path / "new").exists()


def test_damage_is_named_and_is_not_restored(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    server.session("two").dispatch("increment")
    server.stop()
    backup = tmp_path / "backup"
    assert run("backup", "--data", data, backup).returncode == 0
    shutil.copytree(backup, tmp_path / "cut")
    os.truncate(tmp_path / "cut" / "rivulet.db", 8_192)
    (tmp_path / "cut" / "secret.key").unlink()
    outcome = run("backup", "verify", tmp_path / "cut")
    assert outcome.returncode == 1
    assert "secret.key is missing" in outcome.stdout and "rivulet.db does not have the bytes of once" in outcome.stdout
    database = sqlite3.connect(data / "rivulet.db")
    database.execute("UPDATE log SET changes = x'00' WHERE sid = (SELECT sid FROM session WHERE id = 'two')")
    database.commit()
    database.close()
    outcome = run("backup", "--data", data, tmp_path / "damaged")
    assert outcome.returncode == 1 and "session counter/two: the log entry of version 1 fails its checksum" in outcome.stderr
    assert not (tmp_path / "damaged").exists()
    outcome = run("backup", "restore", "--data", tmp_path / "new", tmp_path / "cut")
    assert outcome.returncode == 1 and "nothing was restored" in outcome.stderr and not (tmp_path / "new").exists()


def test_a_backup_or_a_restore_that_was_killed_is_never_taken_for_whole(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    half = tmp_path / "half"
    (half / "rivulet.partial").mkdir(parents=True)
    outcome = run("backup", "verify", half)
    assert outcome.returncode == 1 and "one that was not finished" in outcome.stderr
    outcome = run("serve", "--port", "0", "--data", half)
    assert outcome.returncode == 1 and "was not finished" in outcome.stderr

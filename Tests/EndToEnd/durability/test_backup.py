# `rivulet backup`: one command beside a running server, and the restore of its copy.

import os
import resource
import shutil
import signal
import sqlite3
import stat
import subprocess
import time

import pytest

from damage import edited
from harness import binary, environment, run

NOTES = "/v1/apps/notes/stores/notes"
SECRET = "/v1/apps/notes/secrets/apiToken"
ME = "/v1/apps/counter/sessions/me"


def fill(server):
    """Writes one resource of each kind, and returns the cookie of a session `me`."""
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


def seconds(body):
    """The seconds that a durable dispatch takes."""
    start = time.monotonic()
    assert body()["durable"]
    return time.monotonic() - start


def test_durable_dispatches_continue_while_a_reader_holds_its_transaction(serve, data):
    server = serve(data)
    busy = server.session("busy")
    busy.dispatch("increment")
    reader = sqlite3.connect(data / "rivulet.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM log").fetchone() == (1,)
    # From 64 MiB of log, a checkpoint would restart the log and wait for the reader.
    log, index, times = data / "rivulet.db-wal", 0, []
    while log.stat().st_size < 72 << 20:
        title = {"add": {"id": "a", "title": "x" * 700_000}}
        session = server.session(f"large-{index}", app="todos")
        times.append(seconds(lambda: session.dispatch(title)))
        times.append(seconds(lambda: busy.dispatch("increment")))
        index += 1
    assert reader.execute("SELECT count(*) FROM log").fetchone() == (1,), "the transaction is still that of the beginning"
    reader.execute("COMMIT")
    reader.close()
    # A checkpoint that waits for the reader takes lockWaitMilliseconds, 5 s.
    assert max(times) < 4, max(times)
    assert busy.info()["version"] == index + 1


def test_durable_dispatches_continue_while_a_backup_runs(serve, data, tmp_path):
    server = serve(data)
    for index in range(12):
        server.session(f"large-{index}", app="todos").dispatch({"add": {"id": "a", "title": "x" * 500_000}})
    session = server.session("busy")
    session.dispatch("increment")
    command = [binary(), "backup", "--data", str(data), str(tmp_path / "backup")]
    backup = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
    times = []
    while backup.poll() is None:
        times.append(seconds(lambda: session.dispatch("increment")))
    assert backup.returncode == 0
    assert times and max(times) < 4, max(times)
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
    outcome = run("backup", "restore", "--data", tmp_path / "restored", tmp_path / "b")
    assert outcome.returncode == 0 and "the backup has no key: give the server the key that it had" in outcome.stdout


def test_a_key_file_of_the_folder_is_not_named_as_one_outside(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    server.stop()
    (data / "older.key").write_text("o" * 40)
    files = {"RIVULET_SECRET_KEY_FILE": "data/secret.key", "RIVULET_OLDER_SECRET_KEY_FILE": str(data / "older.key")}
    outcome = subprocess.run(
        [binary(), "backup", "--data", str(data), "backup"], capture_output=True, text=True, cwd=tmp_path, env=environment() | files
    )
    first, *others = outcome.stdout.splitlines()
    assert outcome.returncode == 0 and first.startswith(f"backup of {data} in backup: 1 session, 0 items and values, ")
    assert others == [
        f"the key {data}/secret.key is in the backup",
        f"the key in RIVULET_OLDER_SECRET_KEY_FILE ({data}/older.key) is not in the backup: keep it, too",
        f"not in the backup, as Rivulet does not know it: {data}/older.key",
    ]


def test_a_missing_source_or_a_target_that_is_not_empty_is_refused_and_left_alone(serve, data, tmp_path):
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
    assert "secret.key is missing" in outcome.stdout and "rivulet.db has changed since the backup was made" in outcome.stdout
    with edited(data) as database:
        database.execute("UPDATE log SET changes = x'00' WHERE sid = (SELECT sid FROM session WHERE id = 'two')")
    outcome = run("backup", "--data", data, tmp_path / "damaged")
    assert outcome.returncode == 1 and "session counter/two: the log entry of version 1 fails its checksum" in outcome.stderr
    assert not (tmp_path / "damaged").exists()
    outcome = run("backup", "restore", "--data", tmp_path / "new", tmp_path / "cut")
    assert outcome.returncode == 1 and "nothing was restored" in outcome.stderr and not (tmp_path / "new").exists()


def test_the_error_about_an_unreadable_file_has_the_remedy_for_a_command_not_for_a_server(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    assert server.stop() == 0
    tmp_path.chmod(0o777)
    data.chmod(0o755)
    for path in data.iterdir():
        path.chmod(0o000)
    options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    for name in ("secret.key", "rivulet.db"):
        outcome = run("backup", "--data", "data", "to", cwd=tmp_path, **options)
        assert outcome.returncode == 1 and f"data/{name}" in outcome.stderr, outcome.stderr
        assert "let the user of this process read" in outcome.stderr and "this server" not in outcome.stderr
        assert not (tmp_path / "to").exists()
        (data / "secret.key").unlink(missing_ok=True)


def test_an_unreadable_folder_of_another_program_is_named_and_does_not_stop_a_backup(serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    assert server.stop() == 0
    (data / "cache").mkdir()
    (data / "cache" / "gone.sqlite3").symlink_to("nowhere")
    name = f"{data}/cache/gone.sqlite3: "
    outcome = run("backup", "--data", data, tmp_path / "to")
    assert outcome.returncode == 0 and f"not in the backup: {name}" in outcome.stdout, outcome
    outcome = run("vacuum", "--data", data)
    assert outcome.returncode == 0 and f"not searched for databases: {name}" in outcome.stdout, outcome


FILE_BYTES_MAX = 256 << 10


def run_until_killed(*arguments):
    """Runs a command that the kernel kills with SIGXFSZ if a file grows too large, always in the middle of its copy."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, FILE_BYTES_MAX))

    outcome = run(*arguments, preexec_fn=limit)
    assert outcome.returncode == -signal.SIGXFSZ, outcome


@pytest.fixture
def large(serve, data):
    """A data folder with a database that is larger than a killed command may write."""
    server = serve(data)
    server.session("one", app="todos").dispatch({"add": {"id": "a", "title": "x" * 500_000}})
    assert server.stop() == 0
    assert (data / "rivulet.db").stat().st_size > 2 * FILE_BYTES_MAX
    return data


def test_a_killed_backup_is_never_accepted_as_complete(large, tmp_path):
    half = tmp_path / "half"
    run_until_killed("backup", "--data", large, half)
    assert 0 < sum(path.stat().st_size for path in half.rglob("rivulet.db"))
    outcome = run("backup", "verify", half)
    assert outcome.returncode == 1 and "one that was not finished" in outcome.stderr
    outcome = run("backup", "restore", "--data", tmp_path / "new", half)
    assert outcome.returncode == 1 and "one that was not finished" in outcome.stderr and not (tmp_path / "new").exists()


def test_a_killed_restore_is_never_accepted_as_complete(large, serve, tmp_path):
    backup, half = tmp_path / "backup", tmp_path / "half"
    assert run("backup", "--data", large, backup).returncode == 0
    run_until_killed("backup", "restore", "--data", half, backup)
    assert 0 < sum(path.stat().st_size for path in half.rglob("rivulet.db"))
    outcome = run("serve", "--port", "0", "--data", half)
    assert outcome.returncode == 1 and "unfinished backup or restore" in outcome.stderr
    outcome = run("backup", "restore", "--data", half, backup)
    assert outcome.returncode == 1 and f"{half} is not empty" in outcome.stderr
    shutil.rmtree(half)
    assert run("backup", "restore", "--data", half, backup).returncode == 0
    assert serve(half).session("one", app="todos").info()["version"] == 1


def test_a_vacuum_that_was_killed_leaves_the_database_as_it_was(large, serve):
    run_until_killed("vacuum", "--data", large)
    assert (large / "rivulet.db.vacuum").exists()
    assert serve(large).session("one", app="todos").info()["version"] == 1
    names = {path.name for path in large.iterdir()}
    assert names == {"rivulet.db", "rivulet.db-wal", "rivulet.db-shm", "rivulet.db.reserve", "rivulet.lock", "secret.key"}


@pytest.mark.parametrize("command", [("backup",), ("backup", "create")], ids=" ".join)
def test_the_default_folder_is_backed_up_into_an_empty_folder_and_restored_into_one(command, serve, tmp_path):
    serve(tmp_path / "data").session("one").dispatch("increment")
    (tmp_path / "to").mkdir()
    (tmp_path / "new").mkdir()
    outcome = run(*command, "to", cwd=tmp_path)
    assert (outcome.returncode, outcome.stderr) == (0, "") and "1 session" in outcome.stdout
    assert run("backup", "restore", "--data", "new", "to", cwd=tmp_path).returncode == 0
    assert serve(tmp_path / "new").session("one").info()["version"] == 1


@pytest.mark.parametrize("has_key", [True, False])
def test_a_server_leaves_a_backup_as_it_is(has_key, serve, data, tmp_path):
    server = serve(data)
    server.session("one").dispatch("increment")
    assert server.stop() == 0
    if not has_key:
        (data / "secret.key").unlink()
    backup = tmp_path / "backup"
    assert run("backup", "--data", data, backup).returncode == 0
    names = {"rivulet.db", "rivulet.backup"} | ({"secret.key"} if has_key else set())
    assert {path.name for path in backup.iterdir()} == names
    for command in (("serve", "--port", "0"), ("vacuum",)):
        outcome = run(*command, "--data", backup)
        assert outcome.returncode == 1 and f"{backup} is a backup, and was left as it is" in outcome.stderr
        assert "storage is unavailable" not in outcome.stderr
        assert {path.name for path in backup.iterdir()} == names
    assert run("backup", "verify", backup).returncode == 0

# A damaged write-ahead log is kept and reported, and no version is used twice in one epoch.

import sqlite3
import struct

import pytest

from harness import Connection, Server, message, run, threads

#: The bytes of the log's header, and of a frame with its page.
HEADER, FRAME = 32, 24 + 4096


def commits(log):
    """The frames of the log's current round that end a commit."""
    salts = log[16:24]
    frames = range((len(log) - HEADER) // FRAME)
    marks = (log[HEADER + frame * FRAME :][:24] for frame in frames)
    return [frame for frame, mark in zip(frames, marks) if mark[8:16] == salts and struct.unpack(">I", mark[4:8])[0]]


def flip(data, frame, at=24 + 1000):
    """Flips one bit of a frame, as a failing disk would."""
    path = data / "rivulet.db-wal"
    log = bytearray(path.read_bytes())
    log[HEADER + frame * FRAME + at] ^= 1
    path.write_bytes(log)
    return bytes(log)


@pytest.fixture
def killed(data):
    """A data folder of a server that was killed under load, with cursors of a session."""
    with Server(data, arguments=("--workers", "1")) as server:
        session = server.session("s")
        session.dispatch({"rename": "first"})
        with session.stream("/p/title") as stream:
            cursor = stream.expect("snapshot").cursor
        early = session.read()

        def client(number):
            try:
                with Connection(server) as connection:
                    while True:
                        connection.send(message("POST", f"/v1/apps/counter/sessions/{number}/events", "increment"))
                        connection.answer("POST")
            except (OSError, EOFError):
                pass

        with threads(4, client):
            for number in range(120):
                last = session.dispatch({"rename": f"{number}"})
            with session.stream("/p/title") as stream:
                late = stream.expect("snapshot").cursor
            server.kill()
    return {"cursor": cursor, "late": late, "tag": early.headers["etag"], "version": last["version"]}


def test_guarantee_9_a_damaged_log_is_reported_and_no_version_is_given_out_twice(killed, data):
    found = commits((data / "rivulet.db-wal").read_bytes())
    assert len(found) > 50
    log = flip(data, found[len(found) // 2])

    refused = run("serve", "--port", 0, "--data", data, "--require-clean")
    assert refused.returncode == 1 and refused.stdout == ""
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    assert "rivulet.db-wal is damaged: at least " in refused.stderr and "nothing was changed" in refused.stderr
    assert (data / "rivulet.db-wal").read_bytes() == log, "the refused start left the log as it was"

    with Server(data) as server:
        (kept,) = data.glob("rivulet.db-wal.damaged-*")
        assert kept.read_bytes() == log and kept.stat().st_mode & 0o777 == 0o600
        (line,) = [line for line in server.log_text().splitlines() if "was damaged" in line]
        assert "warning" in line and "at least " in line and str(kept) in line and " commits in " in line
        session = server.session("s")
        version = session.info()["version"]
        assert 1 <= version < killed["version"], "commits behind the damage are lost"
        for cursor in (killed["cursor"], killed["late"]):
            with session.stream("/p/title", cursor=cursor) as stream:
                reset = stream.expect("reset")
                assert reset.data["reason"] == "epoch-changed", reset
        assert session.post("increment", {"If-Match": killed["tag"]}).status == 412
        while version < killed["version"] + 1:
            answer = session.dispatch({"rename": f"again {version}"})
            version = answer["version"]
            assert answer["cursor"].split(".")[0] != killed["cursor"].split(".")[0]
        with session.stream("/p/title") as stream:
            cursor = stream.expect("snapshot").cursor
        server.kill()
    with Server(data, arguments=("--require-clean",)) as server:
        assert "was damaged" not in server.log_text()
        with server.session("s").stream("/p/title", cursor=cursor) as stream:
            server.session("s").dispatch({"rename": "last"})
            assert stream.expect("change").data["version"] == version + 1
        assert server.stop() == 0


def test_the_variable_requires_a_clean_log_too(killed, data, monkeypatch):
    found = commits((data / "rivulet.db-wal").read_bytes())
    flip(data, found[len(found) // 2])
    monkeypatch.setattr("harness.environment", lambda: {"RIVULET_REQUIRE_CLEAN": "1"})
    refused = run("serve", "--port", 0, "--data", data)
    assert refused.returncode == 1 and "a start without --require-clean" in refused.stderr


def test_an_unfinished_commit_is_one_line_of_the_log(killed, data):
    path = data / "rivulet.db-wal"
    log = path.read_bytes()
    end = HEADER + (commits(log)[-1] + 1) * FRAME
    path.write_bytes(log[: end - 100])
    with Server(data, arguments=("--require-clean",)) as server:
        lines = [line for line in server.log_text().splitlines() if "was not finished" in line]
        assert len(lines) <= 1 and "warning" not in "".join(lines)
        with server.session("s").stream("/p/title", cursor=killed["cursor"]) as stream:
            assert stream.next().name != "reset"


def test_a_log_without_its_database_is_refused(killed, data):
    (data / "rivulet.db").unlink()
    refused = run("serve", "--port", 0, "--data", data)
    assert refused.returncode == 1 and len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    assert "rivulet.db-wal exists, but its database" in refused.stderr and "restore a backup" in refused.stderr
    assert not (data / "rivulet.db").exists()


def test_a_damaged_log_of_a_database_that_another_program_has_open_is_left_alone(killed, data):
    found = commits((data / "rivulet.db-wal").read_bytes())
    log = flip(data, found[len(found) // 2])
    other = sqlite3.connect(f"file:{data}/rivulet.db?mode=ro", uri=True)
    other.execute("SELECT count(*) FROM session").fetchall()
    refused = run("serve", "--port", 0, "--data", data)
    assert refused.returncode == 1 and "open: end that program" in refused.stderr, refused.stderr
    assert (data / "rivulet.db-wal").read_bytes() == log
    other.close()


@pytest.mark.parametrize("deed", ["remove", "replace"])
def test_a_database_that_is_removed_or_replaced_is_noticed_at_the_next_commit(data, serve, deed):
    server = serve(data)
    session = server.session("s")
    session.dispatch("increment")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        path = data / "rivulet.db"
        if deed == "replace":
            (data / "other.db").write_bytes(path.read_bytes())
            (data / "other.db").rename(path)
        else:
            path.unlink()
        answer = session.post("increment")
        assert answer.status == 500 and answer.problem["type"].endswith("storage-indeterminate"), answer
        assert session.post("increment").status == 503
        ready = server.get("/readyz")
        assert ready.status == 503 and ready.problem["type"].endswith("not-ready"), ready
        assert server.get("/healthz").status == 200
    assert "rivulet.db was removed or replaced while the server had it open" in server.log_text()
    server.kill()

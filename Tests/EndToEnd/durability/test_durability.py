# The data after restarts, and the server's behaviour if a data folder is in use, not writable or damaged.

import subprocess

import pytest

from damage import damage, edited
from harness import Server, binary, environment, run


def test_a_restart_keeps_the_persistent_half_and_its_history(serve, data):
    server = serve(data)
    session = server.session("s")
    for event in ({"setCount": 90}, {"rename": "Kept"}, {"setLimits": {"warnAt": 7, "label": "seven"}}, "touch"):
        session.dispatch(event)
    before, info = session.state(), session.info()
    assert server.stop() == 0

    again = serve(data).session("s")
    assert again.state("/p") == before["p"]
    after = again.info()
    for name in ("epoch", "version", "created"):
        assert after[name] == info[name], name
    assert again.state("/t/lastEvent") is None
    assert again.dispatch("increment")["version"] == info["version"] + 1


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_stream_resumes_across_a_restart(serve, data, end):
    server = serve(data)
    session = server.session("s")
    session.dispatch("increment")
    with session.stream("/p/count", "/t/lastEvent") as stream:
        cursor = stream.expect("snapshot").cursor
    session.dispatch({"setCount": 5})
    getattr(server, end)()

    again = serve(data).session("s")
    with again.stream("/p/count", "/t/lastEvent", cursor=cursor) as stream:
        change = stream.expect("change")
        assert change.changed == {"/p/count": 5, "/t/lastEvent": None}, "the transient half was lost, so the change has its defaults"
        again.dispatch("increment")
        assert stream.expect("change").changed == {"/p/count": 6, "/t/lastEvent": "increment"}


def test_many_sessions_return_each_with_its_own_state(serve, data):
    server = serve(data)
    for n in range(100):
        server.session(f"s{n}").dispatch({"setCount": n})
        server.session(f"s{n}").dispatch({"rename": f"Number {n}"})
    server.kill()
    server = serve(data)
    for n in range(100):
        state = server.session(f"s{n}").state("/p")
        assert (state["count"], state["title"]) == (n, f"Number {n}")


def test_memory_keeps_nothing(serve, tmp_path):
    server = serve(None)
    server.session("s").dispatch("increment")
    assert server.session("s").state("/p/count") == 1
    assert server.stop() == 0
    assert serve(None).session("s").state("/p/count") == 0


def test_a_second_server_on_the_same_data_folder_exits_and_names_the_lock(serve, data):
    first = serve(data)
    second = run("serve", "--port", 0, "--data", data)
    assert second.returncode == 1 and second.stdout == ""
    assert len(second.stderr.strip().splitlines()) == 1, second.stderr
    assert "rivulet.lock" in second.stderr and str(first.process.pid) in second.stderr
    assert first.session("s").dispatch("increment")["version"] == 1
    first.kill()
    assert serve(data).session("s").state("/p/count") == 1, "the lock of a killed server is free"


@pytest.mark.parametrize("folder", ["/proc/rivulet-test", "/dev/null/data"])
def test_a_data_folder_that_cannot_be_written_is_named(folder):
    outcome = run("serve", "--port", 0, "--data", folder)
    assert outcome.returncode == 1 and outcome.stdout == ""
    assert folder in outcome.stderr and len(outcome.stderr.strip().splitlines()) == 1, outcome.stderr


def test_guarantee_9_damaged_storage_is_reported_and_damages_one_session_only(serve, data):
    server = serve(data)
    for name in ("whole", "broken"):
        for count in range(1, 6):
            server.session(name).dispatch({"setCount": count})
    assert server.stop() == 0
    damage(data, "broken")

    server = serve(data)
    broken, whole = server.session("broken"), server.session("whole")
    for answer in (broken.read(), broken.post("increment"), server.get(broken.path)):
        assert answer.problem["status"] == 500
        assert "broken" in answer.problem["detail"]
    assert whole.state("/p/count") == 5
    assert whole.dispatch("increment")["version"] == 6
    assert server.get("/readyz").status == 200
    log = server.log_text()
    assert "a stored session is damaged" in log and "`rivulet check` names it" in log and "broken" not in log


def test_a_newer_schema_is_refused_with_a_remedy(serve, data):
    serve(data).stop()
    with edited(data) as database:
        database.execute("PRAGMA user_version = 999")
    outcome = run("serve", "--port", 0, "--data", data)
    assert outcome.returncode == 1 and "999" in outcome.stderr


def test_the_log_goes_to_standard_error_and_one_line_to_standard_output(data):
    process = subprocess.Popen(
        [binary(), "serve", "--port", "0", "--data", str(data), "--log-level", "debug"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )
    first = process.stdout.readline()
    process.terminate()
    rest, _ = process.communicate(timeout=20)
    assert first.startswith("rivulet listening on http://127.0.0.1:") and rest == ""
    assert process.returncode == 0


@pytest.fixture
def small_disk(tmp_path):
    """A separate disk of 600 KiB. Returns its folder and a function that makes the disk larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this machine does not permit the mount of a separate disk")
    try:
        yield folder, lambda: subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_507_and_dispatches_succeed_when_there_is_space_again(small_disk):
    folder, enlarge = small_disk
    with Server(folder / "data") as server:
        session, acked = server.session("full"), 0
        for number in range(60):
            answer = session.post({"rename": "x" * 20_000 + str(number)})
            if answer.status != 200:
                break
            acked = answer.json["version"]
        assert answer.status == 507 and "free some space" in answer.problem["detail"], answer
        assert acked > 0 and session.info()["version"] == acked
        enlarge()
        assert session.dispatch({"rename": "after"})["version"] == acked + 1
        server.kill()
    with Server(folder / "data") as server:
        assert server.session("full").state("/p/title") == "after"
        server.stop()

# `rivulet keys` adds, lists and removes API keys. Commands at the same time lose nothing.

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from harness import PATIENCE, LateBody, Server, binary, environment, run

GRANT = {"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["home"]}
KEY = re.compile(r"rvk_([a-z0-9]{8})_[A-Za-z0-9_-]{43}_[0-9a-f]{8}\n")


@pytest.fixture
def grants(tmp_path):
    file = tmp_path / "grants.json"
    file.write_text(json.dumps([GRANT]))
    return file


@pytest.fixture
def keys(tmp_path):
    return tmp_path / "keys.json"


def add(keys, grants, *arguments):
    outcome = run("keys", "add", "--api-keys", keys, "--grants", grants, *arguments)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.strip()


def refused(*arguments, **options):
    outcome = run("keys", *arguments, **options)
    assert outcome.returncode == 1 and outcome.stdout == "" and len(outcome.stderr.strip().splitlines()) == 1, outcome
    return outcome.stderr


def listed(keys):
    outcome = run("keys", "list", "--api-keys", keys)
    assert outcome.returncode == 0, outcome.stderr
    return [line.split("\t") for line in outcome.stdout.splitlines()]


def test_a_key_is_printed_once_and_its_file_has_no_secret(keys, grants):
    outcome = run("keys", "add", "--api-keys", keys, "--grants", grants, "--name", "billing", "--expires", "30d")
    match = KEY.fullmatch(outcome.stdout)
    assert match and outcome.returncode == 0, outcome
    assert keys.stat().st_mode & 0o777 == 0o600
    secret = outcome.stdout.split("_", 2)[2].strip()
    assert secret not in keys.read_text() + outcome.stderr and secret[:20] not in keys.read_text() + outcome.stderr
    [line] = listed(keys)
    assert line[0] == match[1] and line[1].startswith("expires 20") and line[2] == "billing" and json.loads(line[3]) == [GRANT]
    [record] = json.loads(keys.read_text())["keys"]
    assert set(record) == {"id", "name", "sha256", "grants", "expires"}


def test_a_server_takes_a_key_until_it_is_removed(keys, grants):
    key = add(keys, grants)
    bearer = {"Authorization": f"Bearer {key}"}
    with Server(None, arguments=["--api-keys", keys]) as server:
        me = server.request("GET", "/v1/me", headers=bearer).json
        assert me["subject"] == f"key:{key[4:12]}" and me["issuer"] is None and me["grants"] == [GRANT]
        assert server.request("POST", "/v1/apps/counter/sessions/home/events", "increment", bearer).status == 200
        assert server.request("GET", "/v1/apps/counter/sessions/other/state", headers=bearer).status == 403
        # An unknown key makes the server look at the file at once.
        other = {"Authorization": f"Bearer {add(keys, grants)}"}
        time.sleep(1.1)
        assert server.request("GET", "/v1/me", headers=other).status == 200
        assert run("keys", "remove", key[4:12], "--api-keys", keys).returncode == 0
        server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + PATIENCE
        while server.request("GET", "/v1/me", headers=bearer).status != 401:
            assert time.monotonic() < end
            time.sleep(0.02)
        assert server.request("GET", "/v1/me", headers=other).status == 200


def test_commands_at_the_same_time_lose_nothing(keys, grants):
    first = [add(keys, grants)[4:12] for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        added = [pool.submit(add, keys, grants, "--name", f"n{number}") for number in range(24)]
        removed = [pool.submit(run, "keys", "remove", identifier, "--api-keys", keys) for identifier in first]
        seen = [pool.submit(listed, keys) for _ in range(12)]
    assert all(outcome.result().returncode == 0 for outcome in removed) and all(outcome.result() for outcome in seen)
    assert {line[0] for line in listed(keys)} == {outcome.result()[4:12] for outcome in added}
    # No temporary file is left.
    assert sorted(path.name for path in keys.parent.iterdir()) == ["grants.json", "keys.json"]


def test_a_command_that_is_killed_leaves_the_old_file_or_the_new_one(keys, grants):
    count = 1
    add(keys, grants)
    for milliseconds in range(0, 60, 3):
        process = subprocess.Popen(
            [binary(), "keys", "add", "--api-keys", keys, "--grants", grants], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
        )
        time.sleep(milliseconds / 1000)
        process.kill()
        printed = process.communicate()[0]
        found = len(listed(keys))
        assert found in (count, count + 1) and (found == count + 1 or not printed)
        count = found
    add(keys, grants)
    assert len(listed(keys)) == count + 1 and not (keys.parent / "keys.json.new").exists()


@pytest.mark.parametrize(
    "wrong",
    [[], {"actions": ["fly"], "app": "a"}, {"actions": ["read"], "app": "a"}, [GRANT] * 65, 1, [GRANT, {"a": 1}]],
    ids=["none", "action", "nothing", "many", "number", "second"],
)
def test_grants_that_grant_nothing_are_refused_and_make_no_file(wrong, keys, grants):
    grants.write_text(json.dumps(wrong))
    assert str(grants) in refused("add", "--api-keys", keys, "--grants", grants)
    assert not keys.exists()


def test_wrong_options_are_one_line_with_the_remedy(keys, grants):
    for text in ("yesterday", "1w", "-1h", "2020-01-01T00:00:00Z", "0s", "9999999999d"):
        assert "--expires" in refused("add", "--api-keys", keys, "--grants", grants, f"--expires={text}")
    assert "--api-keys" in refused("list") and "--grants" in refused("add", "--api-keys", keys)
    assert "no file" in refused("remove", "abcdefgh", "--api-keys", keys) and "cannot read" in refused("list", "--api-keys", keys)
    assert "name" in refused("add", "--api-keys", keys, "--grants", grants, "--name", "a\nb")
    assert not keys.exists()
    key = add(keys, grants)
    before = keys.read_bytes()
    assert "rivulet keys list" in refused("remove", "abcdefgh", "--api-keys", keys)
    # A whole key in place of its id is not shown again.
    assert key[13:] not in refused("remove", key, "--api-keys", keys) and keys.read_bytes() == before


def test_a_file_that_is_damaged_or_not_private_stays_as_it_is(keys, grants):
    for content, mode, remedy in (("{", 0o600, "not JSON"), ('{"keys": 1}', 0o600, "rivulet keys add"), ('{"keys": []}', 0o644, "chmod 600")):
        keys.write_text(content)
        keys.chmod(mode)
        assert remedy in refused("add", "--api-keys", keys, "--grants", grants) and remedy in refused("list", "--api-keys", keys)
        assert keys.read_text() == content and keys.stat().st_mode & 0o777 == mode


def test_a_link_to_the_file_stays_a_link(tmp_path, grants):
    (tmp_path / "secrets").mkdir()
    file, link = tmp_path / "secrets" / "keys.json", tmp_path / "link.json"
    add(file, grants)
    link.symlink_to(file)
    add(link, grants)
    assert link.is_symlink() and len(listed(file)) == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_root_leaves_the_file_to_its_owner(keys, grants):
    add(keys, grants)
    os.chown(keys, 65534, 65534)
    add(keys, grants)
    assert (keys.stat().st_uid, keys.stat().st_gid, keys.stat().st_mode & 0o777) == (65534, 65534, 0o600)


def test_a_folder_that_cannot_be_written_and_a_full_file_say_so(keys, grants):
    assert "cannot" in refused("add", "--api-keys", "/proc/keys.json", "--grants", grants)
    assert "cannot open the folder" in refused("add", "--api-keys", keys / "no" / "keys.json", "--grants", grants)
    records = [{"id": f"{number:08}", "sha256": "0" * 64, "grants": [GRANT]} for number in range(1024)]
    keys.write_text(json.dumps({"keys": records}))
    keys.chmod(0o600)
    before = pathlib.Path(keys).read_bytes()
    assert "1024" in refused("add", "--api-keys", keys, "--grants", grants) and keys.read_bytes() == before


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace: apt-get install strace")
def test_a_change_that_a_power_cut_may_undo_names_the_key(keys, grants, tmp_path):
    def with_failing_folder(*arguments):
        # The second sync of a command is that of the folder, after the file was replaced.
        strace = ["strace", "-f", "-qq", "-o", tmp_path / "trace", "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=2"]
        outcome = subprocess.run([*strace, binary(), "keys", *arguments, "--api-keys", keys], capture_output=True, text=True, env=environment())
        assert outcome.returncode == 1 and outcome.stdout == "" and len(outcome.stderr.strip().splitlines()) == 1, outcome
        assert "cannot sync the folder" in outcome.stderr and "Nothing was changed" not in outcome.stderr, outcome
        return outcome.stderr

    text = with_failing_folder("add", "--grants", grants)
    [[key, *_]] = listed(keys)
    assert f"rivulet keys remove {key}" in text
    assert key in with_failing_folder("remove", key) and listed(keys) == []


def test_a_key_that_cannot_be_printed_is_named(keys, grants):
    with open("/dev/full", "w") as full:
        outcome = subprocess.run(
            [binary(), "keys", "add", "--api-keys", keys, "--grants", grants], stdout=full, stderr=subprocess.PIPE, text=True, env=environment()
        )
    [line] = listed(keys)
    assert outcome.returncode == 1 and f"rivulet keys remove {line[0]}" in outcome.stderr


def test_a_reload_applies_the_entry_of_a_key_to_bodies_that_come_late(keys, tmp_path):
    grants, policy = tmp_path / "grants.json", tmp_path / "policy.json"
    grants.write_text(json.dumps([{**GRANT, "sessions": ["${claim.name}"]}]))
    policy.write_text("{}")
    bearer = {"Authorization": "Bearer " + add(keys, grants, "--name", "red")}
    with Server(None, arguments=["--api-keys", keys, "--policy", policy]) as server:

        def late(session):
            return LateBody(server, "POST", f"/v1/apps/counter/sessions/{session}/events", "increment", bearer)

        def reload(change, session, status):
            document = json.loads(keys.read_text())
            document["keys"][0] |= change
            keys.write_text(json.dumps(document))
            server.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + PATIENCE
            while server.request("POST", f"/v1/apps/counter/sessions/{session}/events", "increment", bearer).status != status:
                assert time.monotonic() < end, server.log_text()

        with late("red") as renamed:
            reload({"name": "blue"}, "blue", 200)
            assert renamed.finish().status == 403
        with late("blue") as expired:
            reload({"expires": "2020-01-01T00:00:00Z"}, "blue", 401)
            assert expired.finish().status == 401

# Values and secrets of a program that configures no storage: in its data folder, over kills and a change of its key.

import pathlib
import stat
import subprocess

import pytest

import harness


@pytest.fixture
def program(data):
    """Runs the program beside the binary under test on one data folder."""
    path = pathlib.Path(harness.binary()).with_name("PreferencesProgram")
    if not path.exists():
        pytest.skip(f"no {path}: build it with `swift build`")
    running = []

    def start(*steps, **variables):
        process = subprocess.Popen(
            [str(path), *steps],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=harness.environment() | {"RIVULET_DATA": str(data)} | variables,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def lines(process):
    """The output of the program until its end."""
    return process.communicate(timeout=harness.PATIENCE)[0].splitlines()


def kill_when(process, count):
    """Kills the program after `count` printed lines."""
    printed = [process.stdout.readline() for _ in range(count)]
    process.kill()
    process.wait()
    return printed


def test_values_exist_after_a_kill(program, data):
    assert lines(program()) == ["made"] and not data.exists()
    kill_when(program("theme", "dark", "toggle", "wait"), 3)
    assert lines(program("show")) == ["made", "dark true nil nil"]
    assert {path.name for path in data.iterdir()} == {"values"}


def test_secrets_are_sealed_and_outlive_their_key(program, data):
    kill_when(program("token", "plain-text-of-the-secret", "mail", "another-plain-text", "wait"), 3)
    key = data / "secret.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert not [path for path in data.rglob("*") if path.is_file() and b"plain-text" in path.read_bytes()]
    both = {"RIVULET_SECRET_KEY": "new" * 11, "RIVULET_OLDER_SECRET_KEY_FILE": str(key)}
    secrets = "plain-text-of-the-secret another-plain-text"
    assert lines(program("show", "reseal", "reseal", **both)) == ["made", f"light false {secrets}", "true true", "false false"]
    key.unlink()
    assert lines(program("show", RIVULET_SECRET_KEY="new" * 11))[-1] == f"light false {secrets}"
    assert not key.exists()
    printed = lines(program("show", "reseal", RIVULET_SECRET_KEY="lost" * 8))
    assert [line for line in printed if "plain-text" in line] == []
    assert "light false nil nil" in printed and printed[-1].startswith("error: there is no value, no key opens the value, ")


def test_a_key_that_others_may_read_is_refused_with_the_remedy(program, tmp_path):
    path = tmp_path / "key"
    path.write_text("k" * 32)
    path.chmod(0o644)
    printed = lines(program("token", "a", RIVULET_SECRET_KEY_FILE=str(path)))
    assert any(f"chmod 600 {path}" in line for line in printed) and printed[-1].startswith("error: there is no key")


def test_a_second_process_is_refused(program, data):
    first = program("theme", "dark", "wait")
    assert [first.stdout.readline() for _ in range(2)] == ["made\n", "done\n"]
    assert "is locked by process" in lines(program("theme", "light"))[-1]

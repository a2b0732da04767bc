# CONTRIBUTING.md: its commands are stages of Tests/run, which runs with a `swift` that only records its arguments.

import json
import os
import re
import subprocess

import pytest

from fences import block, text
from harness import ROOT

PAGE = "CONTRIBUTING.md"


@pytest.fixture
def stages(tmp_path):
    """Runs a command of the page, and returns the arguments of each `swift` that it runs."""
    (tmp_path / "swift").write_text(f'#!/bin/sh\necho "${{RIVULET_TESTS:+$RIVULET_TESTS: }}$*" >> {tmp_path}/calls\n')
    (tmp_path / "swift").chmod(0o755)

    def start(command):
        (tmp_path / "calls").write_text("")
        ended = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120,
            env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        )  # fmt: skip
        return ended, (tmp_path / "calls").read_text().splitlines()

    return start


def commands():
    """The commands of the stages, and of one module, without comments."""
    for beginning in ("Tests/run tools", "Tests/run module"):
        for line in block(PAGE, "sh", beginning).splitlines():
            yield line.split("  #")[0].strip()


def test_the_stages_of_the_page_run(stages):
    # `outside` is the stage that runs this test. `instructions` would build in release mode.
    left_out = {"Tests/run outside", "Tests/run instructions"}
    shown = list(commands())
    assert left_out < set(shown)
    for command in shown:
        if command in left_out:
            assert re.search(rf"^stage_{command.split()[-1]}\(\)", text("Tests/run"), re.M), command
            continue
        ended, calls = stages(command)
        assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
        assert calls, command


def test_a_module_builds_and_runs_only_its_tests(stages):
    ended, calls = stages("Tests/run module Sessions SessionResumeAllTests")
    assert ended.returncode == 0, ended.stderr
    # RIVULET_TESTS, before the colon, limits the targets of the package.
    assert calls == [
        "RivuletSessionsTests: build --build-tests",
        "RivuletSessionsTests: test --skip-build --filter RivuletSessionsTests.*SessionResumeAllTests",
    ]


def test_a_filter_that_matches_no_test_fails(stages, tmp_path):
    # The output of `swift test` with such a filter; its exit status is 0.
    with (tmp_path / "swift").open("a") as swift:
        swift.write("echo '✔ Test run with 0 tests in 0 suites passed after 0.001 seconds.'\n")
    ended, calls = stages("Tests/run module Sessions SesionResume")
    assert ended.returncode != 0 and len(calls) == 2
    assert 'no suite or test of RivuletSessionsTests matches "SesionResume"' in ended.stderr


def test_the_package_of_one_module_has_only_the_targets_that_its_tests_need(tmp_path):
    dumped = subprocess.run(
        ["swift", "package", "--scratch-path", tmp_path, "dump-package"], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env=os.environ | {"RIVULET_TESTS": "RivuletJSONTests"},
    )  # fmt: skip
    assert dumped.returncode == 0, dumped.stderr
    targets = {target["name"] for target in json.loads(dumped.stdout)["targets"]}
    assert targets == {"RivuletJSONTests", "RivuletJSON", "RivuletSchema", "RivuletBase", "SeededRandom"}


@pytest.mark.parametrize("arguments", ["module", "module Nothing", "nothing", "module Sessions A B"])
def test_an_unknown_stage_or_module_runs_nothing(stages, arguments):
    ended, calls = stages(f"Tests/run {arguments}")
    assert ended.returncode == 2 and calls == []
    assert ended.stderr.strip()


def test_the_file_of_the_page_is_a_test():
    command = block(PAGE, "sh", ".build/venv").strip()
    runner, path = re.fullmatch(r"(.*) (\S+\.py)", command).groups()
    assert f'"$environment/bin/python" {runner.removeprefix(".build/venv/bin/python ")} Tests/EndToEnd\n' in text("Tests/run")
    assert (ROOT / path).is_file()


def test_continuous_integration_runs_all_stages():
    assert text(".ci/run").rstrip().endswith('exec "$(dirname "$0")/../Tests/run" "$@"')
    stages = re.search(r"stages=\((tools .*)\)", text("Tests/run"))[1].split()
    assert stages == ["tools", "lint", "build", "test", "outside", "instructions"]

# The README agrees with the sources, with curl's output, and with a program that is built from its app.

import os
import pathlib
import re
import subprocess

import harness
from examples import Examples, blocks
from harness import PATIENCE, Server
from fences import block, check_manifest, fenced, text

README = text("README.md")


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_the_two_halves_are_explained_before_they_are_used():
    explained = README.index("**`p`**, the persistent half")
    assert min(README.find(use) for use in ("/p/", '"p":', "/t/", '"t":', "(t:") if use in README) > explained


def test_the_readme_links_every_page():
    pages = {f"Documentation/{path.name}" for path in (harness.ROOT / "Documentation").glob("*.md")}
    linked = set(re.findall(r"\]\(([^)#]+\.md)", README))
    assert pages - linked == set() and {"CONTRIBUTING.md", "CHANGELOG.md", "Tests/README.md", "Benchmarks/README.md"} <= linked


def test_the_first_command_installs_what_a_build_needs_and_runs_a_product():
    command = block("README.md", "sh", "apt-get update").strip()
    installing, run = re.fullmatch(r"apt-get update && apt-get install -y (.*) && (.*)", command).groups()
    dockerfile = re.search(r"apt-get install -y -q --no-install-recommends (.*) \\", text("Dockerfile"))[1]
    assert set(installing.split()) == set(dockerfile.split()) - {"ca-certificates"}
    assert set(installing.split()) <= set(re.search(r"^packages=\((.*)\)$", text("Tests/run"), re.M)[1].split())
    assert run == "swift run rivulet serve"
    assert '.executable(name: "rivulet"' in text("Package.swift")


def test_the_readmes_session_with_curl_goes_as_it_shows(tmp_path):
    before, after, _ = blocks(README)
    # The first line sets the address.
    assert before[0].command == "T=http://127.0.0.1:8080/v1/apps/todos/sessions/home" and len(before) == 4
    server = Server(tmp_path / "data")
    examples = Examples(server, T="/v1/apps/todos/sessions/home")
    try:
        assert server.get("/todos.html?session=home").status == 200
        for example in before[1:]:
            examples.check(example)
        server.kill()
        server = examples.server = Server(tmp_path / "data")
        [example] = after
        examples.check(example)
    finally:
        server.kill()


def test_the_readmes_package_is_one(tmp_path):
    check_manifest(block("README.md", "swift", "// swift-tools-version"), tmp_path / "votes")


def test_the_readmes_app_runs_as_it_shows(tmp_path):
    app = block("README.md", "swift", "import Rivulet")
    # The program differs from the page in its port only: it takes a free one.
    assert app.replace("port: 8081", "port: 0") == text("Tests/Support/VotesProgram/main.swift")
    *_, (start, vote) = blocks(README)
    assert start.command == "swift run votes"
    program = pathlib.Path(harness.binary()).with_name("VotesProgram")
    process = subprocess.Popen(
        [program], cwd=tmp_path, env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        line = process.stdout.readline()
        port = re.fullmatch(r"votes at http://127\.0\.0\.1:(\d+)\n", line)[1]
        assert line.strip().replace(port, "8081") == start.output
        examples = Examples(type("Program", (), {"port": int(port)}))
        vote.command = vote.command.replace(":8081/", f":{port}/")
        examples.check(vote)
        process.terminate()
        assert process.wait(PATIENCE) == 0
        log = process.stderr.read()
        assert "warning" not in log
        assert f"workers={min(len(os.sched_getaffinity(0)), 256)} " in log
    finally:
        process.kill()
        process.communicate()


def test_the_readme_has_no_other_program():
    assert [kind for kind, _ in fenced("README.md")] == ["", "sh", "sh", "console", "console", "swift", "swift", "console"]

# What the README shows is what the sources say and what curl gets.

import json
import re
import textwrap

from examples import Examples, blocks
from harness import ROOT, Server

README = (ROOT / "README.md").read_text()


def test_the_readme_shows_the_whole_counter_as_it_is():
    source = (ROOT / "Sources/RivuletExamples/CounterApp.swift").read_text()
    app = source[source.index("import Rivulet") :].strip()
    assert f"```swift\n{app}\n```" in README


def test_the_image_is_open_and_the_readme_publishes_it_to_this_machine_only():
    dockerfile = (ROOT / "Dockerfile").read_text()
    [command] = re.findall(r"^CMD (\[.*\])$", dockerfile, re.M)
    arguments = json.loads(command)
    assert arguments[0] == "serve" and arguments[arguments.index("--host") + 1] == "0.0.0.0"
    # Without this word a server on that address does not start.
    assert "--open" in arguments
    runs = re.findall(r"docker run .*", README + dockerfile)
    assert len(runs) >= 2 and all("-p 127.0.0.1:8080:8080" in run for run in runs)


def test_the_readmes_own_program_is_the_one_that_the_swift_tests_compile():
    block = re.search(r"`Sources/votes/main.swift`:\n\n```swift\n(.*?)```", README, re.S)[1]
    app, main = block.split("\n\n", 1)[1].split("\ndo {", 1)
    source = (ROOT / "Tests/RivuletTests/ReadmeVotesTests.swift").read_text()
    assert app in source and textwrap.indent("do {" + main, "    ") in source


def commands(variable):
    """The examples that use this variable."""
    [shown] = [block for block in blocks(README) if block[0].command.startswith(f"{variable}=")]
    return shown[1:]


def test_the_readmes_session_with_curl_goes_as_it_shows(tmp_path):
    server = Server(tmp_path / "data")
    examples = Examples(server, S="/v1/apps/counter/sessions/demo")
    shown = commands("S")
    assert len(shown) == 7
    try:
        for example in shown:
            if example.command.startswith("kill -9"):
                server.kill()
                server = examples.server = Server(tmp_path / "data")
            else:
                examples.check(example)
    finally:
        server.kill()


def test_the_readmes_list_goes_as_it_shows(tmp_path):
    shown = commands("T")
    assert len(shown) == 3
    with Server(tmp_path / "data") as server:
        examples = Examples(server, T="/v1/apps/todos/sessions/home")
        for example in shown:
            examples.check(example)

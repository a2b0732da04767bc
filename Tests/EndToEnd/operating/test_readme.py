# What the README shows is what the sources say and what curl gets.

import json
import re
import subprocess
import textwrap

from harness import PATIENCE, ROOT, Server

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
    """The commands that use this variable, each with the output that the README shows."""
    block = re.search(rf"```console\n\$ {variable}=.*?\n(.*?)```", README, re.S)[1]
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield re.sub(r"\s{2,}#.*", "", command), output.strip()


def alike(text):
    """The text without what differs from run to run: epochs, residences, reconnection times, names of streams."""
    text = re.sub(r"\b[a-z0-9]{8}\.(\d+)\.[a-z0-9]{4}-(\d+)", r"EPOCH.\1.LIVE-\2", text)
    text = re.sub(r'"stream":"[a-z0-9-]+"', '"stream":"NAME"', text)
    return re.sub(r"retry: \d+", "retry: N", text).strip()


def curl(command, session):
    return subprocess.Popen(
        ["bash", "-c", command.replace("curl ", "exec curl -sS ", 1)],
        env={"PATH": "/usr/bin:/bin", "S": session, "T": session},
        stdout=subprocess.PIPE,
        text=True,
    )


def shows(command, output, session):
    """Checks that the command, which ends by itself, gets what the README shows."""
    assert alike(curl(command, session).communicate(timeout=PATIENCE)[0]) == alike(output), command


def test_the_readmes_session_with_curl_goes_as_it_shows(tmp_path):
    server = Server(tmp_path / "data")
    shown = list(commands("S"))
    assert len(shown) == 7
    try:
        for command, output in shown:
            address = f"http://127.0.0.1:{server.port}/v1/apps/counter/sessions/demo"
            if command.startswith("kill -9"):
                server.kill()
                server = Server(tmp_path / "data")
                continue
            if "-N" not in command:
                shows(command, output, address)
                continue
            client = curl(command, address)
            lines = [client.stdout.readline()]
            while not lines[-1].startswith("data:"):
                lines.append(client.stdout.readline())
            for event in ("decrement", {"rename": "Tea"}, "decrement"):
                server.session("demo").dispatch(event)
            while len(lines) < len(output.splitlines()):
                lines.append(client.stdout.readline())
            client.kill()
            client.communicate()
            assert alike("".join(lines)) == alike(output)
    finally:
        server.kill()


def test_the_readmes_list_goes_as_it_shows(tmp_path):
    server = Server(tmp_path / "data")
    shown = list(commands("T"))
    assert len(shown) == 3
    try:
        for command, output in shown:
            shows(command, output, f"http://127.0.0.1:{server.port}/v1/apps/todos/sessions/home")
    finally:
        server.kill()

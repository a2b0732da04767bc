# Documentation/WritingApps.md: its package, and the session with its larger app. DocumentationTests has the samples
# in Swift.

from examples import Examples, blocks
from harness import Server
from fences import block, check_manifest, text

PAGE = "Documentation/WritingApps.md"


def test_the_package_of_the_page_is_one(tmp_path):
    check_manifest(block(PAGE, "swift", "// swift-tools-version"), tmp_path / "votes")


def test_the_page_shows_the_whole_counter_as_it_is():
    source = text("Sources/RivuletExamples/CounterApp.swift")
    assert block(PAGE, "swift", "import Rivulet") == source[source.index("import Rivulet") :].strip() + "\n"


def test_the_session_of_the_page_goes_as_it_shows(tmp_path):
    before, after = blocks(text(PAGE))
    assert before[0].command == "S=http://127.0.0.1:8080/v1/apps/counter/sessions/demo" and len(before) == 6
    server = Server(tmp_path / "data")
    examples = Examples(server, S="/v1/apps/counter/sessions/demo")
    try:
        for example in before[1:]:
            examples.check(example)
        server.kill()
        server = examples.server = Server(tmp_path / "data")
        [example] = after
        examples.check(example)
    finally:
        server.kill()


def test_a_session_begins_with_the_values_of_its_creation(session):
    answer = session.server.request("PUT", session.path, {"state": {"p": {"count": 5}}})
    assert answer.status == 201 and session.state("/p/count") == 5

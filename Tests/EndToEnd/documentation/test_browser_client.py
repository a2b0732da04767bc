# Documentation/BrowserClient.md: its scripts in a real browser, on pages of the server's origin.

import json
import re
import shutil
import time

import pytest

import harness
from fences import block, fenced, text
from harness import PATIENCE, Server
from tokens import Issuer

PAGE = "Documentation/BrowserClient.md"


class Script:
    """A page of the server, and the values that a script on it logs."""

    def __init__(self, browser, server, path):
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.logged = []
        self.faults = []
        self.page.on("console", self._take)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.goto(server.url + path)

    def _take(self, entry):
        if entry.type == "log":
            self.logged.append([argument.json_value() for argument in entry.args])

    def add(self, code, kind="module"):
        self.page.add_script_tag(content=code, type=kind)

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition(self):
            assert not self.faults and time.monotonic() < end, (self.logged, self.faults)
            self.page.wait_for_timeout(20)


@pytest.fixture
def server(serve, data):
    return serve(data)


@pytest.fixture
def script(browser, server):
    """A script on a page without a policy of its own."""
    script = Script(browser, server, "/healthz")
    yield script
    script.context.close()


def test_an_event_source_gets_values_and_changes_and_ends_with_bye(script, server):
    # A classic script, so that the test can look at its `stream`.
    script.add(block(PAGE, "js", "const stream"), kind="text/javascript")
    script.until(lambda script: script.logged == [[0]])
    server.session("demo").dispatch("increment")
    script.until(lambda script: script.logged[1:] == [[[{"op": "replace", "path": "/p/count", "value": 1}]]])
    [stream] = server.get("/v1/streams").json["streams"]
    # The EventSource must not reconnect after its stream was revoked.
    assert server.request("DELETE", f"/v1/streams/{stream['stream']}").status == 204
    script.until(lambda script: script.page.evaluate("stream.readyState === EventSource.CLOSED"))


def test_a_fetch_dispatches(script, server):
    script.add(block(PAGE, "js", "const answer"))
    script.until(lambda script: script.logged == [[200, 5]])
    assert server.session("demo").state("/p/count") == 5


def test_rivulet_js_observes_and_dispatches(script, server):
    server.session("demo").dispatch({"rename": "Tea"})
    script.add(block(PAGE, "js", 'import { connect } from "/rivulet.js";\n\nconst session = connect({ app: "counter"'))
    # The answer to the dispatch and the events of the stream come on two connections, in any order.
    script.until(lambda script: [1, "Tea"] in script.logged and [2, True] in script.logged)


def test_rivulet_js_signs_in_with_the_function_of_the_page(browser, tmp_path):
    issuer = Issuer(tmp_path)
    policy = tmp_path / "policy.json"
    grant = {"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}"]}
    policy.write_text(json.dumps({"authenticated": [grant]}))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        script = Script(browser, server, "/healthz")
        script.page.route("**/my/token", lambda route: route.fulfill(body=issuer.token("ann")))
        # Other blocks of the page have an import and a session of the same form.
        [code] = [code for kind, code in fenced(PAGE) if kind == "js" and "const credential" in code]
        script.add(code)
        script.until(lambda script: script.logged == [[0]])
        script.context.close()


def test_a_refusal_is_an_error_with_a_message(script):
    script.add(block(PAGE, "js", "import { connect, RivuletError }"))
    script.until(lambda script: script.logged == [[422, "title must not be empty"]])


def test_each_member_of_the_table_is_one_of_a_session(script):
    names = re.findall(r"`(\w+)\(", "".join(re.findall(r"^\| (`\w+\(.*?) \|", text(PAGE), re.M)))
    assert len(names) == 8
    kinds = script.page.evaluate(
        """async (names) => {
            const { connect } = await import("/rivulet.js");
            const session = connect({ app: "counter", session: "demo" });
            return names.map((name) => typeof session[name]);
        }""",
        names,
    )
    assert kinds == ["function"] * len(names)


def test_a_folder_with_the_files_of_the_page_is_enough(browser, data, tmp_path, monkeypatch):
    """A separate public folder, with a shared stream, under the server's policy for pages."""
    needed = re.search(r"needs these files beside it:\n(.*?)\n\n", text(PAGE), re.S)[1]
    folder = tmp_path / "public"
    folder.mkdir()
    for name in ["rivulet.js", *re.findall(r"`([\w-]+\.js)`", needed)]:
        shutil.copy(harness.PUBLIC / name, folder)
    [shared] = [code for kind, code in fenced(PAGE) if kind == "js" and "shared: true" in code]
    (folder / "my-page.js").write_text(shared)
    (folder / "index.html").write_text("<!doctype html>\n<title>Mine</title>\n" + block(PAGE, "html", "<script"))
    monkeypatch.setattr(harness, "PUBLIC", folder)
    with Server(data) as server:
        script = Script(browser, server, "/")
        script.until(lambda script: script.logged == [[0]])
        [stream] = server.get("/v1/streams").json["streams"]
        assert stream["app"] == "todos"
        # An inline script is refused, as the page says.
        answer = server.get("/")
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        script.context.close()

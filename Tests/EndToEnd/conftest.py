# The fixtures of the end-to-end tests: a shared server, separate servers, and a browser.

import itertools
import shutil

import pytest
from playwright.sync_api import sync_playwright

from harness import PROBLEMS, QUOTA_EXCEEDED, SCREENSHOTS, Server
from notes import Store

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A server that many tests use. Each test takes its own session."""
    with Server(tmp_path_factory.mktemp("shared") / "data") as server:
        yield server
        assert server.stop() == 0, server.log_text()


@pytest.fixture(scope="session", autouse=True)
def problem_pages():
    """Checks each type of the problems that the tests received. The type's page names the status, and its example has all members of the problems."""
    yield
    if not PROBLEMS:
        return
    with Server(None) as server:
        for address, (statuses, members) in list(PROBLEMS.items()):
            page = server.get("/problems/quota-exceeded" if address == QUOTA_EXCEEDED else address)
            assert page.status == 200, address
            assert [f"Status {status} ".encode() in page.body for status in statuses] == [True], (address, statuses)
            # Any problem has a `trace_id` if its request has a `traceparent`.
            lacking = {name for name in members - {"trace_id"} if f"\n  &quot;{name}&quot;: ".encode() not in page.body}
            assert not lacking, f"the example of {address} lacks {lacking}"


@pytest.fixture
def session(shared):
    """A session that no other test uses and that is not stored yet."""
    return shared.session(f"test-{next(numbers)}")


@pytest.fixture
def todos(shared):
    """A session of the app `todos` that no other test uses and that is not stored yet."""
    return shared.session(f"test-{next(numbers)}", app="todos")


@pytest.fixture
def store(shared):
    """The store of the app `notes`, empty."""
    store = Store(shared)
    assert store.delete().status == 204
    return store


@pytest.fixture
def data(tmp_path):
    """The data folder of a separate server."""
    return tmp_path / "data"


@pytest.fixture
def serve():
    """Starts servers, and kills those that still run at the end of the test."""
    servers = []

    def start(data, **options):
        servers.append(Server(data, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.__exit__()


@pytest.fixture(scope="session")
def launch():
    """Starts browsers: the Chromium of the machine, with further arguments."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert chromium, "no chromium: apt-get install chromium"
    with sync_playwright() as driver:
        yield lambda *arguments: driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage", *arguments]
        )


@pytest.fixture(scope="session")
def browser(launch):
    """The browser of most tests."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser = launch()
    yield browser
    browser.close()


@pytest.fixture
def browse(browser):
    """Opens pages, each in a separate browser context, as a `Tab` or a subclass of it."""
    contexts = []

    def start(kind, address, **options):
        contexts.append(browser.new_context(**options))
        return kind(contexts[-1], address)

    yield start
    for context in contexts:
        context.close()


@pytest.fixture
def visit(browser):
    """Opens a page in a separate browser context."""
    contexts = []

    def open(address):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield open
    for context in contexts:
        context.close()

# The common behaviour of all pages on a phone while the server is away: the status is visible, and a failure is shown
# beside its control.

import pytest
from playwright.sync_api import expect

from tab import Tab

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
#: For each page: its address, the control to tap for an action, and the control beside which its error must be.
PAGES = {
    "counter": ("/#s", "#increment", ".steps"),
    "todos": ("/todos.html?session=s", "#todos .check", "#todos li"),
    "notes": ("/notes.html", "#haptics", "#haptics"),
}


@pytest.fixture
def tabs(browse, serve, data):
    """The pages on a phone, and their server."""
    server = serve(data)
    server.session("s", app="todos").dispatch([{"add": {"id": f"n{i}", "title": f"Todo {i}"}} for i in range(60)])
    return server, {name: browse(Tab, server.url + address, **PHONE) for name, (address, _, _) in PAGES.items()}


def test_without_the_server_the_status_and_errors_are_on_the_screen_until_it_is_back(tabs, serve, data):
    server, tabs = tabs
    server.kill()
    for name, tab in tabs.items():
        tab.page.wait_for_selector('#connection[data-state="reconnecting"]')
        tab.page.locator(PAGES[name][1]).first.tap()
        expect(tab.page.locator(".error", has_text="cannot be reached")).to_have_count(1)
        assert tab.page.evaluate("document.documentElement.scrollWidth") == 390, f"{name}: nothing sticks out sideways"
        for selector in ("#connection", "#connection-text", "#reconnect"):
            box = tab.page.locator(selector).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390, f"{name}: {selector} at {box}"
            assert box["y"] >= 0 and box["y"] + box["height"] <= 844, f"{name}: {selector} at {box}, however far the page is scrolled"
        tab.text("#connection-text", "Reconnecting")
        control = tab.page.locator(PAGES[name][2]).first.bounding_box()
        error = tab.page.locator(".error", has_text="cannot be reached").bounding_box()
        assert abs(error["y"] - control["y"] - control["height"]) < 40, f"{name}: the error at {error} is beside {control}"
        assert error["y"] + error["height"] < tab.page.locator("#connection").bounding_box()["y"], f"{name}: and not behind the status"
    serve(data, port=server.port)
    for tab in tabs.values():
        expect(tab.page.locator("#connection")).to_have_attribute("data-state", "live")
        expect(tab.page.locator(".error", has_text="cannot be reached")).to_have_count(0)


def test_the_error_of_a_refusal_stays_when_the_stream_is_live_again(browse, shared, session):
    tab = browse(Tab, f"{shared.url}/#{session.identifier}")
    tab.page.fill("#title-input", "")
    tab.dispatched("#title-form button")
    tab.text("#title-error", "title must not be empty")
    tab.page.fill("#set", "1")
    tab.page.route("**/events", lambda route: route.abort())
    tab.page.click("#set-form button")
    tab.text("#set-form .error", "cannot be reached")
    tab.page.unroute("**/events")
    assert tab.page.get_attribute("#set", "aria-invalid") == "false", "what was typed is right"
    [stream] = [one["stream"] for one in shared.get("/v1/streams").json["streams"] if one.get("session") == session.identifier]
    assert shared.request("DELETE", f"/v1/streams/{stream}").status == 204
    tab.page.wait_for_selector('#connection[data-state="closed"]')
    tab.page.click("#reconnect")
    expect(tab.page.locator("#set-form .error")).to_have_count(0)
    tab.text("#title-error", "title must not be empty")

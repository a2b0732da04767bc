# The demo page in Chromium: it shows the server's state, two tabs agree, and it reconnects after kill -9.

import pytest
from playwright.sync_api import expect

from harness import SCREENSHOTS
from tab import Tab


class CounterTab(Tab):
    def count(self, value):
        expect(self.page.locator("#count")).to_have_text(str(value))


@pytest.fixture
def open_tab(browse):
    return lambda server, session, **options: browse(CounterTab, f"{server.url}/#{session}", **options)


@pytest.fixture
def tab(open_tab, shared, session):
    return open_tab(shared, session.path.rsplit("/", 1)[1])


def test_the_page_loads_without_a_complaint(tab):
    assert tab.faults == []
    assert tab.page.title().startswith("0 · Counter")
    assert tab.page.locator("#paths tr").count() == 8


def test_nothing_is_fetched_from_elsewhere(browser, shared):
    context = browser.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(shared.url)
    page.wait_for_selector('#connection[data-state="live"]')
    assert all(url.startswith(shared.url + "/") for url in asked), asked
    context.close()


def test_a_click_reaches_the_other_tab(open_tab, shared, session):
    name = session.path.rsplit("/", 1)[1]
    one, two = open_tab(shared, name), open_tab(shared, name)
    one.page.click("#increment")
    one.count(1)
    two.count(1)
    two.page.click("#decrement")
    one.count(0)
    two.page.locator("#step").focus()
    two.page.keyboard.press("ArrowRight")
    two.page.keyboard.press("ArrowRight")
    one.text("#increment", "3")
    assert session.state("/p/step") == 3
    assert one.faults == two.faults == []


def test_the_same_session_opens_in_a_new_tab(tab):
    with tab.page.context.expect_page() as opened:
        tab.page.click("#twin")
    assert opened.value.url == tab.page.url
    opened.value.wait_for_selector('#connection[data-state="live"]')
    tab.page.click("#increment")
    expect(opened.value.locator("#count")).to_have_text("1")


def test_key_paths_show_values_and_mark_what_changed(tab, session):
    assert tab.page.locator('#paths tr[data-fresh="true"]').count() == 0
    session.dispatch({"setCount": 12})
    tab.count(12)
    fresh = tab.page.locator('#paths tr[data-fresh="true"] th').all_text_contents()
    assert fresh == ["/p/count", "/p/history", "/t/lastEvent"]
    assert tab.page.locator("#paths tr").nth(0).locator("td").all_text_contents() == ["12", "just now"]


def test_the_wire_shows_each_event(tab, session):
    session.dispatch("increment")
    tab.count(1)
    names = tab.page.locator("#wire .name").all_text_contents()
    assert names[0] == "change" and names[1] == "snapshot"
    assert tab.page.locator("#wire .cursor").first.text_content() == session.read().headers["etag"].strip('"')
    assert "2 events" in tab.page.text_content("#wire-total")


def test_noop_sends_nothing_and_the_page_says_so(tab, session):
    tab.dispatched('[data-event="noop"]')
    tab.text("#answer", "nothing changed")
    assert "1 event" in tab.page.text_content("#wire-total")


def test_the_page_reports_a_clamped_value(tab):
    tab.page.fill("#set", "250")
    tab.dispatched("#set-form button")
    tab.count(100)
    tab.text("#answer", "/p/count held at 100, not 250")


def test_the_warning_is_presented_and_dismissed(tab):
    tab.page.fill("#set", "90")
    tab.dispatched("#set-form button")
    tab.page.wait_for_selector('#warning[data-presented="true"]')
    assert tab.page.locator("#warning [role=alert]").text_content().strip()
    tab.dispatched("#dismiss")
    tab.page.wait_for_selector('#warning[data-presented="false"]')
    assert tab.page.evaluate("document.activeElement.id") == "increment", "the focus is not lost with its button"


def test_a_refused_title_is_explained_beside_its_field(tab):
    tab.page.fill("#title-input", "")
    assert tab.dispatched("#title-form button").status == 422
    tab.text("#title-error", "title must not be empty")
    assert tab.page.get_attribute("#title-input", "aria-invalid") == "true"
    tab.page.fill("#title-input", "Apples")
    assert tab.page.text_content("#title-error") == ""
    tab.dispatched("#title-form button")
    tab.text("h1", "Apples")


def test_limits_are_saved(tab, session):
    tab.page.fill("#warn-at", "5")
    tab.page.fill("#limit-label", "enough")
    tab.dispatched("#limits-form button")
    assert session.state("/p/limits") == {"warnAt": 5, "label": "enough"}


def test_what_somebody_types_is_not_overwritten_by_the_stream(tab, session):
    tab.page.fill("#title-input", "half a ti")
    session.dispatch({"rename": "Elsewhere"})
    tab.text("h1", "Elsewhere")
    assert tab.page.input_value("#title-input") == "half a ti"


def test_markup_in_a_title_stays_text(tab, session):
    session.dispatch({"rename": "<img src=x onerror=alert(1)>"})
    tab.text("h1", "<img src=x onerror=alert(1)>")
    assert tab.page.locator("h1 img").count() == 0 and tab.faults == []


def test_the_page_resumes_after_kill_9_of_the_server(open_tab, serve, data):
    server = serve(data)
    tab = open_tab(server, "s")
    tab.page.click("#increment")
    tab.count(1)
    assert tab.faults == []
    server.kill()
    tab.page.wait_for_selector('#connection[data-state="reconnecting"]')
    assert tab.page.is_visible("#reconnect")
    assert tab.page.text_content("#count") == "1", "the last received count stays"
    tab.page.click("#increment")
    tab.text(".steps + .error", "cannot be reached")

    again = serve(data, port=server.port)
    tab.page.wait_for_selector('#connection[data-state="live"]')
    assert not tab.page.is_visible("#reconnect")
    again.session("s").dispatch({"setCount": 42})
    tab.count(42)
    assert "reset" not in tab.page.locator("#wire .name").all_text_contents()


def test_a_button_skips_the_wait(open_tab, serve, data):
    server = serve(data)
    tab = open_tab(server, "s")
    tab.stop_the_clock()
    server.kill()
    tab.text("#connection-text", "Reconnecting in")
    serve(data, port=server.port)
    tab.page.click("#reconnect")
    expect(tab.page.locator("#connection")).to_have_attribute("data-state", "live")


def test_a_page_that_lost_the_server_for_10_s_is_live_within_3_s_of_its_return(open_tab, serve, data):
    server = serve(data)
    tabs = [open_tab(server, "s") for _ in range(2)]
    for tab, chance in zip(tabs, (0.6, 0.999)):
        tab.page.evaluate("(chance) => { Math.random = () => chance; }", chance)
        tab.stop_the_clock()
    server.kill()
    for tab in tabs:
        tab.text("#connection-text", "Reconnecting in")
        for _ in range(20):
            tab.pass_time(0.5)
    serve(data, port=server.port)
    for tab in tabs:
        for _ in range(6):
            tab.pass_time(0.5)
        assert tab.page.get_attribute("#connection", "data-state") == "live"


def test_reset_asks_first(tab, session):
    session.dispatch({"setCount": 7})
    tab.count(7)
    dialog = tab.page.get_by_role("dialog", name="Reset this session?")
    for leave in ("Escape", "Enter"):
        tab.page.focus("#reset")
        tab.page.keyboard.press("Enter")
        expect(dialog).to_be_visible()
        assert tab.page.evaluate("document.activeElement.id") == "reset-cancel", "the harmless button has the focus"
        tab.page.keyboard.press(leave)
        expect(dialog).to_be_hidden()
        assert tab.page.evaluate("document.activeElement.id") == "reset"
    assert session.state("/p/count") == 7
    tab.page.click("#reset")
    tab.dispatched("#reset-confirm")
    tab.count(0)
    expect(dialog).to_be_hidden()
    assert tab.page.evaluate("document.activeElement.id") == "reset" and tab.faults == []


def test_everything_is_reached_by_keyboard_and_has_a_name(tab):
    named = tab.page.evaluate("""() => [...document.querySelectorAll("button, input, a, [tabindex='0']")]
        .filter((e) => e.checkVisibility())
        .map((e) => [e.id || e.className, (e.labels?.[0]?.textContent ?? e.ariaLabel ?? e.getAttribute("aria-labelledby") ?? e.textContent).trim()])""")
    assert all(name for _, name in named), named
    reached = set()
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        reached.add(tab.page.evaluate("document.activeElement.id || document.activeElement.dataset.event || document.activeElement.dataset.copy || ''"))
    assert {"increment", "decrement", "reset", "step", "set", "title-input", "warn-at", "limit-label", "note", "twin", "command-watch", "wire"} <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_looks_like_this(open_tab, shared, session, scheme, width):
    tab = open_tab(
        shared, session.path.rsplit("/", 1)[1], viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
    )
    height = tab.page.evaluate("document.querySelector('.counter').offsetHeight")
    for event in ({"setCount": 30}, {"setStep": 5}, "increment", {"setCount": 62}, {"setCount": 55}, {"setCount": 83}, "increment"):
        session.dispatch(event)
    tab.count(88)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width, "nothing sticks out sideways"
    assert tab.page.evaluate("document.querySelector('.counter').offsetHeight") == height, "the layout does not jump"
    small = tab.page.evaluate("""() => [...document.querySelectorAll("button, a.button")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).length""")
    assert small == 0, "targets are large enough to be hit"
    tab.page.screenshot(path=SCREENSHOTS / f"{scheme}-{width}.png", full_page=True)
    assert tab.faults == []


def test_reduced_motion_is_honoured(open_tab, shared, session):
    tab = open_tab(shared, session.path.rsplit("/", 1)[1], reduced_motion="reduce")
    session.dispatch("increment")
    tab.count(1)
    assert tab.page.evaluate("document.getAnimations().length") == 0

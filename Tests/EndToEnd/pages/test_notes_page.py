# The notes' page in Chromium: every browser shows at once the notes that another browser publishes and the values that
# it sets.

import pytest
from playwright.sync_api import expect

from harness import SCREENSHOTS, Server, all_bytes
from tab import Tab

APP = "/v1/apps/notes"
STORE = APP + "/stores/notes"
TOKEN = "s3cr3t-token-of-the-page"


class NotesTab(Tab):
    def live(self):
        self.page.wait_for_selector('#connection[data-state="live"]')
        expect(self.page.locator("#rest")).not_to_have_text("Connecting…")
        self.page.wait_for_selector("#theme:enabled")

    @property
    def rows(self):
        return self.page.locator("#notes > li")

    def row(self, text):
        return self.rows.filter(has=self.page.locator(".text", has_text=text))

    def texts(self, *texts):
        """Waits until these notes are shown in this order."""
        expect(self.page.locator("#notes .note .text")).to_have_text(list(texts))

    def drafts(self, *texts):
        expect(self.page.locator("#drafts .text")).to_have_text(list(texts))

    def publish(self, text):
        self.page.fill("#text", text)
        self.page.press("#text", "Control+Enter")

    def background(self, colour):
        expect(self.page.locator("body")).to_have_css("background-color", colour)

    def theme(self, name):
        self.page.locator("#theme span", has_text=name).click()

    def focused(self):
        return self.page.evaluate("document.activeElement.id || document.activeElement.dataset.copy || document.activeElement.classList[0] || ''")

    def unexpected(self):
        """The complaints of the browser, without refusals, because it always logs them."""
        return [fault for fault in self.faults if "status of 412" not in fault]


LIGHT, DARK = "rgb(246, 247, 247)", "rgb(14, 19, 21)"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("notes") / "data") as server:
        yield server


@pytest.fixture
def open_tab(browse, server):
    """Returns a function that opens a server's page in a separate browser context. Without an argument, it is the page of this file's server."""
    server.request("DELETE", STORE)
    for value in ("theme", "hapticsEnabled", "recent"):
        server.request("DELETE", f"{APP}/values/{value}")
    server.request("DELETE", f"{APP}/secrets/apiToken")
    return lambda of=server, **options: browse(NotesTab, f"{of.url}/notes.html", **options)


def stored(server):
    return [item["text"] for item in server.get(STORE).json["items"]]


def insert(server, *texts):
    items = [{"id": f"id-{text}", "text": text, "created": "2026-01-02T03:04:05Z"} for text in texts]
    assert server.request("POST", STORE, items).status == 200


def test_the_page_loads_without_a_complaint_and_is_linked(open_tab, server):
    tab = open_tab()
    assert tab.faults == [] and tab.page.title() == "0 · Notes"
    tab.text("#rest", "No notes yet")
    for page in ("Counter", "Todos"):
        tab.page.click(f".pages a:has-text('{page}')")
        tab.page.wait_for_selector('#connection[data-state="live"]')
        tab.page.click(".pages a:has-text('Notes')")
        tab.live()
    assert tab.page.url == f"{server.url}/notes.html" and tab.faults == []


def test_every_tab_removes_notes_that_are_removed_in_one_step_with_an_insert(open_tab, server):
    def note(identifier):
        return {"id": identifier, "text": identifier.upper(), "created": "2026-01-02T03:04:05Z"}

    def operate(*operations):
        assert server.request("POST", f"{STORE}/operations", {"operations": operations}).status == 200

    one, two = open_tab(), open_tab()
    operate({"insert": [note("a"), note("b"), note("c")]})
    two.texts("A", "B", "C")
    operate({"remove": ["a", "b"]}, {"insert": [note("d"), note("a")]})
    one.texts("C", "D", "A")
    two.texts("C", "D", "A")
    operate({"removeAll": {}}, {"insert": [note("e")]})
    one.texts("E")
    two.texts("E")


def test_two_browsers_share_notes_live(open_tab, server):
    one, two = open_tab(), open_tab()
    one.publish("First")
    two.texts("First")
    two.publish("Second")
    one.texts("First", "Second")
    one.publish("Third")
    two.texts("First", "Second", "Third")
    one.page.focus("#text")
    two.row("Second").locator(".edit").click()
    two.page.fill(".field", "Second, changed")
    two.page.click(".save")
    one.texts("First", "Second, changed", "Third")
    expect(two.page.locator(".editor")).to_have_count(0)
    assert two.focused() == "edit"
    one.row("First").locator(".remove").click()
    two.texts("Second, changed", "Third")
    two.text("#heard", "Deleted: First")
    one.text("#news", "Deleted “First”")
    one.page.click("#undo")
    two.texts("Second, changed", "Third", "First")
    assert stored(server) == ["Second, changed", "Third", "First"]
    assert one.page.title() == "3 · Notes" and one.faults == two.faults == []


def test_drafts_are_the_browsers_own_and_publishing_moves_them(open_tab, server):
    one, two = open_tab(), open_tab()
    one.page.fill("#text", "Half a thought")
    one.page.click("#keep")
    one.drafts("Half a thought")
    expect(one.page.locator("#text")).to_have_value("")
    again = NotesTab(one.page.context, f"{server.url}/notes.html")
    again.drafts("Half a thought")
    again.page.click("#drafts .continue")
    again.page.locator("#text").press("End")
    again.page.keyboard.type(", and the rest")
    again.page.click("#keep")
    one.drafts("Half a thought, and the rest")
    one.page.fill("#text", "Another")
    one.page.click("#keep")
    one.drafts("Half a thought, and the rest", "Another")
    assert stored(server) == []
    two.drafts()
    one.page.locator("#drafts li", has_text="Half").locator(".publish").click()
    two.texts("Half a thought, and the rest")
    again.drafts("Another")
    again.page.click("#drafts .discard")
    one.drafts()
    two.texts("Half a thought, and the rest")
    assert one.faults == two.faults == again.faults == []


def test_another_visitors_change_is_shown_before_it_is_overwritten(open_tab, server):
    insert(server, "Note")
    one, two = open_tab(), open_tab()
    one.row("Note").locator(".edit").click()
    expect(one.page.locator(".field")).to_be_focused()
    one.page.fill(".field", "Mine")
    two.row("Note").locator(".edit").click()
    two.page.fill(".field", "Theirs")
    two.page.keyboard.press("Control+Enter")
    two.texts("Theirs")
    one.page.click(".save")
    one.text(".conflict-news", "Somebody changed this note meanwhile")
    expect(one.page.locator(".theirs")).to_have_text("Theirs")
    assert one.page.input_value(".field") == "Mine" and stored(server) == ["Theirs"]
    one.page.click(".save")
    two.texts("Mine")
    expect(one.page.locator(".editor")).to_have_count(0)

    one.row("Mine").locator(".edit").click()
    one.page.fill(".field", "Too late")
    two.row("Mine").locator(".remove").click()
    two.texts()
    expect(one.page.locator(".field")).to_have_value("Too late"), "what is typed is not lost"
    one.page.click(".save")
    one.text(".conflict-news", "Somebody deleted this note meanwhile")
    one.page.click(".cancel")
    expect(one.rows).to_have_count(0)
    assert stored(server) == [] and one.unexpected() == two.unexpected() == []


def test_another_visitors_change_is_shown_before_the_note_is_deleted(open_tab, server):
    insert(server, "Note")
    tab = open_tab()
    changed = iter([True])

    def change(route):
        response = route.fetch()
        if next(changed, False):
            server.request("PUT", f"{STORE}/id-Note", {"id": "id-Note", "text": "Changed", "created": "2026-01-02T03:04:05Z"})
        route.fulfill(response=response)

    tab.page.route("**/stores/notes/id-Note", change)
    tab.row("Note").locator(".remove").click()
    tab.text("#news", "Somebody changed “Note” to “Changed”")
    tab.texts("Changed")
    tab.row("Changed").locator(".remove").click()
    tab.texts()
    assert stored(server) == [] and tab.unexpected() == []


def test_escape_leaves_a_note_as_it_was(open_tab, server):
    insert(server, "Note")
    tab = open_tab()
    tab.row("Note").locator(".open").focus()
    tab.page.keyboard.press("F2")
    expect(tab.page.locator(".field")).to_be_focused()
    tab.page.keyboard.type("Nonsense")
    tab.page.keyboard.press("Escape")
    tab.texts("Note")
    assert tab.focused() == "edit" and stored(server) == ["Note"]


def test_the_focus_stays_in_the_list_when_a_note_is_removed(open_tab, server):
    insert(server, "A", "B", "C")
    tab = open_tab()
    tab.row("B").locator(".open").focus()
    tab.page.keyboard.press("Delete")
    tab.texts("A", "C")
    assert tab.page.evaluate("document.activeElement.textContent") == "C"
    tab.page.keyboard.press("ArrowUp")
    assert tab.page.evaluate("document.activeElement.textContent") == "A"


def test_an_opened_note_is_shown_in_full_and_remembered(open_tab, server):
    insert(server, *"ABCDEFG")
    one, two = open_tab(), open_tab()
    for text in "ABCDEFB":
        one.row(text).locator(".open").click()
        expect(one.page.locator("#recent button").first).to_have_text(text)
    expect(one.page.locator("#recent button")).to_have_text(list("BFEDC"))
    assert one.page.locator("#notes [aria-expanded=true]").text_content() == "B"
    # The other browser may not have the change yet. The note that it opens comes before the notes that others opened.
    two.row("G").locator(".open").click()
    expect(two.page.locator("#recent button")).to_have_text(list("GBFED"))
    two.page.locator("#recent button", has_text="B").click()
    assert two.page.evaluate("document.activeElement.textContent") == "B"
    one.row("B").locator(".open").click()
    expect(one.page.locator("[data-selected]")).to_have_count(0)
    assert one.unexpected() == two.unexpected() == []


def test_the_theme_is_the_systems_until_one_is_chosen_in_this_browser(open_tab, server):
    server.request("PUT", f"{APP}/values/theme", "light")
    tab = open_tab(color_scheme="dark")
    bars = "[...document.querySelectorAll('meta[name=theme-color]')].map(({ content }) => content)"
    before = tab.page.evaluate(bars)
    tab.background(DARK)
    expect(tab.page.locator("#theme [value=system]")).to_be_checked()
    tab.page.emulate_media(color_scheme="light")
    tab.background(LIGHT)
    server.request("PUT", f"{APP}/values/theme", "dark")
    tab.text("#wire", '"value":"dark"')
    tab.background(LIGHT)

    tab.theme("Dark")
    tab.background(DARK)
    assert tab.page.evaluate(bars) == [DARK, DARK]
    again = NotesTab(tab.page.context, f"{server.url}/notes.html")
    again.page.emulate_media(color_scheme="light")
    again.background(DARK)
    again.theme("System")
    for one in (tab, again):
        one.background(LIGHT)
        expect(one.page.locator("#theme [value=system]")).to_be_checked()
        assert one.page.evaluate(bars) == before and one.faults == []
    assert server.get(f"{APP}/values/theme").json == "dark", "the shared theme stays"


def test_browsers_that_chose_a_theme_follow_the_shared_theme(open_tab, server):
    one, two = open_tab(color_scheme="dark"), open_tab()
    two.theme("Light")
    two.background(LIGHT)
    one.theme("Dark")
    for tab in (one, two):
        tab.background(DARK)
        expect(tab.page.locator("#theme [value=dark]")).to_be_checked()
    two.page.focus("#theme [value=dark]")
    two.page.keyboard.press("ArrowLeft")
    one.background(LIGHT)
    server.request("PUT", f"{APP}/values/theme", "sepia")
    expect(two.page.locator("html")).to_have_attribute("data-theme", "sepia")
    expect(two.page.locator("#theme :checked")).to_have_count(0)
    assert one.faults == two.faults == []


def test_a_theme_that_another_client_set_before_the_answer_came_is_kept(open_tab, server):
    tab, held = open_tab(), []
    tab.page.route("**/values/theme", lambda route: held.append((route, route.fetch())))
    tab.theme("Dark")
    tab.text("#wire", '"value":"dark"')
    server.request("PUT", f"{APP}/values/theme", "sepia")
    tab.text("#wire", '"value":"sepia"')
    with tab.page.expect_request_finished(lambda request: request.url.endswith("/values/theme")):
        for route, answer in held:
            route.fulfill(response=answer)
    expect(tab.page.locator("html")).to_have_attribute("data-theme", "sepia")
    assert tab.faults == [] and len(held) == 1


def test_a_theme_that_the_server_refused_is_not_followed(open_tab, server):
    tab = open_tab(color_scheme="dark")
    tab.page.route("**/values/theme", lambda route: route.abort())
    tab.theme("Light")
    expect(tab.page.locator(".setting + .error")).to_be_visible()
    tab.background(DARK)
    expect(tab.page.locator("#theme [value=system]")).to_be_checked()


def test_the_switch_is_toggled_only_if_it_still_has_the_shown_value(open_tab, server):
    one, two = open_tab(), open_tab()
    one.page.check("#haptics")
    expect(one.page.locator("#haptics:enabled")).to_be_checked()
    one.until("fetch('/v1/apps/notes/values/hapticsEnabled').then((answer) => answer.json())")
    # The second page still shows the switch as off, so its user's click means on.
    two.page.check("#haptics")
    two.until("performance.getEntriesByName(location.origin + '/v1/apps/notes/values/hapticsEnabled/toggle').length === 1")
    expect(two.page.locator("#haptics")).to_be_checked()
    assert server.get(f"{APP}/values/hapticsEnabled").json is True
    two.page.uncheck("#haptics")
    two.until("fetch('/v1/apps/notes/values/hapticsEnabled').then((answer) => answer.json()).then((value) => !value)")
    one.page.evaluate("dispatchEvent(new Event('focus'))")
    expect(one.page.locator("#haptics")).not_to_be_checked()
    assert one.unexpected() == two.unexpected() == []


def test_a_token_is_set_and_never_shown(open_tab, server):
    one, two = open_tab(), open_tab()
    answers = []
    for tab in (one, two):
        tab.page.on("response", lambda response: answers.append(response))
    one.text("#token-state", "is not set")
    expect(one.page.locator("#token-remove")).to_be_disabled()
    one.page.fill("#token", TOKEN)
    one.page.click("#token-form [type=submit]")
    one.text("#token-state", "is set")
    expect(one.page.locator("#token")).to_have_value("")
    two.page.evaluate("dispatchEvent(new Event('focus'))")
    two.text("#token-state", "is set")
    answers = [response for response in answers if response.status not in (204, 304) and "cursor=" not in response.url]
    assert answers and not any(TOKEN in response.text() for response in answers)
    two.page.reload()
    two.live()
    two.text("#token-state", "is set")
    for tab in (one, two):
        assert TOKEN not in tab.page.content()
        assert tab.page.evaluate("(token) => [...document.querySelectorAll('input')].every(({ value }) => value !== token)", TOKEN)
    assert TOKEN.encode() not in all_bytes(server.data) and TOKEN not in server.log_text()
    one.page.click("#token-remove")
    one.text("#token-state", "is not set")
    assert one.focused() == "token", "the focus is not lost with the button"
    assert server.get(f"{APP}/secrets/apiToken").json == {"set": False}
    assert one.faults == two.faults == []


def test_both_browsers_have_the_right_list_after_the_server_was_killed(open_tab, serve, data):
    server = serve(data)
    one, two = open_tab(server), open_tab(server)
    for text in ("First", "Second", "Third"):
        one.publish(text)
        two.row(text).wait_for()
    one.page.fill("#text", "Not yet")
    one.page.click("#keep")
    one.drafts("Not yet")
    two.theme("Light")
    two.background(LIGHT)
    one.theme("Dark")
    two.background(DARK)
    assert one.faults == two.faults == []
    server.kill()
    for tab in (one, two):
        tab.page.wait_for_selector('#connection[data-state="reconnecting"]')
        tab.texts("First", "Second", "Third")
    one.publish("Lost?")
    one.text("#write .error", "cannot be reached")
    expect(one.page.locator("#text")).to_have_value("Lost?"), "what was typed is not lost"

    again = serve(data, port=server.port)
    again.request("DELETE", f"{STORE}/{again.get(STORE).json['items'][1]['id']}")
    insert(again, "Fourth")
    for tab in (one, two):
        tab.texts("First", "Third", "Fourth")
        tab.page.wait_for_selector('#connection[data-state="live"]')
        tab.background(DARK)
    one.drafts("Not yet")
    one.page.press("#text", "Control+Enter")
    two.texts("First", "Third", "Fourth", "Lost?")
    two.theme("Light")
    one.background(LIGHT)
    assert stored(again) == ["First", "Third", "Fourth", "Lost?"]


def test_four_tabs_of_one_browser_all_follow(open_tab, server):
    first = open_tab()
    tabs = [first] + [NotesTab(first.page.context, f"{server.url}/notes.html") for _ in range(3)]
    tabs[3].publish("From the fourth")
    for tab in tabs:
        tab.texts("From the fourth")
    tabs[0].page.close()
    tabs[1].publish("From the second")
    for tab in tabs[1:]:
        tab.texts("From the fourth", "From the second")


def test_markup_in_a_note_stays_text(open_tab, server):
    insert(server, "<img src=x onerror=alert(1)>")
    tab = open_tab()
    tab.texts("<img src=x onerror=alert(1)>")
    tab.row("img").locator(".open").click()
    expect(tab.page.locator("#recent button")).to_have_text(["<img src=x onerror=alert(1)>"])
    assert tab.page.locator("#notes img, #recent img").count() == 0 and tab.faults == []


def test_of_many_notes_the_first_are_shown_and_the_others_are_counted(open_tab, server):
    items = [{"id": f"n{i}", "text": f"Note {i}", "created": "2026-01-02T03:04:05Z"} for i in range(2500)]
    assert server.request("POST", STORE, items).status == 200
    tab = open_tab()
    tab.text("#count", "2500 notes")
    tab.text("#rest", "500 more are not shown")
    expect(tab.rows).to_have_count(2000)


def test_everything_is_reached_by_keyboard_and_has_a_name(open_tab, server):
    insert(server, "Note")
    tab = open_tab()
    tab.texts("Note")
    tab.page.fill("#text", "A draft")
    tab.page.click("#keep")
    tab.drafts("A draft")
    named = tab.page.evaluate("""() => [...document.querySelectorAll("button, input, textarea, a[href], [tabindex='0']")]
        .filter((e) => e.checkVisibility())
        .map((e) => [e.id || e.className, (e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.getAttribute("aria-labelledby") ?? e.textContent).trim()])""")
    assert all(name for _, name in named), named
    tab.page.focus(".skip")
    reached = set()
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        reached.add(tab.focused())
    assert {"text", "keep", "open", "edit", "remove", "continue", "publish", "discard", "haptics", "token", "wire", "command-watch"} <= reached


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_fits_and_looks_like_this(open_tab, server, theme, width):
    texts = ["Standup moves to 9:30 from Monday", "The office is closed on Friday.\nPlants need water before.", "x" * 90, "Long. " * 60]
    items = [{"id": f"n{i}", "text": text, "created": "2026-01-02T03:04:05Z"} for i, text in enumerate(texts)]
    server.request("POST", STORE, items)
    tab = open_tab(
        viewport={"width": width, "height": 800}, color_scheme=theme, reduced_motion="reduce",
        has_touch=width == 375, is_mobile=width == 375,
    )
    expect(tab.rows).to_have_count(4)
    tab.page.fill("#text", "A draft that is not finished, and has a longer text than its line")
    tab.page.click("#keep")
    expect(tab.page.locator("#drafts li")).to_have_count(1)
    tab.rows.nth(1).locator(".open").click()
    expect(tab.page.locator("#recent button")).to_have_count(1)
    tab.rows.nth(0).locator(".edit").click()
    expect(tab.page.locator(".field")).to_be_visible()
    server.request("PUT", f"{STORE}/n0", items[0] | {"text": "Standup moves to 10:00"})
    tab.page.fill(".field", "Standup moves to 9:45")
    tab.page.click(".save")
    tab.text(".theirs", "10:00")
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width, "nothing sticks out sideways"
    small = tab.page.evaluate("""() => [...document.querySelectorAll("button, a.button, .segments span, .switch")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).length""")
    assert small == 0, "targets are large enough to be hit"
    tab.page.screenshot(path=SCREENSHOTS / f"notes-{theme}-{width}.png", full_page=True)
    assert tab.unexpected() == []

# The todo list's page in Chromium: each change is shown in all tabs, and touches only the rows that it concerns.

import re

import pytest
from playwright.sync_api import expect

from harness import SCREENSHOTS
from todos_tab import Held, TodosTab, filled, open_tab, tab, titles  # noqa: F401 fixtures


def test_the_page_loads_without_a_complaint_and_names_its_session(browse, shared):
    tab = browse(TodosTab, f"{shared.url}/todos.html")
    assert tab.faults == [] and tab.page.title() == "0 open · Todos"
    assert re.fullmatch(r".*\?session=[a-z0-9]{12}", tab.page.url)
    tab.text("#rest", "Nothing to do")
    identifier = tab.page.url.rsplit("=", 1)[1]
    assert tab.page.get_attribute("#counter-link", "href") == f"/#{identifier}"
    tab.page.click("#counter-link")
    tab.page.wait_for_selector('#connection[data-state="live"]')
    tab.page.click("#todos-link")
    expect(tab.page).to_have_url(f"{shared.url}/todos.html?session={identifier}")


def test_two_browsers_see_each_others_changes(open_tab, shared, todos):
    one, two = open_tab(shared, todos.identifier), open_tab(shared, todos.identifier)
    one.add("Milk")
    two.titles("Milk")
    expect(one.page.locator("#new-title")).to_have_value("")
    two.add("Bread")
    one.titles("Milk", "Bread")
    one.row("Milk").locator(".check").check()
    expect(two.row("Milk").locator(".check")).to_be_checked()
    two.text("#open-count", "1 open")
    two.page.locator("#filters span", has_text="Open").click()
    one.titles("Bread")
    expect(one.page.locator("#filters [value=open]")).to_be_checked()
    one.row("Bread").locator(".remove").click()
    two.titles()
    two.text("#rest", "No open todos")
    assert todos.state("/p") == {"todos": [{**todos.state("/p/todos")[0], "title": "Milk", "done": True}], "filter": "open"}
    assert one.faults == two.faults == []


def test_a_removal_can_be_undone(filled, todos):
    before = todos.state("/p/todos")
    filled.row("Todo b").locator(".remove").focus()
    filled.page.keyboard.press("Enter")
    filled.titles("Todo a", "Todo c")
    assert filled.focused() == ["remove", "Todo c"], "the focus is not lost with its row"
    filled.text("#news", "Removed “Todo b”")
    filled.page.click("#undo")
    filled.titles("Todo a", "Todo b", "Todo c")
    assert todos.state("/p/todos") == before


def test_an_undo_that_failed_can_be_tried_again_and_has_one_effect(filled, todos):
    before = todos.state("/p/todos")
    filled.row("Todo b").locator(".remove").focus()
    filled.page.keyboard.press("Enter")
    inserts = Held(filled.page, "insert")
    filled.page.click("#undo")
    expect(filled.page.locator("#undo")).to_be_hidden()
    inserts.next().abort()
    filled.text(".news + .error", "cannot be reached")
    filled.page.click("#undo")
    inserts.next().continue_()
    filled.text("#news", "“Todo b” is back")
    expect(filled.page.locator("#undo")).to_be_hidden()
    assert inserts.held == [] and filled.focused() == ["todos", None] and todos.state("/p/todos") == before


def test_a_removal_during_an_undo_can_be_undone_too(filled, todos):
    before = todos.state("/p/todos")
    filled.row("Todo b").locator(".remove").click()
    inserts = Held(filled.page, "insert")
    filled.page.click("#undo")
    undo = inserts.next()
    filled.row("Todo c").locator(".remove").click()
    filled.text("#news", "Removed “Todo c”")
    undo.continue_()
    filled.text("#news", "“Todo b” is back")
    filled.page.click("#undo")
    inserts.next().continue_()
    filled.text("#news", "“Todo c” is back")
    # The position of “Todo c” was recorded while “Todo b” was not in the list, so the order may differ.
    assert {todo["id"]: todo for todo in todos.state("/p/todos")} == {todo["id"]: todo for todo in before}


def test_done_todos_are_cleared_and_restored_as_one_transaction(filled, todos):
    todos.dispatch({"toggle": "c"})
    filled.text("#open-count", "1 open")
    before = todos.state("/p/todos")
    filled.dispatched("#clear-done")
    filled.titles("Todo a")
    expect(filled.page.locator("#clear-done")).to_be_disabled()
    version = todos.info()["version"]
    filled.page.click("#undo")
    filled.titles("Todo a", "Todo b", "Todo c")
    assert todos.state("/p/todos") == before and todos.info()["version"] == version + 1


def test_buttons_and_keys_move_a_todo_and_keep_the_focus(filled, todos):
    filled.row("Todo a").hover()
    filled.row("Todo a").locator(".down").click()
    filled.titles("Todo b", "Todo a", "Todo c")
    assert filled.focused() == ["down", "Todo a"]
    filled.text("#news", "Moved “Todo a” to 2 of 3")
    filled.page.keyboard.press("Alt+ArrowDown")
    filled.titles("Todo b", "Todo c", "Todo a")
    # The message comes with the answer, maybe later than the stream's event. A late message would replace the next one.
    filled.text("#news", "Moved “Todo a” to 3 of 3")
    filled.page.keyboard.press("Alt+ArrowDown")
    filled.text("#news", "It is the last one that is shown")
    filled.page.keyboard.press("ArrowUp")
    assert filled.focused() == ["down", "Todo c"]
    filled.page.keyboard.press("Alt+ArrowUp")
    filled.titles("Todo c", "Todo b", "Todo a")
    assert titles(todos) == ["Todo c", "Todo b", "Todo a"]


@pytest.mark.parametrize(
    ("item", "target", "height", "outcome"),
    [
        ("Todo a", "Todo c", 0.9, "bca"),
        ("Todo a", "Todo c", 0.1, "bac"),
        ("Todo c", "Todo a", 0.1, "cab"),
        ("Todo b", "Todo b", 0.9, "abc"),
        ("Todo b", "Todo a", 0.9, "abc"),
        ("Todo a", "Todo b", 0.1, "abc"),
    ],
)
def test_a_todo_is_dragged_to_its_position(filled, todos, item, target, height, outcome):
    page, sent = filled.page, []
    page.on("request", lambda request: sent.append(request.post_data) if request.method == "POST" else None)
    grip, goal = filled.row(item).locator(".handle").bounding_box(), filled.row(target).bounding_box()
    page.mouse.move(grip["x"] + 8, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(grip["x"] + 40, goal["y"] + goal["height"] * height, steps=5)
    page.mouse.up()
    filled.titles(*(f"Todo {name}" for name in outcome))
    assert titles(todos) == [f"Todo {name}" for name in outcome]
    expect(page.locator("[data-dragged], [data-drop]")).to_have_count(0)
    assert len(sent) == (outcome != "abc"), "a drop in place sends nothing"


def test_escape_ends_a_drag_where_it_began(filled, todos):
    version = todos.info()["version"]
    grip = filled.row("Todo a").locator(".handle").bounding_box()
    filled.page.mouse.move(grip["x"] + 8, grip["y"] + 8)
    filled.page.mouse.down()
    filled.page.mouse.move(grip["x"] + 8, grip["y"] + 130, steps=3)
    filled.page.evaluate("document.dispatchEvent(new PointerEvent('lostpointercapture', { pointerId: 99 }))")
    # The end of another finger's touch does not end the drag.
    expect(filled.row("Todo a")).to_have_attribute("data-dragged", "true")
    filled.page.keyboard.press("Escape")
    filled.page.mouse.up()
    filled.titles("Todo a", "Todo b", "Todo c")
    assert todos.info()["version"] == version


def test_a_drag_ends_when_another_user_removes_the_row(open_tab, shared, todos):
    todos.dispatch({"addMany": {"count": 60}})
    tab = open_tab(shared, todos.identifier, viewport={"width": 900, "height": 600})
    grip = tab.page.locator("[data-id=n1] .handle").bounding_box()
    tab.page.mouse.move(grip["x"] + 8, grip["y"] + 8)
    tab.page.mouse.down()
    tab.page.mouse.move(grip["x"] + 8, 595, steps=4)
    tab.until("scrollY > 0")
    todos.dispatch({"remove": "n1"})
    expect(tab.page.locator("[data-id=n1]")).to_have_count(0)
    scrolled, aimed = tab.page.evaluate("""async () => {
        const frame = () => new Promise(requestAnimationFrame);
        await frame();
        const before = scrollY;
        for (let i = 0; i < 10; i++) await frame();
        return [scrollY - before, document.querySelectorAll("[data-drop]").length];
    }""")
    assert (scrolled, aimed) == (0, 0), "the page stands still"
    tab.page.mouse.up()
    assert tab.faults == []


def test_a_move_under_a_filter_leaves_the_hidden_ones_where_they_are(filled, todos):
    filled.page.locator("#filters span", has_text="Open").click()
    filled.titles("Todo a", "Todo c")
    filled.row("Todo c").locator(".title").focus()
    filled.page.keyboard.press("Alt+ArrowUp")
    filled.titles("Todo c", "Todo a")
    assert titles(todos) == ["Todo c", "Todo a", "Todo b"]


def test_only_the_node_of_the_changed_todo_is_touched(filled, todos):
    filled.watch()
    todos.dispatch({"rename": {"id": "c", "title": "New"}})
    filled.titles("Todo a", "Todo b", "New")
    assert filled.touched() == ({"c"}, 0)
    todos.dispatch({"toggle": "a"})
    expect(filled.row("Todo a")).to_have_attribute("data-done", "")
    assert filled.touched() == ({"a"}, 0)
    todos.dispatch({"add": {"id": "d", "title": "Todo d"}})
    filled.titles("Todo a", "Todo b", "New", "Todo d")
    assert filled.touched() == ({"d"}, 1), "one row came"
    todos.dispatch({"move": {"id": "a", "to": 3}})
    filled.titles("Todo b", "New", "Todo d", "Todo a")
    assert filled.touched() == ({"a"}, 2), "one row went from one place to another"
    todos.dispatch({"move": {"id": "a", "to": 0}})
    filled.titles("Todo a", "Todo b", "New", "Todo d")
    assert filled.touched() == ({"a"}, 2)
    todos.dispatch({"remove": "b"})
    filled.titles("Todo a", "New", "Todo d")
    assert filled.touched() == ({"b"}, 1)
    todos.dispatch({"edit": "d"})
    expect(filled.row("Todo d").locator(".edited")).to_be_visible()
    assert filled.touched() == ({"d"}, 0)


def test_a_hundred_todos_are_added_and_existing_ones_are_not_added_again(tab, todos):
    tab.page.click("#many")
    tab.text("#news", "Added 100.")
    todos.dispatch([{"remove": "n3"}, {"remove": "n99"}])
    tab.text("#total", "of 98")
    tab.page.click("#many")
    tab.text("#news", "Added 2.")
    tab.page.click("#many")
    tab.text("#news", "They are there already")


def test_among_a_thousand_todos_a_change_touches_one_node_and_the_page_stays_quick(tab, todos):
    todos.dispatch({"addMany": {"count": 1000}})
    expect(tab.rows).to_have_count(1000)
    tab.watch()
    todos.dispatch({"rename": {"id": "n500", "title": "In the middle"}})
    expect(tab.row("In the middle")).to_be_attached()
    assert tab.touched() == ({"n500"}, 0)
    todos.dispatch({"move": {"id": "n999", "to": 0}})
    expect(tab.rows.first).to_have_attribute("data-id", "n999")
    assert tab.touched() == ({"n999"}, 2)
    longest = tab.page.evaluate("""() => new Promise((resolve) => {
        let longest = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((e) => (longest = Math.max(longest, e.duration))))
            .observe({ type: "longtask" });
        document.querySelector("#todos li:nth-child(700) .check").click();
        const observer = new MutationObserver(() => { observer.disconnect(); setTimeout(() => resolve(longest), 200); });
        observer.observe(document.getElementById("open-count"), { childList: true, characterData: true, subtree: true });
    })""")
    assert longest < 1000, f"one click took {longest} ms"
    assert tab.faults == []


def test_of_a_hundred_thousand_todos_the_first_are_shown_and_the_others_are_counted(tab, todos):
    todos.dispatch({"addMany": {"count": 100_000}})
    tab.text("#rest", "98000 more are not shown")
    expect(tab.rows).to_have_count(2000)
    tab.text("#total", "of 100000")
    tab.watch()
    todos.dispatch([{"toggle": "n1999"}, {"rename": {"id": "n5000", "title": "Out of sight"}}])
    tab.text("#open-count", "99999 open")
    assert tab.touched() == ({"n1999"}, 0)
    todos.dispatch({"remove": "n0"})
    expect(tab.rows.last).to_have_attribute("data-id", "n2000")
    assert tab.touched() == ({"n0", "n2000"}, 2)


def test_a_refusal_is_shown_and_the_list_shows_the_servers_state(filled, todos):
    filled.page.route("**/events", lambda route: route.fulfill(
        status=422, content_type="application/problem+json", body='{"status":422,"title":"No","type":"about:blank","detail":"not today"}'
    ))
    filled.row("Todo a").locator(".check").click()
    expect(filled.row("Todo a").locator(".error")).to_have_text("not today")
    expect(filled.row("Todo a").locator(".check")).not_to_be_checked()
    filled.add("Milk")
    filled.text("#add .error", "not today")
    expect(filled.page.locator("#new-title")).to_have_value("Milk"), "what was typed is not lost"
    filled.row("Todo a").locator(".text").dblclick()
    filled.page.keyboard.type("Apples")
    filled.page.keyboard.press("Enter")
    assert filled.page.input_value(".field") == "Apples", "a refused title stays open"


def test_markup_in_a_title_stays_text(tab, todos):
    todos.dispatch({"add": {"id": 'x"><i>', "title": "<img src=x onerror=alert(1)>"}})
    tab.titles("<img src=x onerror=alert(1)>")
    tab.row("img").locator(".check").check()
    tab.text("#open-count", "0 open")
    assert tab.page.locator("#todos img, #todos i").count() == 0 and tab.faults == []


def test_the_list_is_right_after_the_server_was_killed_and_started_again(open_tab, serve, data):
    server = serve(data)
    session = server.session("s", app="todos")
    session.dispatch([{"add": {"id": name, "title": f"Todo {name}"}} for name in "abc"])
    tab = open_tab(server, "s")
    tab.titles("Todo a", "Todo b", "Todo c")
    server.kill()
    tab.page.wait_for_selector('#connection[data-state="reconnecting"]')
    tab.titles("Todo a", "Todo b", "Todo c")
    tab.row("Todo a").locator(".check").click()
    expect(tab.row("Todo a").locator(".error")).to_have_text("The server cannot be reached.")
    expect(tab.row("Todo a").locator(".check")).not_to_be_checked()

    again = serve(data, port=server.port).session("s", app="todos")
    again.dispatch([{"remove": "b"}, {"move": {"id": "c", "to": 0}}, {"insert": {"id": "d", "title": "Todo d", "at": 1}}, {"toggle": "a"}])
    tab.titles("Todo c", "Todo d", "Todo a")
    expect(tab.row("Todo a").locator(".check")).to_be_checked()
    assert [todo["id"] for todo in again.state("/p/todos")] == ["c", "d", "a"]


def test_everything_is_reached_by_keyboard_and_has_a_name(filled):
    named = filled.page.evaluate("""() => [...document.querySelectorAll("button, input, a[href], [tabindex='0']")]
        .filter((e) => e.checkVisibility())
        .map((e) => [e.id || e.className, (e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.getAttribute("aria-labelledby") ?? e.textContent).trim()])""")
    assert all(name for _, name in named), named
    reached = set()
    for _ in range(40):
        filled.page.keyboard.press("Tab")
        reached.add(filled.focused()[0])
    assert {"new-title", "check", "title", "up", "down", "remove", "wire", "twin", "command-add"} <= reached


def test_a_finger_renames_with_one_tap(open_tab, shared, todos):
    todos.dispatch({"add": {"id": "a", "title": "Todo a"}})
    tab = open_tab(shared, todos.identifier, viewport={"width": 360, "height": 700}, has_touch=True, is_mobile=True)
    tab.titles("Todo a")
    tab.row("Todo a").locator(".title").tap()
    tab.page.keyboard.type("Tapped")
    tab.page.keyboard.press("Enter")
    tab.titles("Tapped")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_the_page_fits_and_looks_like_this(open_tab, shared, todos, scheme, width):
    names = ["Buy oat milk and bread", "Write the release notes of the next version, and have somebody read them", "Water the plants", "x" * 80]
    todos.dispatch([{"add": {"id": f"t{i}", "title": name}} for i, name in enumerate(names)] + [{"toggle": "t2"}])
    todos.dispatch({"edit": "t1"})
    tab = open_tab(
        shared, todos.identifier, viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce",
        has_touch=width == 360, is_mobile=width == 360,
    )
    tab.titles(*names)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width, "nothing sticks out sideways"
    small = tab.page.evaluate("""() => [...document.querySelectorAll("button, a.button, .segments span, .tick")]
        .filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 24).length""")
    assert small == 0, "targets are large enough to be hit"
    # In a screenshot of the full page, the emulated phone would have no touch screen.
    tab.page.screenshot(path=SCREENSHOTS / f"todos-{scheme}-{width}.png", full_page=width != 360)
    assert tab.faults == []

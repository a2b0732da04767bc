# The editing of titles on the page of a todo list, in Chromium.

import pytest
from playwright.sync_api import expect

from todos_tab import Held, filled, open_tab, tab, titles  # noqa: F401 fixtures


def test_a_title_is_renamed_in_place_and_others_see_that_it_is_edited(filled, open_tab, shared, todos):
    other = open_tab(shared, todos.identifier)
    filled.row("Todo a").locator(".text").dblclick()
    assert filled.focused()[0] == "field"
    expect(other.row("Todo a").locator(".edited")).to_be_visible()
    expect(filled.row("Todo a").locator(".edited")).to_be_hidden()
    filled.page.keyboard.type("Apples")
    filled.page.keyboard.press("Enter")
    filled.titles("Apples", "Todo b", "Todo c")
    other.titles("Apples", "Todo b", "Todo c")
    expect(other.page.locator(".edited:visible")).to_have_count(0)
    assert filled.focused() == ["title", "Apples"]
    assert todos.state("/t/editing") is None and titles(todos)[0] == "Apples"


def test_escape_leaves_a_title_as_it_was(filled, todos):
    filled.row("Todo c").locator(".title").focus()
    filled.page.keyboard.press("Enter")
    filled.page.keyboard.type("Nonsense")
    # Escape comes at once. The page may not have received the change of its own `edit` event yet.
    with filled.page.expect_response(lambda response: response.request.post_data == '{"edit":null}'):
        filled.page.keyboard.press("Escape")
    filled.titles("Todo a", "Todo b", "Todo c")
    expect(filled.page.locator(".field")).to_have_count(0)
    assert todos.state("/t/editing") is None and titles(todos)[2] == "Todo c"
    assert filled.focused() == ["title", "Todo c"]


def test_keys_that_compose_a_character_end_no_title(filled):
    filled.row("Todo a").locator(".text").dblclick()
    keyboard = filled.page.context.new_cdp_session(filled.page)
    for key in ("Escape", "Enter"):
        keyboard.send("Input.imeSetComposition", {"text": "りんご", "selectionStart": 3, "selectionEnd": 3})
        filled.page.keyboard.press(key)
        assert filled.page.locator(".field:read-write").input_value() == "りんご"
    keyboard.send("Input.insertText", {"text": "林檎"})
    filled.page.keyboard.press("Enter")
    filled.titles("林檎", "Todo b", "Todo c")


def test_what_somebody_types_is_not_overwritten_by_the_stream(filled, todos):
    filled.row("Todo a").locator(".text").dblclick()
    filled.page.keyboard.type("Half a ti")
    todos.dispatch({"rename": {"id": "a", "title": "Elsewhere"}})
    todos.dispatch({"move": {"id": "a", "to": 2}})
    todos.dispatch({"setFilter": "done"})
    filled.titles("Todo b", "Elsewhere")
    assert filled.page.input_value(".field") == "Half a ti" and filled.focused()[0] == "field"
    filled.page.keyboard.press("Enter")
    filled.titles("Todo b")
    assert titles(todos) == ["Todo b", "Todo c", "Half a ti"]


def test_browsers_without_moveBefore_keep_the_focus_too(filled, todos):
    filled.page.evaluate("delete Element.prototype.moveBefore")
    filled.row("Todo a").locator(".title").focus()
    filled.page.keyboard.press("Alt+ArrowDown")
    filled.titles("Todo b", "Todo a", "Todo c")
    assert filled.focused() == ["title", "Todo a"]
    filled.page.keyboard.press("F2")
    filled.page.keyboard.type("Half a ti")
    todos.dispatch({"move": {"id": "a", "to": 2}})
    todos.dispatch({"move": {"id": "b", "to": 1}})
    filled.titles("Todo c", "Todo b", "Todo a")
    assert filled.focused()[0] == "field" and titles(todos)[2] == "Todo a"
    filled.page.keyboard.type("tle")
    filled.page.keyboard.press("Enter")
    filled.titles("Todo c", "Todo b", "Half a title")


def test_renaming_a_removed_todo_ends_without_an_error(filled, todos):
    filled.row("Todo a").locator(".text").dblclick()
    filled.page.keyboard.type("Too late")
    todos.dispatch({"remove": "a"})
    filled.titles("Todo b", "Todo c")
    filled.row("Todo b").locator(".text").dblclick()
    filled.page.keyboard.type("In time")
    filled.page.keyboard.press("Enter")
    filled.titles("In time", "Todo c")


@pytest.fixture
def renames(filled):
    return Held(filled.page, "rename")


def leave_for_b(tab):
    """Types a title for todo a. While that title is being sent, types half a title for todo b."""
    tab.row("Todo a").locator(".text").dblclick()
    tab.page.keyboard.type("Apples")
    tab.row("Todo b").locator(".text").dblclick()
    tab.page.keyboard.type("Bana")


def test_a_title_can_be_opened_while_another_one_is_being_sent(filled, todos, renames):
    leave_for_b(filled)
    renames.next().continue_()
    filled.titles("Apples", "Todo b", "Todo c")
    expect(filled.page.locator(".field")).to_have_count(1)
    filled.page.keyboard.type("nas")
    filled.page.keyboard.press("Enter")
    renames.next().continue_()
    filled.titles("Apples", "Bananas", "Todo c")
    expect(filled.page.locator(".field")).to_have_count(0)
    assert renames.held == [], "no title is sent twice"
    assert filled.focused() == ["title", "Bananas"] and titles(todos) == ["Apples", "Bananas", "Todo c"]


def test_a_refused_title_takes_the_focus_from_no_other_field(filled, todos, renames):
    leave_for_b(filled)
    renames.next().abort()
    expect(filled.row("Todo a").locator(".error")).to_have_text("The server cannot be reached.")
    filled.page.keyboard.type("nas")
    assert [field.input_value() for field in filled.page.locator(".field").all()] == ["Apples", "Bananas"] and renames.held == []
    filled.page.unroute("**/events")
    filled.page.keyboard.press("Enter")
    filled.titles("Todo a", "Bananas", "Todo c")
    filled.page.focus(".field")
    filled.page.keyboard.press("Enter")
    filled.titles("Apples", "Bananas", "Todo c")
    expect(filled.page.locator(".field")).to_have_count(0)

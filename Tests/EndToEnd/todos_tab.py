# The page of a todo list in a browser, and the fixtures of its tests.

import pytest
from playwright.sync_api import expect

from tab import Tab


class TodosTab(Tab):
    @property
    def rows(self):
        return self.page.locator("#todos li")

    def row(self, title):
        return self.rows.filter(has_text=title)

    def titles(self, *titles):
        """Waits until these todos are shown in this order."""
        expect(self.page.locator("#todos .text")).to_have_text(list(titles))

    def add(self, title):
        self.page.fill("#new-title", title)
        self.page.press("#new-title", "Enter")

    def focused(self):
        """The focused element: a control of a row by its class, with the title of its todo, or any other element by its id."""
        return self.page.evaluate("""() => {
            const e = document.activeElement;
            const row = e.closest("#todos li");
            return row ? [e.classList[0], row.querySelector(".text").textContent] : [e.id || e.dataset.copy, null];
        }""")

    def watch(self):
        """Begins to record the changes of the list's nodes."""
        self.page.evaluate("""() => {
            window.touched = [];
            const idOf = (node) => (node.nodeType === 1 ? node : node.parentElement).closest("li")?.dataset.id ?? "";
            new MutationObserver((records) => {
                for (const { type, target, addedNodes, removedNodes } of records) {
                    if (target.id !== "todos") window.touched.push([type, idOf(target)]);
                    else for (const node of [...addedNodes, ...removedNodes]) window.touched.push(["row", node.dataset.id]);
                }
            }).observe(document.getElementById("todos"), { subtree: true, childList: true, characterData: true, attributes: true });
        }""")

    def touched(self):
        """The ids of the rows that changed since the last call, and the number of added and removed rows. A moved row is both."""
        records = self.page.evaluate("window.touched.splice(0)")
        return {identifier for _, identifier in records}, sum(kind == "row" for kind, _ in records)


class Held:
    """The events of one name that a page sends. Each event is held until the test releases it."""

    def __init__(self, page, name):
        self.page, self.name, self.held = page, name, []
        page.route("**/events", lambda route: self.held.append(route) if name in route.request.post_data else route.continue_())

    def next(self):
        """Waits for an event, and returns it."""
        for _ in range(500):
            if self.held:
                return self.held.pop(0)
            self.page.wait_for_timeout(10)
        raise AssertionError(f"no {self.name} was sent")


@pytest.fixture
def open_tab(browse):
    return lambda server, session, **options: browse(TodosTab, f"{server.url}/todos.html?session={session}", **options)


@pytest.fixture
def tab(open_tab, shared, todos):
    return open_tab(shared, todos.identifier)


@pytest.fixture
def filled(tab, todos):
    """A tab with three todos: a, b and c. Todo b is done."""
    todos.dispatch([{"add": {"id": name, "title": f"Todo {name}"}} for name in "abc"] + [{"toggle": "b"}])
    tab.titles("Todo a", "Todo b", "Todo c")
    return tab


def titles(session):
    return [todo["title"] for todo in session.state("/p/todos")]

# shared.js in a real browser: local copies of stores and values that miss no change, even while they are fetched.

import pytest

from harness import Server

STORE = "/v1/apps/notes/stores/notes"
THEME = "/v1/apps/notes/values/theme"


def note(identifier, text=None):
    return {"id": identifier, "text": text or f"Note {identifier}", "created": "2026-01-02T03:04:05Z"}


class Notes:
    """The store and the values of a server, as another client changes them."""

    def __init__(self, server):
        self.server = server

    def insert(self, *identifiers, text=None):
        assert self.server.request("POST", STORE, [note(one, text) for one in identifiers]).status == 200

    def remove(self, *identifiers):
        assert self.server.request("POST", STORE + "/operations", {"operations": [{"remove": list(identifiers)}]}).status == 200

    def clear(self):
        assert self.server.request("DELETE", STORE).status == 204
        for value in ("theme", "hapticsEnabled"):
            assert self.server.request("DELETE", THEME.replace("theme", value)).status == 200

    def ids(self):
        """The ids of all items, page by page."""
        ids, after = [], ""
        while True:
            page = self.server.get(f"{STORE}?limit=1000{after}").json
            ids += [item["id"] for item in page["items"]]
            if "next" not in page:
                return ids
            after = f"&after={page['next']}"


@pytest.fixture(scope="module")
def server():
    with Server(None) as server:
        yield server


@pytest.fixture
def notes(server):
    notes = Notes(server)
    notes.clear()
    return notes


@pytest.fixture
def page(browser, server):
    """A page of the server's origin. It follows a store `s` and a value `v` when a test observes them."""
    context = browser.new_context()
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(server.url + "/healthz")
    prepare(page)
    yield page
    context.close()


def prepare(page):
    page.evaluate("""async () => {
        const { followStore, followValue } = await import("/rivulet.js");
        window.s = followStore({ app: "notes", store: "notes" });
        window.v = followValue({ app: "notes", value: "theme" });
        window.seen = []; window.values = []; window.states = [];
        s.onConnection(({ state }) => states.at(-1) !== state && states.push(state));
    }""")


def observe(page):
    page.evaluate("() => { s.observe((items, { event, items: concerned }) => seen.push([event, concerned.length, items])); }")


def settle(page, notes):
    """Waits until the page has the server's items in the server's order."""
    page.wait_for_function("(ids) => s.isKnown && JSON.stringify(s.items.map(({ id }) => id)) === ids", arg=compact(notes.ids()))


def compact(ids):
    return "[" + ",".join(f'"{one}"' for one in ids) + "]"


def test_a_store_is_followed_from_its_list_on(page, notes):
    notes.insert("b", "a")
    observe(page)
    page.wait_for_function("seen.length === 1")
    notes.insert("c")
    page.wait_for_function("seen.length === 2")
    notes.insert("b", text="New")
    page.wait_for_function("seen.length === 3")
    notes.remove("a")
    page.wait_for_function("seen.length === 4")
    assert page.evaluate("seen.map(([event, count, items]) => [event, count, items.map(({ id }) => id).join('')])") == [
        ["loaded", 2, "ba"], ["insert", 1, "bac"], ["insert", 1, "bac"], ["remove", 1, "bc"],
    ]
    assert page.evaluate("[s.items[0].text, s.item('c').text, s.item('a')]") == ["New", "Note c", None]
    assert page.evaluate("seen[1][2][1] === seen[2][2][1]"), "an unchanged item is the same object"
    assert page.evaluate("states") == ["connecting", "live"] and page.faults == []


def test_an_observer_of_a_known_store_gets_items_without_a_request(page, notes):
    notes.insert("a")
    observe(page)
    page.wait_for_function("seen.length === 1")
    observe(page)
    page.wait_for_function("seen.length === 2")
    assert page.evaluate("seen[1].slice(0, 2)") == ["local", 1]


def test_an_ended_observer_gets_no_call_and_the_last_one_ends_the_stream(page, notes):
    page.evaluate("() => { window.end = s.observe((items) => seen.push(items.length)); }")
    page.wait_for_function("seen.length === 1 && s.connection.state === 'live'")
    page.evaluate("end()")
    assert page.evaluate("s.connection.state") == "connecting"
    notes.insert("a")
    observe(page)
    page.wait_for_function("s.items.length === 1 && s.connection.state === 'live'")
    assert page.evaluate("seen[0]") == 0 and page.evaluate("seen.slice(1).map(([event]) => event)") == ["local", "insert"], "the copy continues after its last event"


class Between:
    """Runs an action after the server has sent `number` pages of the list, and before the page gets the last of them."""

    def __init__(self, page, number, action):
        self.number, self.action, self.pages = number, action, 0
        page.route("**/stores/notes?limit=*", self.handle)

    def handle(self, route):
        response = route.fetch()
        self.pages += 1
        if self.pages == self.number:
            self.action()
        route.fulfill(response=response)


def test_a_change_between_the_list_and_the_stream_is_not_lost(page, notes):
    notes.insert("a", "b", "c")

    def change():
        notes.remove("b")
        notes.insert("d")
        notes.insert("a", text="New")

    Between(page, 1, change)
    observe(page)
    page.wait_for_function("seen.length > 0")
    settle(page, notes)
    page.wait_for_function("s.item('a').text === 'New'")
    assert notes.ids() == ["a", "c", "d"]


def many(count):
    return [f"n{i}" for i in range(count)]


def test_a_long_list_is_fetched_page_by_page(page, notes):
    notes.insert(*many(2500))
    pages = Between(page, 0, None)
    observe(page)
    settle(page, notes)
    assert pages.pages == 3 and page.evaluate("seen.length") == 1


@pytest.mark.parametrize(
    ("removed", "inserted", "lists"),
    [
        (["n999"], [], 2),
        (["n999"], ["n999"], 2),
        (["n5"], ["n5", "new"], 2),
        (["n5", "n1200"], ["new"], 1),
        ([], ["new", "n5"], 1),
    ],
)
def test_a_list_that_changes_between_its_pages_is_right_in_the_end(page, notes, removed, inserted, lists):
    notes.insert(*many(1500))

    def change():
        if removed:
            notes.remove(*removed)
        for identifier in inserted:
            notes.insert(identifier, text="New")

    pages = Between(page, 1, change)
    observe(page)
    page.wait_for_function("seen.length > 0")
    settle(page, notes)
    assert pages.pages == 2 * lists, "the list is fetched again only if it is needed"
    for identifier in inserted:
        assert page.evaluate("(id) => s.item(id).text", identifier) == "New"
    assert page.faults == []


def test_a_store_that_was_restarted_and_does_not_fit_into_one_event_is_fetched_in_pages(browser, serve, data):
    server = serve(data)
    notes = Notes(server)
    notes.insert("gone")
    for part in range(3):
        notes.insert(*many(1000)[part * 300:part * 300 + 300], text="x" * 2000)
    page = browser.new_context().new_page()
    page.goto(server.url + "/healthz")
    prepare(page)
    observe(page)
    settle(page, notes)
    server.kill()
    page.wait_for_function("s.connection.state === 'reconnecting'")
    assert page.evaluate("s.items.length") == 901, "the received items stay"
    again = Notes(serve(data, port=server.port))
    again.remove("gone", "n7")
    again.insert("n7", "last")
    page.wait_for_function("s.items.at(-1).id === 'last'")
    settle(page, again)
    assert page.evaluate("seen.map(([event]) => event)").count("reset") == 1
    again.insert("later")
    settle(page, again)
    page.context.close()


def test_an_unreadable_event_is_reported_and_the_list_is_fetched_again(page, notes):
    notes.insert("a")
    broken = iter([True])

    def handle(route):
        if next(broken, False):
            route.fulfill(content_type="text/event-stream", body='event: insert\nid: x\ndata: {"items":\n\n')
        else:
            route.continue_()

    page.route("**/events?*", handle)
    observe(page)
    page.wait_for_function("s.connection.state === 'live' && seen.length === 2")
    settle(page, notes)
    assert len(page.faults) == 1 and "cannot be read" in page.faults[0]


def test_the_stream_of_an_unknown_store_closes_with_the_reason(page):
    state, reason = page.evaluate("""async () => {
        const { followStore } = await import("/rivulet.js");
        const s = followStore({ app: "notes", store: "nothing" });
        s.observe(() => {});
        return new Promise((resolve) => s.onConnection(({ state, reason }) => state === "closed" && resolve([state, reason])));
    }""")
    assert state == "closed" and "nothing" in reason


def test_an_item_is_only_replaced_if_it_is_unchanged_since_it_was_read(page, notes):
    notes.insert("a")
    assert page.evaluate("""async () => {
        const { item, tag } = await s.read("a");
        const newer = await s.put({ ...item, text: "Two" }, tag);
        const refused = async (action) => action().then(() => null, (e) => [e.name, e.status, e.problem.value?.text ?? null, e.tag === newer]);
        return [
            item.text,
            await refused(() => s.put({ ...item, text: "Three" }, tag)),
            await refused(() => s.remove("a", tag)),
            await refused(() => s.put(item, null)),
            await refused(() => s.remove("a", newer)),
            await refused(() => s.put({ ...item, text: "Four" }, newer)),
            await refused(() => s.put({ ...item, text: "Five" }, null)),
            (await s.read("a")).item.text,
        ];
    }""") == [
        "Note a", ["RivuletError", 412, "Two", True], ["RivuletError", 412, "Two", True], ["RivuletError", 412, "Two", True],
        None, ["RivuletError", 412, None, False], None, "Five",
    ]


def test_operations_are_one_transaction(page, notes):
    notes.insert("a", "b")
    page.evaluate("""s.perform([{ removeAll: {} }, { insert: [{ id: "c/d", text: "C", created: "2026-01-01T00:00:00Z" }] }])""")
    assert notes.ids() == ["c/d"]
    assert page.evaluate("s.read('c/d').then(({ item }) => item.text)") == "C"


def test_a_value_is_followed_and_set(page, notes, server):
    page.evaluate("() => { v.observe((value, { event }) => values.push([event, value])); }")
    page.wait_for_function("values.length === 1")
    assert server.request("PUT", THEME, "dark").status == 200
    page.wait_for_function("values.length === 2")
    assert page.evaluate("v.set('sepia').then(({ value }) => value)") == "sepia"
    page.wait_for_function("values.length === 3")
    page.evaluate("v.reset()")
    page.wait_for_function("values.length === 4")
    assert page.evaluate("values") == [["change", "light"], ["change", "dark"], ["change", "sepia"], ["change", "light"]]
    assert page.evaluate("v.value") == "light"


def test_a_value_is_only_toggled_if_it_is_unchanged_since_it_was_read(page, notes):
    assert page.evaluate("""async () => {
        const { followValue } = await import("/rivulet.js");
        const haptics = followValue({ app: "notes", value: "hapticsEnabled" });
        const { value, tag } = await haptics.read();
        const toggled = await haptics.toggle(tag);
        const refused = await haptics.toggle(tag).catch((e) => [e.status, e.problem.value, e.tag === toggled.tag]);
        return [value, toggled.value, refused, haptics.connection.state];
    }""") == [False, True, [412, True, True], "connecting"]


def test_shared_streams_leave_connections_for_requests(browser, server, notes):
    notes.insert("a")
    context = browser.new_context()
    pages = [context.new_page() for _ in range(4)]
    for page in pages:
        page.goto(server.url + "/healthz")
        page.evaluate("""async () => {
            const { connect, followStore, followValue } = await import("/rivulet.js");
            window.s = followStore({ app: "notes", store: "notes", shared: true });
            window.v = followValue({ app: "notes", value: "theme", shared: true });
            window.c = connect({ app: "counter", session: "shared-by-pages", shared: true });
            s.observe(() => {});
            v.observe(() => {});
            c.observe("/p/count", () => {});
        }""")
        page.wait_for_function("s.items.length === 1 && v.value === 'light' && c.value('/p/count') === 0")
    pages[0].evaluate("Promise.all([s.insert({ id: 'b', text: 'B', created: '2026-01-01T00:00:00Z' }), v.set('dark'), c.dispatch('increment')])")
    for page in pages:
        page.wait_for_function("s.items.length === 2 && v.value === 'dark' && c.value('/p/count') === 1")
    pages[0].close()
    notes.remove("a")
    pages[1].wait_for_function("s.items.length === 1")
    context.close()


def test_without_shared_workers_each_page_has_its_own_stream(page, notes):
    notes.insert("a")
    page.evaluate("""async () => {
        delete globalThis.SharedWorker;
        const { followStore } = await import("/rivulet.js");
        window.s = followStore({ app: "notes", store: "notes", shared: true });
    }""")
    observe(page)
    settle(page, notes)
    notes.insert("b")
    settle(page, notes)

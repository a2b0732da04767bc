# rivulet.js and pointer.js in a real browser, against a real server.

import json

import pytest


@pytest.fixture(scope="module")
def page(browser, shared):
    """An empty page of the server's origin with both modules loaded."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(shared.url + "/healthz")
    yield page
    context.close()


@pytest.fixture
def do(page, session):
    """Runs JavaScript with `rivulet`, a client `s` of a fresh session, and `until(condition)`."""

    def run(script, app="counter"):
        return page.evaluate(
            """async ([script, app, id]) => {
                const rivulet = await import("/rivulet.js");
                const s = rivulet.connect({ app, session: id });
                const until = async (condition) => {
                    for (let waited = 0; !condition(); waited += 10) {
                        if (waited > 10000) throw new Error("never true: " + condition);
                        await new Promise((resolve) => setTimeout(resolve, 10));
                    }
                };
                const body = Object.getPrototypeOf(async () => {}).constructor("rivulet", "s", "until", script);
                try { return await body(rivulet, s, until); } finally { s.close(); }
            }""",
            [script, app, session.identifier],
        )

    return run


KEYED = [{"id": "a", "n": 1}, {"id": "b", "n": 2}]


@pytest.mark.parametrize(
    ("root", "change", "outcome"),
    [
        ({"a": 1}, {"op": "replace", "path": "/a", "value": 2}, {"a": 2}),
        ({"a": {"b": 1, "c": 2}}, {"op": "remove", "path": "/a/b"}, {"a": {"c": 2}}),
        ({"a": 1}, {"op": "add", "path": "/b/c", "value": 3}, {"a": 1, "b": {"c": 3}}),
        ({"a": None}, {"op": "add", "path": "/a/text", "value": "x"}, {"a": {"text": "x"}}),
        ({"a": 1}, {"op": "replace", "path": "", "value": [1]}, [1]),
        ({"a/b": 1, "m~n": 2}, {"op": "remove", "path": "/a~1b"}, {"m~n": 2}),
        ({"~1": 1}, {"op": "replace", "path": "/~01", "value": 2}, {"~1": 2}),
        ([1, 2], {"op": "add", "path": "/1", "value": 9}, [1, 9, 2]),
        ([1, 2], {"op": "add", "path": "/1", "value": 2}, [1, 2]),
        ([1, 2], {"op": "add", "path": "/-", "value": 9}, [1, 2, 9]),
        ([1, 2], {"op": "add", "path": "/-", "value": 2}, [1, 2, 2]),
        ([1, 2], {"op": "remove", "path": "/0"}, [2]),
        ([1, 2], {"op": "remove", "path": "/7"}, [1, 2]),
        (KEYED, {"op": "replace", "path": "/b/n", "value": 5}, [{"id": "a", "n": 1}, {"id": "b", "n": 5}]),
        (KEYED, {"op": "remove", "path": "/a"}, [{"id": "b", "n": 2}]),
        (KEYED, {"op": "move", "path": "/b", "index": 0}, [{"id": "b", "n": 2}, {"id": "a", "n": 1}]),
        (KEYED, {"op": "add", "path": "/c", "index": 1, "value": {"id": "c"}}, [KEYED[0], {"id": "c"}, KEYED[1]]),
        ([], {"op": "add", "path": "/c", "index": 0, "value": {"id": "c"}}, [{"id": "c"}]),
        (KEYED, {"op": "add", "path": "/b", "index": 0, "value": {"id": "b"}}, [{"id": "b"}, KEYED[0]]),
        (KEYED, {"op": "add", "path": "/b", "value": {"id": "b"}}, [KEYED[0], {"id": "b"}]),
        (KEYED, {"op": "add", "path": "/c", "value": {"id": "c"}}, [*KEYED, {"id": "c"}]),
        (KEYED, {"op": "move", "path": "/x", "index": 0}, KEYED),
        ({}, {"op": "add", "path": "/__proto__/x", "value": 1}, None),
    ],
)
def test_a_change_returns_a_new_value_and_does_not_alter_the_given_one(page, root, change, outcome):
    made, after, polluted = page.evaluate(
        """async ([root, change]) => {
            const { apply } = await import("/pointer.js");
            const made = apply(root, change);
            return [JSON.stringify(made), JSON.stringify(root), ({}).x !== undefined];
        }""",
        [root, change],
    )
    assert json.loads(after) == root and not polluted
    assert outcome is None or json.loads(made) == outcome


def test_many_changes_at_once_have_the_result_of_single_changes(page):
    counts = page.evaluate(
        """async () => {
            const { apply, applyAll } = await import("/pointer.js");
            let seed = 11;
            const below = (n) => (seed = (seed * 48271) % 2147483647) % n;
            const counts = {};
            let root = { list: [], other: 0, nested: [{ id: "x", list: [] }] };
            for (let round = 0; round < 300; round++) {
                const changes = [];
                let one = root;
                for (let i = below(30); i > 0; i--) {
                    const path = below(4) === 0 ? "/nested/x/list" : "/list";
                    const list = path === "/list" ? one.list : one.nested[0].list;
                    const known = list.length > 0 ? list[below(list.length)].id : null;
                    const fresh = `${round}.${i}`;
                    const kind = known === null ? "append" : ["append", "add", "remove", "remove", "move", "field", "replace", "other"][below(8)];
                    counts[kind] = (counts[kind] ?? 0) + 1;
                    const change = {
                        append: { op: "add", path: `${path}/${fresh}`, index: list.length, value: { id: fresh } },
                        add: { op: "add", path: `${path}/${fresh}`, index: below(list.length + 1), value: { id: fresh } },
                        remove: { op: "remove", path: `${path}/${known}` },
                        move: { op: "move", path: `${path}/${known}`, index: below(list.length) },
                        field: { op: "replace", path: `${path}/${known}/n`, value: i },
                        replace: { op: "replace", path: `${path}/${known}`, value: { id: known, n: -i } },
                        other: { op: "replace", path: "/other", value: i },
                    }[kind];
                    changes.push(change);
                    one = apply(one, change);
                }
                const given = JSON.stringify(root);
                const all = applyAll(root, changes);
                if (JSON.stringify(root) !== given) throw new Error(`round ${round} altered what it was given`);
                if (JSON.stringify(all) !== JSON.stringify(one)) throw new Error(`round ${round}: ${JSON.stringify(changes)}`);
                root = all;
            }
            return counts;
        }"""
    )
    assert len(counts) == 7 and min(counts.values()) > 100, counts


def test_thousands_of_changes_at_once_are_quick(page):
    milliseconds = page.evaluate(
        """async () => {
            const { applyAll } = await import("/pointer.js");
            const list = Array.from({ length: 50_000 }, (_, i) => ({ id: `n${i}`, done: false }));
            const begin = performance.now();
            const more = Array.from({ length: 20_000 }, (_, i) => ({ op: "add", path: `/list/m${i}`, index: list.length + i, value: { id: `m${i}` } }));
            const done = Array.from({ length: 20_000 }, (_, i) => ({ op: "replace", path: `/list/n${i}/done`, value: true }));
            const fewer = Array.from({ length: 20_000 }, (_, i) => ({ op: "remove", path: `/list/n${2 * i}` }));
            const made = [more, done, fewer].reduce(applyAll, { list });
            if (made.list.length !== 50_000) throw new Error(made.list.length);
            return performance.now() - begin;
        }"""
    )
    assert milliseconds < 3000, "a copy for each change would take minutes"


@pytest.mark.parametrize(
    ("pattern", "path", "covers", "overlaps"),
    [
        ("", "/a/b", True, True),
        ("/a", "/a/b", True, True),
        ("/a/b", "/a", False, True),
        ("/a", "/ab", False, False),
        ("/a/*/c", "/a/b/c/d", True, True),
        ("/a/*/c", "/a/b", False, True),
        ("/a/*/c", "/a/b/x", False, False),
    ],
)
def test_patterns_match_their_paths(page, pattern, path, covers, overlaps):
    assert page.evaluate(
        "async ([a, b]) => { const p = await import('/pointer.js'); return [p.covers(a, b), p.overlaps(a, b)]; }", [pattern, path]
    ) == [covers, overlaps]


def test_an_observer_gets_the_values_and_then_each_change(do):
    assert do("""
        const seen = [];
        s.observe(["/p/count", "/p/title"], (values, update) => seen.push([update.event, values["/p/count"], update.version]));
        await until(() => seen.length === 1);
        await s.dispatch("increment");
        await s.dispatch("touch");
        await s.dispatch({ rename: "B" });
        await until(() => seen.length === 3);
        return seen;
    """) == [["snapshot", 0, 0], ["change", 1, 1], ["change", 1, 2]]


def test_a_dispatch_answers_or_throws_the_problem_document(do):
    assert do("""
        const answer = await s.dispatch({ setCount: 250 });
        try { await s.dispatch({ rename: "" }); } catch (error) {
            return [answer.coerced[0].to, error.name, error.status, error.problem.status, error.message];
        }
    """) == [100, "RivuletError", 422, 422, "title must not be empty"]


def test_state_asks_the_server(do):
    value = do("await s.dispatch({ setCount: 7 }); return [await s.state('/p/count'), (await s.state()).value.p.count];")
    assert value[0]["value"] == 7 and value[0]["version"] == 1 and value[0]["cursor"] and value[1] == 7


def test_observers_share_one_stream(do, session):
    assert do("""
        let calls = 0;
        s.observe("/p/count", () => calls++);
        s.observe(["/p/count", "/p/limits"], () => calls++);
        s.observe("/p/limits/label", () => calls++);
        await until(() => calls === 3);
        return (await (await fetch(s.url)).json()).streams ?? null;
    """) in (1, None)


def test_a_wider_observer_gets_its_values_and_the_others_keep_theirs(do):
    assert do("""
        const first = [], second = [];
        s.observe("/p/count", (values, update) => first.push([update.event, values["/p/count"]]));
        await until(() => first.length === 1);
        await s.dispatch("increment");
        await until(() => first.length === 2);
        s.observe("/p/title", (values) => second.push(values["/p/title"]));
        const kept = s.value("/p/count");
        await until(() => second.length === 1);
        await s.dispatch("increment");
        await until(() => first.at(-1)[1] === 2);
        return [kept, second, s.value("/p/title")];
    """) == [1, ["Counter"], "Counter"]


def test_nested_paths_keep_the_local_copy_equal_to_the_server(do):
    assert do("""
        let told = [];
        await s.dispatch("increment");
        s.observe("/p/history", (_, { changes }) => { told = changes; });
        s.observe("/*/history/*", () => {});
        await until(() => s.value("/p/history"));
        for (let i = 0; i < 3; i++) await s.dispatch("increment");
        await until(() => told.at(-1)?.path === "/p/history/3");
        return [told.map((change) => change.op), s.value("/p/history")];
    """) == [["replace", "add"], [1, 2, 3, 4]]


def test_an_observer_of_known_paths_gets_values_without_a_request(do):
    assert do("""
        let known = false;
        s.observe("/p", () => { known = true; });
        await until(() => known);
        let told = null;
        s.observe("/p/limits/warnAt", (values, update) => { told = [update.event, values["/p/limits/warnAt"]]; });
        await until(() => told);
        return told;
    """) == ["local", 80]


def test_a_path_that_a_resumed_stream_left_out_is_requested_again(do):
    assert do("""
        const first = [], second = [];
        s.observe("/p/count", (values) => first.push(values["/p/count"]));
        const end = s.observe("/p/title", () => {});
        await until(() => s.value("/p/title") === "Counter");
        end();
        s.reconnect();
        await until(() => s.connection.state === "live");
        await s.dispatch({ rename: "Elsewhere" });
        await s.dispatch("increment");
        await until(() => first.at(-1) === 1);
        s.observe("/p/title", (values, { event }) => second.push([event, values["/p/title"]]));
        await until(() => second.length === 1);
        await s.dispatch({ rename: "Here" });
        await until(() => second.length === 2);
        return second;
    """) == [["snapshot", "Elsewhere"], ["change", "Here"]]


def test_an_observer_of_a_collection_gets_the_changes_of_its_elements(do):
    assert do("""
        const seen = [];
        await s.dispatch([{ add: { id: "a", title: "A" } }, { add: { id: "b", title: "B" } }]);
        s.observe("/p/todos", (values, { changes }) => seen.push([changes, values["/p/todos"]]));
        await until(() => seen.length === 1);
        await s.dispatch({ rename: { id: "b", title: "Bee" } });
        await s.dispatch([{ insert: { id: "c", title: "C", at: 0 } }, { remove: "a" }]);
        await s.dispatch({ move: { id: "b", to: 0 } });
        await until(() => seen.length === 4);
        const [, [renamed, one], [, two], [moved, three]] = seen;
        return [
            renamed, moved, three.map(({ id }) => id), one[0] === seen[0][1][0], one[1] === seen[0][1][1], two[1] === one[1],
        ];
    """, app="todos") == [
        [{"op": "replace", "path": "/p/todos/b/title", "value": "Bee"}],
        [{"op": "move", "path": "/p/todos/b", "index": 0}],
        ["b", "c"], True, False, True,
    ]


def test_an_observer_of_one_element_gets_its_changes_only(do):
    assert do("""
        const all = [], one = [];
        await s.dispatch([{ add: { id: "a", title: "A" } }, { add: { id: "b", title: "B" } }]);
        s.observe("/p/todos", () => all.push(null));
        s.observe("/p/todos/b/title", (values) => one.push(values["/p/todos/b/title"] ?? null));
        await until(() => all.length === 1);
        for (const event of [{ toggle: "b" }, { rename: { id: "a", title: "Ah" } }, { rename: { id: "b", title: "Bee" } }, { remove: "b" }]) {
            await s.dispatch(event);
        }
        await until(() => all.length === 5);
        return one;
    """, app="todos") == ["B", "Bee", None]


def test_an_ended_observer_gets_no_further_call(do):
    assert do("""
        let calls = 0, others = 0;
        const end = s.observe("/p/count", () => calls++);
        s.observe("/p/count", () => others++);
        await until(() => calls === 1 && others === 1);
        end();
        await s.dispatch("increment");
        await until(() => others === 2);
        return calls;
    """) == 1


def test_an_error_in_one_observer_does_not_affect_others(do):
    assert do("""
        let others = 0;
        const reported = new Promise((resolve) => window.addEventListener("error", (event) => {
            event.preventDefault(); resolve(event.error.message);
        }, { once: true }));
        s.observe("/p/count", () => { throw new Error("mine"); });
        s.observe("/p/count", () => others++);
        await until(() => others === 1);
        return await reported;
    """) == "mine"


def test_a_deleted_session_closes_the_stream_with_the_reason(do):
    assert do("""
        await s.dispatch("increment");
        s.observe("/p/count", () => {});
        await until(() => s.connection.state === "live" && s.value("/p/count") === 1);
        await fetch(s.url, { method: "DELETE" });
        await until(() => s.connection.state === "closed");
        return [s.connection.reason, s.value("/p/count")];
    """) == ["deleted", 1]


def test_a_path_that_the_state_cannot_have_closes_the_stream_with_the_reason(do):
    state, reason = do("""
        s.observe("/p/nothing", () => {});
        await until(() => s.connection.state === "closed");
        return [s.connection.state, s.connection.reason];
    """)
    assert state == "closed" and "/p/nothing" in reason


def test_a_stream_resumes_after_the_server_was_killed_and_started_again(browser, serve, data):
    server = serve(data)
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.url + "/healthz")
    page.evaluate("""async () => {
        const { connect } = await import("/rivulet.js");
        window.s = connect({ app: "counter", session: "s" });
        window.states = []; window.events = [];
        s.onConnection(({ state }) => states.at(-1) !== state && states.push(state));
        s.onEvent(({ name }) => events.push(name));
        s.observe("/p/count", () => {});
        await s.dispatch("increment");
    }""")
    page.wait_for_function("s.value('/p/count') === 1")
    server.kill()
    page.wait_for_function("s.connection.state === 'reconnecting' && s.connection.attempt > 1")
    assert page.evaluate("s.value('/p/count')") == 1
    assert page.evaluate("s.dispatch('increment').catch((error) => [error.name, error.status])") == ["RivuletError", 0]

    again = serve(data, port=server.port)
    again.session("s").dispatch({"setCount": 50})
    page.wait_for_function("s.value('/p/count') === 50")
    assert page.evaluate("states") == ["connecting", "live", "reconnecting", "live"]
    assert "reset" not in page.evaluate("events"), "nothing was lost, so nothing is reset"
    context.close()


def test_a_lost_stream_is_retried_often_at_first_and_seldom_on_a_hidden_page(page):
    waits = page.evaluate("""async () => {
        const { backoff } = await import("/stream.js");
        const least = (...of) => { Math.random = () => 0; return backoff(...of); };
        const most = (...of) => { Math.random = () => 1 - Number.EPSILON; return backoff(...of); };
        const { random } = Math;
        try {
            return [least, most].map((wait) => [
                [0, 1, 2, 3, 20].map((attempt) => wait(attempt, 29_999, false)), wait(20, 30_000, false), wait(20, 0, true),
            ]);
        } finally { Math.random = random; }
    }""")
    assert waits == [
        [[200, 400, 800, 1000, 1000], 2500, 10_000],
        [[400, 800, 1600, 2000, 2000], 5000, 20_000],
    ]


def test_a_client_without_a_session_is_refused(do):
    for session in ("undefined", "''", "'de mo'", "'x'.repeat(129)"):
        script = f"try {{ rivulet.connect({{ app: 'counter', session: {session} }}); return 'made'; }} catch (error) {{ return error.message; }}"
        assert do(script).startswith("connect needs a session of 1 to 128 letters"), session

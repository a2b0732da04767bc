# The app `todos`: a keyed collection over HTTP, with changes of single elements.

import random

import pytest


@pytest.fixture
def abc(todos):
    """A session with the open todos a, b and c."""
    todos.dispatch([{"add": {"id": name, "title": name.upper()}} for name in "abc"])
    return todos


def todo(identifier, title=None, done=False):
    return {"id": identifier, "title": identifier.upper() if title is None else title, "done": done}


def ids(session):
    return [element["id"] for element in session.state("/p/todos")]


def made(elements, changes):
    """The elements after the changes below /p/todos, applied in order, by <Documentation/HTTP.md#change-streams>."""
    elements = [dict(element) for element in elements]
    for change in changes:
        if change["path"] == "/p/todos":
            elements = [dict(element) for element in change["value"]]
            continue
        identifier, *field = change["path"].removeprefix("/p/todos/").split("/")
        found = [i for i, element in enumerate(elements) if element["id"] == identifier]
        if field:
            elements[found[0]][field[0]] = change["value"]
        elif change["op"] == "replace":
            elements[found[0]] = dict(change["value"])
        elif change["op"] == "remove":
            del elements[found[0]]
        elif change["op"] == "move":
            elements.insert(change["index"], elements.pop(found[0]))
        else:
            assert change["op"] == "add" and not found, change
            elements.insert(change["index"], dict(change["value"]))
    return elements


def test_a_new_list_is_empty(todos, shared):
    assert todos.state() == {"p": {"todos": [], "filter": "all"}, "t": {"editing": None}}
    assert "todos" in [app["name"] for app in shared.get("/v1/apps").json["apps"]]


@pytest.mark.parametrize(
    ("event", "changes", "outcome"),
    [
        ({"add": {"id": "d", "title": "D"}}, [{"op": "add", "path": "/p/todos/d", "index": 3, "value": todo("d")}], "abcd"),
        (
            {"insert": {"id": "d", "title": "D", "at": 1}},
            [{"op": "add", "path": "/p/todos/d", "index": 1, "value": todo("d")}],
            "adbc",
        ),
        ({"insert": {"id": "d", "title": "D", "at": 3}}, [{"op": "add", "path": "/p/todos/d", "index": 3, "value": todo("d")}], "abcd"),
        ({"toggle": "b"}, [{"op": "replace", "path": "/p/todos/b/done", "value": True}], "abc"),
        ({"rename": {"id": "c", "title": "See"}}, [{"op": "replace", "path": "/p/todos/c/title", "value": "See"}], "abc"),
        ({"rename": {"id": "c", "title": "C"}}, [], "abc"),
        ({"remove": "a"}, [{"op": "remove", "path": "/p/todos/a"}], "bc"),
        ({"move": {"id": "a", "to": 2}}, [{"op": "move", "path": "/p/todos/a", "index": 2}], "bca"),
        ({"move": {"id": "c", "to": 0}}, [{"op": "move", "path": "/p/todos/c", "index": 0}], "cab"),
        ({"move": {"id": "b", "to": 1}}, [], "abc"),
        ("clearDone", [], "abc"),
        ({"setFilter": "open"}, [{"op": "replace", "path": "/p/filter", "value": "open"}], "abc"),
        ({"edit": "b"}, [{"op": "replace", "path": "/t/editing", "value": "b"}], "abc"),
    ],
)
def test_the_answer_to_an_event_has_exactly_its_changes(abc, event, changes, outcome):
    before = abc.state("/p/todos")
    answer = abc.dispatch(event)
    assert answer["changes"] == changes
    assert ids(abc) == list(outcome)
    assert abc.state("/p/todos") == made(before, [c for c in changes if c["path"].startswith("/p/todos")])
    assert answer["version"] == (2 if changes and "edit" not in event else 1)


def test_each_done_todo_is_cleared_by_a_removal(abc):
    abc.dispatch([{"toggle": "a"}, {"toggle": "c"}])
    assert abc.dispatch("clearDone")["changes"] == [{"op": "remove", "path": f"/p/todos/{name}"} for name in "ac"]
    assert abc.state("/p/todos") == [todo("b")]


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"add": {"id": "a", "title": "Again"}}, ["todo", '"a"', "already"]),
        ({"insert": {"id": "a", "title": "Again", "at": 0}}, ['"a"', "already"]),
        ({"insert": {"id": "d", "title": "D", "at": 4}}, ["4", "0...3"]),
        ({"insert": {"id": "d", "title": "D", "at": -1}}, ["-1", "0...3"]),
        ({"move": {"id": "a", "to": 3}}, ["3", "0...2"]),
        ({"move": {"id": "a", "to": -1}}, ["-1", "0...2"]),
        ({"move": {"id": "x", "to": 0}}, ["no todo", '"x"']),
        ({"toggle": "x"}, ["no todo", '"x"']),
        ({"rename": {"id": "x", "title": "X"}}, ["no todo", '"x"']),
        ({"remove": "x"}, ["no todo", '"x"']),
        ({"edit": "x"}, ["no todo", '"x"']),
        ({"setFilter": "some"}, ["some", "all, open, done"]),
        ({"addMany": {"count": 0}}, ["0", "1...100000"]),
        ({"addMany": {"count": 100_001}}, ["100001", "1...100000"]),
    ],
)
def test_an_impossible_event_is_refused_and_nothing_changes(abc, event, words):
    before = abc.read()
    answer = abc.post(event)
    assert answer.status == 422
    assert all(word in answer.problem["detail"] for word in words), answer.problem
    after = abc.read()
    assert (after.json, after.headers["etag"]) == (before.json, before.headers["etag"])


def test_a_transaction_is_all_or_nothing(abc):
    assert abc.post([{"remove": "a"}, {"toggle": "b"}, {"remove": "a"}]).status == 422
    assert abc.state("/p/todos") == [todo("a"), todo("b"), todo("c")]


def test_the_answer_to_a_transaction_has_its_net_changes(abc):
    answer = abc.dispatch([
        {"remove": "b"}, {"add": {"id": "d", "title": "D"}}, {"toggle": "d"}, {"move": {"id": "d", "to": 0}},
        {"add": {"id": "e", "title": "E"}}, {"remove": "e"}, {"toggle": "c"}, {"rename": {"id": "c", "title": "See"}},
        {"toggle": "c"},
    ])
    assert answer["changes"] == [
        {"op": "remove", "path": "/p/todos/b"},
        {"op": "replace", "path": "/p/todos/c/title", "value": "See"},
        {"op": "add", "path": "/p/todos/d", "index": 0, "value": todo("d", done=True)},
    ]
    assert abc.dispatch([{"remove": "c"}, {"insert": {"id": "c", "title": "See", "at": 2}}])["changes"] == []


def test_editing_ends_when_its_todo_is_removed(abc):
    assert abc.dispatch({"edit": "b"})["durable"] is False
    assert abc.dispatch({"remove": "b"})["changes"] == [
        {"op": "remove", "path": "/p/todos/b"}, {"op": "replace", "path": "/t/editing", "value": None},
    ]
    abc.dispatch({"edit": "a"})
    assert abc.dispatch({"edit": None})["changes"] == [{"op": "replace", "path": "/t/editing", "value": None}]


def test_many_todos_are_added_at_the_end_and_existing_ones_stay(todos):
    todos.dispatch([{"add": {"id": "n1", "title": "Mine"}}])
    changes = todos.dispatch({"addMany": {"count": 3}})["changes"]
    assert changes == [
        {"op": "add", "path": "/p/todos/n0", "index": 1, "value": todo("n0", "Todo 0")},
        {"op": "add", "path": "/p/todos/n2", "index": 2, "value": todo("n2", "Todo 2")},
    ]
    assert [element["title"] for element in todos.state("/p/todos")] == ["Mine", "Todo 0", "Todo 2"]


def test_too_many_changes_at_once_are_one_replacement(todos):
    changes = todos.dispatch({"addMany": {"count": 1000}})["changes"]
    assert [(change["op"], change["path"], len(change["value"])) for change in changes] == [("replace", "/p/todos", 1000)]
    assert todos.dispatch({"toggle": "n500"})["changes"] == [{"op": "replace", "path": "/p/todos/n500/done", "value": True}]


def test_a_change_in_a_hundred_thousand_todos_costs_no_more_than_in_ten(todos):
    # The answer has no todos, because the test measures the next answer.
    added = todos.post({"addMany": {"count": 100_000}}, {"Prefer": "return=minimal"})
    assert added.status == 204
    with todos.stream("/p/todos/n77777") as stream:
        assert stream.expect("snapshot").data["values"] == {"/p/todos/n77777": todo("n77777", "Todo 77777")}
        answer = todos.post({"rename": {"id": "n77777", "title": "New"}})
        assert answer.json["changes"] == [{"op": "replace", "path": "/p/todos/n77777/title", "value": "New"}]
        assert len(answer.body) < 300
        change = stream.expect("change")
        assert change.changed == {"/p/todos/n77777/title": "New"} and len(change.raw) < 300


def test_elements_are_read_by_id(abc):
    assert abc.state("/p/todos/b") == todo("b") and abc.state("/p/todos/b/title") == "B"
    assert abc.read("/p/todos/x").status == abc.read("/p/todos/0").status == 404, "no such element now"
    assert "addressed by their id" in abc.read("/p/todos/0/title").problem["detail"]
    assert "addressed by their id" not in abc.read("/p/todos/x").problem["detail"]
    assert abc.read("/p/todos/b/x").status == 400, "no element has such a field"
    abc.dispatch({"add": {"id": "a/b~c d%é", "title": "odd"}})
    assert abc.state("/p/todos/a~1b~0c d%é/title") == "odd"
    assert abc.dispatch({"toggle": "a/b~c d%é"})["changes"][0]["path"] == "/p/todos/a~1b~0c d%é/done"


def test_a_stream_of_the_collection_gets_each_change_of_its_elements(abc):
    with abc.stream("/p/todos") as stream:
        assert stream.expect("snapshot").data["values"] == {"/p/todos": [todo("a"), todo("b"), todo("c")]}
        for event in (
            {"toggle": "a"}, {"insert": {"id": "d", "title": "D", "at": 0}}, {"move": {"id": "d", "to": 3}}, {"remove": "b"},
            [{"remove": "a"}, {"rename": {"id": "c", "title": "See"}}],
        ):
            answer = abc.dispatch(event)
            assert stream.expect("change").data == {"version": answer["version"], "changes": answer["changes"]}


def test_a_stream_of_one_element_gets_no_change_of_others(abc):
    with abc.stream("/p/todos/b/title", "/p/todos/d") as stream:
        assert stream.expect("snapshot").data["values"] == {"/p/todos/b/title": "B"}, "a path that matches nothing is absent"
        abc.dispatch({"toggle": "b"})
        abc.dispatch({"rename": {"id": "a", "title": "A2"}})
        abc.dispatch({"move": {"id": "a", "to": 2}})
        assert stream.quiet_until(abc, {"rename": {"id": "b", "title": "Bee"}}).changed == {"/p/todos/b/title": "Bee"}
        abc.dispatch({"add": {"id": "d", "title": "D"}})
        added = stream.expect("change").data["changes"]
        assert [(change["op"], change["path"], change["value"]) for change in added] == [("add", "/p/todos/d", todo("d"))]
        abc.dispatch({"remove": "b"})
        assert stream.expect("change").data["changes"] == [{"op": "remove", "path": "/p/todos/b/title"}]
        abc.dispatch({"toggle": "d"})
        assert stream.expect("change").changed == {"/p/todos/d/done": True}


def test_missed_changes_lead_to_the_current_list(abc):
    with abc.stream("/p/todos", "/p/filter") as stream:
        cursor = stream.expect("snapshot").cursor
    before = abc.state("/p/todos")
    for event in ({"remove": "a"}, {"toggle": "b"}, {"add": {"id": "d", "title": "D"}}, {"rename": {"id": "d", "title": "Dee"}},
                  {"add": {"id": "e", "title": "E"}}, {"remove": "e"}):
        abc.dispatch(event)
    with abc.stream("/p/todos", "/p/filter", cursor=cursor) as stream:
        change = stream.expect("change").data
        assert change["version"] == 7
        assert made(before, change["changes"]) == abc.state("/p/todos") == [todo("b", done=True), todo("c"), todo("d", "Dee")]
    abc.dispatch({"move": {"id": "d", "to": 0}})
    with abc.stream("/p/todos", cursor=cursor) as stream:
        assert made(before, stream.expect("change").data["changes"]) == abc.state("/p/todos")


def test_a_long_random_history_is_streamed_exactly(todos):
    generator = random.Random(7)
    known = []
    streamed = []
    with todos.stream("/p/todos") as stream:
        stream.expect("snapshot")
        for number in range(150):
            events = [random_event(generator, known, f"{number}-{i}") for i in range(generator.randint(1, 5))]
            before = todos.state("/p/todos")
            answer = todos.dispatch(events)
            after = todos.state("/p/todos")
            assert made(before, answer["changes"]) == after
            assert [element["id"] for element in after] == known
            if answer["changes"]:
                streamed = made(streamed, stream.expect("change").data["changes"])
            assert streamed == after


def random_event(generator, known, fresh):
    """A random event that can be accepted. The function also applies the event to `known`, the list's ids in their order."""
    kind = generator.choice(["add", "insert", "toggle", "rename", "remove", "move"]) if known else "add"
    identifier = generator.choice(known) if known else None
    if kind == "add":
        known.append(fresh)
        return {"add": {"id": fresh, "title": fresh}}
    if kind == "insert":
        at = generator.randint(0, len(known))
        known.insert(at, fresh)
        return {"insert": {"id": fresh, "title": fresh, "at": at}}
    if kind == "remove":
        known.remove(identifier)
    elif kind == "move":
        to = generator.randrange(len(known))
        known.remove(identifier)
        known.insert(to, identifier)
        return {"move": {"id": identifier, "to": to}}
    elif kind == "rename":
        return {"rename": {"id": identifier, "title": fresh}}
    return {kind: identifier}


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_restart_keeps_the_order_and_every_field(serve, data, end):
    server = serve(data)
    session = server.session("s", app="todos")
    generator, known = random.Random(3), []
    for number in range(60):
        session.dispatch(random_event(generator, known, f"t{number}"))
    session.dispatch({"setFilter": "done"})
    session.dispatch({"edit": known[0]})
    before = session.state()
    assert [element["id"] for element in before["p"]["todos"]] == known
    with session.stream("/p/todos") as stream:
        cursor = stream.expect("snapshot").cursor
    session.dispatch({"move": {"id": known[0], "to": len(known) - 1}})
    after = session.state("/p")
    getattr(server, end)()

    again = serve(data).session("s", app="todos")
    assert again.state() == {"p": after, "t": {"editing": None}}
    with again.stream("/p/todos", cursor=cursor) as stream:
        assert made(before["p"]["todos"], stream.expect("change").data["changes"]) == after["todos"]
        again.dispatch({"remove": known[1]})
        assert stream.expect("change").data["changes"] == [{"op": "remove", "path": f"/p/todos/{known[1]}"}]


def test_a_session_can_be_created_with_todos(todos, shared):
    given = [todo("b"), {"id": "a", "title": "A"}]
    assert shared.request("PUT", todos.path, {"state": {"p": {"todos": given}}}).status == 201
    assert todos.state("/p/todos") == [todo("b"), todo("a")]
    other = shared.session(todos.identifier + "-x", app="todos")
    answer = shared.request("PUT", other.path, {"state": {"p": {"todos": [todo("a"), todo("b"), todo("a")]}}})
    assert answer.status == 422
    assert answer.problem["errors"][0]["pointer"] == "/state/p/todos/2"

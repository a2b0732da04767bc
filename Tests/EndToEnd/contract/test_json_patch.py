# Change streams as RFC 6902 patches, applied by an independent library.

import json
import random

import jsonpatch
import pytest

PATHS = ["", "/p", "/p/todos", "/p/todos/a", "/p/todos/b/title", "/p/filter", "/t/editing"]


class Copy:
    """A reader's copy of the document at a path."""

    def __init__(self, session, path):
        self.session, self.path = session, path
        self.document, self.cursor, self.stream = None, None, None

    def open(self):
        self.stream = self.session.stream(self.path, cursor=self.cursor, format="json-patch")
        assert self.stream.status == 200

    def close(self):
        self.stream.close()
        self.stream = None

    def take(self):
        event = self.stream.next()
        self.cursor = event.cursor
        if event.name == "change":
            # The patch passes through text, as it would to a library in another process.
            patch = jsonpatch.JsonPatch.from_string(json.dumps(event.data))
            self.document = patch.apply(self.document)
        else:
            assert event.name in ("snapshot", "reset")
            assert list(event.data["values"]) in ([], [self.path])
            self.document = event.data["values"].get(self.path)

    def take_until(self, expected):
        while self.document != expected:
            self.take()


def value(session, path):
    answer = session.read(path)
    return answer.json if answer.status == 200 else None


def program(seed, steps):
    """Random events of a todo list, alone and several at once."""
    chance = random.Random(seed)

    def event():
        name, place = chance.choice("abcdefg"), chance.randrange(6)
        return chance.choice(
            [
                {"insert": {"id": name, "title": name, "at": place}},
                {"insert": {"id": name, "title": name, "at": 0}},
                {"add": {"id": name, "title": name}},
                {"rename": {"id": name, "title": f"{name}{place}"}},
                {"toggle": name},
                {"move": {"id": name, "to": place}},
                {"remove": name},
                "clearDone",
                {"setFilter": chance.choice(["all", "open", "done"])},
                {"edit": chance.choice([None, name])},
            ]
        )

    for _ in range(steps):
        yield event() if chance.random() < 0.6 else [event() for _ in range(chance.randrange(2, 7))]


def accepted(session, body):
    """Dispatches events that may be refused. An event of a todo that does not exist is refused."""
    answer = session.post(body)
    assert answer.status in (200, 422), answer


@pytest.mark.parametrize("seed", range(3))
def test_snapshots_and_patches_give_the_state(todos, seed):
    copies = [Copy(todos, path) for path in PATHS]
    for copy in copies:
        copy.open()
        copy.take()
    for step, body in enumerate(program(seed, 60)):
        accepted(todos, body)
        for index, copy in enumerate(copies):
            if (step // 4 + index) % 5 == 0:
                # The reader is away for a while. Its missed changes come as one patch.
                if copy.stream:
                    copy.close()
                continue
            if not copy.stream:
                copy.open()
            copy.take_until(value(todos, copy.path))
    for copy in copies:
        if not copy.stream:
            copy.open()
        copy.take_until(value(todos, copy.path))
        copy.close()


def test_patches_continue_after_a_restart(serve, data):
    server = serve(data)
    session = server.session("s", app="todos")
    session.dispatch([{"add": {"id": name, "title": name}} for name in "abc"])
    copy = Copy(session, "")
    copy.open()
    copy.take()
    session.dispatch({"edit": "a"})
    copy.take()
    copy.close()
    session.dispatch({"move": {"id": "c", "to": 0}})
    assert server.stop() == 0
    server = serve(data)
    copy.session = server.session("s", app="todos")
    copy.open()
    copy.take_until(copy.session.state())
    assert [todo["id"] for todo in copy.document["p"]["todos"]] == ["c", "a", "b"] and copy.document["t"]["editing"] is None
    copy.close()


def test_a_patch_of_one_change(todos):
    todos.dispatch([{"add": {"id": name, "title": name}} for name in "ab"])
    with todos.stream("/p/todos", format="json-patch") as stream:
        stream.expect("snapshot")
        answer = todos.dispatch({"toggle": "b"})
        change = stream.expect("change")
        assert change.data == [{"op": "replace", "path": "/1/done", "value": True}] and change.cursor == answer["cursor"]
        todos.dispatch({"move": {"id": "b", "to": 0}})
        patch = stream.expect("change").data
        assert len(patch) == 1 and patch[0]["op"] == "move"
        todos.dispatch({"remove": "b"})
        assert stream.expect("change").data == [{"op": "remove", "path": "/0"}]


def test_without_a_path_it_is_the_whole_state(session):
    with session.stream(format="json-patch") as stream:
        assert stream.expect("snapshot").data["values"][""] == session.state()
        session.dispatch("increment")
        assert {"op": "replace", "path": "/p/count", "value": 1} in stream.expect("change").data


@pytest.mark.parametrize(
    "query",
    [
        "format=json-patch&path=/p/count&path=/p/title",
        "format=json-patch&path=/p/*",
        "format=patch",
        "format=",
        "format=JSON-Patch",
        "format=changes&format=changes",
    ],
)
def test_an_invalid_stream_request_is_refused(shared, session, query):
    answer = shared.get(f"{session.path}/changes?{query}", accept="text/event-stream")
    assert answer.status == 400 and answer.problem["detail"]


def test_the_format_of_the_contract_can_be_named(session):
    with session.stream("/p/count", format="changes") as stream:
        stream.expect("snapshot")
        session.dispatch("increment")
        assert stream.expect("change").changed == {"/p/count": 1}

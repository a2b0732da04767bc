# Nested paths of change streams, by <Documentation/HTTP.md#events-of-a-stream>: each path gets the changes that it
# would get alone.

import pytest

PATHS = ["/p/limits", "/p/limits/warnAt", "/p/todos", "/p/todos/*/title"]


class Flat:
    """A client that keeps a separate value for each watched path, and never derives it from another value."""

    def __init__(self, *paths):
        self.paths, self.values, self.cursor = paths, {}, None

    def take(self, event):
        data, self.cursor = event.data, event.cursor
        if event.name != "change":
            self.values = data["values"]
        for change in data.get("changes", ()):
            if any(change["path"].count("/") == path.count("/") for path in self.paths):
                self.values.pop(change["path"], None)
                if "value" in change:
                    self.values[change["path"]] = change["value"]
        return [(change["op"], change["path"]) for change in data.get("changes", ())]


def limits(warn_at, label="near the top"):
    return {"/p/limits": {"warnAt": warn_at, "label": label}, "/p/limits/warnAt": warn_at}


REPLACED = [("replace", "/p/limits"), ("replace", "/p/limits/warnAt")]


def test_a_flat_client_gets_both_changes_live(session):
    client = Flat("/p/limits/warnAt", "/p/limits")
    with session.stream(*client.paths) as stream:
        client.take(stream.expect("snapshot"))
        session.dispatch({"setWarnAt": 50})
        # The event has one change, which is for both paths. A client must apply it to the value of the outer path, too.
        assert client.take(stream.expect("change")) == [("replace", "/p/limits/warnAt")]
        session.dispatch("reset")
        assert client.take(stream.expect("change")) == REPLACED
    assert client.values == limits(80)


@pytest.mark.parametrize("query", [{}, {"resume": "all"}], ids=["merged", "all"])
def test_a_flat_client_gets_both_changes_when_it_resumes(session, query):
    client = Flat("/p/limits/warnAt", "/p/limits")
    session.dispatch({"setWarnAt": 50})
    with session.stream(*client.paths) as stream:
        client.take(stream.expect("snapshot"))
    assert client.values == limits(50)
    session.dispatch("reset")
    with session.stream(*client.paths, cursor=client.cursor, **query) as stream:
        assert client.take(stream.expect("change")) == REPLACED
    assert client.values == limits(80)


def test_a_flat_client_gets_both_changes_after_a_restart_and_once_in_an_interval(serve, data):
    server = serve(data)
    client = Flat("/p/limits/warnAt", "/p/limits")
    session = server.session("s")
    session.dispatch({"setWarnAt": 50})
    with session.stream(*client.paths) as stream:
        client.take(stream.expect("snapshot"))
    session.dispatch("reset")
    assert server.stop() == 0
    session = serve(data).session("s")
    with session.stream(*client.paths, cursor=client.cursor, interval=60) as stream:
        assert client.take(stream.expect("change")) == REPLACED
        assert client.values == limits(80)
        session.dispatch({"setWarnAt": 50})
        last = session.dispatch("reset")["version"]
        while (change := stream.expect("change")).data["version"] < last:
            client.take(change)
        client.take(change)
    assert client.values == limits(80)


@pytest.mark.parametrize("query", [None, {}, {"resume": "all"}], ids=["live", "merged", "all"])
def test_a_wildcard_within_a_collection_gets_additions_and_removals(todos, query):
    client = Flat("/p/todos/*/title")
    todos.dispatch({"add": {"id": "a", "title": "A"}})
    with todos.stream("/p/todos", *client.paths) as stream:
        client.take(stream.expect("snapshot"))
        for event in ({"add": {"id": "b", "title": "B"}}, {"remove": "a"}):
            todos.dispatch(event)
            told = client.take(stream.expect("change")) if query is None else None
    if query is not None:
        with todos.stream("/p/todos", *client.paths, cursor=client.cursor, **query) as stream:
            for _ in range(2 if query else 1):
                told = client.take(stream.expect("change"))
    assert told[-1][0] == ("add" if query == {} else "remove")
    client.values.pop("/p/todos", None)
    assert client.values == {"/p/todos/b/title": "B"}

# Wildcards in the paths of change streams, by <Documentation/HTTP.md#change-streams>.

import pytest

from harness import Stream


@pytest.fixture
def abc(todos):
    """A session with the open todos a, b/c and *."""
    todos.dispatch([{"add": {"id": name, "title": name.upper()}} for name in ("a", "b/c", "*")])
    return todos


def test_a_snapshot_has_each_matching_path(abc):
    with abc.stream("/p/todos/*/done", "/p/*") as stream:
        values = stream.expect("snapshot").data["values"]
    done = {f"/p/todos/{name}/done": False for name in ("a", "b~1c", "*")}
    assert values == {"/p/todos": abc.state("/p/todos"), "/p/filter": "all"} | done
    assert [path for path in values if path.endswith("done")] == list(done)


def test_fields_of_elements_are_changed_added_and_removed(abc):
    with abc.stream("/p/todos/*/title") as stream:
        stream.expect("snapshot")
        abc.dispatch({"rename": {"id": "b/c", "title": "x"}})
        assert stream.expect("change").data["changes"] == [{"op": "replace", "path": "/p/todos/b~1c/title", "value": "x"}]
        abc.dispatch({"add": {"id": "d", "title": "D"}})
        assert stream.expect("change").data["changes"] == [{"op": "add", "path": "/p/todos/d/title", "value": "D"}]
        abc.dispatch({"remove": "a"})
        assert stream.expect("change").data["changes"] == [{"op": "remove", "path": "/p/todos/a/title"}]
        for event in ({"toggle": "d"}, {"move": {"id": "d", "to": 0}}, {"setFilter": "done"}):
            abc.dispatch(event)
        assert stream.quiet_until(abc, {"rename": {"id": "*", "title": "y"}}).changed == {"/p/todos/*/title": "y"}


def test_a_path_that_two_watched_paths_match_is_sent_once(abc):
    with abc.stream("/p/todos/a/title", "/p/todos/*/title", "/*/*/a/title") as stream:
        assert len(stream.expect("snapshot").data["values"]) == 3
        abc.dispatch({"rename": {"id": "a", "title": "x"}})
        assert len(stream.expect("change").data["changes"]) == 1


@pytest.mark.parametrize("how", ["cursor", "last_event_id"])
def test_a_stream_with_wildcards_resumes(abc, how):
    with abc.stream("/p/todos/*/title") as stream:
        cursor = stream.expect("snapshot").cursor
    for event in ({"remove": "a"}, {"add": {"id": "d", "title": "D"}}, {"rename": {"id": "*", "title": "x"}}):
        abc.dispatch(event)
    with abc.stream("/p/todos/*/title", **{how: cursor}) as stream:
        change = stream.expect("change")
        assert change.changed == {"/p/todos/a/title": None, "/p/todos/d/title": "D", "/p/todos/*/title": "x"}
        removed = [entry["path"] for entry in change.data["changes"] if entry["op"] == "remove"]
        assert removed == ["/p/todos/a/title"]


class Summary(Stream):
    """A change stream of the view `SummaryView`."""

    resource = "/views/SummaryView/changes"


def test_views_accept_wildcards_too(shared, abc):
    with Summary(abc, ["/*"]) as stream:
        assert stream.expect("snapshot").data["values"] == {"/total": 3, "/open": 3, "/done": 0}
        abc.dispatch({"toggle": "a"})
        assert stream.expect("change").changed == {"/open": 2, "/done": 1}
    answer = shared.get(f"{abc.path}/views/SummaryView/changes?path=/*/nothing", accept="text/event-stream")
    assert answer.status == 400


def test_too_many_matches_are_sent_as_the_value_that_contains_them(todos):
    todos.dispatch({"addMany": {"count": 5_000}})
    with todos.stream("/p/todos/*/done") as stream:
        values = stream.expect("snapshot").data["values"]
        assert list(values) == ["/p/todos"] and len(values["/p/todos"]) == 5_000
        todos.dispatch({"toggle": "n7"})
        assert stream.expect("change").changed == {"/p/todos/n7/done": True}

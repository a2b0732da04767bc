# View objects over HTTP: their answers and their streams.

import copy

from harness import Stream


def view(session, name):
    """The view of a session. Clients read and watch it like a session."""
    view = copy.copy(session)
    view.path = f"{session.path}/views/{name}"
    return view


def test_a_view_has_the_fields_that_its_forwarder_maps(session):
    server, path = session.server, f"{session.path}/views"
    assert server.get(f"{path}/CounterView").json == {"count": 0, "title": "Counter", "isNearLimit": False}
    session.dispatch({"setCount": 85})
    answer = server.get(f"{path}/CounterView")
    assert answer.json == {"count": 85, "title": "Counter", "isNearLimit": True}
    assert server.get(path).json == {"CounterView": answer.json}
    unchanged = server.request("GET", f"{path}/CounterView", headers={"If-None-Match": answer.headers["etag"]})
    assert unchanged.status == 304


def test_an_unknown_view_is_404_and_the_existing_ones_are_named(session):
    for path in ("views/Nope", "views/Nope/changes"):
        answer = session.server.get(f"{session.path}/{path}")
        assert answer.status == 404 and "CounterView" in answer.problem["detail"]
    assert session.server.get(f"{session.path}/views/CounterView/count").status == 404
    assert session.server.request("POST", f"{session.path}/views/CounterView", "x").status == 405
    assert session.server.get(f"{session.path}/views/CounterView/changes?path=/p/count").status == 400


def test_a_view_streams_its_own_changes_and_no_others(session):
    with Stream(view(session, "CounterView"), []) as stream, Stream(view(session, "CounterView"), ["/isNearLimit"]) as limit:
        assert stream.expect("snapshot").data["values"][""] == {"count": 0, "title": "Counter", "isNearLimit": False}
        limit.expect("snapshot")
        session.dispatch({"setStep": 3})
        session.dispatch({"setCount": 85})
        assert stream.expect("change").changed == {"/count": 85, "/isNearLimit": True}
        session.dispatch({"setCount": 90})
        assert stream.expect("change").changed == {"/count": 90}
        session.dispatch({"setWarnAt": 95})
        assert stream.expect("change").changed == {"/isNearLimit": False}
        assert [limit.expect("change").changed for _ in range(2)] == [{"/isNearLimit": True}, {"/isNearLimit": False}]


def test_a_view_stream_resumes_also_over_a_restart(serve, tmp_path):
    session = serve(tmp_path).session("s")
    with Stream(view(session, "CounterView"), ["/count"]) as stream:
        cursor = stream.expect("snapshot").cursor
    session.dispatch({"setCount": 5})
    session.dispatch({"rename": "Tea"})
    with Stream(view(session, "CounterView"), ["/count"], last_event_id=cursor) as stream:
        change = stream.expect("change")
        assert change.changed == {"/count": 5}
    session.server.kill()
    session = serve(tmp_path).session("s")
    with Stream(view(session, "CounterView"), ["/count"], last_event_id=change.cursor) as stream:
        assert stream.expect("change").changed == {"/count": 5}, "the change has all watched values again"


def test_todos_have_a_summary(serve):
    session = serve(None).session("home", app="todos")
    session.dispatch([{"add": {"id": "a", "title": "A"}}, {"add": {"id": "b", "title": "B"}}, {"toggle": "a"}])
    assert session.server.get(f"{session.path}/views/SummaryView").json == {"total": 2, "open": 1, "done": 1}


def test_a_collections_count_in_a_view_is_streamed_and_read(serve):
    session = serve(None).session("home", app="todos")
    with Stream(view(session, "SummaryView"), ["/total"]) as stream:
        stream.expect("snapshot")
        for number, name in enumerate("ab", 1):
            session.dispatch({"add": {"id": name, "title": name}})
            assert stream.expect("change").changed == {"/total": number}
        assert session.server.get(f"{session.path}/views/SummaryView").json == {"total": 2, "open": 2, "done": 0}
        session.dispatch({"remove": "a"})
        assert stream.expect("change").changed == {"/total": 1}

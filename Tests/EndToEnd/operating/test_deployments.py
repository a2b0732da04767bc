# The effect of a deployment on clients: another shape of the state resets their streams, the same shape does not.

import pytest

from harness import give_sessions_to


@pytest.fixture
def deployed(serve, data):
    """A deployment with another shape: a cursor and a tag from before it, and the session after it."""
    server = serve(data)
    todos = server.session("s", app="todos")
    todos.dispatch({"add": {"id": "a", "title": "A"}})
    with todos.stream("") as stream:
        cursor = stream.expect("snapshot").cursor
    tag = server.get(f"{todos.path}/state?version=1").headers["etag"]
    server.stop()
    give_sessions_to("counter", data, of="todos")
    return cursor, tag, serve(data).session("s")


def test_an_earlier_stream_gets_a_reset_with_all_watched_values(deployed):
    cursor, _, session = deployed
    with session.stream("", cursor=cursor) as stream:
        reset = stream.expect("reset")
        assert reset.data["reason"] == "epoch-changed" and reset.data["version"] == 1
        assert reset.data["values"][""]["p"] == session.state("/p")
    with session.stream("", cursor=reset.cursor) as stream:
        session.dispatch("increment")
        assert stream.expect("change").changed["/p/count"] == 1, "no event precedes this change"


def test_an_earlier_tag_is_not_valid_for_a_version_that_is_now_read_differently(deployed):
    _, tag, session = deployed
    answer = session.server.get(f"{session.path}/state?version=1", If_None_Match=tag)
    assert answer.status == 200 and answer.json["p"]["count"] == 0
    again = session.server.get(f"{session.path}/state?version=1", If_None_Match=answer.headers["etag"])
    assert again.status == 304


def test_an_earlier_condition_does_not_hold(deployed):
    cursor, tag, session = deployed
    for condition in (f'"{cursor}"', tag):
        refused = session.post("increment", {"If-Match": condition})
        assert refused.problem["status"] == 412
        assert "a deployment that changed the shape of the app's state" in refused.json["detail"]
    current = session.server.get(f"{session.path}/state").headers["etag"]
    assert session.post("increment", {"If-Match": current}).status == 200


def test_the_same_shape_keeps_tags_and_conditions_over_a_restart(serve, data):
    server = serve(data)
    session = server.session("s")
    cursor = session.dispatch("increment")["cursor"]
    epoch = cursor.split(".")[0]
    tag = server.get(f"{session.path}/state?version=1").headers["etag"]
    server.stop()
    again = serve(data).session("s")
    assert again.server.get(f"{session.path}/state?version=1", If_None_Match=tag).status == 304
    loaded_anew = again.post("increment", {"If-Match": f'"{cursor}"'})
    assert loaded_anew.problem["status"] == 412 and "was loaded anew" in loaded_anew.json["detail"]
    assert again.post("increment", {"If-Match": f'"{epoch}.1"'}).status == 200
    moved = again.post("increment", {"If-Match": f'"{epoch}.1"'})
    assert moved.problem["status"] == 412 and moved.json["detail"].startswith("the session has moved on")

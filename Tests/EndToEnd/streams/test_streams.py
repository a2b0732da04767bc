# Change streams, by <Documentation/HTTP.md#change-streams>.

import json
import re

import pytest


def test_the_head_and_the_first_bytes_come_at_once(session):
    with session.stream("/p/count") as stream:
        assert stream.status == 200
        headers = stream.headers
        assert headers["content-type"].split(";")[0] == "text/event-stream"
        assert headers["cache-control"] == "no-store, no-transform"
        assert headers["x-accel-buffering"] == "no" and headers["x-content-type-options"] == "nosniff"
        stream.expect("snapshot")
        assert stream.comments >= 1


def test_a_snapshot_has_each_path_that_has_a_value(session):
    session.dispatch({"setCount": 3})
    with session.stream("/p/count", "/p/limits/warnAt", "/t/lastEvent") as stream:
        snapshot = stream.expect("snapshot")
    assert snapshot.data.pop("stream")
    assert snapshot.data == {"version": 1, "values": {"/p/count": 3, "/p/limits/warnAt": 80, "/t/lastEvent": "setCount"}}
    assert snapshot.cursor == session.read().headers["etag"].strip('"')


def test_without_a_path_the_whole_state_is_watched(session):
    with session.stream() as stream:
        snapshot = stream.expect("snapshot")
        assert snapshot.data["values"][""] == session.state()
        answer = session.dispatch("increment")
        change = stream.expect("change")
    assert change.data["version"] == 1 and change.cursor == answer["cursor"]
    assert change.data["changes"] == answer["changes"]


def test_a_change_has_only_the_watched_paths(session):
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        session.dispatch("increment")
        change = stream.expect("change")
    assert change.data["changes"] == [{"op": "replace", "path": "/p/count", "value": 1}]


def test_a_subtree_is_watched_by_its_root(session):
    with session.stream("/p/limits") as stream:
        assert stream.expect("snapshot").data["values"] == {"/p/limits": {"warnAt": 80, "label": "near the top"}}
        session.dispatch({"setWarnAt": 50})
        assert stream.expect("change").changed == {"/p/limits/warnAt": 50}


def test_a_change_at_no_watched_path_sends_no_event(session):
    with session.stream("/p/title") as stream:
        stream.expect("snapshot")
        for event in ("increment", "touch", "noop", {"setStep": 3}, {"rename": "Counter"}):
            session.dispatch(event)
        assert stream.quiet_until(session, {"rename": "New"}).changed == {"/p/title": "New"}


def test_a_presented_child_is_added_and_removed(session):
    with session.stream("/t/warning") as stream:
        stream.expect("snapshot")
        session.dispatch({"setCount": 90})
        stream.expect("change")
        assert session.state("/t/warning/text")
        session.dispatch("dismissWarning")
        stream.expect("change")


def test_transient_changes_repeat_the_version_and_move_the_cursor(session):
    session.dispatch("increment")
    with session.stream("/t/lastEvent") as stream:
        snapshot = stream.expect("snapshot")
        session.dispatch("touch")
        change = stream.expect("change")
    assert change.data["version"] == snapshot.data["version"] == 1
    assert change.cursor != snapshot.cursor


@pytest.mark.parametrize("how", ["cursor", "last_event_id"])
def test_resume_sends_the_missed_changes_as_one(session, how):
    session.dispatch("increment")
    with session.stream("/p/count", "/p/title") as stream:
        cursor = stream.expect("snapshot").cursor
    for event in ("increment", {"rename": "A"}, "increment", {"rename": "B"}):
        session.dispatch(event)
    with session.stream("/p/count", "/p/title", **{how: cursor}) as stream:
        change = stream.expect("change")
        assert change.changed == {"/p/count": 3, "/p/title": "B"}
        assert change.data["version"] == 5 and len(change.data["changes"]) == 2
        assert stream.quiet_until(session, "increment").changed == {"/p/count": 4}


@pytest.mark.parametrize("path", ["/p/todos/new", "/p/todos/new/title", "/p/todos/*"])
def test_a_new_value_is_an_addition_on_resume_and_live(todos, path):
    with todos.stream(path) as stream:
        cursor = stream.expect("snapshot").cursor
        todos.dispatch({"add": {"id": "new", "title": "N"}})
        live = stream.expect("change").data["changes"]
    assert [change["op"] for change in live] == ["add"]
    with todos.stream(path, cursor=cursor) as stream:
        assert stream.expect("change").data["changes"] == live


def test_resume_with_nothing_to_catch_up_sends_no_event(session):
    cursor = session.dispatch("increment")["cursor"]
    with session.stream("/p/count", cursor=cursor) as stream:
        assert stream.quiet_until(session, "increment").changed == {"/p/count": 2}


def test_the_header_wins_over_the_query(session):
    old = session.dispatch("increment")["cursor"]
    new = session.dispatch("increment")["cursor"]
    with session.stream("/p/count", cursor=old, last_event_id=new) as stream:
        assert stream.quiet_until(session, "increment").changed == {"/p/count": 3}


@pytest.mark.parametrize("cursor", ["nonsense", "abcd1234.1.zz-0", "", "x" * 129])
def test_an_unknown_cursor_gets_a_reset_with_all_values(session, cursor):
    session.dispatch({"setCount": 4})
    with session.stream("/p/count", cursor=cursor) as stream:
        reset = stream.expect("reset")
        assert reset.data["values"] == {"/p/count": 4} and reset.data["version"] == 1
        assert reset.data["reason"] in ("unknown-cursor", "epoch-changed", "history-gone")
        assert stream.quiet_until(session, "increment").changed == {"/p/count": 5}


def test_a_cursor_from_the_future_gets_a_reset(session):
    epoch, _, live = session.dispatch("increment")["cursor"].split(".", 2)
    with session.stream("/p/count", cursor=f"{epoch}.7.{live}") as stream:
        assert stream.expect("reset").data["reason"] == "unknown-cursor"


def test_a_cursor_of_an_earlier_life_of_the_session_gets_a_reset(shared, session):
    cursor = session.dispatch({"setCount": 4})["cursor"]
    shared.request("DELETE", session.path)
    session.dispatch("increment")
    with session.stream("/p/count", cursor=cursor) as stream:
        if stream.status == 204:  # The server still remembers that this history was deleted.
            return
        reset = stream.expect("reset")
        assert (reset.data["reason"], reset.data["values"]) == ("epoch-changed", {"/p/count": 1})


def test_delete_sends_bye_without_a_reconnect(shared, session):
    session.dispatch("increment")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        shared.request("DELETE", session.path)
        bye = stream.expect("bye")
        assert bye.data["reason"] == "deleted" and bye.data["reconnect"] is False
        assert stream.ended()


def test_a_stopping_server_says_bye_and_when_to_come_back(serve, data):
    server = serve(data)
    session = server.session("s")
    session.dispatch("increment")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        server.process.terminate()
        bye = stream.expect("bye")
        assert bye.data["reason"] == "draining" and bye.data["reconnect"] is True
        assert bye.data["after"] >= 0
        assert stream.ended()
    assert server.wait() == 0


def test_a_quiet_stream_gets_a_comment_every_fifteen_seconds(session):
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        stream.comment(18)


@pytest.mark.parametrize("path", ["/p/nothing", "p/count", "/p/count/x", "/p/note", "/p/~2", "/p/*/nothing", "/p/count/*"])
def test_a_path_that_the_state_cannot_have_is_400(session, path):
    with session.stream(path) as stream:
        assert stream.status == 400


def test_64_paths_are_accepted_and_65_are_refused(session):
    with session.stream(*["/p/count"] * 64) as stream:
        assert stream.status == 200
    with session.stream(*["/p/count"] * 65) as stream:
        assert stream.status == 400


def test_a_block_is_plain_lines_and_json_on_one(session):
    with session.stream("/p/title") as stream:
        stream.expect("snapshot")
        session.dispatch({"rename": "a\nb\r\"ü\u2028"})
        raw = stream.expect("change").raw
    match = re.fullmatch(rb"event: change\nid: ([A-Za-z0-9._-]{1,128})\ndata: (\{.*\})\n\n", raw)
    assert match, raw
    assert json.loads(match[2])["changes"][0]["value"] == "a\nb\r\"ü\u2028"


def test_many_streams_see_the_same_changes_in_the_same_order(session):
    streams = [session.stream("/p/count") for _ in range(50)]
    for stream in streams:
        stream.expect("snapshot")
    for count in range(1, 31):
        session.dispatch({"setCount": count})
    for stream in streams:
        assert [stream.expect("change").changed["/p/count"] for _ in range(30)] == list(range(1, 31))
        stream.close()

# Open streams as resources: the list for operators, the change of an open stream's paths, and its end.

import json
import re

import pytest
from harness import Connection, message


def patch(session, name, body, headers=None):
    return session.server.request(
        "PATCH", f"/v1/streams/{name}", json.dumps(body).encode(), {"Content-Type": "application/json"} | (headers or {})
    )


def list_streams(server):
    streams, after = [], ""
    while True:
        page = server.request("GET", f"/v1/streams?limit=1000{after}").json
        streams += page["streams"]
        if "next" not in page:
            return streams
        after = "&after=" + page["next"]


def test_a_stream_is_listed_with_its_paths(session):
    with session.stream("/p/count", "/p/title") as stream:
        name = stream.expect("snapshot").data["stream"]
        (mine,) = [entry for entry in list_streams(session.server) if entry["stream"] == name]
        assert mine["app"] == "counter" and mine["session"] == session.path.rsplit("/", 1)[1]
        assert mine["paths"] == ["/p/count", "/p/title"] and mine["format"] == "changes"
        assert mine["state"] == "live" and mine["unsent"] == 0 and mine["gzip"] is False
        assert mine["opened"].endswith("Z")
        answer = session.server.request("GET", f"/v1/streams/{name}")
        assert answer.status == 200 and answer.json["stream"] == name
    assert all(entry["stream"] != name for entry in list_streams(session.server))


def test_a_long_list_comes_in_pages(session):
    streams = [session.stream("/p/count") for _ in range(7)]
    try:
        names = {stream.expect("snapshot").data["stream"] for stream in streams}
        found, after, pages = [], "", 0
        while True:
            page = session.server.request("GET", f"/v1/streams?limit=3{after}").json
            assert len(page["streams"]) <= 3
            found += [entry["stream"] for entry in page["streams"]]
            pages += 1
            if "next" not in page:
                break
            after = "&after=" + page["next"]
        assert len(found) == len(set(found)) and names <= set(found) and pages >= 3
    finally:
        for stream in streams:
            stream.__exit__()


def test_an_open_stream_can_be_given_other_paths(session):
    session.dispatch({"setCount": 3})
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        answer = patch(session, name, {"paths": ["/p/title", "/p/count"]})
        assert answer.status == 200 and answer.json == {"stream": name, "paths": ["/p/count", "/p/title"]}
        snapshot = stream.expect("snapshot")
        assert snapshot.data["stream"] == name and snapshot.data["values"] == {"/p/count": 3, "/p/title": "Counter"}
        session.dispatch({"rename": "other"})
        assert stream.expect("change").changed == {"/p/title": "other"}
        assert patch(session, name, {"paths": ["/p/title"]}).status == 200
        assert stream.expect("snapshot").data["values"] == {"/p/title": "other"}
        session.dispatch({"setCount": 4})
        session.dispatch({"rename": "third"})
        assert stream.expect("change").changed == {"/p/title": "third"}


def test_a_reader_that_reconnects_with_the_old_paths_gets_a_reset(session):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        assert patch(session, name, {"paths": ["/p/title"]}).status == 200
        cursor = stream.expect("snapshot").cursor
    session.dispatch({"rename": "other"})
    with session.stream("/p/count", cursor=cursor) as stream:
        reset = stream.expect("reset")
        assert reset.data["reason"] == "paths-changed" and reset.data["values"] == {"/p/count": 0}
    with session.stream("/p/title", cursor=cursor) as stream:
        assert stream.expect("change").changed == {"/p/title": "other"}


def test_changes_while_paths_change_are_neither_lost_nor_doubled(session):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        with Connection(session.server) as dispatcher, Connection(session.server) as patcher:
            for number in range(1, 41):
                body = json.dumps({"setCount": number}).encode()
                dispatcher.send(message("POST", session.path + "/events", body, {"Content-Type": "application/json"}))
                if number % 4 == 0:
                    paths = json.dumps({"paths": ["/p/count", "/p/title"][: 1 + number // 4 % 2]}).encode()
                    headers = {"Content-Type": "application/json"}
                    patcher.send(message("PATCH", f"/v1/streams/{name}", paths, headers))
            for _ in range(40):
                assert dispatcher.answer().status == 200
            for _ in range(10):
                assert patcher.answer().status == 200
        # If the paths change again before the snapshot of the last change, only the snapshot of the newest paths comes.
        version = 0
        while version < 40:
            event = stream.next()
            if event.name == "snapshot":
                assert event.data["version"] >= version
                count = event.data["values"]["/p/count"]
            else:
                assert event.name == "change" and event.data["version"] == version + 1, event
                count = event.changed["/p/count"]
            version = event.data["version"]
            assert count == version


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"paths": ["/p/nothing"]}, 400),
        ({"paths": ["p"]}, 400),
        ({"paths": ["/p/count"] * 65}, 400),
        ({"paths": 1}, 422),
        ({}, 422),
        ({"path": []}, 422),
    ],
)
def test_invalid_paths_change_nothing(session, body, status):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        answer = patch(session, name, body)
        assert answer.status == status and answer.problem["detail"]
        assert stream.quiet_until(session, {"setCount": 9}).changed == {"/p/count": 9}


def test_the_paths_of_a_stream_have_the_size_limit_of_a_url(session):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        answer = patch(session, name, {"paths": ["/p/" + "x" * 9_000]})
        assert answer.status == 400 and "at most 8192 bytes together" in answer.problem["detail"]


def test_a_resumed_stream_has_its_name_in_the_head(session):
    with session.stream("/p/count") as stream:
        first = stream.expect("snapshot")
        assert stream.headers["link"] == f'</v1/streams/{first.data["stream"]}>; rel="edit"'
    with session.stream("/p/count", cursor=first.cursor) as stream:
        (name,) = re.fullmatch('</v1/streams/(.+)>; rel="edit"', stream.headers["link"]).groups()
        assert name != first.data["stream"]
        assert patch(session, name, {"paths": ["/p/title"]}).status == 200
        assert stream.expect("snapshot").data == {"stream": name, "version": 0, "values": {"/p/title": "Counter"}}


def test_a_reader_that_takes_nothing_holds_one_snapshot_however_often_its_paths_change(session):
    session.dispatch({"rename": "x" * 1_000_000})
    with session.stream("/p/title", receive_buffer=4_096) as stream:
        (name,) = re.fullmatch('</v1/streams/(.+)>; rel="edit"', stream.headers["link"]).groups()
        mine = lambda: session.server.request("GET", f"/v1/streams/{name}").json
        assert 0 < mine()["unsent"] < 1_100_000
        for number in range(31):
            assert patch(session, name, {"paths": ["/p/title"] if number % 2 else ["/p/title", "/p/step"]}).status == 200
        assert mine()["state"] == "behind" and mine()["unsent"] < 1_100_000
        session.dispatch({"rename": "y"})
        first, last = stream.expect("snapshot"), stream.expect("snapshot")
        assert len(first.data["values"]["/p/title"]) == 1_000_000
        assert last.data["values"] == {"/p/step": 1, "/p/title": "y"}
        session.dispatch({"setStep": 3})
        assert stream.expect("change").changed == {"/p/step": 3}


def test_a_session_that_is_deleted_while_paths_change_sends_bye(session):
    with Connection(session.server) as deleter, Connection(session.server) as patcher:
        for number in range(20):
            session.dispatch({"setCount": number + 1})
            with session.stream("/p/count") as stream:
                snapshot = stream.expect("snapshot")
                name = snapshot.data["stream"]
                body = json.dumps({"paths": ["/p/title"]}).encode()
                patcher.send(message("PATCH", f"/v1/streams/{name}", body, {"Content-Type": "application/json"}))
                deleter.send(message("DELETE", session.path))
                assert deleter.answer("DELETE").status == 204
                assert patcher.answer("PATCH").status in (200, 404)
                events = [stream.next()]
                while events[-1].name != "bye":
                    events.append(stream.next())
                # A snapshot request during the deletion gets a `bye` with `reconnect`. The session is gone at the next
                # attempt.
                assert events[-1].data["reason"] in ("deleted", "unavailable")
                assert events[-1].data["reconnect"] is (events[-1].data["reason"] == "unavailable")
                assert all(event.cursor.split(".")[1] != "0" for event in events[:-1]), events
            with session.stream("/p/count", cursor=snapshot.cursor) as stream:
                assert stream.status == 204


def test_a_request_without_the_stream_name_changes_nothing(session):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        other = name.rsplit("-", 1)[0] + "-" + "1" * 12
        assert patch(session, other, {"paths": []}).status == 404
        assert session.server.request("DELETE", f"/v1/streams/{other}").status == 404
        assert session.server.request("GET", "/v1/streams/nonsense").status == 404
        assert stream.quiet_until(session, {"setCount": 9}).changed == {"/p/count": 9}


def test_an_operator_can_end_a_stream(session):
    with session.stream("/p/count") as stream:
        name = stream.expect("snapshot").data["stream"]
        assert session.server.request("DELETE", f"/v1/streams/{name}").status == 204
        bye = stream.expect("bye")
        assert bye.data["reason"] == "revoked" and bye.data["reconnect"] is False
        assert stream.ended()
        assert session.server.request("DELETE", f"/v1/streams/{name}").status == 404


def test_an_interval_merges_changes_that_come_too_fast(session):
    target = session.path + "/changes?path=/p/count&interval=300"
    with Connection(session.server) as connection:
        connection.send(message("GET", target, headers={"Accept": "text/event-stream"}))
        assert connection.stream_head()[0] == 200
        connection.until(b"event: snapshot")
        for number in range(1, 31):
            session.dispatch({"setCount": number})
        text = connection.until(b'"value":30}]}\n\n')
        # The first change comes at once, and the rest in few events.
        assert text.count(b"event: change") <= 4


def test_resume_all_sends_every_version(session):
    session.dispatch({"setCount": 1})
    with session.stream("/p/count") as stream:
        cursor = stream.expect("snapshot").cursor
    for number in range(2, 12):
        session.dispatch({"setCount": number})
    target = f"{session.path}/changes?path=/p/count&resume=all&cursor={cursor}"
    with Connection(session.server) as connection:
        connection.send(message("GET", target, headers={"Accept": "text/event-stream"}))
        assert connection.stream_head()[0] == 200
        text = connection.until(b'"value":11}]}\n\n')
        versions = [json.loads(line[6:])["version"] for line in text.decode().splitlines() if line.startswith("data: ")]
        assert versions == list(range(2, 12))


def test_resume_all_reads_a_long_log_in_parts(serve, tmp_path):
    server = serve(tmp_path)
    session = server.session("long")
    session.dispatch({"setCount": 1})
    with session.stream("/p/count") as stream:
        cursor = stream.expect("snapshot").cursor
    with Connection(server) as connection:
        for number in range(2, 1_202):
            body = json.dumps({"setCount": number % 100}).encode()
            connection.send(message("POST", session.path + "/events", body, {"Content-Type": "application/json"}))
        for _ in range(1_200):
            assert connection.answer().status == 200
    assert server.stop() == 0
    server = serve(tmp_path)
    target = f"{session.path}/changes?path=/p/count&resume=all&cursor={cursor}"
    with Connection(server) as connection:
        connection.send(message("GET", target, headers={"Accept": "text/event-stream"}))
        assert connection.stream_head()[0] == 200
        text = b""
        while b'"version":1201' not in text:
            text += connection.until(b"\n\n")
        versions = [json.loads(line[6:])["version"] for line in text.decode().splitlines() if line.startswith("data: ")]
        assert versions == list(range(2, 1_202))
        # From here, the stream is live.
        server.session("long").dispatch({"setCount": 55})
        assert b'"value":55' in connection.until(b'"version":1202,') + connection.until(b"\n\n")


@pytest.mark.parametrize("query", ["resume=some", "interval=0", "interval=60001", "interval=x", "resume=all&interval=5", "resume=all&format=json-patch"])
def test_invalid_options_are_refused(session, query):
    answer = session.server.request("GET", f"{session.path}/changes?{query}", headers={"Accept": "text/event-stream"})
    assert answer.status == 400 and answer.problem["detail"]


def test_a_client_address_has_a_limit_of_streams(serve):
    server = serve(None, arguments=["--streams-per-address", "3", "--workers", "2"])
    session = server.session("a")
    streams = [session.stream("/p/count") for _ in range(3)]
    for stream in streams:
        stream.expect("snapshot")
    with session.stream("/p/count") as one_more:
        bye = one_more.expect("bye")
        assert bye.data["reason"] == "limit" and bye.data["reconnect"] is True and bye.data["after"] >= 5_000
        assert one_more.ended()
    assert 'rivulet_streams_refused_total{reason="limit"} 1\n' in server.get("/metrics").body.decode()
    # The other streams are not affected, and a freed slot is used again.
    name = list_streams(server)[0]["stream"]
    assert server.request("DELETE", f"/v1/streams/{name}").status == 204
    with session.stream("/p/count") as again:
        again.expect("snapshot")
    for stream in streams:
        stream.__exit__()

# Sessions are passivated under their streams, return unchanged, and do not grow without limit.

import pathlib
import time

import pytest

import harness


@pytest.fixture
def serve_tally(monkeypatch):
    """Starts the test server beside the binary under test, with small limits, and returns a session."""
    path = pathlib.Path(harness.binary()).with_name("ExplicitServer")
    if not path.exists():
        pytest.skip(f"no {path}: build it with `swift build`")
    monkeypatch.setattr(harness, "binary", lambda: str(path))
    servers = []

    def start(*arguments):
        servers.append(harness.Server(None, arguments=arguments))
        session = servers[-1].session("s", app="tally")
        assert servers[-1].request("PUT", session.path).status == 201
        return session

    yield start
    for server in servers:
        assert server.stop() == 0, server.log_text()
        server.__exit__()


def wait_until_passivated(server, times=1):
    """Waits until the log reports `times` times that a watched session was passivated and none is resident."""
    end = time.monotonic() + harness.PATIENCE
    while time.monotonic() < end:
        lines = [line.split() for line in server.log_text().splitlines() if "sessions left memory" in line]
        if sum({"watched=1", "resident=0", "passivated=1"} <= set(line) for line in lines) >= times:
            return
        time.sleep(0.02)
    raise AssertionError(f"no session left memory: {server.log_text()}")


def test_a_watched_session_is_passivated_and_its_stream_continues(serve_tally):
    session = serve_tally("--idle-milliseconds", "200")
    session.dispatch({"add": 1})
    with session.stream("/p/count", "/t/lastEvent") as stream:
        snapshot = stream.expect("snapshot")
        assert snapshot.data["version"] == 1
        assert snapshot.data["values"] == {"/p/count": 1, "/t/lastEvent": "add"}
        wait_until_passivated(session.server)
        # The transient field has the same value before and after, so it is in no change. Its value was not lost.
        answer = session.dispatch({"add": 1})
        change = stream.expect("change")
        assert change.data == {"version": 2, "changes": [{"op": "replace", "path": "/p/count", "value": 2}]}
        assert change.cursor == answer["cursor"]
        # The incarnation is the same, so the client's earlier values remain valid.
        assert change.cursor.split(".")[2].split("-")[0] == snapshot.cursor.split(".")[2].split("-")[0]
        wait_until_passivated(session.server, times=2)
        session.dispatch("peek")
        change = stream.expect("change")
        assert change.data["version"] == 2 and change.changed == {"/t/lastEvent": "peek"}
        wait_until_passivated(session.server, times=3)
    with session.stream("/p/count", "/t/lastEvent", cursor=change.cursor) as stream:
        # The stream missed no change, so its next event is the change of the next dispatch.
        assert stream.quiet_until(session, {"set": 7}).changed == {"/p/count": 7, "/t/lastEvent": "set"}


def test_a_state_does_not_grow_beyond_its_limit(serve_tally):
    session = serve_tally("--state-bytes", "10000")
    session.dispatch({"rename": "a" * 5_000})
    with session.stream("/p/title") as stream:
        stream.expect("snapshot")
        before = session.read()
        problem = session.post({"rename": "a" * 20_000}).problem
        assert problem["status"] == 507 and "stateBytesMax" in problem["detail"]
        assert session.read().headers["etag"] == before.headers["etag"]
        assert session.state() == before.json
        assert stream.quiet_until(session, {"rename": "b"}).changed == {"/p/title": "b"}
    refused = 0
    for number in range(200):
        refused += session.post({"insert": {"id": f"item-{number}-" + "x" * 100, "at": 0}}).status == 507
    assert 0 < refused < 200
    assert len(session.read().body) <= 10_000

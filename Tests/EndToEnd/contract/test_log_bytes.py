# A session's log is bounded in bytes. Without a disk, the metrics add its bytes to the memory of sessions.

import pytest

MEGABYTE = 1 << 20
#: The bytes of a title. A log entry has the title twice: in its event and in its change.
TITLE = 200_000


def sessions_bytes(server):
    lines = server.get("/metrics").body.decode().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("rivulet_sessions_bytes "))


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_the_oldest_versions_of_a_long_log_are_deleted_first(serve, data, is_on_disk):
    server = serve(data if is_on_disk else None, arguments=["--log-bytes-per-session", str(MEGABYTE)])
    todos = server.session("long", "todos")
    todos.dispatch({"add": {"id": "a", "title": "A"}})
    with todos.stream("/p/todos/a/title") as stream:
        cursor = stream.expect("snapshot").cursor
    for number in range(30):
        todos.dispatch({"rename": {"id": "a", "title": f"{number:03}" + "x" * TITLE}})
    retained = todos.info()["retained"]
    assert retained["to"] == 31
    # The log is as large as the limit, plus at most the entries between two snapshots.
    assert 2 <= retained["to"] - retained["from"] + 1 <= 6
    if not is_on_disk:
        assert 2 * TITLE < sessions_bytes(server) < 5 * MEGABYTE
    with todos.stream("/p/todos/a/title", cursor=cursor, resume="all") as stream:
        assert stream.expect("reset").data["reason"] == "history-gone"

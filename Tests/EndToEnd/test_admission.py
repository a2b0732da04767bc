# Part of Rivulet. See README.md for the architecture.
# What the server decides by a request's head, and what bodies that do not come cost it.

import contextlib
import resource

import pytest

from harness import Connection, Server, message

EVENT = {"Content-Type": "application/json"}
NOTHING = "/v1/apps/nothing/sessions/a/events"
MIB = 1 << 20


def head(path, length, **fields):
    """A POST's head that declares so many bytes."""
    return message("POST", path, None, EVENT | {"Content-Length": str(length)} | fields)


def test_a_body_of_60_kib_behind_a_refused_head_leaves_the_connection_open(shared):
    with Connection(shared) as connection:
        connection.send(head(NOTHING, 60 * 1024))
        # The answer does not wait for the body.
        refused = connection.answer("POST")
        assert refused.problem["status"] == 404 and "connection" not in refused.headers
        connection.send(b"x" * 60 * 1024 + message("GET", "/healthz"))
        assert connection.answer().status == 200


@pytest.mark.parametrize("framing", [{"Content-Length": "102400"}, {"Transfer-Encoding": "chunked"}], ids=["100 KiB", "chunked"])
def test_a_larger_or_chunked_body_behind_a_refused_head_ends_the_connection(shared, framing):
    with Connection(shared) as connection:
        connection.send(message("POST", NOTHING, None, EVENT | framing))
        refused = connection.answer("POST")
        assert refused.problem["status"] == 404 and refused.headers["connection"] == "close"
        # What still comes is read away, so that the answer is not lost to a reset.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.send(b"x" * 1024)
        assert connection.ended()


@pytest.mark.parametrize(
    "method, target, status",
    [
        ("POST", NOTHING, 404), ("POST", "/v1/nothing", 404), ("DELETE", "/healthz", 405),
        ("POST", "/v1/apps/counter/sessions/a/events", 413), ("POST", "/v1/apps/counter/sessions/a/reset", 400),
        ("GET", "/healthz", 400), ("DELETE", "/v1/apps/counter/sessions/a", 400),
    ],
)
def test_a_refused_head_gets_no_100_continue(shared, method, target, status):
    with Connection(shared) as connection:
        length = str(MIB + 1 if status == 413 else 10)
        connection.send(message(method, target, None, EVENT | {"Content-Length": length, "Expect": "100-continue"}))
        first, fields = connection.head()
        # Whether the body follows is for the client to know: the connection ends.
        assert first == status and fields["connection"] == "close"
        assert connection.ended()


def test_requests_behind_refused_ones_are_answered_in_order(shared, session):
    with Connection(shared) as connection:
        refused = message("POST", NOTHING, b"x" * 5000, EVENT)
        taken = message("POST", session.path + "/events", "increment")
        connection.send((refused + taken) * 20)
        statuses = [connection.answer("POST").status for _ in range(40)]
        assert statuses == [404, 200] * 20


def test_a_body_is_refused_where_none_is_taken(shared, session):
    with Connection(shared) as connection:
        for method, target in [("GET", session.path), ("DELETE", session.path), ("POST", session.path + "/reset")]:
            refused = connection.request(method, target, {"a": 1})
            assert refused.problem["status"] == 400 and "takes no body" in refused.json["detail"]
        assert connection.request("GET", "/healthz").status == 200


def test_silent_large_bodies_stop_no_small_dispatch_and_take_no_memory():
    connections_max = 1_000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4_096), hard), hard))
    with Server(None) as server, contextlib.ExitStack() as stack:
        session = server.session("a")
        session.dispatch("increment")
        before = server.memory()
        for _ in range(connections_max):
            silent = stack.enter_context(Connection(server))
            silent.send(head(session.path + "/events", MIB))
        for _ in range(20):
            assert session.dispatch("increment")["durable"] is not None
        with Connection(server) as connection:
            # The body comes after its head, so it takes memory of its own share.
            connection.send(head(session.path + "/events", 11, Expect="100-continue"))
            assert connection.head()[0] == 100
            connection.send(b'"increment"')
            assert connection.answer("POST").status == 200
        assert server.memory() - before < 64 * MIB
        metrics = server.get("/metrics").body.decode()
        held = next(line for line in metrics.splitlines() if line.startswith("rivulet_body_bytes_held "))
        assert 48 * MIB <= float(held.split()[1]) <= 64 * MIB

# Decisions that the server makes by a request's head, and the cost of bodies that never arrive.

import contextlib
import pathlib
import resource
import select

import pytest

import harness
from harness import PATIENCE, Connection, Server, message
from metrics import Metrics

EVENT = {"Content-Type": "application/json"}
NOTHING = "/v1/apps/nothing/sessions/a/events"
MIB = 1 << 20


def head(path, length, **fields):
    """The head of a POST with this Content-Length."""
    return message("POST", path, None, EVENT | {"Content-Length": str(length)} | fields)


def test_a_body_of_60_kib_after_a_refused_head_leaves_the_connection_open(shared):
    with Connection(shared) as connection:
        connection.send(head(NOTHING, 60 * 1024))
        # The answer does not wait for the body.
        refused = connection.answer("POST")
        assert refused.problem["status"] == 404 and "connection" not in refused.headers
        connection.send(b"x" * 60 * 1024 + message("GET", "/healthz"))
        assert connection.answer().status == 200


@pytest.mark.parametrize(
    "status, fields",
    [(421, {"Host": "foreign.example"}), (403, {"Sec-Fetch-Site": "cross-site"}), (415, {"Content-Type": "text/plain"})],
)
def test_a_body_refused_by_its_host_or_origin_is_discarded_up_to_64_kib(shared, status, fields):
    reset = "/v1/apps/counter/sessions/doors/reset"
    with Connection(shared) as connection:
        connection.send(head(reset, 64 * 1024, **fields))
        refused = connection.answer("POST")
        assert refused.problem["status"] == status and "connection" not in refused.headers
        connection.send(b"x" * 64 * 1024 + message("GET", "/healthz"))
        assert connection.answer().status == 200
    with Connection(shared) as connection:
        connection.send(head(reset, 64 * 1024 + 1, **fields))
        refused = connection.answer("POST")
        assert refused.problem["status"] == status and refused.headers["connection"] == "close"


@pytest.mark.parametrize("framing", [{"Content-Length": "102400"}, {"Transfer-Encoding": "chunked"}], ids=["100 KiB", "chunked"])
def test_a_larger_or_chunked_body_after_a_refused_head_ends_the_connection(shared, framing):
    with Connection(shared) as connection:
        connection.send(message("POST", NOTHING, None, EVENT | framing))
        refused = connection.answer("POST")
        assert refused.problem["status"] == 404 and refused.headers["connection"] == "close"
        # The server reads and drops further bytes, so that no reset destroys the answer.
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
        # Only the client knows if a body follows, so the connection ends.
        assert first == status and fields["connection"] == "close"
        assert connection.ended()


def test_requests_after_refused_ones_are_answered_in_order(shared, session):
    with Connection(shared) as connection:
        refused = message("POST", NOTHING, b"x" * 5000, EVENT)
        taken = message("POST", session.path + "/events", "increment")
        connection.send((refused + taken) * 20)
        statuses = [connection.answer("POST").status for _ in range(40)]
        assert statuses == [404, 200] * 20


def test_a_body_is_refused_by_a_resource_that_has_none(shared, session):
    with Connection(shared) as connection:
        for method, target in [("GET", session.path), ("DELETE", session.path), ("POST", session.path + "/reset")]:
            refused = connection.request(method, target, {"a": 1})
            assert refused.problem["status"] == 400 and "takes no body" in refused.json["detail"]
        assert connection.request("GET", "/healthz").status == 200


def test_large_bodies_that_never_arrive_stop_no_small_dispatch_and_use_no_memory():
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
            # The body is sent after its head, so it takes memory from the share for bodies.
            connection.send(head(session.path + "/events", 11, Expect="100-continue"))
            assert connection.head()[0] == 100
            connection.send(b'"increment"')
            assert connection.answer("POST").status == 200
        assert server.memory() - before < 64 * MIB
        metrics = server.get("/metrics").body.decode()
        held = next(line for line in metrics.splitlines() if line.startswith("rivulet_body_bytes_held "))
        assert 48 * MIB <= float(held.split()[1]) <= 64 * MIB


# Counts


def causes(server):
    """The number of requests that the server has refused, by cause."""
    counts = Metrics(server).nonzero("rivulet_requests_refused_total")
    return {dict(labels)["cause"]: count for labels, count in counts.items()}


REFUSALS = [
    ("POST", NOTHING, {"Content-Length": "2"}, 404, "route"),
    ("POST", "/v1/nothing", {"Content-Length": "2"}, 404, "route"),
    ("GET", "/v1/apps/nothing", {}, 404, "route"),
    ("GET", "/nothing.html", {}, 404, "route"),
    ("GET", "/.nothing", {}, 404, "route"),
    ("OPTIONS", "/v1/nothing", {}, 404, "route"),
    ("PUT", "/v1/apps", {"Content-Length": "2"}, 405, "method"),
    ("POST", "/v1/apps/counter/sessions/a/reset", {"Content-Length": "2"}, 400, "body"),
    ("POST", "/v1/apps/counter/sessions/a/events", {"Content-Length": "2", "Content-Encoding": "br"}, 415, "body"),
    ("POST", "/v1/apps/counter/sessions/a/events", {"Content-Length": str(MIB + 1)}, 413, "body"),
    ("POST", "/v1/apps/counter/sessions/a/events", {"Transfer-Encoding": "chunked"}, 413, "body"),
]


@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
def test_a_refusal_is_counted_by_its_cause_however_its_bytes_arrive(serve, is_cut):
    server = serve(None)
    counts = {}
    for method, target, framing, status, cause in REFUSALS:
        body = f"{MIB + 1:x}\r\n".encode() if "Transfer-Encoding" in framing else b"{}" if framing else b""
        with Connection(server) as connection:
            parts = message(method, target, None, EVENT | framing), body
            for part in parts if is_cut else [b"".join(parts)]:
                connection.send(part)
                if part.endswith(b"\r\n\r\n") and status != 413:
                    # The answer comes before the body.
                    assert connection.answer(method).problem["status"] == status, target
                    break
            else:
                assert connection.answer(method).problem["status"] == status, target
        counts[cause] = counts.get(cause, 0) + 1
        assert causes(server) == counts, (method, target, framing)


def test_a_body_that_is_too_large_is_413_with_the_limit_and_what_to_do(shared, session):
    for framing, body in (({"Content-Length": str(MIB + 1)}, b""), ({"Transfer-Encoding": "chunked"}, f"{MIB + 1:x}\r\n".encode())):
        with Connection(shared) as connection:
            connection.send(message("POST", session.path + "/events", None, EVENT | framing) + body)
            assert connection.answer("POST").problem["detail"] == (
                "The body is longer than 1048576 bytes (bodyBytesMax). Nothing has changed. Send a smaller body."
            )


@pytest.fixture
def narrow(monkeypatch):
    """Starts a server with room for three bodies of 64 KiB and for four that wait. Its program is beside the binary under test."""
    path = pathlib.Path(harness.binary()).with_name("ExplicitServer")
    if not path.exists():
        pytest.skip(f"no {path}: build it with `swift build`")
    monkeypatch.setattr(harness, "binary", lambda: str(path))
    with contextlib.ExitStack() as stack:

        def start(*arguments):
            options = ["--body-bytes", 65_536, "--held-body-bytes", 262_144, *arguments]
            return stack.enter_context(Server(None, arguments=options)), stack

        yield start


def silent(server, stack):
    """A connection that has sent no byte of its body. The server asks for the body when it has room for it."""
    connection = stack.enter_context(Connection(server))
    connection.send(head("/v1/apps/tally/sessions/a/events", 65_536, Expect="100-continue"))
    return connection


def test_a_body_without_memory_is_503_and_counted(narrow):
    server, stack = narrow("--body-wait-milliseconds", 60_000, "--body-progress-milliseconds", 60_000)
    for _ in range(3):
        assert silent(server, stack).head()[0] == 100
    for _ in range(4):
        silent(server, stack)
    refused = silent(server, stack).answer("POST")
    assert refused.problem["status"] == 503 and "heldBodyBytesMax" in refused.problem["detail"] and "retry-after" in refused.headers
    assert causes(server) == {"body_room": 1}


def test_a_body_without_progress_makes_room_and_is_408_and_counted(narrow):
    server, stack = narrow("--body-progress-milliseconds", 0)
    silents = [silent(server, stack) for _ in range(3)]
    for connection in silents:
        assert connection.head()[0] == 100
    assert silent(server, stack).head()[0] == 100
    assert causes(server) == {"body_stalled": 1}
    # The bodies may have come within one millisecond. The server may then give up any of them first.
    readable = select.select([connection.socket for connection in silents], [], [], PATIENCE)[0]
    [stalled] = [connection for connection in silents if connection.socket in readable]
    detail = stalled.answer("POST").problem["detail"]
    for text in ("bodyProgressBytesMin", "bodyProgressTimeMax", "Nothing has changed.", "Send the request again"):
        assert text in detail

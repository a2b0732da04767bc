# The guarantees of <Documentation/HTTP.md#guarantees>, each by its number, under load and with kill -9.

import itertools
import random
import socket
import threading
import time

import pytest

from harness import Connection, Server, all_bytes, message, threads

#: Errors that a client sees if the server is killed during its request.
CUT = (OSError, EOFError)


def label(text):
    """An event that changes the state whenever the text is a new one."""
    return {"setLimits": {"warnAt": 80, "label": text}}


def test_guarantee_1_one_total_order_of_versions_per_session(shared, session):
    each, clients, acked = 60, 6, []
    with session.stream("/p/limits/label") as stream:
        stream.expect("snapshot")

        def client(i):
            with Connection(shared) as connection:
                for n in range(each):
                    text = f"{i}-{n}"
                    answer = connection.request("POST", session.path + "/events", label(text))
                    assert answer.status == 200, answer
                    acked.append((answer.json["version"], text))

        with threads(clients, client):
            pass
        seen = []
        for _ in range(each * clients):
            change = stream.expect("change")
            seen.append((change.data["version"], change.changed["/p/limits/label"]))
    assert sorted(version for version, _ in acked) == list(range(1, each * clients + 1))
    assert seen == sorted(acked), "the stream shows another order than the answers"


def test_guarantee_3_pipelined_dispatches_reach_a_stream_once_each_and_in_order(tmp_path):
    each, clients = 40, 6
    with Server(tmp_path / "data", arguments=("--workers", "1")) as server:
        session = server.session("pipelined")
        with session.stream("/p/limits/label") as stream:
            stream.expect("snapshot")

            def client(i):
                with Connection(server) as connection:
                    path = session.path + "/events"
                    connection.send(b"".join(message("POST", path, label(f"{i}-{n}")) for n in range(each)))
                    for _ in range(each):
                        assert connection.answer("POST").status == 200

            with threads(clients, client):
                pass
            cursors, versions = [], []
            for _ in range(each * clients):
                change = stream.expect("change")
                cursors.append(change.cursor)
                versions.append(change.data["version"])
            assert change.changed["/p/limits/label"] == session.state("/p/limits/label")
    assert versions == list(range(1, each * clients + 1))
    assert [int(cursor.split(".")[1]) for cursor in cursors] == versions


class Ledger:
    """The clients' records of one session, kept over kills of their servers."""

    def __init__(self, name):
        self.name = name
        self.lock = threading.Lock()
        self.acked = {}
        self.unanswered = set()
        self.shown = 0

    def check(self, server):
        """Compares the ledger with the state of a restarted server."""
        info = server.get(server.session(self.name).path)
        if info.status == 404:
            assert not self.acked, f"{self.name}: the session is lost"
            return
        version = info.json["version"]
        text = server.session(self.name).state("/p/limits/label")
        assert version >= max(self.acked, default=0), f"{self.name}: an acknowledged version is lost"
        assert version >= self.shown, f"{self.name}: a stream showed version {self.shown}, which was not durable"
        unknown = version - len(self.acked)
        assert 0 <= unknown <= len(self.unanswered), f"{self.name}: {unknown} versions that no dispatch explains"
        if version in self.acked:
            assert text == self.acked[version], f"{self.name}: version {version} holds something else"
        elif version > 0:
            assert text in self.unanswered, f"{self.name}: version {version} holds {text!r}"


def hammer(server, ledger, numbers):
    """Dispatches until the server is gone. Records each acknowledgement, and the one dispatch without an answer."""
    try:
        with Connection(server) as connection:
            while True:
                text = f"{ledger.name}/{next(numbers)}"
                with ledger.lock:
                    ledger.unanswered.add(text)
                answer = connection.request("POST", server.session(ledger.name).path + "/events", label(text))
                with ledger.lock:
                    if answer.status == 503:  # The server is stopping: nothing has changed.
                        ledger.unanswered.discard(text)
                        return
                    assert answer.status == 200 and answer.json["durable"], answer
                    version = answer.json["version"]
                    assert version not in ledger.acked, f"version {version} was given twice"
                    ledger.acked[version] = text
                    ledger.unanswered.discard(text)
    except CUT:
        pass


def watch(server, ledger):
    """Reads a stream until the server is gone. Checks that versions only grow."""
    try:
        with server.session(ledger.name).stream("/p/limits/label") as stream:
            version = stream.expect("snapshot").data["version"]
            while True:
                ledger.shown = max(ledger.shown, version)
                later = stream.expect("change").data["version"]
                assert later > version
                version = later
    except CUT:
        pass


def test_guarantee_2_an_acknowledged_dispatch_survives_kill_9_exactly_once(data):
    rounds, sessions, writers_each = 20, 4, 2
    chance = random.Random(20)
    ledgers = [Ledger(f"ledger-{i}") for i in range(sessions)]
    numbers = itertools.count()
    for _ in range(rounds):
        with Server(data) as server:
            for ledger in ledgers:
                ledger.check(server)
            jobs = [lambda ledger=ledger: watch(server, ledger) for ledger in ledgers]
            jobs += [lambda ledger=ledger: hammer(server, ledger, numbers) for ledger in ledgers * writers_each]
            with threads(len(jobs), lambda i: jobs[i]()):
                time.sleep(chance.uniform(0.02, 0.6))  # The moment of the kill is the test's subject.
                server.kill()
    with Server(data) as server:
        for ledger in ledgers:
            ledger.check(server)
        assert sum(len(ledger.acked) for ledger in ledgers) > rounds, "the load never got through"
        assert server.stop() == 0


def test_guarantee_2_a_stop_under_load_loses_nothing_either(data):
    ledgers, numbers = [Ledger(f"ledger-{i}") for i in range(4)], itertools.count()
    for _ in range(3):
        with Server(data) as server:
            with threads(8, lambda i: hammer(server, ledgers[i % 4], numbers)):
                time.sleep(0.2)
                assert server.stop() == 0
    with Server(data) as server:
        for ledger in ledgers:
            assert ledger.acked
            ledger.check(server)


def test_guarantee_3_a_stream_is_a_snapshot_and_then_every_change_in_order_once(shared, session):
    last = 300
    session.dispatch({"setWarnAt": 1000})
    first = session.info()["version"]

    def write(_):
        with Connection(shared) as connection:
            for n in range(1001, 1001 + last):
                connection.request("POST", session.path + "/events", {"setWarnAt": n})

    def read_on(_):
        """Reads one stream from beginning to end. Checks that no version is missing."""
        with session.stream("/p/limits/warnAt") as stream:
            snapshot = stream.expect("snapshot")
            value = snapshot.data["values"]["/p/limits/warnAt"]
            assert snapshot.data["version"] - first == value - 1000
            while value < 1000 + last:
                change = stream.expect("change")
                assert change.changed == {"/p/limits/warnAt": value + 1}
                assert change.data["version"] - first == value + 1 - 1000
                value += 1

    def come_and_go(i):
        """A reader that disconnects again and again. Its next stream resumes at its cursor, or begins with a reset."""
        chance, cursor, value = random.Random(i), None, None
        while value != 1000 + last:
            with session.stream("/p/limits/warnAt", cursor=cursor) as stream:
                for n in range(chance.randint(1, 8)):
                    event = stream.next()
                    if event.name == "change":
                        new = event.changed["/p/limits/warnAt"]
                        assert new > value if n == 0 else new == value + 1, "a gap or a repetition"
                    else:
                        assert event.name == ("snapshot" if cursor is None else "reset")
                        new = event.data["values"]["/p/limits/warnAt"]
                    assert event.data["version"] - first == new - 1000
                    cursor, value = event.cursor, new
                    if value == 1000 + last:
                        break

    jobs = [write] + [read_on] * 4 + [come_and_go] * 6
    with threads(len(jobs), lambda i: jobs[i](i)):
        pass


def test_guarantee_4_one_dispatch_is_at_most_one_event_per_stream(session):
    paths = ["/p", "/p/count", "/p/history", "/t/warning", "/t/lastEvent", "/p/limits"]
    with session.stream(*paths) as stream:
        stream.expect("snapshot")
        answer = session.dispatch({"setCount": 90})
        change = stream.expect("change")
        named = [entry["path"] for entry in change.data["changes"]]
        assert len(named) == len(set(named)) and set(named) == {entry["path"] for entry in answer["changes"]}
        assert set(stream.quiet_until(session, {"rename": "B"}).changed) == {"/p/title", "/t/lastEvent"}


def test_guarantee_5_no_event_for_a_path_whose_value_did_not_change(session):
    session.dispatch({"setCount": 100})
    with session.stream("/p/count", "/p/title", "/p/step", "/p/history", "/p/limits") as stream:
        stream.expect("snapshot")
        for event in ("noop", {"setCount": 100}, {"setCount": 250}, {"rename": "Counter"}, {"setStep": 0}, "touch",
                      {"setLimits": {"warnAt": 80, "label": "near the top"}}):
            session.dispatch(event)
        assert stream.quiet_until(session, {"setStep": 2}).changed == {"/p/step": 2}


class TestGuarantee6:
    """Clamped and omitted fields hold at every input and every output."""

    secret = "n0te-that-nobody-may-see"

    @pytest.mark.parametrize(("event", "count"), [({"setCount": 101}, 100), ({"setCount": -1}, 0), ({"setCount": 2**62}, 100)])
    def test_guarantee_6_an_event_is_clamped(self, session, event, count):
        session.dispatch({"setCount": 50})
        session.dispatch(event)
        assert session.state("/p/count") == count

    def test_guarantee_6_a_step_beyond_the_end_is_clamped(self, session):
        session.dispatch({"setStep": 99})
        assert session.state("/p/step") == 10
        session.dispatch({"setCount": 95})
        assert session.dispatch("increment")["coerced"] == [{"path": "/p/count", "from": 105, "to": 100}]

    def test_guarantee_6_a_created_state_is_clamped(self, shared):
        answer = shared.request("POST", "/v1/apps/counter/sessions", {"state": {"p": {"count": 999, "step": -3}}})
        assert answer.status == 201, answer
        state = shared.get(answer.headers["location"] + "/state").json
        assert (state["p"]["count"], state["p"]["step"]) == (100, 1)

    def test_guarantee_6_a_note_is_nowhere_but_in_memory(self, serve, data):
        server = serve(data, arguments=["--log-level", "trace"])
        session = server.session("s")
        with session.stream() as stream, session.stream("/t/lastEvent") as narrow:
            stream.expect("snapshot"), narrow.expect("snapshot")
            answers = [session.post({"setNote": self.secret}), session.post({"setNote": {"_0": self.secret + "2"}})]
            assert [answer.status for answer in answers] == [200, 200]
            refused = [session.post(event) for event in ({"setNote": {"x": self.secret}}, {"setNote": [self.secret]})]
            assert [answer.status for answer in refused] == [422, 422]
            events = [stream.expect("change"), narrow.expect("change"), stream.quiet_until(session, "increment")]
            targets = ("", "/state", "/state/p", "/events")
            reads = [server.get(session.path + target) for target in targets] + [server.get("/v1/apps/counter")]
        with session.stream(cursor="unknown") as stream:
            events.append(stream.expect("reset"))
        while_running = all_bytes(data)
        assert server.stop() == 0
        leaks = {
            "an answer": b"".join(answer.body for answer in answers + refused + reads),
            "a header": repr([answer.headers for answer in answers + refused + reads]).encode(),
            "a stream": b"".join(event.raw for event in events),
            "the data folder": while_running + all_bytes(data),
            "the log": server.log_text().encode(),
        }
        for place, found in leaks.items():
            assert self.secret.encode() not in found, f"the note is in {place}"
        assert b"setNote" in leaks["a stream"], "the event itself should be visible"

    def test_guarantee_6_a_note_does_not_survive_kill_9(self, serve, data):
        server = serve(data)
        server.session("s").dispatch({"setNote": self.secret})
        server.kill()
        assert self.secret.encode() not in all_bytes(data)


def test_guarantee_8_a_slow_reader_costs_no_more_than_its_limit(serve, data):
    server = serve(data)
    session = server.session("s")
    slow = [session.stream("/p/limits/label", receive_buffer=4096) for _ in range(20)]
    session.dispatch(label("start"))
    before = server.memory()
    for n in range(100):
        session.dispatch(label(f"{n:03}" + "x" * 200_000))
    # Without a limit, the unsent bytes of the twenty readers would need 20 MB each. 64 MiB leaves room for the
    # session's own data.
    assert server.memory() - before < 64 * 1024 * 1024
    for stream in slow:
        value, version = None, -1
        while value is None or not value.startswith("099"):
            event = stream.next()
            assert event.data["version"] > version
            version = event.data["version"]
            value = event.data["values"]["/p/limits/label"] if event.name == "snapshot" else event.changed["/p/limits/label"]
        stream.close()


def test_guarantee_8_a_thousand_half_requests_do_not_stop_the_server(shared):
    idle = []
    try:
        for _ in range(1000):
            idle.append(socket.create_connection(("127.0.0.1", shared.port)))
            idle[-1].sendall(message("POST", "/v1/apps/counter/sessions/x/events", b"x" * 1000)[:300])
        assert shared.get("/healthz").status == 200
    finally:
        for connection in idle:
            connection.close()


def test_guarantee_10_every_close_says_why(serve, data):
    server = serve(data)
    session = server.session("s")
    session.dispatch("increment")
    with session.stream() as deleted:
        deleted.expect("snapshot")
        server.request("DELETE", session.path)
        assert deleted.expect("bye").data["reason"] == "deleted"
        assert deleted.ended()
    with Connection(server) as refused:
        refused.send(b"nonsense\r\n\r\n")
        answer = refused.answer()
        assert answer.problem["detail"] and answer.headers["connection"] == "close"
        assert refused.ended()
    with session.stream() as drained:
        drained.expect("snapshot")
        server.process.terminate()
        assert drained.expect("bye").data["reason"] == "draining"
        assert drained.ended()
    assert server.wait() == 0

# The server's metrics, read with the parser of Prometheus's own client.

import concurrent.futures
import re
import time

import pytest

from harness import PATIENCE, ROOT, Connection
from metrics import Metrics

OPERATING = ROOT / "Documentation" / "Operating.md"


def labels(**values):
    return tuple(sorted(values.items()))


def test_a_scenario_is_counted_exactly(serve, data):
    server = serve(data, arguments=["--workers", "2"])
    sessions = [server.session(f"s{number}") for number in range(8)]
    for session in sessions:
        session.dispatch("increment")
        session.dispatch({"setCount": 5})
    # The event is accepted but changes nothing, so nothing is appended.
    sessions[0].dispatch({"setCount": 5})
    assert sessions[0].post("unknown").status == 422
    assert sessions[0].post("increment", headers={"If-Match": '"zzzzzzzz.1"'}).status == 412
    key = {"Idempotency-Key": '"once"'}
    first, again = (sessions[1].post("increment", headers=key) for _ in range(2))
    assert first.body == again.body and again.headers["idempotency-replayed"] == "true"
    for _ in range(3):
        assert server.get("/nothing").status == 404
    assert server.request("HEAD", "/healthz").status == 200
    assert server.request("BREW", "/healthz").status == 405
    metrics = Metrics(server)
    assert metrics.nonzero("rivulet_dispatches_total") == {
        labels(app="counter", outcome="accepted", durability="durable"): 18,
        labels(app="counter", outcome="invalid", durability="none"): 1,
        labels(app="counter", outcome="conflict", durability="none"): 1,
        labels(app="counter", outcome="replayed", durability="none"): 1,
    }
    assert metrics.nonzero("rivulet_requests_total") == {
        labels(method="post", status="2xx"): 19,
        labels(method="post", status="4xx"): 2,
        labels(method="get", status="4xx"): 3,
        labels(method="head", status="2xx"): 1,
        labels(method="other", status="4xx"): 1,
    }
    assert metrics.nonzero("rivulet_request_problems_total") == {
        labels(status="404"): 3, labels(status="405"): 1, labels(status="412"): 1, labels(status="422"): 1,
    }
    # Each request had a separate connection, including the request for the metrics.
    assert metrics["rivulet_connections_accepted_total"] == 27
    assert metrics.nonzero("rivulet_connections_refused_total") == {}
    assert metrics["rivulet_sessions_resident"] == 8
    assert metrics["rivulet_sessions_bytes"] > 0
    # There is one client, so no two events of a session are appended at once.
    assert metrics.nonzero("rivulet_storage_appends_total") == {labels(outcome="committed"): 17}
    assert metrics["rivulet_storage_append_entries_sum"] == 17
    assert metrics["rivulet_storage_append_seconds_count"] == 17
    assert metrics["rivulet_loop_turns_total"] > 27
    # The answer to a scrape is counted after it was sent.
    again = Metrics(server)
    assert again["rivulet_requests_total", {"method": "get", "status": "2xx"}] == 1
    assert again["rivulet_connections_accepted_total"] == 28


def test_lines_are_counted_as_separate_dispatches(serve, data):
    server = serve(data)
    answer = server.request(
        "POST", server.session("a").path + "/events", b'"increment"\n"unknown"\n"increment"\n', {"Content-Type": "application/x-ndjson"}
    )
    assert answer.status == 200
    metrics = Metrics(server)
    assert metrics.nonzero("rivulet_dispatches_total") == {
        labels(app="counter", outcome="accepted", durability="durable"): 2,
        labels(app="counter", outcome="invalid", durability="none"): 1,
    }


def test_the_counts_of_two_loops_are_added(serve, data):
    server = serve(data, arguments=["--workers", "2"])

    def client(number):
        with Connection(server) as connection:
            for _ in range(25):
                path = server.session(f"s{number}").path + "/events"
                assert connection.request("POST", path, "increment").status == 200

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for _ in pool.map(client, range(16)):
            pass
    metrics = Metrics(server)
    assert metrics["rivulet_dispatches_total", {"app": "counter", "outcome": "accepted", "durability": "durable"}] == 400
    assert metrics["rivulet_requests_total", {"method": "post", "status": "2xx"}] == 400
    assert metrics["rivulet_connections_accepted_total"] == 17


def test_the_number_of_open_connections_rises_and_falls(serve, data):
    server = serve(data, arguments=["--workers", "2"])
    connections = [Connection(server) for _ in range(5)]
    for connection in connections:
        assert connection.request("GET", "/healthz").status == 200
    assert Metrics(server)["rivulet_connections"] == 6
    for connection in connections:
        connection.close()
    end = time.monotonic() + PATIENCE
    while Metrics(server)["rivulet_connections"] > 1:
        # The server counts a connection until it has read the connection's end. Connections of earlier scrapes may
        # remain for a moment, too.
        assert time.monotonic() < end


def test_counters_begin_at_zero_after_a_restart(serve, data):
    server = serve(data)
    server.session("a").dispatch("increment")
    before = Metrics(server)
    assert server.stop() == 0
    server = serve(data)
    after = Metrics(server)
    assert after.nonzero("rivulet_dispatches_total") == {} and before.nonzero("rivulet_dispatches_total") != {}
    assert after["process_start_time_seconds"] >= before["process_start_time_seconds"]


def test_the_figures_of_the_process_are_those_of_the_system(serve, data):
    server = serve(data)
    metrics = Metrics(server)
    assert metrics["process_resident_memory_bytes"] == pytest.approx(server.memory(), rel=0.3)
    assert metrics["process_virtual_memory_bytes"] > metrics["process_resident_memory_bytes"]
    assert abs(metrics["process_start_time_seconds"] - time.time()) < 60
    assert 0 < metrics["process_cpu_seconds_total"] < 60
    with Connection(server) as connection:
        assert connection.request("GET", "/healthz").status == 200
        assert 3 < Metrics(server)["process_open_fds"] < Metrics(server)["process_max_fds"]


def test_head_says_what_get_says(shared):
    get, head = shared.get("/metrics"), shared.request("HEAD", "/metrics")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == get.headers["content-type"]
    refused = shared.request("POST", "/metrics", {})
    assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD, OPTIONS"


def test_no_label_has_text_of_clients(serve, data):
    server = serve(data)
    server.session("chosen-by-a-client").dispatch("increment")
    server.get("/chosen-by-a-client")
    server.request("CHOSEN", "/chosen-by-a-client")
    assert b"chosen" not in server.get("/metrics").body.lower()


def test_the_page_for_operators_names_exactly_what_is_measured(shared):
    shared_families = Metrics(shared).families
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*?) \|$", OPERATING.read_text(), re.MULTILINE)
    documented = {name: (kind, set(re.findall(r"`(\w+)`", names)), text) for name, kind, names, text in rows}
    measured = {}
    for family in shared_families.values():
        # The parser removes `_total` from a counter's name.
        name = family.name + ("_total" if family.type == "counter" else "")
        names = {label for sample in family.samples for label in sample.labels} - {"le"}
        measured[name] = (family.type, names, family.documentation)
    assert documented == measured

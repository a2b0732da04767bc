# No request reaches the server inside of another one, through any of the proxies.

import concurrent.futures
import contextlib

import http2
import pytest

from fronts import NAME
from harness import Connection
from metrics import Metrics
from smuggling import CANARY, TARGET, downgrades, head, payloads

#: The time in which a proxy answers a payload, in seconds; it may also wait for bytes that never come.
ANSWER_TIME = 0.5


class Counts:
    """The requests that the server has answered, except those of this test itself."""

    def __init__(self, upstream, operator):
        self.upstream, self.operator = upstream, operator
        self.before = self.now()

    def now(self):
        answer = self.upstream.request("GET", "/metrics", headers=self.operator)
        values = Metrics.of(answer).values
        found = {}
        for (name, labels), value in values.items():
            if name == "rivulet_requests_total":
                method = dict(labels)["method"]
                found[method] = found.get(method, 0) + value
        # The request for the metrics counts itself or not, in the same way each time.
        return found

    def since(self):
        """The number of canaries, and of all other requests."""
        now = self.now()
        grown = {method: value - self.before.get(method, 0) for method, value in now.items()}
        canaries = grown.pop("delete", 0)
        return canaries, sum(grown.values()) - 1


@pytest.fixture
def counts(upstream, issuer):
    return Counts(upstream, issuer.bearer("operator", "operator"))


def play(front, data, protocols=("http/1.1",)):
    """Sends the bytes, and reads until the proxy has answered or closed."""
    with contextlib.suppress(OSError), front.connect(protocols) as connection:
        connection.socket.settimeout(ANSWER_TIME)
        connection.send(data)
        if "h2" in protocols:
            assert connection.socket.selected_alpn_protocol() == "h2"
            http2.read(connection.socket)
            return
        while connection.socket.recv(65536):
            pass


def all_at_once(front, found, counts, *protocols):
    """Plays all payloads, and returns the names of those of which the server saw more than one request."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda data: play(front, data, *protocols), found.values()))
    canaries, others = counts.since()
    if canaries == 0 and others <= len(found):
        return []
    # The first pass says only that there is one. The second names it.
    names = []
    for name, data in found.items():
        counts.before = counts.now()
        play(front, data, *protocols)
        canaries, others = counts.since()
        if canaries or others > 1:
            names.append(name)
    return names or ["only together"]


def test_a_second_request_would_be_counted(upstream, counts):
    with Connection(upstream) as connection:
        connection.send(head(b"Content-Length: 0\r\n") + CANARY)
        connection.answer()
        connection.answer()
    assert counts.since() == (1, 1)


def test_honest_requests_reach_the_server(front, counts, bearer):
    assert front.request("POST", TARGET.decode(), "increment", bearer).status == 200
    fields = [(b":method", b"GET"), (b":scheme", b"https"), (b":authority", NAME.encode()), (b":path", b"/v1/me")]
    play(front, http2.exchange(fields), ("h2",))
    assert counts.since() == (0, 2)


def test_no_payload_of_http_1_makes_a_second_request(front, counts, bearer):
    found = payloads()
    assert len(found) >= 50
    assert all_at_once(front, found, counts) == []
    # The connections of the proxy to the server are still in step.
    for number in range(8):
        answer = front.request("GET", f"/v1/apps/counter/sessions/step-{number}", headers=bearer)
        assert answer.status == 404 and f"step-{number}" in answer.problem["detail"], answer


def test_no_payload_of_http_2_makes_a_second_request(front, counts, bearer):
    assert all_at_once(front, downgrades(), counts, ("h2",)) == []
    assert front.request("GET", "/v1/me", headers=bearer).json["subject"] == "alice"

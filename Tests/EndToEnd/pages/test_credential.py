# rivulet.js with a token: fetch streams, new tokens in time, and streams that pages of one caller share.

import json
import time

import pytest

from harness import PATIENCE, Server
from tokens import Issuer

MINE = [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}", "open"]},
        {"actions": ["read", "write"], "app": "notes", "stores": ["*"], "values": ["*"]}]  # fmt: skip


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def server(issuer, tmp_path_factory):
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    policy.write_text(json.dumps({"authenticated": MINE}))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        yield server


class Client:
    """A page of the server's origin with a credential function: the test makes each token."""

    def __init__(self, context, server, mint):
        self.calls, self.faults, self.requests = [], [], []
        self.page = context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append((request.method, request.url.removeprefix(server.url))))

        def give(refresh):
            self.calls.append(refresh)
            return mint(refresh)

        self.page.expose_function("mint", give)
        self.page.goto(server.url + "/healthz")
        self.page.evaluate("""async () => {
            const rivulet = await import("/rivulet.js");
            Object.assign(window, rivulet);
            window.credential = async ({ refresh }) => {
                const token = await mint(refresh);
                if (token === "offline") throw new TypeError("the network is lost");
                if (token === "broken") throw new Error("the sign-in failed");
                return token;
            };
            window.seen = []; window.states = [];
            window.follow = (options) => {
                window.s = connect({ app: "counter", session: "me", credential, ...options });
                s.observe("/p/count", (values, { event, version }) => seen.push([event, values["/p/count"], version]));
                s.onConnection(({ state, reason }) => states.push([state, reason]));
            };
        }""")

    def run(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def until(self, expression, argument=None):
        end = time.monotonic() + PATIENCE
        while not self.page.evaluate(expression, argument):
            facts = self.page.evaluate("() => [window.seen, window.states]")
            assert time.monotonic() < end, (expression, facts, self.calls, self.requests, self.faults)
            self.page.wait_for_timeout(20)

    def asked(self, method, part):
        return [url for one, url in self.requests if one == method and part in url]


@pytest.fixture
def client(browser, server):
    """Makes pages in one context, each with a function that makes its tokens."""
    context = browser.new_context()
    yield lambda mint: Client(context, server, mint)
    context.close()


def test_a_page_with_a_token_has_its_own_session_without_a_cookie(client, server, issuer):
    one = client(lambda refresh: issuer.token("ann"))
    one.run("() => follow()")
    one.until("() => states.at(-1)[0] === 'live' && seen.length === 1")
    version = one.run("async () => (await s.dispatch('increment')).version")
    one.until("(version) => seen.at(-1)[2] === version", version)
    assert one.run("async () => (await s.state('/p/count')).value") == one.run("() => seen.at(-1)[1]")
    # One call serves the stream and all requests.
    assert one.calls == [False] and one.faults == []
    assert one.page.context.cookies() == []
    me = server.request("GET", "/v1/me", headers=issuer.bearer("ann")).json["me"]
    assert server.request("GET", f"/v1/apps/counter/sessions/{me}/state/p/count", headers=issuer.bearer("ann")).status == 200
    assert not any("token" in url.lower() or "ey" in url for _, url in one.requests)


def test_a_refused_token_is_replaced_once_for_all_requests(client, issuer):
    tokens = [issuer.token("bea")[:-4] + "AAAA", issuer.token("bea")]
    one = client(lambda refresh: tokens[refresh])
    one.run("() => follow()")
    assert len(one.run("() => Promise.all(Array.from({ length: 5 }, () => s.dispatch('increment')))")) == 5
    one.until("() => seen.at(-1)?.[1] === 5")
    assert one.calls == [False, True] and one.faults == []


def test_an_expired_token_is_not_sent(client, issuer):
    now = int(time.time())
    tokens = [issuer.token("cleo", iat=now - 100, exp=now - 10), issuer.token("cleo")]
    one = client(lambda refresh: tokens[refresh])
    statuses = []
    one.page.on("response", lambda response: statuses.append(response.status))
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    assert one.calls == [False, True] and 401 not in statuses


def test_two_refused_tokens_in_a_row_close_the_stream(client, issuer):
    one = client(lambda refresh: issuer.token("dora")[:-4] + ("AAAA" if refresh else "BBBB"))
    one.run("() => follow()")
    one.until("() => states.at(-1)[0] === 'closed'")
    assert one.run("() => states.at(-1)") == ["closed", "unauthorized"]
    assert one.run("() => s.dispatch('increment').catch((error) => [error.name, error.status])") == ["RivuletError", 401]


def test_a_lost_network_and_a_failing_function_close_nothing(client, issuer):
    answers = ["offline", "broken", issuer.token("eve")]
    one = client(lambda refresh: answers.pop(0) if len(answers) > 1 else answers[0])
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    reasons = one.run("() => states")
    assert ["reconnecting", "The page's credential function failed."] in reasons
    assert not any(state == "closed" for state, _ in reasons) and one.faults == []


def test_a_stream_goes_on_without_a_gap_when_its_token_expires(client, server, issuer):
    def mint(refresh):
        now = int(time.time())
        return issuer.token("fay", iat=now, exp=now + 3)

    one = client(mint)
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    # Another client of the same caller changes the session meanwhile.
    end, sent = time.monotonic() + 8, 0
    while time.monotonic() < end:
        answer = server.request("POST", "/v1/apps/counter/sessions/me/events", "increment", headers=issuer.bearer("fay"))
        assert answer.status == 200, answer
        sent += 1
        one.page.wait_for_timeout(200)
    one.until("(count) => seen.at(-1)[1] === count", sent)
    versions = one.run("() => seen.map(([event, count, version]) => [event, version])")
    assert [version for _, version in versions] == sorted({version for _, version in versions}), versions
    assert versions[0][0] == "snapshot" and all(event == "change" for event, _ in versions[1:]), versions
    assert len(one.calls) > 2 and one.faults == []


def test_an_open_stream_gets_the_new_token(client, server, issuer):
    def mint(refresh):
        # The server announces the end after half of the time.
        now = int(time.time())
        return issuer.token("lea", iat=now, exp=now + (600 if refresh else 6))

    one = client(mint)
    statuses = []
    one.page.on("response", lambda response: statuses.append((response.request.method, response.status)))
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    end = time.monotonic() + PATIENCE
    while ("PATCH", 200) not in statuses:
        one.page.wait_for_timeout(20)
        assert time.monotonic() < end, (statuses, one.requests)
        assert all(status < 400 for _, status in statuses), statuses
    one.run("() => s.dispatch('increment')")
    one.until("() => seen.at(-1)[1] === 1")
    assert one.calls == [False, True] and len(one.asked("GET", "/changes")) == 1 and one.faults == []
    assert one.run("() => states.map(([state]) => state)") == ["connecting", "live"]


@pytest.mark.parametrize(("hours", "seconds"), [(0, 60), (2, 60), (2, 3600), (-2, 3600)])
def test_a_page_with_a_wrong_clock_or_short_tokens_asks_for_a_token_once(client, issuer, hours, seconds):
    def mint(refresh):
        now = int(time.time())
        return issuer.token(f"max{hours}{seconds}", iat=now, exp=now + seconds)

    one = client(mint)
    one.run("(hours) => { const now = Date.now; Date.now = () => now() + hours * 3_600_000; }", hours)
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    one.page.wait_for_timeout(1000)
    for _ in range(3):
        one.run("() => s.dispatch('increment')")
    # The first token seems to have expired if the clock is fast; the second one shows the cause.
    assert one.calls == ([False, True] if hours > 0 else [False]), one.requests
    assert one.asked("PATCH", "/v1/streams/") == [] and len(one.asked("GET", "/changes")) == 1 and one.faults == []


@pytest.mark.parametrize(("status", "headers"), [(429, {"Retry-After": "1"}), (503, {"Retry-After": "1"}), (0, {})])
def test_a_renewal_that_the_server_cannot_take_now_leaves_the_stream_open(client, issuer, status, headers):
    def mint(refresh):
        now = int(time.time())
        # Without an answer the next attempt comes after 5 s.
        return issuer.token(f"ned{status}", iat=now, exp=now + (600 if refresh else 20 if status == 0 else 8))

    one = client(mint)
    refused, taken = [], []

    def refuse(route):
        if refused:
            taken.append(time.monotonic())
            return route.continue_()
        refused.append(time.monotonic())
        return route.fulfill(status=status, headers=headers, body="{}") if status else route.abort()

    one.page.route("**/v1/streams/*", refuse)
    one.run("() => follow()")
    one.until("() => seen.length === 1")
    end = time.monotonic() + PATIENCE
    while not taken:
        one.page.wait_for_timeout(20)
        assert time.monotonic() < end, (refused, one.requests)
    assert taken[0] - refused[0] > (0.9 if status else 4.5)
    one.run("() => s.dispatch('increment')")
    one.until("() => seen.at(-1)[1] === 1")
    assert one.calls == [False, True] and len(one.asked("GET", "/changes")) == 1 and one.faults == []
    assert one.run("() => states.map(([state]) => state)") == ["connecting", "live"]


def test_a_store_and_a_value_are_followed_with_a_token(client, server, issuer):
    one = client(lambda refresh: issuer.token("gil"))
    one.run("""() => {
        window.items = []; window.theme = [];
        window.store = followStore({ app: "notes", store: "notes", credential });
        window.value = followValue({ app: "notes", value: "theme", credential });
        store.observe((all) => items.push(all.length));
        value.observe((value) => theme.push(value));
    }""")
    one.until("() => items.length > 0 && theme.length > 0")
    one.run("""async () => {
        await store.insert({ id: "1", text: "Milk", created: "2026-01-02T03:04:05Z" });
        await value.set("dark");
    }""")
    one.until("() => items.at(-1) === 1 && theme.at(-1) === 'dark'")
    assert one.calls == [False] and one.faults == []


def test_pages_of_one_caller_share_a_stream_and_other_callers_do_not(client, server, issuer):
    pages = [client(lambda refresh, name=name: issuer.token(name)) for name in ("hal", "hal", "ida")]
    for page in pages:
        page.run("() => follow({ shared: true })")
        page.until("() => seen.length === 1 && states.at(-1)[0] === 'live'")
    pages[0].run("() => s.dispatch('increment')")
    pages[1].until("() => seen.at(-1)[1] === 1")
    assert pages[2].run("() => seen.at(-1)[1]") == 0
    operator = issuer.bearer("op", authorization_details=[{"type": "rivulet", "actions": ["operate"]}])
    assert len(server.request("GET", "/v1/streams", headers=operator).json["streams"]) == 2
    pages[1].page.close()
    pages[0].run("() => s.dispatch('increment')")
    pages[0].until("() => seen.at(-1)[1] === 2")


def test_a_credential_that_is_no_function_is_refused(client, issuer):
    one = client(lambda refresh: issuer.token("joe"))
    text = one.run("() => { try { connect({ app: 'counter', session: 'a', credential: 'token' }); } catch (error) { return String(error); } }")
    assert text == "TypeError: credential is a function: async ({ refresh }) => token"


#: Bytes of a stream, and its events as names, data and ids. Most are examples of the standard.
PARSED = [
    ("data: a\n\n", [["message", "a", ""]]),
    ("\ufeffdata: a\n\n", [["message", "a", ""]]),
    ("data: a\ndata: b\n\n", [["message", "a\nb", ""]]),
    ("event: x\ndata: a\r\n\r\ndata:b\r\rdata:  c\n\n", [["x", "a", ""], ["message", "b", ""], ["message", " c", ""]]),
    ("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", [["message", "a", "1"], ["message", "b", "1"], ["message", "c", ""]]),
    ("id: 1\n\ndata: a\n\n", [["message", "a", "1"]]),
    ("id: 1\0\ndata: a\n\n", [["message", "a", ""]]),
    (": comment\n\nevent: x\n\ndata: a\n\n", [["message", "a", ""]]),
    ("data\n\ndata\ndata\n\n", [["message", "", ""], ["message", "\n", ""]]),
    ("retry: 1\nother: 2\ndata:a:b\n\n", [["message", "a:b", ""]]),
    ("data: a\n\ndata: incomplete\n", [["message", "a", ""]]),
    ("data: ä€😀\n\n", [["message", "ä€😀", ""]]),
    ("\n\n\n", []),
]


@pytest.mark.parametrize(("text", "expected"), PARSED)
def test_the_events_of_a_stream_are_read_with_any_cuts(client, issuer, text, expected):
    one = client(lambda refresh: issuer.token("kim"))
    found = one.run(
        """async (text) => {
            const { events } = await import("/fetch-source.js");
            const bytes = new TextEncoder().encode(text);
            const parts = (...at) => [0, ...at].map((from, index) => bytes.slice(from, at[index] ?? bytes.length));
            const cuts = [parts(), [...bytes].map((byte) => Uint8Array.of(byte)), ...Array.from(bytes, (_, at) => parts(at))];
            const all = new Set();
            for (const cut of cuts) {
                const body = new ReadableStream({ start(to) { cut.forEach((part) => to.enqueue(part)); to.close(); } });
                const found = [];
                for await (const { name, data, cursor } of events(body)) found.push([name, data, cursor]);
                all.add(JSON.stringify(found));
            }
            return [...all];
        }""",
        text,
    )
    assert [json.loads(one) for one in found] == [expected]

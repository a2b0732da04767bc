# A page signs in and out in a real browser, and a page of another site opens streams with tickets.

import contextlib
import functools
import http.server
import json
import pathlib
import socket
import threading
import time

import pytest

from harness import PATIENCE, Server
from tokens import Issuer

POLICY = {"authenticated": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}"]}]}
STREAM = "/v1/apps/counter/sessions/me/changes?path=/p/count"
EVENTS = "/v1/apps/counter/sessions/me/events"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """The origin of another site, with an empty page."""
    folder = tmp_path_factory.mktemp("elsewhere")
    pathlib.Path(folder, "index.html").write_text("<!doctype html><title>elsewhere</title><link rel=icon href=data:,>")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}"
        site.shutdown()


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, issuer, elsewhere):
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    policy.write_text(json.dumps(POLICY))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy, "--allowed-origins", elsewhere]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


def evaluate(page, script, *arguments):
    """The script's result. playwright itself would wait without limit."""
    late = f"new Promise((_, fail) => setTimeout(() => fail(new Error('the script did not end')), {1000 * PATIENCE}))"
    return page.evaluate(f"(values) => Promise.race([({HELPERS}{script})(values), {late}])", list(arguments))


#: `first` is the first count of a stream, or "refused".
HELPERS = """async (values) => {
    const first = (url) => new Promise((done) => {
        const source = new EventSource(url);
        const end = (outcome) => { source.close(); done(outcome); };
        source.addEventListener("snapshot", (event) => end(JSON.parse(event.data).values["/p/count"]));
        source.onerror = () => source.readyState === EventSource.CLOSED && end("refused");
    });
    return await """


SIGN_IN = """(async ([stream, events, token]) => {
    const seen = [await first(stream)];
    const login = (method, headers) => fetch("/v1/login", { method, headers }).then((answer) => answer.status);
    seen.push(await login("PUT", { Authorization: `Bearer ${token}` }), await first(stream));
    const headers = { "Content-Type": "application/json" };
    seen.push((await fetch(events, { method: "POST", headers, body: '"increment"' })).status, await first(stream), document.cookie);
    return seen;
})(values); }"""

def logins(page):
    """The login cookies of the page's browser. It may also have the cookie of an anonymous caller's session."""
    return [cookie for cookie in page.context.cookies() if cookie["name"] != "rivulet-session"]


SIGN_OUT = """(async ([stream]) => [(await fetch("/v1/login", { method: "DELETE" })).status, await first(stream)])(values); }"""


def test_a_page_signs_in_its_streams_have_the_cookie_and_it_signs_out(server, issuer, visit):
    page = visit(server.url + "/healthz")
    assert evaluate(page, SIGN_IN, STREAM, EVENTS, issuer.token("alice")) == ["refused", 204, 0, 200, 1, ""]
    [cookie] = logins(page)
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"], cookie["secure"], cookie["path"]) == ("rivulet-token", True, "Strict", False, "/")
    # The cookie outlives its token, which is valid for an hour.
    assert 604_800 + 3_500 < cookie["expires"] - time.time() <= 604_800 + 3_600
    assert evaluate(page, SIGN_OUT, STREAM) == [204, "refused"]
    assert logins(page) == []


def test_a_page_of_an_expired_caller_is_refused_and_loads_to_sign_in_again(server, issuer, visit):
    page = visit(server.url + "/healthz")
    now = int(time.time())
    page.context.add_cookies([{"name": "rivulet-token", "value": issuer.token("bob", iat=now - 100, exp=now - 10), "url": server.url}])
    page.goto(server.url + "/healthz")
    assert evaluate(page, SIGN_IN, STREAM, EVENTS, issuer.token("bob"))[:3] == ["refused", 204, 0]


TICKET = """(async ([server, stream, token]) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const signIn = await fetch(`${server}/v1/login`, { method: "PUT", headers: { Authorization: headers.Authorization } });
    const answer = await fetch(`${server}/v1/tickets`, { method: "POST", headers, body: JSON.stringify({ stream }) });
    const { ticket } = await answer.json();
    const url = `${server}${stream}&ticket=${ticket}`;
    return [await first(server + stream), signIn.status, answer.status, await first(url), await first(url)];
})(values); }"""


def test_a_page_of_another_site_opens_a_stream_with_a_ticket_and_without_a_cookie(server, issuer, elsewhere, visit):
    page = visit(elsewhere)
    assert evaluate(page, TICKET, server.url, STREAM, issuer.token("carol")) == ["refused", 403, 201, 0, "refused"]
    assert page.context.cookies(server.url) == []


@contextlib.contextmanager
def forwarding(server):
    """Forwards connections to the server. Yields the port, and a function that cuts them: the server sees no end."""
    cut, kept = [], []
    listener = socket.create_server(("127.0.0.1", 0))

    def copy(source, sink):
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                sink.sendall(received)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                upstream = socket.create_connection(("127.0.0.1", server.port))
                cut.append(client)
                kept.append(upstream)
                for pair in ((client, upstream), (upstream, client)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()

    def end():
        while cut:
            client = cut.pop()
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            client.close()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1], end
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        end()
        for upstream in kept:
            upstream.close()


FOLLOW = """(async ([stream, token]) => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    window.seen = [];
    const open = async (cursor) => {
        const target = cursor ? `${stream}&cursor=${cursor}` : stream;
        const answer = await fetch("/v1/tickets", { method: "POST", headers, body: JSON.stringify({ stream: target }) });
        window.source = new EventSource(`${target}&ticket=${(await answer.json()).ticket}`);
        for (const name of ["snapshot", "change", "reset"]) {
            source.addEventListener(name, (event) => { cursor = event.lastEventId; seen.push(name); });
        }
        source.onerror = () => { if (source.readyState === EventSource.CLOSED) open(cursor); };
    };
    await open();
})(values); }"""


def test_a_page_comes_back_with_another_ticket_after_a_loss_of_the_network(server, issuer, visit):
    bearer = issuer.bearer("dora")
    with forwarding(server) as (port, cut):
        page = visit(f"http://127.0.0.1:{port}/healthz")
        evaluate(page, FOLLOW, STREAM, issuer.token("dora"))
        page.wait_for_function("seen.length === 1")
        cut()
        page.wait_for_function("source.readyState !== EventSource.OPEN")
        assert server.request("POST", EVENTS, "increment", bearer).status == 200
        # The first EventSource gets 401 for its spent ticket.
        page.wait_for_function("seen.length === 2")
        assert page.evaluate("[source.readyState, ...seen]") == [1, "snapshot", "change"]
        assert "reason=ticket" in server.log_text()

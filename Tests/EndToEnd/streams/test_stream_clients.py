"""Streams as third-party clients read them. A client gets each event before the server sends the next. A `bye` is an end, and a lost server an error."""

import contextlib
import gzip
import json
import queue
import threading
import time

import httpx
import pytest
import requests
from harness import PATIENCE, Connection, message

#: The default encoding header of a client, and a header that requests plain text.
CODINGS = {"gzip": {}, "identity": {"Accept-Encoding": "identity"}}


@contextlib.contextmanager
def pieces(client, coding, address):
    """Opens a stream with `requests` or `httpx`. Returns its answer, and an iterator of the pieces of its text as they arrive."""
    headers = {"Accept": "text/event-stream"} | CODINGS[coding]
    if client == "requests":
        with requests.get(address, headers=headers, stream=True, timeout=PATIENCE) as answer:
            yield answer, answer.iter_content(chunk_size=None, decode_unicode=False)
    else:
        with httpx.stream("GET", address, headers=headers, timeout=PATIENCE) as answer:
            yield answer, answer.iter_bytes()


class Reader:
    """Reads a stream on a separate thread, and queues each event as it arrives."""

    def __init__(self, client, coding, address):
        self.events = queue.Queue()
        self.answer, self.fault = None, None
        self.thread = threading.Thread(target=self._read, args=(client, coding, address), daemon=True)
        self.thread.start()

    def _read(self, client, coding, address):
        text = b""
        try:
            with pieces(client, coding, address) as (self.answer, parts):
                for part in parts:
                    text += part
                    *blocks, text = text.split(b"\n\n")
                    for block in blocks:
                        fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if ": " in line)
                        if "event" in fields:
                            self.events.put((fields["event"], json.loads(fields["data"])))
        except (requests.RequestException, httpx.HTTPError) as fault:
            self.fault = fault
        finally:
            self.events.put(("end", text))

    def next(self):
        return self.events.get(timeout=PATIENCE)

    def expect(self, name):
        found, data = self.next()
        assert found == name, (found, data, self.fault)
        return data


CLIENTS = [("requests", "gzip"), ("requests", "identity"), ("httpx", "gzip"), ("httpx", "identity")]


@pytest.mark.parametrize(("client", "coding"), CLIENTS)
def test_each_event_arrives_before_the_next_is_sent_and_bye_is_an_end(session, client, coding):
    session.dispatch({"rename": "begin"})
    reader = Reader(client, coding, session.server.url + session.path + "/changes?path=/p/title")
    assert reader.expect("snapshot")["values"] == {"/p/title": "begin"}
    assert reader.answer.headers["transfer-encoding"] == "chunked" and reader.answer.headers["connection"] == "close"
    assert reader.answer.headers.get("content-encoding", "identity") == coding
    for number in range(20):
        title = f"title {number} " + "long " * (400 if number == 7 else 1)
        session.dispatch({"rename": title})
        assert reader.expect("change")["changes"][0]["value"] == title
    assert session.server.request("DELETE", session.path).status == 204
    assert reader.expect("bye")["reason"] == "deleted"
    assert reader.expect("end") == b"" and reader.fault is None


@pytest.mark.parametrize(("client", "coding"), CLIENTS)
def test_a_killed_server_is_an_error_and_no_end(serve, client, coding):
    server = serve(None)
    session = server.session("s")
    reader = Reader(client, coding, server.url + session.path + "/changes?path=/p/count")
    reader.expect("snapshot")
    session.dispatch("increment")
    reader.expect("change")
    server.kill()
    reader.expect("end")
    assert isinstance(reader.fault, (requests.exceptions.ChunkedEncodingError, httpx.RemoteProtocolError)), reader.fault


def test_requests_reads_lines_at_once(session):
    address = session.server.url + session.path + "/changes?path=/p/count"
    with requests.get(address, stream=True, timeout=PATIENCE) as answer:
        lines = answer.iter_lines()
        while not next(lines).startswith(b"data: "):
            pass
        for count in range(1, 6):
            session.dispatch({"setCount": count})
            while not (line := next(lines)).startswith(b"data: "):
                pass
            assert json.loads(line.removeprefix(b"data: "))["changes"][0]["value"] == count


def test_a_killed_server_truncates_a_body_and_a_drained_one_completes_it(serve):
    server = serve(None)
    with server.session("s").stream("/p/count") as stream:
        stream.expect("snapshot")
        server.kill()
        assert stream.cut()
    server = serve(None)
    with server.session("s").stream("/p/count") as stream:
        stream.expect("snapshot")
        server.process.terminate()
        stream.expect("bye")
        assert stream.ended()


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_http_1_0_gets_the_same_text_until_the_close(session, coding):
    """The stream shares a group, and its blocks, with streams of HTTP/1.1."""
    old, new = Connection(session.server), session.stream("/p/count")
    target = session.path + "/changes?path=/p/count"
    old.send(message("GET", target, headers={"Accept-Encoding": coding}).replace(b"HTTP/1.1", b"HTTP/1.0"))
    status, headers = old.head()
    assert status == 200 and "transfer-encoding" not in headers and headers["connection"] == "close"
    new.expect("snapshot")
    for count in range(1, 4):
        session.dispatch({"setCount": count})
        new.expect("change")
    assert session.server.request("DELETE", session.path).status == 204
    new.expect("bye")
    assert new.ended() and old.ended()
    text = old.buffer if coding == "identity" else gzip.decompress(old.buffer)
    names = [line for line in text.split(b"\n") if line.startswith(b"event: ")]
    assert names == [b"event: snapshot", *[b"event: change"] * 3, b"event: bye"]
    assert text.startswith(b":\n\nretry: ") and text.endswith(b"}\n\n")
    old.close(), new.close()


def test_a_stream_with_a_single_bye_is_complete(serve):
    server = serve(None, arguments=["--streams-per-address", 1])
    session = server.session("s")
    with session.stream("/p/count") as first:
        first.expect("snapshot")
        with session.stream("/p/count") as second:
            assert second.expect("bye").data["reason"] == "limit"
            assert second.ended()


FETCH = """async ([path]) => {
    window.seen = [];
    window.end = null;
    const response = await fetch(path, { headers: { Accept: "text/event-stream" } });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    (async () => {
        try {
            for (;;) {
                const { done, value } = await reader.read();
                if (done) break;
                window.seen.push(decoder.decode(value, { stream: true }));
            }
            window.end = "whole";
        } catch (error) {
            window.end = "cut";
        }
    })();
    return response.status;
}"""


def until(tab, expression, argument=None):
    """Waits until the expression is true. A page's policy may forbid playwright's own wait."""
    end = time.monotonic() + PATIENCE
    while not tab.evaluate(expression, argument):
        assert time.monotonic() < end, f"it never came true: {expression}"
        tab.wait_for_timeout(10)


@pytest.fixture
def tab(browser):
    """An empty page. The test opens its server in it."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("end", ["bye", "kill"])
def test_chromium_reads_each_event_at_once_and_tells_an_end_from_a_cut(serve, tab, end):
    server = serve(None)
    session = server.session("s")
    tab.goto(server.url + "/healthz")
    path = session.path + "/changes?path=/p/count"
    assert tab.evaluate(FETCH, [path]) == 200
    until(tab, "() => window.seen.join('').includes('event: snapshot')")
    tab.evaluate("(path) => { window.counts = []; window.source = new EventSource(path);"
                 "window.source.addEventListener('snapshot', () => window.counts.push('open'));"
                 "window.source.addEventListener('change', (event) => window.counts.push(JSON.parse(event.data).changes[0].value)); }", path)
    until(tab, "() => window.counts.length === 1")
    for count in range(1, 6):
        session.dispatch({"setCount": count})
        until(tab, "(count) => window.counts.at(-1) === count", count)
        until(tab, "(text) => window.seen.at(-1).includes(text)", f'"value":{count}')
    assert tab.evaluate("window.counts") == ["open", 1, 2, 3, 4, 5]
    tab.evaluate("window.source.close()")
    if end == "bye":
        assert server.request("DELETE", session.path).status == 204
    else:
        server.kill()
    until(tab, "() => window.end !== null")
    assert tab.evaluate("window.end") == ("whole" if end == "bye" else "cut")

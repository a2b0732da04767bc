# The configurations of Deployment/ work with the proxies of the machine: TLS, HTTP/2, live streams, closed resources.

import json
import re
import socket
import ssl
import time
import urllib.parse

import pytest

from fronts import NAME, Front, Recorder, shipped
from harness import PATIENCE, message

#: The most seconds from an event to its arrival. The best of several tries counts, because the machine may be busy.
EVENT_TIME_MAX = 0.1
#: The streams of one tab, and the most connections that a browser opens to one server over HTTP/1.1.
STREAMS, CONNECTIONS = 20, 6


def lines_until(stream, mark):
    """Reads lines of curl until one has the mark."""
    while mark not in (line := stream.stdout.readline()):
        assert line, f"the stream ended before {mark}"


@pytest.mark.parametrize("version", ["--http1.1", "--http2"])
def test_an_event_arrives_within_100_ms(front, upstream, bearer, version):
    path = f"/v1/apps/counter/sessions/{front.kind}{version[-1]}"
    # With gzip, because a proxy that unpacks a stream would hold it back.
    stream = front.curl(f"{path}/changes?path=/p/count", version, "--compressed", "-H", f"Authorization: {bearer['Authorization']}")
    lines_until(stream, "event: snapshot")
    seconds = []
    for number in range(1, 8):
        began = time.monotonic()
        assert upstream.request("POST", f"{path}/events", "increment", bearer).status == 200
        lines_until(stream, f'"value":{number}')
        seconds.append(time.monotonic() - began)
    stream.kill()
    stream.communicate()
    assert min(seconds) < EVENT_TIME_MAX, seconds


def test_a_stream_begins_within_100_ms(front, upstream, bearer):
    seconds = []
    for _ in range(5):
        with front.connect() as connection:
            began = time.monotonic()
            connection.send(message("GET", "/v1/apps/counter/sessions/begin/changes", headers={"Host": NAME} | bearer))
            assert b"200" in connection.until(b"\r\n")
            connection.until(b"event: snapshot")
            seconds.append(time.monotonic() - began)
    assert min(seconds) < EVENT_TIME_MAX, seconds


def test_answers_and_bodies_are_those_of_the_server(front, upstream, bearer):
    lines = b'"increment"\n' * 1_000
    fields = bearer | {"Content-Type": "application/x-ndjson"}
    path = f"/v1/apps/counter/sessions/body-{front.kind}/events"
    answers = [json.loads(line) for line in front.request("POST", path, lines, fields).body.splitlines()]
    versions = [answer["version"] for answer in answers]
    assert len(versions) == 1_000 and versions == sorted(versions)
    # The size of a body is limited by the server, which says so by the head alone. Caddy waits for the body.
    if front.kind == "caddy":
        return
    with front.connect() as connection:
        connection.send(message("POST", path, b"", {"Host": NAME, "Content-Type": "application/json"} | bearer)
                        .replace(b"Content-Length: 0", b"Content-Length: 9000000") + b"[")  # fmt: skip
        assert connection.answer().problem["type"] == "/problems/body-too-large"


def test_the_port_without_tls_leads_to_the_other(front):
    with socket.create_connection(("127.0.0.1", front.plain), PATIENCE) as connection:
        connection.sendall(f"GET /todos.html?a=b HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n".encode())
        head = connection.makefile("rb").read().decode().lower()
    assert re.match(r"http/1\.[01] 30[178] ", head) and re.search(rf"^location: https://{NAME}(:{front.port})?/todos\.html\?a=b\r$", head, re.M), head


@pytest.fixture(scope="module")
def operations(upstream, issuer):
    """The operations that need the action `operate`: pairs of a method and a path."""
    bearer = issuer.bearer("alice")
    found = set()
    for path, item in upstream.request("GET", "/openapi.json", headers=bearer).json["paths"].items():
        target = re.sub(r"\{[^}]*\}", "x", path)
        for method in item.keys() & {"get", "post", "put", "patch", "delete"}:
            # A stream has no other end, so its head is read alone.
            if method == "get" and re.search("/(changes|events)$", target):
                continue
            answer = upstream.request(method.upper(), urllib.parse.quote(target), headers=bearer)
            if answer.status == 403 and answer.json["needs"]["action"] == "operate":
                found.add((method.upper(), target))
    return found


def test_resources_for_operators_are_not_reachable(front, upstream, operations, issuer):
    operator = issuer.bearer("operator", "operator")
    assert {("GET", "/metrics"), ("GET", "/v1/streams")} <= operations
    for method, path in operations:
        # The resource may be missing at the server, but its method needs the action.
        assert upstream.request(method, path, headers=issuer.bearer("alice")).status == 403
        assert front.request(method, path, headers=operator).status == 404, (method, path)
        # The server decodes its paths. No spelling that it knows may pass.
        for spelling in spellings(path):
            there = upstream.request("GET", spelling, headers=operator).status
            here = front.request("GET", spelling, headers=operator).status
            assert here != 200, f"{spelling}: {here} of the proxy, {there} of the server"


def spellings(path):
    """Other spellings of a path."""
    encoded = "".join(f"%{ord(letter):02x}" if letter != "/" else letter for letter in path)
    return [
        encoded, encoded.upper(), path.replace("s", "%73"), path + "?", path + "?a=b", path + "/", path + ";a", path.upper(), "/" + path,
        path.replace("/", "//"), "/." + path, "/x/.." + path, "/x/%2e%2e" + path, path + "/.", path + "%20", path + "%00", path.replace("/", "%2f", 2),
        f"https://{NAME}{path}", f"https://{NAME}/{path}",
    ]  # fmt: skip


def test_fields_of_the_client_about_forwarding_are_replaced(front, authority, tmp_path):
    spoofed = {
        "X-Forwarded-For": "203.0.113.7", "x-forwarded-FOR": "203.0.113.8", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example",
        "Forwarded": "for=203.0.113.9;proto=http;host=evil.example", "X-Real-IP": "203.0.113.10",
        "Connection": "keep-alive, X-Forwarded-For, X-Forwarded-Proto",
    }  # fmt: skip
    with Recorder() as recorder, Front(front.kind, recorder.port, authority, tmp_path) as other:
        for headers in ({}, spoofed):
            assert other.request("GET", "/v1/me", headers=headers).body == b"ok"
            fields = recorder.fields()
            assert [value for name, value in fields if name == "x-forwarded-for"] == ["127.0.0.1"], fields
            assert [value for name, value in fields if name == "x-forwarded-proto"] == ["https"], fields
            assert [value.split(":")[0] for name, value in fields if name == "host"] == [NAME], fields
            assert "203.0.113" not in recorder.heads[-1] and "evil.example" not in recorder.heads[-1], fields


def test_another_host_is_refused(front, bearer):
    for host in ("evil.example", f"{NAME}.evil.example", "127.0.0.1", f"x{NAME}", f"{NAME}@evil.example"):
        assert front.request("GET", "/v1/me", headers={"Host": host} | bearer).status in (400, 421), host
    for name in (NAME.upper(), f"{NAME}:{front.port}"):
        assert front.request("GET", "/v1/me", headers={"Host": name} | bearer).status == 200, name
    # The name in the handshake does not open the door for another one.
    context = ssl._create_unverified_context()
    try:
        with socket.create_connection(("127.0.0.1", front.port), PATIENCE) as plain:
            with context.wrap_socket(plain, server_hostname="evil.example") as connection:
                connection.sendall(b"GET /v1/me HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                assert connection.makefile("rb").readline().split()[1] == b"421"
    except ssl.SSLError:
        pass


# The browser.


@pytest.fixture(scope="module")
def tabs(launch, authority):
    """Opens tabs that know the server's name and trust its certificate; `further` are arguments of their browser."""
    browsers = {}

    def open_tab(front, issuer, *further):
        if further not in browsers:
            arguments = [f"--host-resolver-rules=MAP {NAME} 127.0.0.1", f"--ignore-certificate-errors-spki-list={authority.fingerprint}"]
            browsers[further] = launch(*arguments, *further)
        context = browsers[further].new_context()
        context.add_cookies([{"name": "__Host-rivulet", "value": issuer.token("alice"), "url": front.address, "secure": True}])
        page = context.new_page()
        page.goto(f"{front.address}/problems")
        return page

    yield open_tab
    for browser in browsers.values():
        browser.close()


OPEN = """([address, count]) => {
    window.seen = Array.from({ length: count }, () => []);
    window.sources = seen.map((events) => {
        const source = new EventSource(address);
        for (const name of ["snapshot", "change", "reset", "bye"]) {
            source.addEventListener(name, (event) => events.push(`${name} ${JSON.parse(event.data).version}`));
        }
        return source;
    });
}"""


def seen_until(page, condition):
    """The events of each stream, as soon as they meet the condition."""
    end = time.monotonic() + PATIENCE
    while not condition(seen := page.evaluate("seen")):
        assert time.monotonic() < end, f"it never came true: {json.dumps(seen)}"
        page.wait_for_timeout(20)
    return seen


def protocol(page):
    return page.evaluate("performance.getEntriesByType('navigation')[0].nextHopProtocol")


def test_20_streams_of_a_tab_are_live_over_http_2_and_resume_after_a_restart_of_the_proxy(front, upstream, issuer, tabs, bearer):
    path = f"/v1/apps/counter/sessions/tab-{front.kind}"

    def dispatch():
        return upstream.request("POST", f"{path}/events", "increment", bearer).json["version"]

    first = dispatch()
    page = tabs(front, issuer)
    assert protocol(page) == "h2"
    page.evaluate(OPEN, [f"{path}/changes?path=/p/count&resume=all", STREAMS])
    seen_until(page, lambda seen: all(seen))
    dispatch()
    seen_until(page, lambda seen: all(len(events) == 2 for events in seen))
    front.stop()
    for _ in range(3):
        dispatch()
    front.start()
    last = dispatch()
    seen = seen_until(page, lambda seen: all(events[-1] == f"change {last}" for events in seen))
    # Each version once and in order: the streams have resumed after their last event.
    expected = [f"snapshot {first}", *(f"change {version}" for version in range(first + 1, last + 1))]
    assert seen == [expected] * STREAMS
    page.context.close()


def test_each_location_of_nginx_is_a_path():
    # nginx takes a location without a path, which no request matches.
    locations = re.findall(r"^ *location (.*?) *\{", shipped("nginx"), re.MULTILINE)
    assert len(locations) == 5 and all(re.search(r"(^|[ ^])/", location) for location in locations), locations


# The limit is the browser's, so one proxy is enough.
@pytest.mark.parametrize("front", ["nginx"], indirect=True)
def test_over_http_1_a_browser_opens_6_streams(front, upstream, issuer, tabs, bearer):
    path = f"/v1/apps/counter/sessions/old-{front.kind}"
    page = tabs(front, issuer, "--disable-http2")
    assert protocol(page) == "http/1.1"
    page.evaluate(OPEN, [f"{path}/changes?path=/p/count", STREAMS])
    seen_until(page, lambda seen: sum(map(bool, seen)) == CONNECTIONS)
    for _ in range(2):
        upstream.request("POST", f"{path}/events", "increment", bearer)
    seen = seen_until(page, lambda seen: sum(len(events) == 3 for events in seen) == CONNECTIONS)
    assert sum(map(bool, seen)) == CONNECTIONS, "the other streams wait for a connection"
    page.context.close()

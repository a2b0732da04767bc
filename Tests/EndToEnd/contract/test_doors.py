# The requests that the server handles: by the host that they name, and by the page that sent them.

import socket

import pytest

from harness import PUBLIC, Connection, Server, message, run
from metrics import Metrics

PAGE = "http://localhost:5173"
ME = "/v1/apps/counter/sessions/me"


def lines(server, *head, body=b""):
    """The answer to a request with exactly these header lines."""
    with Connection(server) as connection:
        connection.send("\r\n".join(head).encode() + b"\r\n\r\n" + body)
        return connection.answer(head[0].split(" ")[0])


def raw(server, *head):
    """The whole answer as text, with every header line."""
    with Connection(server) as connection:
        connection.send("\r\n".join([*head, "Connection: close"]).encode() + b"\r\n\r\n")
        assert connection.ended()
        return connection.buffer.decode()


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A server with a public URL, allowed hosts, allowed pages, and trusted proxies."""
    options = ["--allowed-hosts", "a.example, .b.example", "--allowed-origins", f"{PAGE},https://*.b.example",
               "--public-url", "https://rivulet.example", "--trusted-proxies", "127.0.0.0/8,::1", "--open"]  # fmt: skip
    with Server(tmp_path_factory.mktemp("guarded") / "data", arguments=options) as server:
        yield server
        assert server.stop() == 0, server.log_text()


# Hosts


HOSTS = ["127.0.0.1", "localhost", "localhost:1", "LOCALHOST.", "a.localhost", "[::1]:80", "10.1.2.3", socket.gethostname()]


@pytest.mark.parametrize("host", [*HOSTS, "a.example", "A.example.:8", "x.b.example", "rivulet.example"])
def test_a_host_of_the_server_is_served(guarded, host):
    assert lines(guarded, "GET /v1/apps HTTP/1.1", f"Host: {host}").status == 200
    assert lines(guarded, f"GET http://{host}/v1/apps HTTP/1.1", "Host: evil.example").status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "b.example", "localhost.evil.example", "127.0.0.1.nip.io"])
def test_another_host_is_421_which_names_the_option(guarded, host):
    for target in ("/", "/v1/apps", "/metrics", "/openapi.json", "/nothing"):
        answer = lines(guarded, f"GET {target} HTTP/1.1", f"Host: {host}")
        assert answer.problem["status"] == 421 and f"--allowed-hosts {host.split(':')[0]} " in answer.problem["detail"]
    assert lines(guarded, f"GET http://{host}/v1/apps HTTP/1.1", "Host: localhost").status == 421
    assert lines(guarded, "GET /v1/apps HTTP/1.0", f"Host: {host}").status == 421
    assert lines(guarded, "OPTIONS * HTTP/1.1", f"Host: {host}").status == 421


@pytest.mark.parametrize("host", ["a!b", "x..b", "[::1::]", "(1)"])
def test_text_that_is_no_host_name_is_not_suggested_for_the_option(guarded, host):
    detail = lines(guarded, "GET /v1/apps HTTP/1.1", f"Host: {host}").problem["detail"]
    assert "--allowed-hosts" not in detail and "no host name" in detail


def test_a_host_with_a_dot_at_the_end_is_suggested_in_the_form_of_the_option(guarded):
    detail = lines(guarded, "GET /v1/apps HTTP/1.1", "Host: evil.example.").problem["detail"]
    assert "--allowed-hosts evil.example (" in detail


def test_a_public_url_with_a_dot_at_the_end_is_served(serve):
    server = serve(None, arguments=["--public-url", "https://rivulet.example.", "--open"])
    for host in ("rivulet.example", "rivulet.example.:443"):
        assert lines(server, "GET /v1/apps HTTP/1.1", f"Host: {host}").status == 200


def test_an_empty_or_missing_host_is_refused(guarded):
    assert lines(guarded, "GET /v1/apps HTTP/1.1", "Host:").status == 421
    assert lines(guarded, "GET /v1/apps HTTP/1.0", "Host:").status == 421
    assert lines(guarded, "GET /v1/apps HTTP/1.0").status == 200
    assert lines(guarded, "GET /v1/apps HTTP/1.1", "Accept: */*").status == 400


def test_health_is_answered_for_any_host(guarded):
    for target in ("/healthz", "/readyz"):
        assert lines(guarded, f"GET {target} HTTP/1.1", "Host: evil.example").status == 200
        assert lines(guarded, f"GET {target} HTTP/1.1", "Host:").status == 200
    with Connection(guarded) as connection:  # The exemption holds for one request, not for its connection.
        for target, status in (("/healthz", 200), ("/metrics", 421), ("/healthz", 200), ("/v1/apps", 421)):
            assert connection.request("GET", target, headers={"Host": "evil.example"}).status == status
        assert connection.request("GET", "/metrics").status == 200


def test_a_refused_request_changes_nothing_and_is_counted(serve, data):
    server = serve(data)
    session = server.session("s")
    session.dispatch("increment")
    site = {"Sec-Fetch-Site": "cross-site"}
    assert server.request("POST", session.path + "/reset", headers={"Host": "evil.example"}).status == 421
    assert server.request("POST", session.path + "/reset", headers=site).status == 403
    assert server.request("DELETE", session.path, headers=site).status == 403
    assert server.request("POST", session.path + "/reset", headers={"Content-Type": "text/plain"}).status == 415
    assert session.state("/p/count") == 1 and session.info()["version"] == 1
    assert {dict(labels)["cause"]: count for labels, count in Metrics(server).nonzero("rivulet_requests_refused_total").items()} == {
        "host": 1, "cross_site": 2, "content_type": 1,
    }  # fmt: skip


# Pages


def fetch(server, method="GET", target="/v1/apps", body=None, host="localhost", **fields):
    """A request with these fields, such as `Sec_Fetch_Site`."""
    headers = {"Host": host} | {name.replace("_", "-"): value for name, value in fields.items()}
    return server.request(method, target, body, headers)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "SAME-ORIGIN", "other", "none, none"])
def test_a_page_of_another_site_is_refused(shared, session, site):
    attacks = [("POST", "/reset"), ("POST", "/restore?version=0"), ("POST", "/fork"), ("GET", "/state"), ("GET", "/changes"), ("HEAD", "/state"),
               ("OPTIONS", "/state"), ("DELETE", ""), ("PUT", ""), ("BREW", "/state")]  # fmt: skip
    for method, part in attacks:
        answer = fetch(shared, method, session.path + part, Sec_Fetch_Site=site, Origin="https://evil.example")
        assert answer.status == 403, (method, part)
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        if method != "HEAD":
            assert "--allowed-origins https://evil.example" in answer.problem["detail"]
    assert shared.get(session.path).status == 404


def test_a_prefetch_is_for_pages_of_the_server_only(shared, session):
    session.dispatch("increment")
    for purpose in ("prefetch", "prefetch;prerender", "Prefetch;anonymous-client-ip"):
        for part in ("/state", "/changes"):
            answer = fetch(shared, target=session.path + part, Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate", Sec_Purpose=purpose)
            assert answer.status == 403, (purpose, part)
        own = fetch(shared, target=session.path + "/state", Sec_Fetch_Site="same-origin", Sec_Purpose=purpose)
        page = fetch(shared, target="/todos.html", Sec_Fetch_Site="none", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document", Sec_Purpose=purpose)
        assert (own.status, page.status) == (200, 200)
    assert fetch(shared, target=session.path + "/state", Sec_Fetch_Site="none", Sec_Purpose="other").status == 200


def test_a_page_of_the_server_is_served(shared, session):
    for site in ("same-origin", "none"):
        assert fetch(shared, "POST", session.path + "/events", "increment", Sec_Fetch_Site=site).status == 200
    assert session.state("/p/count") == 2
    with Connection(shared) as connection:
        twice = b"GET /v1/apps HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: none\r\nSec-Fetch-Site: none\r\n\r\n"
        connection.send(twice)
        assert connection.answer().status == 403


def test_without_sec_fetch_site_the_origin_decides(guarded):
    port = guarded.port
    for origin, host in [(f"http://localhost:{port}", f"localhost:{port}"), (f"https://localhost:{port}", f"localhost:{port}"),
                         ("https://a.example", "a.example"), ("http://a.example", "a.example:80"),
                         ("https://rivulet.example", "127.0.0.1")]:  # fmt: skip
        assert fetch(guarded, Origin=origin, host=host).status == 200, origin
    for origin in ("null", "", "https://evil.example", f"http://localhost:{port + 1}", "http://localhost"):
        assert fetch(guarded, Origin=origin, host=f"localhost:{port}").status == 403, origin


def test_a_link_of_another_site_leads_to_a_page_only(shared):
    link = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    for method in ("GET", "HEAD"):
        for target in ("/", "/todos.html"):
            assert fetch(shared, method, target, **link).status == 200
        for target in ("/v1/apps", ME + "/state", "/metrics", "/openapi.json"):
            assert fetch(shared, method, target, **link).status == 403
    assert fetch(shared, "POST", "/", **link).status == 403
    for other in ({"Sec_Fetch_Dest": "iframe"}, {"Sec_Fetch_Mode": "no-cors"}):
        assert fetch(shared, target="/", **link | other).status == 403


@pytest.mark.parametrize("kind", ["text/plain", "Text/Plain; charset=utf-8", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"])
def test_a_post_without_a_body_refuses_the_content_types_of_forms(shared, session, kind):
    session.dispatch("increment")
    for target in (*(session.path + part for part in ("/reset", "/restore?version=0", "/fork")), "/v1/apps/counter/sessions",
                   "/v1/apps/notes/values/hapticsEnabled/toggle"):  # fmt: skip
        for body in (None, b"x=y"):
            answer = shared.request("POST", target, body, {"Content-Type": kind})
            assert answer.problem["status"] == 415 and "Content-Type" in answer.problem["detail"], target
    assert session.info()["version"] == 1
    assert shared.request("POST", session.path + "/fork").status == 201


# CORS


def test_a_page_of_an_allowed_origin_may_read_every_answer(guarded):
    session = guarded.session("cors")
    for site in ({}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
        for method, target, body, status in [
            ("GET", "/v1/apps", None, 200), ("GET", "/rivulet.js", None, 200), ("POST", session.path + "/events", "increment", 200),
            ("POST", session.path + "/events", "unknown", 422), ("GET", "/v1/none", None, 404), ("GET", "/none", None, 404),
            ("PUT", "/v1/apps", {}, 405), ("GET", session.path + "/state/none", None, 400),
            ("POST", session.path + "/reset", b"x", 415), ("GET", "/metrics", None, 200), ("GET", "/healthz", None, 200),
            ("POST", session.path + "/events", b"[" * 2_000_000, 413),
        ]:  # fmt: skip
            plain = {"Content_Type": "text/plain"} if body == b"x" else {}
            answer = fetch(guarded, method, target, body, Origin=PAGE, **site, **plain)
            assert answer.status == status, (method, target, answer)
            assert answer.headers["access-control-allow-origin"] == PAGE
            assert answer.headers["access-control-allow-credentials"] == "true"
            assert {"ETag", "Rivulet-Version", "Location"} <= set(answer.headers["access-control-expose-headers"].split(", "))
            assert "cross-origin-resource-policy" not in answer.headers
    assert fetch(guarded, Origin="https://x.b.example", Sec_Fetch_Site="cross-site").status == 200
    assert fetch(guarded, Origin="https://y.x.b.example", Sec_Fetch_Site="cross-site").status == 403
    assert fetch(guarded, Origin=PAGE, host="evil.example").headers["access-control-allow-origin"] == PAGE


def test_answers_vary_by_origin(guarded):
    for fields in ([], [f"Origin: {PAGE}"], ["Sec-Fetch-Site: same-origin"], ["Origin: https://evil.example"]):
        assert "\r\nVary: Origin\r\n" in raw(guarded, "GET /rivulet.js HTTP/1.1", "Host: localhost", *fields)


def test_a_request_that_cannot_be_read_is_answered_to_its_page(guarded):
    post, long = "POST / HTTP/1.1", "POST /" + "x" * 8_192 + " HTTP/1.1"
    for line, faults, status in [
        (post, ["Content-Length: 1", "Content-Length: 2"], 400), (post, ["Transfer-Encoding: x, y"], 501), (post, ["Expect: nothing"], 417),
        (post, ["Bad Name: x"], 400), (post, ["Host: two"], 400), ("POST / HTTP/2.0", [], 505), ("POST / HTTP", [], 400), ("POST /# HTTP/1.1", [], 400),
        ("X" * 33 + " / HTTP/1.1", [], 501), (long, [], 414), (post, ["A: 1"] * 128, 431),
    ]:  # fmt: skip
        for origin in (PAGE, "https://evil.example"):
            for lines in ([f"Origin: {origin}", *faults], [*faults, f"Origin: {origin}"]):
                text = raw(guarded, line, "Host: localhost", *lines)
                assert text.startswith(f"HTTP/1.1 {status} "), (line[:40], faults, text)
                if origin == PAGE:
                    assert f"\r\nAccess-Control-Allow-Origin: {PAGE}\r\n" in text, (line[:40], lines)
                else:
                    assert "Access-Control" not in text and "\r\nCross-Origin-Resource-Policy: same-origin\r\n" in text
    text = raw(guarded, post, "Host: localhost", f"Origin: {PAGE}", "A: " + "x" * 17_000)
    assert text.startswith("HTTP/1.1 431 ") and f"\r\nAccess-Control-Allow-Origin: {PAGE}\r\n" in text
    # A request cannot have two origins.
    assert "Access-Control" not in raw(guarded, post, f"Origin: {PAGE}", f"Origin: {PAGE}")


def test_an_allowed_page_may_read_streams_also_one_with_a_single_bye(serve):
    server = serve(None, arguments=["--allowed-origins", PAGE, "--streams-per-address", "1"])
    with Connection(server) as first, Connection(server) as second:
        for connection, event in ((first, b"event: snapshot"), (second, b"event: bye")):
            headers = {"Accept": "text/event-stream", "Origin": PAGE, "Sec-Fetch-Site": "same-site"}
            connection.send(message("GET", server.session("s").path + "/changes", headers=headers))
            status, fields = connection.head()
            assert status == 200 and fields["access-control-allow-origin"] == PAGE
            connection.until(event)


def test_a_preflight_is_answered_with_the_methods_of_the_route(guarded):
    def ask(target, **fields):
        headers = {"Origin": PAGE, "Sec_Fetch_Site": "same-site", "Access_Control_Request_Method": "POST"} | fields
        return fetch(guarded, "OPTIONS", target, **headers)

    for target, methods in {
        "/v1/apps/counter/sessions/s/events": "GET, HEAD, POST, OPTIONS",
        "/v1/apps/counter/sessions/s/state/p/count": "GET, HEAD, PUT, OPTIONS",
        "/v1/apps/counter/sessions/s/state/p/history": "GET, HEAD, OPTIONS",
        ME + "/reset": "POST, OPTIONS",
        "/rivulet.js": "GET, HEAD, OPTIONS",
    }.items():
        answer = ask(target, Access_Control_Request_Headers="content-type,if-match")
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["access-control-allow-methods"] == methods == answer.headers["allow"]
        assert answer.headers["access-control-allow-origin"] == PAGE
        assert answer.headers["access-control-max-age"] == "7200"
        asked = {"content-type", "if-match", "if-none-match", "idempotency-key", "prefer", "last-event-id", "traceparent"}
        assert asked <= set(answer.headers["access-control-allow-headers"].split(", "))
        assert "set-cookie" not in answer.headers
    assert ask("/v1/none").headers["access-control-allow-origin"] == PAGE
    assert ask("/v1/none").status == 404
    refused = ask("/v1/apps", Origin="https://evil.example")
    assert refused.status == 403 and "access-control-allow-origin" not in refused.headers


def test_options_lists_the_methods(shared):
    for target, allowed in {"/metrics": "GET, HEAD", ME: "GET, HEAD, PUT, DELETE", "/v1/streams/0-0-0-0": "GET, HEAD, PATCH, DELETE",
                            "*": "GET, HEAD, POST, PUT, PATCH, DELETE"}.items():  # fmt: skip
        answer = shared.request("OPTIONS", target)
        assert (answer.status, answer.body, answer.headers["allow"]) == (204, b"", allowed + ", OPTIONS")
        assert "set-cookie" not in answer.headers and "access-control-allow-methods" not in answer.headers
    assert shared.request("OPTIONS", "/v1/none").status == 404


def test_me_is_for_pages_whose_browser_keeps_the_cookie(guarded):
    cookie = guarded.get(ME + "/state").headers["set-cookie"].split(";")[0]
    for page in ({"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "odd"}, {"host": "127.0.0.1"}):
        answer = fetch(guarded, target=ME + "/state", Origin=PAGE, **page)
        assert answer.problem["status"] == 403 and "one host name" in answer.problem["detail"]
        assert answer.headers["access-control-allow-origin"] == PAGE and "set-cookie" not in answer.headers
        assert fetch(guarded, target=ME + "/state", Origin=PAGE, Cookie="rivulet-session=x.y", **page).status == 403
        known = fetch(guarded, target=ME + "/state", Origin=PAGE, Cookie=cookie, **page)
        assert known.status == 200 and "set-cookie" not in known.headers
    for page in ({"Sec_Fetch_Site": "same-site"}, {}):
        assert "set-cookie" in fetch(guarded, target=ME + "/state", Origin=PAGE, **page).headers
    causes = Metrics(guarded).nonzero("rivulet_requests_refused_total")
    assert causes[(("cause", "caller"),)] == 6


def test_a_star_allows_every_resource_except_me(serve):
    server = serve(None, arguments=["--allowed-origins", "*"])
    page = {"Origin": "https://any.example", "Sec_Fetch_Site": "cross-site"}
    answer = fetch(server, **page)
    assert answer.status == 200 and answer.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in answer.headers
    cookie = server.get(ME + "/state").headers["set-cookie"].split(";")[0]
    for site in ("cross-site", "same-site"):
        refused = fetch(server, target=ME + "/state", **page | {"Sec_Fetch_Site": site}, Cookie=cookie)
        assert refused.problem["status"] == 403 and refused.headers["access-control-allow-origin"] == "*"
    assert fetch(server, Origin="null", Sec_Fetch_Site="cross-site").status == 403


# Headers


def test_every_answer_has_the_constant_fields(shared, session):
    for method, target, status in [("GET", "/", 200), ("GET", "/v1/apps", 200), ("GET", "/none", 404), ("BREW", "/v1/apps", 405), ("HEAD", "/", 200),
                                   ("OPTIONS", "/v1/apps", 204), ("POST", session.path + "/reset", 200)]:  # fmt: skip
        text = raw(shared, f"{method} {target} HTTP/1.1", "Host: localhost")
        assert text.startswith(f"HTTP/1.1 {status} ")
        assert text.count("X-Content-Type-Options: nosniff\r\n") == 1
        assert text.count("Cross-Origin-Resource-Policy: same-origin\r\n") == 1
    with session.stream() as stream:
        assert stream.headers["x-content-type-options"] == "nosniff"
        assert stream.headers["cross-origin-resource-policy"] == "same-origin"
    assert "X-Content-Type-Options: nosniff\r\n" in raw(shared, "GET / HTTP/1.1", "Host: localhost", "Host: localhost")


def test_a_page_gets_the_policy_of_its_meta_element_and_more(shared):
    for name in ("index.html", "todos.html", "notes.html"):
        meta = (PUBLIC / name).read_text().split('"Content-Security-Policy"', 1)[1].split('content="', 1)[1].split('"', 1)[0]
        answer = shared.get("/" + name)
        assert answer.headers["content-security-policy"] == meta + "; frame-ancestors 'none'"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["referrer-policy"] == "no-referrer"
        unchanged = shared.get("/" + name, If_None_Match=answer.headers["etag"])
        assert unchanged.status == 304
        assert unchanged.headers["content-security-policy"] == answer.headers["content-security-policy"]
    assert "content-security-policy" not in shared.get("/app.js").headers


def test_the_policy_is_an_option(serve):
    server = serve(None, arguments=["--content-security-policy", "default-src 'self'"])
    assert server.get("/").headers["content-security-policy"] == "default-src 'self'"


def test_every_answer_keeps_browsers_on_https_if_the_option_says_so(serve, shared):
    url, origin = "https://rivulet.example", "https://a.example"
    server = serve(None, arguments=["--public-url", url, "--open", "--hsts", "30", "--allowed-origins", origin])
    for headers in ({}, {"Host": "evil.example"}, {"Origin": origin, "Sec-Fetch-Site": "cross-site"}, {"Origin": "https://b.example"}):
        for target in ("/", "/v1/apps", "/healthz", "/nothing"):
            assert server.get(target, **headers).headers["strict-transport-security"] == "max-age=2592000", (headers, target)
    with server.session("hsts").stream("/p/count") as stream:
        assert stream.headers["strict-transport-security"] == "max-age=2592000"
    assert "\r\nStrict-Transport-Security: max-age=2592000\r\n" in raw(server, "GET / HTTP/1.1", "Host: localhost", "Host: localhost")
    assert "strict-transport-security" not in shared.get("/").headers
    again = serve(None, arguments=["--public-url", url, "--open", "--hsts", "0"])
    assert again.get("/").headers["strict-transport-security"] == "max-age=0"


def test_browsers_are_kept_on_https_only_if_clients_have_an_https_address():
    for arguments in (("--hsts", "1"), ("--hsts", "1", "--public-url", "http://rivulet.example", "--open")):
        line = refused_start(*arguments)
        assert "--public-url https://" in line and "leave --hsts out" in line
    for days in ("3651", "-1"):
        assert "3650 days" in refused_start(f"--hsts={days}", "--public-url", "https://rivulet.example", "--open")


def test_the_headers_of_a_trusted_proxy_are_used(serve, shared):
    trusting = serve(None, arguments=["--trusted-proxies", "127.0.0.0/8,::1"])

    def is_secure(server, *values):
        fields = [f"X-Forwarded-Proto: {value}" for value in values]
        return "; Secure" in raw(server, f"GET {ME}/state HTTP/1.1", "Host: localhost", *fields)

    assert is_secure(trusting, "https") and is_secure(trusting, "HTTPS")
    assert not is_secure(trusting, "http") and not is_secure(trusting) and not is_secure(trusting, "https", "http")
    assert not is_secure(shared, "https")


# The start


def refused_start(*arguments):
    outcome = run("serve", "--memory", "--port", 0, *arguments)
    assert outcome.returncode == 1 and outcome.stdout == ""
    [line] = outcome.stderr.strip().splitlines()
    return line


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_server_that_others_reach_must_be_open(host, serve):
    line = refused_start("--host", host)
    assert host in line and "--open" in line and "RIVULET_OPEN=1" in line
    server = serve(None, arguments=["--host", host, "--open"])
    assert server.stop() == 0
    assert server.log_text().count("This server is open") == 1


def test_a_server_on_a_loopback_address_needs_no_option(serve):
    for arguments in (["--host", "127.0.0.2"], ["--host", "::1"], ["--open"]):
        server = serve(None, arguments=arguments)
        assert server.stop() == 0
        assert "This server is open" not in server.log_text()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--allowed-hosts", "*"), ("--allowed-hosts", "https://a.example"), ("--allowed-origins", "null"), ("--allowed-origins", "a.example"),
     ("--public-url", "rivulet.example"), ("--trusted-proxies", "proxy"), ("--content-security-policy", "a\nb")],
)  # fmt: skip
def test_an_invalid_option_is_refused_and_named(option, value):
    line = refused_start(option, value)
    assert option in line and value.split("\n")[0] in line


def test_the_first_refusal_of_a_kind_is_explained_in_the_log(serve):
    server = serve(None)
    for _ in range(2):
        assert server.get("/openapi.json", Host="canary.example").status == 421
        assert server.get("/openapi.json", Origin="http://canary.example").status == 403
    log = server.log_text()
    for option in ("--allowed-hosts", "--allowed-origins"):
        assert log.count(option) == 1, log
    assert "canary" not in log


def test_a_star_as_allowed_origin_logs_a_warning(serve):
    server = serve(None, arguments=["--allowed-origins", "*"])
    # The start's log lines come after its address line.
    assert server.stop() == 0
    assert "--allowed-origins has *: pages of every site may read and change all sessions except me." in server.log_text()

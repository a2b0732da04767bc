# Pages of other origins in a real browser: an attack changes nothing, and an allowed page works.

import functools
import http.server
import pathlib
import re
import threading
import time

import pytest

from harness import PATIENCE, ROOT
from metrics import Metrics

SECURITY = ROOT / "Documentation" / "Security.md"


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Another server with a page. Yields a function that returns the page's address under a host. Each host is another origin."""
    folder = tmp_path_factory.mktemp("elsewhere")
    pathlib.Path(folder, "index.html").write_text("<!doctype html><title>elsewhere</title><link rel=icon href=data:,>")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder)) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield lambda host: f"http://{host}:{site.server_port}"
        site.shutdown()


def evaluate(page, script, *arguments):
    """The script's result. playwright itself would wait without limit."""
    late = f"new Promise((_, fail) => setTimeout(() => fail(new Error('the script did not end')), {1000 * PATIENCE}))"
    return page.evaluate(f"(values) => Promise.race([({script})(values), {late}])", list(arguments))


#: Every way in which a page can send a request without a preflight.
ATTACK = """async ([server, session]) => {
    const calm = (promise) => promise.then(() => 1, () => 1);
    const settled = (element) => new Promise((done) => { element.onload = element.onerror = done; setTimeout(done, 3000); });
    const of = `${server}/v1/apps/counter/sessions/${session}`;
    const posts = [`${of}/reset`, `${of}/restore?version=0`, `${of}/fork`, `${server}/v1/apps/counter/sessions`,
                   `${server}/v1/apps/notes/values/hapticsEnabled/toggle`, `${of}/events`];
    const tried = [];
    for (const url of posts) {
        for (const credentials of ["omit", "include"]) tried.push(calm(fetch(url, { method: "POST", mode: "no-cors", credentials })));
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
            const headers = { "Content-Type": type };
            tried.push(calm(fetch(url, { method: "POST", mode: "no-cors", headers, body: '"increment"' })));
        }
        tried.push(calm(fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: '"increment"' })));
        tried.push(navigator.sendBeacon(url, '"increment"'));
        for (const enctype of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
            const frame = document.createElement("iframe");
            frame.name = "f" + tried.length;
            document.body.append(frame);
            const form = Object.assign(document.createElement("form"), { method: "POST", action: url, enctype, target: frame.name });
            form.append(Object.assign(document.createElement("input"), { name: '"increment"' }));
            document.body.append(form);
            tried.push(settled(frame));
            form.submit();
        }
    }
    for (const method of ["PUT", "PATCH", "DELETE"]) tried.push(calm(fetch(of, { method })));
    tried.push(calm(fetch(`${of}/state/p/count`, { method: "PUT", headers: { "Content-Type": "application/json" }, body: "9" })));
    let seen = 0;
    for (const url of [`${of}/state`, `${of}/changes`, `${server}/v1/apps`, `${server}/metrics`, `${server}/v1/streams`, `${server}/rivulet.js`]) {
        for (const tag of ["img", "script", "iframe"]) {
            const element = document.createElement(tag);
            element.src = url;
            if (tag === "script") element.addEventListener("load", () => (seen += 1));
            if (tag === "img") element.addEventListener("load", () => (seen += 1));
            tried.push(settled(element));
            document.body.append(element);
        }
        tried.push(fetch(url).then(() => (seen += 1), () => 0));
    }
    const source = new EventSource(`${of}/changes`);
    tried.push(new Promise((done) => { source.onopen = () => done((seen += 1)); source.onerror = done; }));
    tried.push(import(`${server}/rivulet.js`).then(() => (seen += 1), () => 0));
    await Promise.all(tried);
    return [tried.length, seen];
}"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "another site"])
def test_a_page_of_another_origin_changes_and_sees_nothing(serve, elsewhere, visit, host):
    server = serve(None)
    session = server.session("victim")
    session.dispatch("increment")
    session.dispatch({"rename": "Mine"})
    before = session.state(), session.info()["version"], server.get("/v1/apps/notes/values/hapticsEnabled").body
    tried, seen = evaluate(visit(elsewhere(host)), ATTACK, server.url, "victim")
    assert tried > 80 and seen == 0
    assert (session.state(), session.info()["version"], server.get("/v1/apps/notes/values/hapticsEnabled").body) == before
    sessions = server.get("/v1/apps/counter/sessions").json["sessions"]
    assert [one["id"] for one in sessions] == ["victim"]
    causes = {dict(labels)["cause"]: count for labels, count in Metrics(server).nonzero("rivulet_requests_refused_total").items()}
    assert causes["cross_site"] > 60, causes


PREFETCH = """([server]) => {
    const urls = ["state", "changes"].map((part) => `${server}/v1/apps/counter/sessions/victim/${part}`);
    const rules = { prefetch: [{ source: "list", eagerness: "immediate", urls }] };
    document.head.append(Object.assign(document.createElement("script"), { type: "speculationrules", textContent: JSON.stringify(rules) }));
}"""


def test_a_prefetch_for_a_page_of_another_site_is_refused_and_opens_no_stream(serve, elsewhere, visit):
    server = serve(None)
    server.session("victim").dispatch("increment")
    evaluate(visit(elsewhere("localhost")), PREFETCH, server.url)
    end = time.monotonic() + PATIENCE
    refused = {}
    while sum(refused.values()) < 2 and time.monotonic() < end:
        time.sleep(0.05)
        metrics = Metrics(server)
        refused = {dict(labels)["cause"]: count for labels, count in metrics.nonzero("rivulet_requests_refused_total").items()}
    assert refused == {"cross_site": 2} and not metrics.nonzero("rivulet_streams_opened_total")


def test_a_link_from_another_site_opens_the_page(serve, elsewhere, visit):
    server = serve(None)
    page = visit(elsewhere("localhost"))
    page.evaluate("(url) => { location = url; }", server.url + "/#linked")
    page.wait_for_selector('#connection[data-state="live"]')


ALLOWED = """async ([server]) => {
    const { connect, followValue } = await import(`${server}/rivulet.js`);
    const options = { base: server, app: "counter", session: "front", shared: true };
    const [one, mine] = [connect(options), connect({ ...options, session: "me" })];
    const counts = [];
    for (const session of [one, mine]) {
        const seen = new Promise((done) => session.observe("/p/count", (values) => values["/p/count"] === 2 && done()));
        await session.dispatch("increment");
        await session.dispatch("increment");
        await seen;
        counts.push((await session.state("/p/count")).value, (await session.state("/p/count")).version);
    }
    const plain = await fetch(`${server}/v1/apps/counter/sessions/front/state/p/count`);
    counts.push(await plain.json(), Number(plain.headers.get("Rivulet-Version")), plain.headers.get("ETag") !== null);
    const refused = await one.dispatch({ rename: "" }).catch((error) => error);
    counts.push(refused.status, refused.message);
    const missing = await fetch(`${server}/v1/none`);
    counts.push(missing.status, (await missing.json()).status);
    const text = await new Promise((done) => {
        const source = new EventSource(`${server}/v1/apps/counter/sessions/front/changes?path=/p/count`);
        source.addEventListener("snapshot", (event) => { source.close(); done(JSON.parse(event.data).values["/p/count"]); });
    });
    one.close();
    mine.close();
    return [...counts, text];
}"""


def test_a_page_of_an_allowed_origin_works(serve, elsewhere, visit):
    origin = elsewhere("127.0.0.1")
    server = serve(None, arguments=["--allowed-origins", origin])
    page = visit(origin)
    got = evaluate(page, ALLOWED, server.url)
    assert got == [2, 2, 2, 2, 2, 2, True, 422, "title must not be empty", 404, 404, 2]
    [cookie] = page.context.cookies(server.url)
    assert cookie["name"] == "rivulet-session"


def test_the_recipe_for_a_dev_server_works(serve, elsewhere, visit):
    """The page's part of the recipe, unchanged except for the port of this server."""
    recipe = re.search(r"```js\n(const server = .*?)```", SECURITY.read_text(), re.S)[1]
    origin = elsewhere("127.0.0.1")
    server = serve(None, arguments=["--allowed-origins", origin])
    script = recipe.replace("http://127.0.0.1:8080", server.url)
    page = visit(origin)
    with page.expect_console_message(lambda entry: entry.text == "1"):
        page.add_script_tag(type="module", content=script)

# The pages behind the types of problem documents.

import html
import json
import re

import pytest

from harness import PUBLIC, QUOTA_EXCEEDED


@pytest.fixture(scope="module")
def rows(shared):
    """Each type with its status and its title, as in the list."""
    rows = re.findall(r'<tr><td>(\d+)<td><a href="(.+?)">(.+?)</a><td>(.+)', shared.get("/problems").body.decode())
    assert len(rows) > 50
    assert [path for _, path, _, _ in rows] == [f"/problems/{name}" for _, _, name, _ in rows]
    return [(path, int(status), html.unescape(title)) for status, path, _, title in rows]


def test_every_type_has_a_page_with_cause_remedy_and_an_example(shared, rows):
    for path, status, title in rows:
        page = shared.get(path)
        assert page.status == 200
        text = page.body.decode()
        assert f"<title>{title}</title>" in html.unescape(text) and f"Status {status} " in text
        assert "<h2>Cause</h2>" in text and "<h2>Remedy</h2>" in text
        example = json.loads(html.unescape(re.search(r"<pre><code>(.*?)</code></pre>", text, re.S)[1]))
        assert (example["status"], example["title"]) == (status, title) and example["detail"]
        assert example["type"] == (QUOTA_EXCEEDED if status == 429 else path)


def test_a_refusal_has_the_type_and_the_title_of_its_page(shared, rows):
    problem = shared.get("/v1/apps/nothing").problem
    assert problem["type"] == "/problems/app-not-found"
    assert ("/problems/app-not-found", 404, problem["title"]) in rows


def test_a_page_needs_no_credentials_and_is_served_like_other_pages(shared):
    page, file = shared.get("/problems/key-reused"), shared.get("/index.html")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "set-cookie" not in page.headers
    for name in ["content-security-policy", "cross-origin-opener-policy", "referrer-policy", "x-content-type-options", "cache-control"]:
        assert page.headers[name] == file.headers[name], name
    assert shared.get("/problems/key-reused", If_None_Match=page.headers["etag"]).status == 304
    assert shared.get("/problems/key-reused", Accept_Encoding="gzip").headers["content-encoding"] == "gzip"
    assert shared.get("/problems/key-reused", Host="evil.example").problem["type"] == "/problems/misdirected-request"
    assert shared.get("/problems/key-reused", Sec_Fetch_Site="cross-site").problem["type"] == "/problems/cross-site"


@pytest.mark.parametrize("path", ["/problems", "/problems/", "/problems/not-found"])
def test_a_page_has_head_and_options(shared, path):
    page = shared.get(path)
    assert page.status == 200
    head = shared.request("HEAD", path)
    assert (head.status, head.body) == (200, b"") and head.headers["content-length"] == str(len(page.body))
    options = shared.request("OPTIONS", path)
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    refused = shared.request("POST", path, {})
    assert refused.problem["type"] == "/problems/method-not-allowed" and refused.status == 405


def test_an_unknown_type_is_answered_like_a_missing_file(shared):
    assert not (PUBLIC / "problems").exists()
    for path in ["/problems/nothing", "/problems/not-found/", "/problems/not-found/x"]:
        assert shared.get(path).problem["type"] == "/problems/not-found"

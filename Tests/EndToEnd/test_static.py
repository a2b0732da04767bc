# Part of Rivulet. See README.md for the architecture.
# The files of Public/.

import gzip

import pytest

from harness import PUBLIC, Connection

KINDS = {
    "index.html": "text/html", "todos.html": "text/html", "notes.html": "text/html", "app.js": "text/javascript", "rivulet.js": "text/javascript",
    "app.css": "text/css", "favicon.svg": "image/svg+xml",
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_served_as_it_is_with_its_type(shared, name):
    answer = shared.get("/" + name)
    assert answer.status == 200
    assert answer.body == (PUBLIC / name).read_bytes()
    assert answer.headers["content-type"].startswith(KINDS[name])
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_root_is_the_page(shared):
    assert shared.get("/").body == (PUBLIC / "index.html").read_bytes()


def test_an_unchanged_file_is_304(shared):
    first = shared.get("/app.css")
    again = shared.get("/app.css", If_None_Match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert shared.get("/app.css", If_None_Match='"other"').status == 200
    assert shared.get("/app.css", If_Modified_Since=first.headers["last-modified"]).status == 304


def test_gzip_is_sent_to_those_who_take_it(shared):
    plain = shared.get("/app.css")
    zipped = shared.get("/app.css", Accept_Encoding="br, gzip")
    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(zipped.body) == plain.body and len(zipped.body) < len(plain.body)
    assert "accept-encoding" in zipped.headers["vary"].lower()
    assert zipped.headers["etag"] != plain.headers["etag"]
    assert "content-encoding" not in shared.get("/app.css", Accept_Encoding="gzip;q=0").headers


@pytest.mark.parametrize(
    "target",
    ["/../Package.swift", "/..%2fPackage.swift", "/%2e%2e/Package.swift", "/./../Package.swift", "/a/../../Package.swift",
     "//etc/passwd", "/..%5cPackage.swift", "/app.css%00.html", "/.git/config"],
)
def test_nothing_outside_the_folder_is_served(shared, target):
    with Connection(shared) as connection:
        assert connection.request("GET", target).status in (400, 404)

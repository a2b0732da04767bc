# The files of Public/.

import gzip
import time

import pytest

from harness import PATIENCE, PUBLIC, Connection

KINDS = {
    "index.html": "text/html", "todos.html": "text/html", "notes.html": "text/html", "app.js": "text/javascript", "rivulet.js": "text/javascript",
    "app.css": "text/css", "favicon.svg": "image/svg+xml",
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_is_served_unchanged_with_its_type(shared, name):
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


def test_gzip_is_sent_to_clients_that_accept_it(shared):
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


def test_changed_files_are_served_while_the_server_runs(serve, tmp_path):
    (tmp_path / "index.html").write_text("first")
    (tmp_path / "old.txt").write_text("old")
    server = serve(None, arguments=["--public", tmp_path])
    tag = server.get("/").headers["etag"]
    (tmp_path / "index.html").write_text("second")
    (tmp_path / "new.txt").write_text("new")
    (tmp_path / "old.txt").unlink()
    deadline = time.monotonic() + PATIENCE
    while server.get("/old.txt").status != 404 or server.get("/new.txt").status != 200:
        assert time.monotonic() < deadline, server.log_text()
        time.sleep(0.1)
    answer = server.get("/", If_None_Match=tag)
    assert (answer.status, answer.body) == (200, b"second") and server.get("/new.txt").body == b"new"


# Ranges


def ranged(server, field, **headers):
    return server.get("/app.css", Range=field, **headers)


@pytest.mark.parametrize(
    "field, part",
    [("bytes=0-9", slice(0, 10)), ("bytes=5-", slice(5, None)), ("bytes=-7", slice(-7, None)), ("bytes=0-999999999", slice(0, None))],
)
def test_a_part_of_a_file_is_served(shared, field, part):
    whole = (PUBLIC / "app.css").read_bytes()
    answer = ranged(shared, field)
    assert (answer.status, answer.body) == (206, whole[part])
    first = range(len(whole))[part].start
    assert answer.headers["content-range"] == f"bytes {first}-{first + len(answer.body) - 1}/{len(whole)}"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-type"].startswith("text/css")
    assert answer.headers["etag"] == shared.get("/app.css").headers["etag"]


def test_the_parts_of_a_file_are_together_the_file(shared):
    whole = (PUBLIC / "app.js").read_bytes()
    parts = [shared.get("/app.js", Range=f"bytes={at}-{at + 999}").body for at in range(0, len(whole), 1000)]
    assert b"".join(parts) == whole


def test_a_range_after_the_end_is_refused_with_the_length(shared):
    length = len((PUBLIC / "app.css").read_bytes())
    answer = ranged(shared, f"bytes={length}-")
    assert answer.problem["status"] == 416
    assert answer.headers["content-range"] == f"bytes */{length}"


@pytest.mark.parametrize("field", ["bytes=0-1,4-5", "lines=1-2", "bytes=5-2", "nonsense"])
def test_other_text_than_a_single_range_of_bytes_gets_the_whole_file(shared, field):
    answer = ranged(shared, field)
    assert (answer.status, answer.body) == (200, (PUBLIC / "app.css").read_bytes())
    assert answer.headers["accept-ranges"] == "bytes"


def test_a_part_is_never_compressed(shared):
    answer = ranged(shared, "bytes=0-499", Accept_Encoding="gzip")
    assert answer.status == 206 and "content-encoding" not in answer.headers
    assert answer.body == (PUBLIC / "app.css").read_bytes()[:500]


def test_a_conditional_range_is_of_the_version_that_the_client_has(shared):
    whole = shared.get("/app.css")
    zipped = shared.get("/app.css", Accept_Encoding="gzip")
    for same in (whole.headers["etag"], whole.headers["last-modified"]):
        assert ranged(shared, "bytes=0-9", If_Range=same).status == 206
    for other in ('"other"', f'W/{whole.headers["etag"]}', zipped.headers["etag"], "Thu, 01 Jan 1970 00:00:00 GMT"):
        answer = ranged(shared, "bytes=0-9", If_Range=other)
        assert (answer.status, answer.body) == (200, whole.body)


def test_an_unchanged_file_is_304_also_in_part(shared):
    tag = shared.get("/app.css").headers["etag"]
    assert ranged(shared, "bytes=0-9", If_None_Match=tag).status == 304


def test_a_range_is_for_get_only(shared):
    head = shared.request("HEAD", "/app.css", headers={"Range": "bytes=0-9"})
    assert head.status == 200 and "content-range" not in head.headers
    assert head.headers["accept-ranges"] == "bytes"

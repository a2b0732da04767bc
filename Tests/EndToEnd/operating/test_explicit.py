# An app under the policy `.explicit`: only POST and PUT create sessions. Any other request to an unknown session is
# 404.

import pathlib

import pytest

import harness


@pytest.fixture
def tally(monkeypatch):
    """A session of such an app that is not created yet. Its server program is beside the binary under test."""
    path = pathlib.Path(harness.binary()).with_name("ExplicitServer")
    if not path.exists():
        pytest.skip(f"no {path}: build it with `swift build`")
    monkeypatch.setattr(harness, "binary", lambda: str(path))
    with harness.Server(None) as server:
        yield server.session("s", app="tally")


REQUESTS = [
    ("GET", "", None),
    ("DELETE", "", None),
    ("GET", "/state", None),
    ("GET", "/state/p/count", None),
    ("PUT", "/state/p/count", 5),
    ("POST", "/events", {"add": 1}),
    ("GET", "/changes", None),
]


@pytest.mark.parametrize("method, part, body", REQUESTS, ids=[f"{method} S{part}" for method, part, _ in REQUESTS])
def test_an_unknown_session_is_404(tally, method, part, body):
    assert tally.server.request(method, tally.path + part, body).problem["status"] == 404
    assert tally.server.get("/v1/apps/tally/sessions").json["sessions"] == []


def test_a_dispatch_with_a_key_or_lines_creates_no_session_either(tally):
    assert tally.post({"add": 1}, {"Idempotency-Key": '"k"'}).problem["status"] == 404
    assert tally.post(b'{"add":1}\n', {"Content-Type": "application/x-ndjson"}).problem["status"] == 404
    assert tally.server.get("/v1/apps/tally/sessions").json["sessions"] == []


@pytest.mark.parametrize("way", ["PUT", "POST"])
def test_a_created_session_is_like_any_other(tally, way):
    if way == "PUT":
        assert tally.server.request("PUT", tally.path).status == 201
    else:
        assert tally.server.request("POST", "/v1/apps/tally/sessions", {"id": "s"}).status == 201
    assert tally.state("/p/count") == 0 and tally.info()["version"] == 0
    assert tally.dispatch({"add": 1})["version"] == 1
    assert tally.server.request("PUT", tally.path + "/state/p/count", 5).status == 200
    with tally.stream("/p/count") as stream:
        assert stream.expect("snapshot").data["values"] == {"/p/count": 5}
    assert tally.server.request("DELETE", tally.path).status == 204
    assert tally.post({"add": 1}).status == 404


def test_the_callers_own_session_must_be_created_too(tally):
    me = "/v1/apps/tally/sessions/me"
    refused = tally.server.request("POST", me + "/events", {"add": 1})
    assert refused.status == 404
    cookie = {"Cookie": refused.headers["set-cookie"].split(";")[0]}
    assert tally.server.request("PUT", me, headers=cookie).status == 201
    assert tally.server.request("POST", me + "/events", {"add": 1}, cookie).json["version"] == 1


def test_the_description_has_the_policy(tally):
    assert tally.server.get("/v1/apps/tally").json["sessions"] == "explicit"


def test_a_program_without_storage_on_disk_logs_nothing_about_a_secret_key(tally):
    tally.server.get("/healthz")  # Its one loop answers after the start.
    assert "server started" in tally.server.log_text() and "key" not in tally.server.log_text()

# Beyond the quota of an app or of an owner, a write is 507. A deletion makes room. A killed server keeps the counts.

import json
import pathlib

import pytest

import harness
from harness import run

A = "/v1/apps/tally/sessions"
#: The most bytes of a test, and a text of which about twenty fit.
BYTES, TEXT = 40_000, "x" * 1_500


@pytest.fixture
def keys(tmp_path):
    """The header fields of two callers that may do everything."""
    grants, file = tmp_path / "grants.json", tmp_path / "keys.json"
    grants.write_text(json.dumps({"actions": ["*"], "app": "tally", "sessions": ["*"]}))
    made = [run("keys", "add", "--api-keys", file, "--grants", grants, "--name", name) for name in ("ann", "bob")]
    return [{"Authorization": f"Bearer {key.stdout.strip()}"} for key in made]


@pytest.fixture
def start(keys, tmp_path, monkeypatch):
    """Starts a server of an app with a quota. Its program is beside the binary under test."""
    path = pathlib.Path(harness.binary()).with_name("ExplicitServer")
    if not path.exists():
        pytest.skip(f"no {path}: build it with `swift build`")
    monkeypatch.setattr(harness, "binary", lambda: str(path))

    def start(data, **quota):
        options = [text for name, limit in quota.items() for text in (f"--{name.replace('_', '-')}", limit)]
        return harness.Server(data, arguments=["--api-keys", tmp_path / "keys.json", *options])

    return start


@pytest.fixture(params=["disk", "memory"])
def data(request, tmp_path):
    if request.param == "memory":
        return None
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data"


def refused(answer, scope, measure, limit):
    assert (answer.status, answer.problem["type"]) == (507, "/problems/quota"), answer
    return answer.problem["quota"] == {"scope": scope, "measure": measure, "limit": limit}


def fill(server, session, headers):
    """Writes texts until one is refused. Returns the refusal, and the number of the last text."""
    for number in range(100):
        answer = server.request("POST", f"{A}/{session}/events", {"rename": f"{number} {TEXT}"}, headers)
        if answer.status != 200:
            return answer, number - 1
    raise AssertionError("no text was refused")


def kept(server, session, number, headers):
    """True if the session has the text, and no change after it."""
    title = server.request("GET", f"{A}/{session}/state/p/title", headers=headers).json
    info = server.request("GET", f"{A}/{session}", headers=headers).json
    return title == f"{number} {TEXT}" and info["version"] == number + 1


@pytest.mark.parametrize("scope", ["owner", "app"])
def test_beyond_the_sessions_a_creation_is_507_and_a_deletion_makes_room(start, keys, data, scope):
    ann, bob = keys
    quota = {f"{scope}_sessions": 2}
    server = start(data, **quota)
    try:
        for session in "ab":
            assert server.request("PUT", f"{A}/{session}", headers=ann).status == 201

        def are_full():
            for method, target, body in (("PUT", f"{A}/c", None), ("POST", A, {"id": "c"}), ("POST", f"{A}/a/fork", {"id": "c"})):
                assert refused(server.request(method, target, body, ann), scope, "sessions", 2), (method, target)
            assert server.request("GET", f"{A}/c", headers=ann).status == 404

        are_full()
        # The sessions that are there take events, and are no creation for a second PUT.
        assert server.request("POST", f"{A}/a/events", {"add": 1}, ann).status == 200
        assert server.request("PUT", f"{A}/a", headers=ann).status == 200
        if data is not None:
            server.kill()
            server = start(data, **quota)
            are_full()
        # The quota of an owner is of that owner, and the quota of the app is of all.
        answer = server.request("PUT", f"{A}/of-bob", headers=bob)
        assert answer.status == 201 if scope == "owner" else refused(answer, "app", "sessions", 2)
        assert server.request("DELETE", f"{A}/a", headers=bob).status == 204
        assert server.request("PUT", f"{A}/c", headers=ann).status == 201
        assert refused(server.request("PUT", f"{A}/d", headers=ann), scope, "sessions", 2)
    finally:
        server.kill()


@pytest.mark.parametrize("scope", ["owner", "app"])
def test_beyond_the_bytes_an_event_is_507_and_a_deletion_makes_room(start, keys, data, scope):
    ann, bob = keys
    quota = {f"{scope}_bytes": BYTES}
    server = start(data, **quota)
    try:
        for session, headers in (("a", ann), ("other", ann), ("of-bob", bob)):
            assert server.request("PUT", f"{A}/{session}", headers=headers).status == 201
        answer, last = fill(server, "a", ann)
        assert refused(answer, scope, "bytes", BYTES) and 5 < last < 30

        def is_full():
            assert refused(server.request("POST", f"{A}/other/events", {"rename": TEXT}, ann), scope, "bytes", BYTES)
            assert kept(server, "a", last, ann)

        is_full()
        if data is not None:
            server.kill()
            server = start(data, **quota)
            is_full()
        answer = server.request("POST", f"{A}/of-bob/events", {"rename": TEXT}, bob)
        assert answer.status == 200 if scope == "owner" else refused(answer, "app", "bytes", BYTES)
        # The bytes count for the owner, also if another caller writes them.
        assert answer.status == 507 or refused(server.request("POST", f"{A}/a/events", {"rename": TEXT}, bob), "owner", "bytes", BYTES)
        assert server.request("DELETE", f"{A}/a", headers=ann).status == 204
        answer, last = fill(server, "other", ann)
        assert refused(answer, scope, "bytes", BYTES) and 5 < last < 30 and kept(server, "other", last, ann)
    finally:
        server.kill()

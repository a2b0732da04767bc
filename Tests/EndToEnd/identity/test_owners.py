# A session belongs to the caller that created it, and each caller lists its own sessions only.

import json

import pytest

from harness import Server
from tokens import Issuer

A = "/v1/apps/todos/sessions"
POLICY = {
    "authenticated": [{"actions": ["read", "create", "dispatch", "delete", "fork"], "app": "todos", "sessions": ["*"]}],
    "anonymous": [{"actions": ["read", "create", "dispatch"], "app": "todos", "sessions": ["*"]}],
}


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(params=["disk", "memory"])
def data(request, tmp_path):
    return tmp_path / "data" if request.param == "disk" else None


def start(tmp_path, data, issuer):
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    return Server(data, arguments=["--jwt-key-file", issuer.file, "--policy", tmp_path / "policy.json"])


def owned(server, headers, query=""):
    answer = server.request("GET", f"{A}?owner=me{query}", headers=headers)
    assert answer.status == 200, answer
    return [session["id"] for session in answer.json["sessions"]]


def test_each_way_to_create_a_session_makes_its_caller_the_owner(tmp_path, data, issuer):
    ann, bob = issuer.bearer("ann"), issuer.bearer("bob")
    with start(tmp_path, data, issuer) as server:
        add = {"add": {"id": "x", "title": "y"}}
        assert server.request("POST", f"{A}/by-event/events", add, ann).status == 200
        assert server.request("PUT", f"{A}/by-put", headers=ann).status == 201
        assert server.request("POST", A, {"id": "by-post", "state": {"p": {"filter": "open"}}}, ann).status == 201
        assert server.request("POST", f"{A}/by-event/fork", {"id": "by-fork"}, bob).status == 201
        assert server.request("PUT", f"{A}/me", headers=ann).status == 201
        me = server.request("GET", "/v1/me", headers=ann).json["me"]
        assert server.request("POST", f"{A}/without-owner/events", add).status == 200
        mine = sorted(["by-event", "by-put", "by-post", me])
        assert owned(server, ann) == mine and owned(server, bob) == ["by-fork"]
        # Others write to a session, and its owner stays.
        assert server.request("POST", f"{A}/by-put/events", add, bob).status == 200
        assert server.request("PUT", f"{A}/by-put", headers=bob).status == 200
        assert owned(server, ann) == mine and owned(server, bob) == ["by-fork"]
        # The name of an owner in other letters, and another caller, own nothing.
        assert owned(server, issuer.bearer("Ann")) == [] and owned(server, issuer.bearer(me)) == []
        if data is not None:
            server.kill()
            server = start(tmp_path, data, issuer)
            assert owned(server, ann) == mine
        assert server.request("DELETE", f"{A}/by-put", headers=bob).status == 204
        assert server.request("PUT", f"{A}/by-put", headers=bob).status == 201
        assert owned(server, ann) == [name for name in mine if name != "by-put"] and owned(server, bob) == ["by-fork", "by-put"]
        assert server.stop() == 0


def test_a_list_of_own_sessions_is_paged_and_needs_a_credential_only(tmp_path, data, issuer):
    ann, bob = issuer.bearer("ann"), issuer.bearer("bob")
    with start(tmp_path, data, issuer) as server:
        for number in range(7):
            assert server.request("PUT", f"{A}/s-{number}", headers=(ann, bob)[number % 2]).status == 201
        found, page = [], server.request("GET", f"{A}?owner=me&limit=3", headers=ann).json
        while True:
            found.append([session["id"] for session in page["sessions"]])
            if "next" not in page:
                break
            page = server.request("GET", f"{A}?owner=me&limit=3&after={page['next']}", headers=ann).json
        assert found == [["s-0", "s-2", "s-4"], ["s-6"]]
        assert owned(server, bob, "&after=s-1") == ["s-3", "s-5"]
        session = server.request("GET", f"{A}?owner=me&limit=1", headers=ann).json["sessions"][0]
        assert set(session) == {"id", "epoch", "version", "created", "updated"}
        # The grants allow no list of all sessions. Anonymous callers own none.
        refused = server.request("GET", A, headers=ann)
        assert refused.status == 403 and refused.problem["needs"] == {"action": "list", "app": "todos"}
        assert server.get(A).status == 401
        assert server.get(f"{A}?owner=me").problem["type"] == "/problems/unauthorized"
        for owner in ("", "ann", "*", server.request("GET", "/v1/me", headers=bob).json["me"]):
            answer = server.request("GET", f"{A}?owner={owner}", headers=ann)
            assert (answer.status, answer.problem["type"]) == (400, "/problems/invalid-query")
        assert server.request("GET", "/v1/apps/none/sessions?owner=me", headers=ann).status == 404
        assert server.request("GET", "/v1/apps/none/sessions", headers=ann).status == 403


def test_an_anonymous_caller_that_may_list_all_sessions_owns_none(tmp_path, issuer):
    (tmp_path / "policy.json").write_text(json.dumps({"anonymous": [{"actions": ["list", "create"], "app": "todos", "sessions": ["*"]}]}))
    with Server(tmp_path / "data", arguments=["--jwt-key-file", issuer.file, "--policy", tmp_path / "policy.json"]) as server:
        assert server.request("PUT", f"{A}/one").status == 201
        assert [session["id"] for session in server.get(A).json["sessions"]] == ["one"]
        assert server.get(f"{A}?owner=me").status == 401
        assert owned(server, issuer.bearer("ann")) == []


def test_a_server_without_credentials_has_no_owners(tmp_path):
    with Server(tmp_path / "data") as server:
        assert server.request("PUT", f"{A}/one").status == 201
        assert server.get(f"{A}?owner=me").status == 401
        assert [session["id"] for session in server.get(A).json["sessions"]] == ["one"]

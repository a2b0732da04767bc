# A caller gets what its grants give, and no byte more: each hidden field has a text that must be in no answer.

import json
import urllib.parse
import zlib

import pytest

from harness import Connection, Server, message
from tokens import Issuer

CANARY = "canary-7f3a"
POLICY = {
    "roles": {
        "owner": [{"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]},
                  {"actions": ["read"], "app": "*", "sessions": ["*"], "views": ["*"]}],
        # Titles of todos, and nothing else of the state.
        "reader": [{"actions": ["read", "history", "list"], "app": "todos", "sessions": ["s", "s-*"], "paths": ["/p/todos/*/title"]}],
        "toggler": [{"actions": ["dispatch"], "app": "todos", "sessions": ["s"], "events": ["toggle", "rename"]},
                    {"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": ["/p/todos/a/title"]}],
        "viewer": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "views": ["SummaryView"]}],
        "noter": [{"actions": ["read", "write"], "app": "notes", "stores": ["notes"], "items": ["${sub}-*"]},
                  {"actions": ["write"], "app": "notes", "values": ["theme"]}],
        "writer": [{"actions": ["write"], "app": "notes", "stores": ["notes"], "values": ["theme", "hapticsEnabled"]}],
        "operator": [{"actions": ["operate"]}],
    },
}  # fmt: skip
S = "/v1/apps/todos/sessions/s"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="module")
def server(tmp_path_factory, issuer):
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    policy.write_text(json.dumps(POLICY).replace("${sub}-*", "${me}-*"))
    with Server(tmp_path_factory.mktemp("permissions") / "data", arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        owner = issuer.bearer("owner", "owner")
        for event in ({"add": {"id": "a", "title": "one"}}, {"add": {"id": CANARY, "title": "two"}}, {"edit": CANARY}, {"toggle": "a"}):
            assert server.request("POST", S + "/events", event, owner).status == 200
        yield server
        assert CANARY not in server.log_text()
        assert server.stop() == 0, server.log_text()


def ask(server, issuer, roles, method, target, body=None, subject="u", **headers):
    fields = issuer.bearer(subject, *roles.split()) | {name.replace("_", "-"): value for name, value in headers.items()}
    return server.request(method, target, body, fields)


def plain(answer):
    """The body, decompressed, and all header fields."""
    body = zlib.decompress(answer.body, 31) if answer.headers.get("content-encoding") == "gzip" else answer.body
    return body + json.dumps(answer.headers).encode()


READS = [
    "/state", "/state/p", "/state/p/todos", f"/state/p/todos/{CANARY}", "/state/p/todos/a", "/state/t", "/state/t/editing", "/state/p/filter", "/events",
    "/events?after=1&limit=2", "/state?version=3", "/state/p/todos?version=2", "/state/t?version=3", "/views", "/views/SummaryView", "",
]  # fmt: skip


def test_a_masked_state_has_the_granted_members_only(server, issuer):
    answer = ask(server, issuer, "reader", "GET", S + "/state")
    assert answer.json == {"p": {"todos": [{"id": "a", "title": "one"}, {"id": CANARY, "title": "two"}]}}
    assert answer.headers["rivulet-masked"] == "?1"
    whole = ask(server, issuer, "owner", "GET", S + "/state")
    assert "rivulet-masked" not in whole.headers and whole.json["t"] == {"editing": CANARY}
    # The tag of one mask is no tag of another.
    again = ask(server, issuer, "reader", "GET", S + "/state", If_None_Match=answer.headers["etag"])
    assert again.status == 304
    assert ask(server, issuer, "owner", "GET", S + "/state", If_None_Match=answer.headers["etag"]).status == 200
    assert ask(server, issuer, "reader", "GET", S + "/state", If_None_Match=whole.headers["etag"]).status == 200
    assert ask(server, issuer, "reader", "GET", S + "/state/p/todos/a/title").json == "one"
    for hidden in ("/state/t", "/state/p/filter", "/state/p/todos/a/done"):
        answer = ask(server, issuer, "reader", "GET", S + hidden)
        assert answer.problem["type"] == "/problems/not-granted" and answer.problem["needs"] == {"action": "read", "app": "todos", "session": "s"}


@pytest.mark.parametrize("target", READS)
def test_no_read_shows_a_hidden_field(server, issuer, target):
    for roles in ("toggler", "viewer", ""):
        for coding in ("identity", "gzip"):
            answer = ask(server, issuer, roles, "GET", S + target, Accept_Encoding=coding)
            # The request of a path with the canary has the canary in its refusal.
            if CANARY not in target:
                assert CANARY.encode() not in plain(answer), (roles, target, answer)
            assert b'"done"' not in answer.body and b"filter" not in answer.body or roles == "viewer", (roles, target, answer)


def test_a_log_without_events_has_the_granted_part_of_changes(server, issuer):
    entries = ask(server, issuer, "reader", "GET", S + "/events").json
    assert [entry["version"] for entry in entries] == [1, 2, 3] and not any("event" in entry for entry in entries)
    assert entries[0]["changes"] == [{"op": "add", "path": "/p/todos/a", "index": 0, "value": {"id": "a", "title": "one"}}]
    assert "changes" not in entries[2]
    # The pseudonym of the caller is no part of the state.
    owner = server.request("GET", "/v1/me", headers=issuer.bearer("owner")).json["me"]
    assert [entry["by"] for entry in entries] == [owner] * 3
    assert ask(server, issuer, "reader", "GET", S + "/state?version=1").json == {"p": {"todos": [{"id": "a", "title": "one"}]}}
    assert ask(server, issuer, "toggler", "GET", S + "/state?version=1").status == 403


def test_a_caller_dispatches_the_events_that_it_may_and_sees_its_part_of_the_changes(server, issuer):
    for event, place in (("clearDone", None), ([{"toggle": "a"}, "clearDone"], "/1"), ({"setFilter": "open"}, None)):
        answer = ask(server, issuer, "toggler", "POST", S + "/events", event)
        assert answer.problem["type"] == "/problems/not-granted" and answer.problem["needs"]["action"] == "dispatch", answer
        assert [error["pointer"] for error in answer.problem.get("errors", [])] == ([place] if place else [])
    changed = ask(server, issuer, "toggler", "POST", S + "/events", [{"toggle": "a"}, {"toggle": CANARY}, {"rename": {"id": "a", "title": "three"}}])
    assert changed.json["changes"] == [{"op": "replace", "path": "/p/todos/a/title", "value": "three"}]
    hidden = ask(server, issuer, "toggler", "POST", S + "/events", {"toggle": "a"}, Idempotency_Key='"k1"')
    assert hidden.json["changes"] == []
    lines = ask(server, issuer, "toggler", "POST", S + "/events", b'{"toggle":"a"}\n"clearDone"\n', Content_Type="application/x-ndjson")
    assert [json.loads(line).get("status", 200) for line in lines.body.splitlines()] == [200, 403]
    put = ask(server, issuer, "toggler", "PUT", S + "/state/p/filter", "open")
    assert put.problem["type"] == "/problems/not-granted"
    moved = ask(server, issuer, "toggler", "POST", S + "/events", {"toggle": "a"}, If_Match='"aaaaaaaa.1"')
    assert moved.status == 412 and moved.problem["value"] == {"p": {"todos": [{"id": "a", "title": "three"}]}}
    assert ask(server, issuer, "owner", "POST", S + "/events", {"rename": {"id": "a", "title": "one"}}).status == 200


def granted(issuer, actions, **members):
    return issuer.bearer("g", authorization_details=[{"type": "rivulet", "actions": actions, "app": "todos", "sessions": ["*"]} | members])


def test_a_reset_and_a_restore_show_the_granted_part_of_the_state_only(server, issuer):
    owner, target = issuer.bearer("owner", "owner"), "/v1/apps/todos/sessions/restored"
    for title in ("one", CANARY, CANARY + "-2"):
        event = {"add": {"id": "a", "title": title}} if title == "one" else {"rename": {"id": "a", "title": title}}
        assert server.request("POST", target + "/events", event, owner).status == 200
    blind = granted(issuer, ["restore"])
    for request in ("/restore?version=2", "/reset", "/restore?version=3"):
        for condition in ({}, {"If-Match": '"aaaaaaaa.1"'}):
            answer = server.request("POST", target + request, None, blind | condition)
            assert answer.status == (412 if condition else 200) and CANARY.encode() not in plain(answer), answer
            assert answer.json.get("changes", []) == [] and "value" not in answer.json
    narrow = granted(issuer, ["restore", "read"], paths=["/p/todos/*/done"])
    answer = server.request("POST", target + "/restore?version=1", None, narrow | {"Idempotency-Key": '"r"'})
    assert answer.status == 200 and answer.json["changes"] == []


def test_the_tag_of_a_masked_state_is_a_condition_and_leads_a_stream_to_a_reset(server, issuer):
    target = "/v1/apps/todos/sessions/tagged"
    caller = granted(issuer, ["read", "dispatch", "create", "history"], paths=["/p/todos/*/title"])
    assert server.request("POST", target + "/events", {"add": {"id": "a", "title": "x " + "long " * 400}}, caller).status == 200
    for coding, version in (("identity", ""), ("gzip", ""), ("identity", "?version=")):
        version += version and server.request("GET", target + "/state", None, caller).headers["rivulet-version"]
        tag = server.request("GET", target + "/state" + version, None, caller | {"Accept-Encoding": coding}).headers["etag"]
        assert server.request("POST", target + "/events", {"toggle": "a"}, caller | {"If-Match": tag}).status == 200, tag
        assert server.request("POST", target + "/events", {"toggle": "a"}, caller | {"If-Match": tag}).status == 412, tag
        if version:
            continue
        connection = Connection(server)
        connection.send(message("GET", target + "/changes", headers=caller | {"Last-Event-ID": tag.strip('"')}))
        with connection:
            assert connection.stream_head()[0] == 200
            # The tag names no paths, so it may be of a time when the caller could read more.
            assert b'"reason":"permissions-changed"' in connection.until(b'"reason":"') + connection.until(b'"')


def test_a_restore_needs_no_history_and_shows_what_is_present_then(server, issuer):
    owner, target = issuer.bearer("owner", "owner"), "/v1/apps/todos/sessions/returned"
    for event in ({"add": {"id": "a", "title": "one"}}, {"rename": {"id": "a", "title": "two"}}):
        assert server.request("POST", target + "/events", event, owner).status == 200
    caller = granted(issuer, ["read", "restore", "fork", "create"])
    for method, refused in (("GET", "/state?version=1"), ("GET", "/events"), ("POST", "/fork?version=1")):
        answer = server.request(method, target + refused, None, caller)
        assert answer.problem["type"] == "/problems/not-granted" and answer.problem["needs"]["action"] == "history", answer
    answer = server.request("POST", target + "/restore?version=1", None, caller)
    assert answer.json["changes"] == [{"op": "replace", "path": "/p/todos/a", "value": {"id": "a", "title": "one", "done": False}}]
    # Each caller that may read sees the restored value.
    reader = granted(issuer, ["read"], paths=["/p/todos/*/title"])
    assert server.request("GET", target + "/state", None, reader).json == {"p": {"todos": [{"id": "a", "title": "one"}]}}


def test_a_kept_answer_is_the_caller_s_own(server, issuer):
    event = {"toggle": "a"}
    first = ask(server, issuer, "owner", "POST", S + "/events", event, subject="owner", Idempotency_Key='"shared"')
    again = ask(server, issuer, "owner", "POST", S + "/events", event, subject="owner", Idempotency_Key='"shared"')
    assert again.headers["idempotency-replayed"] == "true" and again.body == first.body
    other = ask(server, issuer, "toggler", "POST", S + "/events", event, subject="u", Idempotency_Key='"shared"')
    assert other.status == 200 and "idempotency-replayed" not in other.headers and other.json["changes"] == []


def stream(server, issuer, roles, target, **claims):
    connection = Connection(server)
    connection.send(message("GET", target, headers=issuer.bearer("u", *roles.split(), **claims)))
    return connection, *connection.stream_head()


def test_a_stream_has_the_granted_paths_only(server, issuer):
    connection, status, headers = stream(server, issuer, "toggler", S + "/changes")
    with connection:
        assert status == 200 and headers["rivulet-masked"] == "?1"
        first = connection.until(b"event: snapshot") + connection.until(b"\n\n")
        assert b'"values":{"/p/todos/a/title":"one"}' in first and CANARY.encode() not in first
        for event in ({"edit": None}, {"edit": CANARY}, {"toggle": "a"}, {"rename": {"id": "a", "title": "four"}}):
            assert ask(server, issuer, "owner", "POST", S + "/events", event).status == 200
        change = connection.until(b"event: change") + connection.until(b"\n\n")
        assert b"four" in change and CANARY.encode() not in change and b"done" not in change
        name = headers["link"].split("/v1/streams/")[1].split(">")[0]
        assert ask(server, issuer, "toggler", "PATCH", f"/v1/streams/{name}", {"paths": ["/p/todos"]}, subject="v").status == 403
        assert ask(server, issuer, "owner", "PATCH", f"/v1/streams/{name}", {"paths": []}, subject="owner").status == 403
        # Also an operator cannot make the server show the stream's caller more than it may see.
        widened = ask(server, issuer, "operator", "PATCH", f"/v1/streams/{name}", {"paths": []}, subject="op")
        assert widened.json["paths"] == ["/p/todos/a/title"] and widened.headers["rivulet-masked"] == "?1"
        assert ask(server, issuer, "toggler", "PATCH", f"/v1/streams/{name}", {"paths": ["/t"]}).status == 403
        again = connection.until(b"event: snapshot") + connection.until(b"\n\n")
        assert CANARY.encode() not in again
    for query in ("path=/t", "path=/p/filter", "format=json-patch&path=/p", "path=/p/todos/a/done"):
        expected = 200 if query.startswith("format") else 403
        connection, status, _ = stream(server, issuer, "toggler", f"{S}/changes?{query}")
        connection.close()
        assert status == expected, query
    assert ask(server, issuer, "owner", "POST", S + "/events", {"rename": {"id": "a", "title": "one"}}).status == 200


def test_a_view_is_granted_by_its_name_and_never_by_a_path(server, issuer):
    assert ask(server, issuer, "viewer", "GET", S + "/views/SummaryView").status == 200
    assert list(ask(server, issuer, "viewer", "GET", S + "/views").json) == ["SummaryView"]
    for roles, target in (("viewer", "/state"), ("viewer", "/changes"), ("reader", "/views"), ("reader", "/views/SummaryView"), ("reader", "/views/SummaryView/changes")):
        assert ask(server, issuer, roles, "GET", S + target).status == 403, (roles, target)


def test_the_tag_of_all_views_names_the_granted_views(server, issuer):
    whole = ask(server, issuer, "owner", "GET", S + "/views")
    one, other = granted(issuer, ["read"], views=["SummaryView"]), granted(issuer, ["read"], views=["Other"])
    answer = server.request("GET", S + "/views", None, one)
    assert set(answer.json) == {"SummaryView"} and answer.headers["etag"] != whole.headers["etag"]
    for tag in (whole.headers["etag"], answer.headers["etag"]):
        found = server.request("GET", S + "/views", None, other | {"If-None-Match": tag})
        assert found.status == 200 and found.json == {}, tag
    assert server.request("GET", S + "/views", None, one | {"If-None-Match": answer.headers["etag"]}).status == 304
    assert ask(server, issuer, "owner", "GET", S + "/views", If_None_Match=answer.headers["etag"]).status == 200
    # A single view is granted as a whole.
    single = ask(server, issuer, "owner", "GET", S + "/views/SummaryView")
    assert server.request("GET", S + "/views/SummaryView", None, one | {"If-None-Match": single.headers["etag"]}).status == 304


def test_a_copy_of_a_session_needs_all_of_it(server, issuer):
    for roles in ("reader", "toggler", "viewer"):
        assert ask(server, issuer, roles, "POST", S + "/fork").status == 403
    grants = [{"type": "rivulet", "actions": ["fork", "create", "history"], "app": "todos", "sessions": ["s", "copy"]},
              {"type": "rivulet", "actions": ["read"], "app": "todos", "sessions": ["s"], "paths": ["/p"]}]  # fmt: skip
    fields = issuer.bearer("f", authorization_details=grants)
    assert server.request("POST", S + "/fork", {"id": "copy"}, fields).problem["needs"]["action"] == "read"
    grants[1].pop("paths")
    fields = issuer.bearer("f", authorization_details=grants)
    assert server.request("POST", S + "/fork", {"id": "elsewhere"}, fields).problem["needs"] == {"action": "create", "app": "todos", "session": "elsewhere"}
    assert server.request("POST", S + "/fork", {"id": "copy"}, fields).status == 201


def test_a_list_has_the_ids_of_the_granted_patterns(server, issuer):
    owner = issuer.bearer("owner", "owner")
    for number in range(5):
        assert server.request("PUT", f"/v1/apps/todos/sessions/s-{number}", headers=owner).status == 201
        assert server.request("PUT", f"/v1/apps/todos/sessions/sx-{number}", headers=owner).status == 201
        assert server.request("PUT", f"/v1/apps/todos/sessions/r-{number}", headers=owner).status == 201
    listed, after = [], ""
    while True:
        page = ask(server, issuer, "reader", "GET", f"/v1/apps/todos/sessions?limit=2{after}").json
        listed += [entry["id"] for entry in page["sessions"]]
        if "next" not in page:
            break
        after = "&after=" + urllib.parse.quote(page["next"])
    assert listed == ["s", "s-0", "s-1", "s-2", "s-3", "s-4"]
    assert ask(server, issuer, "toggler", "GET", "/v1/apps/todos/sessions").status == 403


def test_a_dispatch_creates_a_session_only_with_the_action_create(server, issuer):
    grants = {"type": "rivulet", "actions": ["dispatch"], "app": "todos", "sessions": ["new"]}
    for actions, status in ((["dispatch"], 404), (["dispatch", "create"], 200)):
        fields = issuer.bearer("c", authorization_details=[grants | {"actions": actions}])
        assert server.request("POST", "/v1/apps/todos/sessions/new/events", {"add": {"id": "x", "title": "y"}}, fields).status == status


def test_items_of_a_store_are_granted_by_their_ids(server, issuer):
    me = ask(server, issuer, "noter", "GET", "/v1/me").json["me"]
    notes, owner = "/v1/apps/notes/stores/notes", issuer.bearer("owner", "owner")
    note = {"text": "t", "created": "2026-01-01T00:00:00Z"}
    for identifier in (f"{me}-1", CANARY, f"{me}-2"):
        assert server.request("PUT", f"{notes}/{identifier}", note | {"id": identifier}, owner).status == 201
    page = ask(server, issuer, "noter", "GET", notes + "?limit=1")
    assert [item["id"] for item in page.json["items"]] == [f"{me}-1"] and page.json["next"] == f"{me}-1"
    last = ask(server, issuer, "noter", "GET", f"{notes}?limit=1&after={me}-1").json
    assert [item["id"] for item in last["items"]] == [f"{me}-2"] and "next" not in last
    for method, target, body in (("GET", f"/{CANARY}", None), ("PUT", f"/{CANARY}", note | {"id": CANARY}), ("DELETE", f"/{CANARY}", None), ("DELETE", "", None),
                                 ("POST", "", note | {"id": f"{me}-9"}), ("POST", "/operations", []), ("GET", "/events", None)):  # fmt: skip
        assert ask(server, issuer, "noter", method, notes + target, body).status == 403, (method, target)
    assert ask(server, issuer, "noter", "GET", f"{notes}?after={CANARY}").status == ask(server, issuer, "noter", "GET", f"{notes}?after=nothing").status == 410
    assert ask(server, issuer, "noter", "DELETE", f"{notes}/{me}-2").status == 204


def test_the_tag_of_a_list_names_the_granted_items_and_is_a_condition(server, issuer):
    notes, owner = "/v1/apps/notes/stores/notes", issuer.bearer("owner", "owner")
    note = {"text": "t", "created": "2026-01-01T00:00:00Z"}
    for identifier in ("tag-a", "tag-b"):
        assert server.request("PUT", f"{notes}/{identifier}", note | {"id": identifier}, owner).status == 201

    def caller(*items):
        grants = [{"type": "rivulet", "actions": ["read"], "app": "notes", "stores": ["notes"], "items": list(items)}, {"type": "rivulet", "actions": ["write"], "app": "notes", "stores": ["notes"]}]
        return issuer.bearer("c", authorization_details=grants)

    whole = server.request("GET", notes, headers=owner)
    one, other = (server.request("GET", notes, headers=caller(item)) for item in ("tag-a", "tag-b"))
    assert [[item["id"] for item in page.json["items"]] for page in (one, other)] == [["tag-a"], ["tag-b"]]
    assert len({page.headers["etag"] for page in (whole, one, other)}) == 3
    for page in (whole, one):
        again = server.request("GET", notes, headers=caller("tag-b") | {"If-None-Match": page.headers["etag"]})
        assert (again.status, again.json) == (200, other.json)
    assert server.request("GET", notes, headers=owner | {"If-None-Match": one.headers["etag"]}).status == 200
    # Grants have no order.
    both = server.request("GET", notes, headers=caller("tag-b", "tag-a"))
    assert server.request("GET", notes, headers=caller("tag-a", "tag-b", "tag-a") | {"If-None-Match": both.headers["etag"]}).status == 304
    condition = caller("tag-a") | {"If-Match": one.headers["etag"]}
    assert server.request("POST", notes, note | {"id": "tag-c"}, condition).status == 201
    assert server.request("POST", notes, note | {"id": "tag-d"}, condition).status == 412


def test_a_writer_that_may_not_read_learns_no_value(server, issuer):
    value, owner = "/v1/apps/notes/values/theme", issuer.bearer("owner", "owner")
    assert server.request("PUT", value, CANARY, owner).status == 200
    for method, body, headers in (("GET", None, {}), ("PUT", "x", {"If_Match": '"aaaaaaaa.9"'})):
        answer = ask(server, issuer, "writer", method, value, body, **headers)
        assert answer.status in (403, 412) and CANARY.encode() not in plain(answer)
    assert ask(server, issuer, "writer", "POST", "/v1/apps/notes/values/hapticsEnabled/toggle").status == 204
    assert ask(server, issuer, "writer", "PUT", value, "dark").status == 204
    item = "/v1/apps/notes/stores/notes/n"
    note = {"id": "n", "text": CANARY, "created": "2026-01-01T00:00:00Z"}
    assert server.request("PUT", item, note, owner).status == 201
    answer = ask(server, issuer, "writer", "PUT", item, note | {"text": "x"}, If_Match='"other"')
    assert answer.status == 412 and CANARY.encode() not in plain(answer)


OPERATORS = [("GET", "/metrics"), ("GET", "/v1/cluster"), ("GET", "/v1/streams"), ("GET", "/v1/streams/0-0-a-0000000000000"), ("DELETE", "/v1/streams/0-0-a-0000000000000")]


def test_operators_routes_are_granted_by_operate_alone(server, issuer):
    for method, target in OPERATORS:
        assert ask(server, issuer, "owner", method, target).status in (403, 404), target
        assert server.request(method, target).status in (401, 404), target
    assert [ask(server, issuer, "operator", *route).status for route in OPERATORS] == [200, 404, 200, 404, 404]
    assert ask(server, issuer, "operator", "GET", S + "/state").status == 403


def test_every_operation_asks_for_a_grant(server, issuer):
    document = ask(server, issuer, "", "GET", "/openapi.json").json
    assert set(document["components"]["securitySchemes"]) == {"bearer", "cookie", "ticket"}
    open_to_all, checked = set(), 0
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method == "parameters":
                continue
            if operation["security"] == []:
                open_to_all.add(path)
                continue
            target = path
            for name, value in {"{session}": "hidden", "{stream}": "0-0-a-0000000000000", "{item}": "i", "{problem}": "x", "{file}": "x"}.items():
                target = target.replace(name, value)
            for piece in target.split("/"):
                if piece.startswith("{"):
                    target = target.replace(piece, "x")
            described = path in ("/v1/apps", "/openapi.json") or path.endswith("types.d.ts") or path.count("/") == 3 and path.startswith("/v1/apps/")
            status = server.request(method.upper(), target).status
            assert status == (404 if "/streams/" in path else 401), (method, path, status)
            status = ask(server, issuer, "", method.upper(), target).status
            expected = {"/v1/login": 204, "/v1/tickets": 415}.get(path, 404 if "/streams/" in path else 200 if described else 403)
            assert status == expected, (method, path, status)
            checked += 1
    assert open_to_all == {"/healthz", "/readyz", "/problems", "/problems/{problem}", "/{file}", "/v1/me", "/v1/login", "/.well-known/oauth-protected-resource"}
    assert checked > 60


def test_options_shows_no_app_and_no_binding(server):
    known, unknown = (server.request("OPTIONS", f"/v1/apps/{app}/sessions/s/state/p/todos") for app in ("todos", "nothing"))
    assert (known.status, known.headers["allow"]) == (unknown.status, unknown.headers["allow"]) == (204, "GET, HEAD, PUT, OPTIONS")


def test_a_refusal_comes_before_a_look_up(server, issuer):
    for target in ("/v1/apps/todos/sessions/s/state", "/v1/apps/todos/sessions/nothing/state", "/v1/apps/nothing/sessions/s/state"):
        answers = {(ask(server, issuer, "", "GET", target + rest).status, ask(server, issuer, "", "GET", target + rest).problem["type"]) for rest in ("", "/p", "/nothing")}
        assert answers == {(403, "/problems/not-granted")}, target

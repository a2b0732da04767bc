# `rivulet policy check` decides as the server does: its decisions are compared with answers of the server.

import json
import urllib.parse

import pytest

from harness import Connection, Server, message, run
from tokens import Issuer

POLICY = {
    "roles": {
        "owner": [{"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]},
                  {"actions": ["read"], "app": "*", "sessions": ["*"], "views": ["*"]}],
        "reader": [{"actions": ["read", "history", "list"], "app": "todos", "sessions": ["s", "s-*"], "paths": ["/p/todos/*/title"]}],
        "toggler": [{"actions": ["dispatch"], "app": "todos", "sessions": ["s"], "events": ["toggle", "rename"]}],
        "viewer": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "views": ["SummaryView"]}],
        "forker": [{"actions": ["fork", "create"], "app": "todos", "sessions": ["*"]}, {"actions": ["read"], "app": "todos", "sessions": ["s"]}],
        "noter": [{"actions": ["read", "write"], "app": "notes", "stores": ["notes"], "items": ["a-*"]}, {"actions": ["write"], "app": "notes", "values": ["theme"]}],
        "lister": [{"actions": ["list"], "app": "todos", "sessions": ["a*"]}, {"actions": ["list", "delete"], "app": "todos", "sessions": ["b*"]}],
        "keeper": [{"actions": ["secrets"], "app": "notes"}],
        "operator": [{"actions": ["operate"]}],
    },
    "authenticated": [{"actions": ["read", "dispatch", "create"], "app": "counter", "sessions": ["${me}"]}],
    "anonymous": [{"actions": ["read"], "app": "counter", "sessions": ["home"]}],
}  # fmt: skip
ROLES = ["", *POLICY["roles"], None]
S = "/v1/apps/todos/sessions/s"
N = "/v1/apps/notes/stores/notes"
#: Requests as a method, a target, and the event with its body.
REQUESTS = [
    *[("GET", S + path) for path in (
        "", "/state", "/state/p", "/state/p/todos", "/state/p/todos/x/title", "/state/t", "/state?version=1", "/state/t?version=1", "/events",
        "/views", "/views/SummaryView", "/changes", "/changes?path=%2Fp%2Ftodos", "/changes?path=%2Ft", "/changes?format=json-patch",
        "/views/SummaryView/changes",
    )],
    ("HEAD", S + "/state"), ("GET", "/v1/apps/counter/sessions/me/state"), ("GET", "/v1/apps/counter/sessions/home/state"),
    ("POST", S + "/events", "toggle", {"toggle": "a"}), ("POST", S + "/events", "add", {"add": {"id": "n", "title": "n"}}),
    ("PUT", S + "/state/p/filter", "setFilter", "done"), ("POST", "/v1/apps/counter/sessions/me/events", "increment", "increment"),
    ("POST", S + "/reset"), ("POST", S + "/restore?version=0"), ("POST", S + "/fork"), ("POST", S + "/fork?version=0"),
    ("PUT", S), ("DELETE", "/v1/apps/todos/sessions/b1"), ("GET", "/v1/apps/todos/sessions"), ("POST", "/v1/apps/todos/sessions"),
    ("GET", N), ("GET", N + "/a-1"), ("GET", N + "/b-1"), ("DELETE", N + "/a-1"), ("DELETE", N + "/b-1"), ("DELETE", N), ("GET", N + "/events"),
    ("GET", "/v1/apps/notes/values/theme"), ("DELETE", "/v1/apps/notes/values/theme"), ("GET", "/v1/apps/notes/values/theme/changes"),
    ("DELETE", "/v1/apps/notes/secrets/none"), ("GET", "/v1/apps"), ("GET", "/v1/apps/todos"), ("GET", "/v1/apps/todos/types.d.ts"),
    ("GET", "/metrics"), ("GET", "/v1/streams"), ("GET", "/v1/me"), ("GET", "/healthz"), ("GET", "/openapi.json"), ("GET", "/todos.html"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("policy")
    (folder / "policy.json").write_text(json.dumps(POLICY))
    return folder


@pytest.fixture(scope="module")
def issuer(folder):
    return Issuer(folder)


@pytest.fixture(scope="module")
def server(folder, issuer):
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", folder / "policy.json"]) as server:
        owner = issuer.bearer("owner", "owner")
        assert server.request("POST", S + "/events", {"add": {"id": "a", "title": "one"}}, owner).status == 200
        yield server


def check(folder, roles, *arguments, claims=None):
    options = []
    if roles is not None:
        (folder / "c.json").write_text(json.dumps({"sub": "u", "roles": roles} | (claims or {})))
        options = ["--claims", folder / "c.json"]
    outcome = run("policy", "check", folder / "policy.json", *options, *arguments)
    assert outcome.returncode in (0, 1) and outcome.stderr == "", outcome
    assert outcome.stdout.startswith("allowed: " if outcome.returncode == 0 else "denied ("), outcome
    return outcome.returncode, outcome.stdout


def answered(server, headers, method, target, body):
    """The status of the server's answer. A stream is cut."""
    with Connection(server) as connection:
        connection.send(message(method, target, body, headers))
        return connection.head()[0]


@pytest.mark.parametrize("roles", ROLES, ids=str)
def test_each_decision_is_that_of_the_server(roles, server, issuer, folder):
    headers = {} if roles is None else issuer.bearer("u", *roles.split())
    for method, target, *event in REQUESTS:
        status = answered(server, headers, method, target, event[1] if event else None)
        arguments = ["--event", event[0]] if event else []
        code, text = check(folder, roles, *arguments, method, target)
        assert (code == 1) == (status in (401, 403)), (roles, method, target, status, text)
        if code == 1:
            assert text.startswith(f"denied ({status}): {method} {target}"), (status, text)


def test_the_deciding_grant_is_shown(folder):
    code, text = check(folder, "reader toggler", "GET", S + "/state/p")
    [line] = [line for line in text.splitlines() if line.startswith("  by ")]
    assert code == 0 and line.startswith('  by the role "reader": {"actions":["read","history","list"]')
    assert "leaves out" in text
    assert 'by "authenticated": ' in check(folder, "", "GET", "/v1/apps/counter/sessions/me/state")[1]
    assert 'by "anonymous": ' in check(folder, None, "GET", "/v1/apps/counter/sessions/home/state")[1]
    assert "no grant is needed" in check(folder, None, "GET", "/healthz")[1]
    own = {"authorization_details": [{"type": "rivulet", "actions": ["operate"]}, {"type": "other"}]}
    assert 'by "authorization_details": {"actions":["operate"]}' in check(folder, "", "GET", "/metrics", claims=own)[1]


def test_two_grants_that_allow_together_are_both_shown(folder):
    code, text = check(folder, "forker reader operator", "POST", S + "/fork")
    lines = [line for line in text.splitlines() if line.startswith("  by ")]
    assert code == 0 and len(lines) == 2 and all('the role "forker"' in line for line in lines) and '"create"' in text


def test_the_missing_permission_is_shown(folder):
    code, text = check(folder, "toggler unknown", "--event", "add", "POST", S + "/events")
    assert code == 1 and '  needs {"action":"dispatch","app":"todos","session":"s","event":"add"}' in text
    assert 'has the role "toggler": ' in text and 'the policy has no role "unknown"' in text
    code, text = check(folder, None, "GET", S + "/state")
    assert text.startswith("denied (401)") and '  needs {"action":"read","app":"todos","session":"s"}' in text
    assert "needs a valid credential" in check(folder, None, "GET", "/v1/apps")[1]


def test_conditions_of_a_dispatch_are_shown(folder):
    code, text = check(folder, "toggler", "POST", S + "/events")
    assert code == 0 and '"rename", "toggle"' in text and 'also needs "create"' in text
    assert "also needs" not in check(folder, "owner", "POST", S + "/events")[1]


def test_options_may_stand_anywhere_and_roles_have_their_claim(folder):
    (folder / "c.json").write_text(json.dumps({"sub": "u", "realm_access": {"roles": ["operator"]}}))
    policy, claims = folder / "policy.json", folder / "c.json"
    assert run("policy", "check", policy, "--claims", claims, "GET", "/metrics").returncode == 1
    assert run("policy", "check", policy, "GET", "/metrics", "--claims", claims, "--roles-claim", "realm_access.roles").returncode == 0


def test_an_app_that_this_program_does_not_host_has_decisions_too(folder, tmp_path):
    (tmp_path / "policy.json").write_text(json.dumps({"anonymous": [{"actions": ["read"], "app": "shop", "sessions": ["*"], "paths": ["/p/a"]}]}))
    assert check(tmp_path, None, "GET", "/v1/apps/shop/sessions/x/state/p/a/b")[0] == 0
    assert check(tmp_path, None, "GET", "/v1/apps/shop/sessions/x/state/p/b")[0] == 1


def test_a_fault_of_arguments_and_files_is_one_line_and_exit_2(folder, tmp_path):
    policy, wrong = folder / "policy.json", tmp_path / "wrong.json"
    wrong.write_text('{"roles": {"a": [{"actions": ["fly"]}]}}')
    (tmp_path / "c.json").write_text('{"roles": ["a"]}')
    (tmp_path / "no.json").write_text("[")
    target = S + "/state"
    for arguments, remedy in [
        ([policy, "GET"], "Missing expected argument"), ([], "Missing expected argument"), ([policy, "GET", target, "--fly"], "--fly"),
        ([tmp_path / "none", "GET", target], "cannot read"), ([wrong, "GET", target], str(wrong)),
        ([policy, "--claims", tmp_path / "c.json", "GET", target], '"sub"'), ([policy, "--claims", tmp_path / "no.json", "GET", target], "not JSON"),
        ([policy, "GET", "/v1/nothing"], "no resource"), ([policy, "PATCH", target], "not a method"), ([policy, "FLY", target], "not a method"),
        ([policy, "GET", S + "/state/~2"], "key path"), ([policy, "GET", "no path"], "a method and a path"),
        ([policy, "GET", "/v1/apps\r\nX: y"], "a method and a path"),
        ([policy, "--event", "add", "GET", target], "--event"), ([policy, "GET", urllib.parse.quote("/v1/apps/a b/sessions")], "no app"),
    ]:  # fmt: skip
        outcome = run("policy", "check", *arguments)
        assert outcome.returncode == 2 and outcome.stdout == "" and remedy in outcome.stderr, (arguments, outcome)
        assert len(outcome.stderr.strip().splitlines()) == 1, outcome

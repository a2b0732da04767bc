# The log names the caller of each event that came with a credential, and a server without credentials names none.

import json

from harness import Server
from tokens import Issuer

S = "/v1/apps/todos/sessions/s"
GRANT = {"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]}


def start(folder, issuer, **policy):
    (folder / "policy.json").write_text(json.dumps(policy))
    return Server(folder / "data", arguments=["--jwt-key-file", issuer.file, "--policy", folder / "policy.json"])


def me(server, **headers):
    return server.request("GET", "/v1/me", headers=headers).json["me"]


def callers(server, headers, session=S):
    return [entry.get("by") for entry in server.request("GET", session + "/events", headers=headers).json]


def test_each_entry_names_its_caller_also_after_a_crash(tmp_path):
    issuer = Issuer(tmp_path)
    ann, bob = issuer.bearer("ann"), issuer.bearer("bob")
    with start(tmp_path, issuer, authenticated=[GRANT], anonymous=[GRANT]) as server:
        cookie = server.get("/v1/apps/todos/sessions/me/state").headers["set-cookie"].partition(";")[0]
        names = {name: me(server, **headers) for name, headers in (("ann", ann), ("bob", bob), ("cookie", {"Cookie": cookie}))}
        assert len(set(names.values())) == 3 and None not in names.values()

        def add(name, headers):
            answer = server.request("POST", S + "/events", {"add": {"id": name, "title": name}}, headers)
            assert answer.status == 200 and b'"by"' not in answer.body

        add("a", ann)
        add("b", bob)
        add("c", {"Cookie": cookie})
        lines = b'{"toggle":"a"}\n{"toggle":"b"}\n'
        assert server.request("POST", S + "/events", lines, bob | {"Content-Type": "application/x-ndjson"}).status == 200
        assert server.request("POST", S + "/restore?version=2", headers=ann | {"Idempotency-Key": '"r"'}).status == 200
        assert server.request("POST", S + "/reset", headers=bob).status == 200
        # The name of an anonymous caller is the id of its session, which this policy lets every caller use.
        expected = [names.get(name) for name in ("ann", "bob", "none", "bob", "bob", "ann", "bob")]
        assert callers(server, ann) == expected
        text = server.request("GET", S + "/events", headers=ann | {"Accept": "application/x-ndjson"}).body
        assert [json.loads(line).get("by") for line in text.splitlines()] == expected
        assert names["cookie"].encode() not in text
        server.kill()
    with start(tmp_path, issuer, authenticated=[GRANT]) as server:
        assert callers(server, bob) == expected
        # An anonymous caller may not read the log, and learns no name from the refusal.
        refused = server.get(S + "/events")
        assert refused.status == 401 and names["ann"].encode() not in refused.body
        assert server.stop() == 0
    # A server without credentials still shows the stored names, and adds none.
    with Server(tmp_path / "data") as server:
        assert server.request("POST", S + "/events", {"add": {"id": "d", "title": "d"}}).status == 200
        assert callers(server, {}) == expected + [None]
        assert not any(name in server.log_text() for name in names.values())


def test_a_restore_answers_with_the_granted_part_of_the_changes(tmp_path):
    issuer = Issuer(tmp_path)
    title = {"actions": ["read", "restore"], "app": "todos", "sessions": ["s"], "paths": ["/p/todos/*/title"]}
    with start(tmp_path, issuer, roles={"owner": [GRANT], "reader": [title]}) as server:
        owner, reader = issuer.bearer("ann", "owner"), issuer.bearer("bob", "reader")
        for event in ({"add": {"id": "a", "title": "one"}}, {"setFilter": "open"}):
            assert server.request("POST", S + "/events", event, owner).status == 200
        answer = server.request("POST", S + "/restore?version=1", headers=reader)
        assert answer.status == 200 and answer.json["changes"] == []
        answer = server.request("POST", S + "/reset", headers=owner)
        assert answer.json["changes"] != []


def test_the_names_of_callers_stay_when_the_secret_key_is_replaced(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps({"authenticated": [{"actions": ["*"], "app": "counter", "sessions": ["${me}", "team"]}]}))
    ann, own, team = issuer.bearer("ann"), "/v1/apps/counter/sessions/me", "/v1/apps/counter/sessions/team/events"
    once = ann | {"Idempotency-Key": '"order-1"'}
    keys = {number: str(number) * 40 for number in range(1, 5)}

    def start(key=None, older=None):
        variables = {"RIVULET_SECRET_KEY": keys.get(key), "RIVULET_OLDER_SECRET_KEY": keys.get(older)}
        arguments = ["--jwt-key-file", issuer.file, "--policy", policy]
        return Server(tmp_path / "data", arguments=arguments, variables={name: value for name, value in variables.items() if value})

    with start(1) as server:
        assert server.request("POST", own + "/events", "increment", ann).status == 200
        assert server.request("POST", team, "increment", once).status == 200
        name = me(server, **ann)
        server.kill()
    # Each key is the older one for a start, and is not needed afterwards.
    for key, older in ((1, None), (2, 1), (2, None), (3, 2), (3, None)):
        with start(key, older) as server:
            assert me(server, **ann) == name
            assert server.request("GET", own + "/state/p/count", headers=ann).json == 1
            assert [entry["id"] for entry in server.request("GET", "/v1/apps/counter/sessions?owner=me", headers=ann).json["sessions"]] == [name, "team"]
            again = server.request("POST", team, "increment", once)
            assert again.headers.get("idempotency-replayed") == "true" and again.json["version"] == 1
            assert "names of callers" not in server.log_text()
            server.kill()
    # Without the key of the names, the log says so. A later start with this key has them again.
    for key, older, line in ((4, None, True), (4, None, True), (4, 3, False), (4, None, False)):
        with start(key, older) as server:
            assert (me(server, **ann) != name) == line == ("give that key as an older key" in server.log_text())
            assert server.stop() == 0


def test_the_names_of_callers_stay_when_a_key_takes_the_place_of_the_key_file(tmp_path):
    issuer = Issuer(tmp_path)
    ann, names = issuer.bearer("ann"), []
    older = {"RIVULET_OLDER_SECRET_KEY_FILE": str(tmp_path / "data" / "secret.key")}
    for variables in ({}, {"RIVULET_SECRET_KEY": "s" * 40} | older, {"RIVULET_SECRET_KEY": "s" * 40}):
        with Server(tmp_path / "data", arguments=["--jwt-key-file", issuer.file], variables=variables) as server:
            names.append(me(server, **ann))
            assert server.stop() == 0
    assert len(set(names)) == 1

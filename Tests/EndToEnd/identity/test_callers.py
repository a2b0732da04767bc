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

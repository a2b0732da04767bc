# The policy of Security.md is one that a server takes, and gives each role what the page says.

import json

from fences import fenced
from harness import Server
from tokens import Issuer


def test_the_policy_of_the_page_gives_its_roles_what_it_says(tmp_path):
    [policy] = [code for language, code in fenced("Documentation/Security.md") if language == "json"]
    issuer, file = Issuer(tmp_path), tmp_path / "policy.json"
    file.write_text(policy)
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", file]) as server:
        todos = "/v1/apps/todos/sessions"
        editor, reader, operator, user = (issuer.bearer(name, name) for name in ("editor", "reader", "operator", "user"))
        assert server.request("POST", f"{todos}/home/events", {"add": {"id": "milk", "title": "Buy milk"}}, editor).status == 200
        assert server.request("GET", f"{todos}/other/state", headers=reader).status == 200
        masked = server.request("GET", f"{todos}/home/state", headers=reader)
        # The reader also has the whole of `home`, as every caller.
        assert json.loads(masked.body)["p"]["filter"] == "all"
        assert server.request("POST", f"{todos}/home/events", "clearDone", reader).status == 403
        assert server.get(f"{todos}/home/state").status == 200 and server.get(f"{todos}/other/state").status == 401
        assert server.request("POST", f"{todos}/me/events", {"add": {"id": "a", "title": "b"}}, user).status == 200
        assert server.request("GET", f"{todos}/other/state", headers=user).status == 403
        assert server.request("GET", "/metrics", headers=operator).status == 200
        assert server.request("GET", "/metrics", headers=editor).status == 403

# A policy of the largest size costs a limited memory and a limited time, whatever credentials and paths a caller sends.

import json
import time

import pytest

from harness import Connection, Server
from permission_programs import unlimited
from tokens import Issuer

S = "/v1/apps/todos/sessions/s"


@pytest.fixture(scope="module")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


def large_policy(variable=""):
    """About 140 KB: 4,096 patterns of sessions and 4,096 paths."""
    grants = [{"actions": ["read"], "app": "todos", "sessions": [f"{variable}s{i}-{j}" for j in range(64)], "paths": [f"/p/todos/{i}x{j}/{variable or 'title'}" for j in range(64)]}
              for i in range(63)]  # fmt: skip
    return json.dumps({"authenticated": [*grants, {"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": grants[0]["paths"]}]})


def test_callers_of_a_large_policy_share_its_memory(issuer, tmp_path):
    """One subject has as many tokens as it likes, and each of them is another caller to the server."""
    file = tmp_path / "policy.json"
    file.write_text(large_policy())
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", file, "--workers", "1", *unlimited()]) as server, Connection(server) as connection:
        get = lambda number: connection.request("GET", S, headers=issuer.bearer("u", jti=str(number))).status
        assert get(0) == 404
        before = server.memory()
        assert {get(number) for number in range(1, 101)} == {404}
        # Each one took over 1 MiB of its own.
        assert server.memory() - before < 16 << 20


def test_a_large_policy_with_variables_fills_the_memory_of_callers_and_no_more(issuer, tmp_path):
    file = tmp_path / "policy.json"
    file.write_text(large_policy("${me}"))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", file, "--workers", "1", *unlimited()]) as server, Connection(server) as connection:
        before = server.memory()
        for number in range(50):
            assert connection.request("GET", S, headers=issuer.bearer("u", jti=str(number))).status == 404
        # The memory of callers has 32 MiB, and each of these needs more than 1 MiB.
        assert server.memory() - before < 50 << 20


def test_a_stream_of_many_patterns_meets_a_limited_part_of_a_large_policy(issuer, tmp_path):
    file = tmp_path / "policy.json"
    names = [f"/p/todos/{number}/title" for number in range(64 * 32)]
    file.write_text(json.dumps({"authenticated": [{"actions": ["read"], "app": "todos", "sessions": ["s"], "paths": names[i : i + 64]} for i in range(0, len(names), 64)]}))
    asked = "&".join(f"path=/{a}/{b}/*/{c}" for a in ("p", "*") for b in ("todos", "*") for c in ("title", "*", *range(14)))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", file, *unlimited()]) as server:
        bearer = issuer.bearer("u")
        assert server.request("GET", "/v1/me", None, bearer).status == 200
        began = time.monotonic()
        refused = server.request("GET", S + "/changes?" + asked, None, bearer)
        assert refused.problem["type"] == "/problems/invalid-query" and "the grants make over 64 paths" in refused.problem["detail"]
        assert time.monotonic() - began < 1

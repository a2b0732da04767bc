# schemathesis sends each request of the OpenAPI document also without its credential, and with another one.

import json
import re
import subprocess
import sys

from harness import ROOT, Server, environment
from tokens import Issuer

#: The operations that schemathesis skips: streams, because they do not end.
STREAMS = r"/changes$|/stores/[^/]+/events$"
SECONDS = 12
#: The fewest operations that the time is enough for; AccessMatrixTests.swift has all of them.
OPERATIONS = 20
EVERYTHING = {"actions": ["*"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"]}
POLICY = {"roles": {"all": [EVERYTHING, EVERYTHING | {"actions": ["read"], "views": ["*"]}, {"actions": ["operate"]}]}}


def test_no_operation_ignores_its_credential(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY))
    with Server(None, arguments=["--jwt-key-file", issuer.file, "--policy", policy]) as server:
        done = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", "run", server.url + "/openapi.json",
                "-H", f"Authorization: {issuer.bearer('a', 'all')['Authorization']}", "--exclude-path-regex", STREAMS,
                "--checks", "ignored_auth", "--phases", "fuzzing", "--mode", "positive", "--max-examples", "1", "--seed", "1",
                "--generation-database", "none", "--request-timeout", "10", "--max-time", str(SECONDS), "--continue-on-failure", "--no-color",
            ],
            capture_output=True,
            text=True,
            timeout=SECONDS * 4,
            cwd=tmp_path,
            env=environment() | {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(ROOT / "Tests" / "EndToEnd")},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        tested = re.search(r"Tested: (\d+)", done.stdout)
        assert tested and int(tested[1]) > OPERATIONS, done.stdout
        metrics = server.request("GET", "/metrics", headers=issuer.bearer("a", "all")).body.decode()
        results = {result: int(count) for result, count in re.findall(r'^rivulet_auth_total\{result="(\w+)"\} (\d+)', metrics, re.M)}
        # The requests were sent again with no credential, and with a bad one.
        assert results["missing"] > OPERATIONS and results["refused"] > OPERATIONS, results
        assert server.stop() == 0

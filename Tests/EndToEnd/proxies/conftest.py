# The fixtures of the tests with proxies: a server with credentials, and each proxy in front of it.

import json

import pytest

from fronts import KINDS, NAME, Authority, Front
from harness import Server
from tokens import Issuer

#: Every caller with a credential may do everything but operate.
EVERYTHING = [
    {"actions": ["*"], "app": "*", "sessions": ["*"]},
    {"actions": ["read"], "app": "*", "sessions": ["*"], "views": ["*"]},
    {"actions": ["*"], "app": "*", "stores": ["*"], "values": ["*"]},
]


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def issuer(tmp_path_factory):
    return Issuer(tmp_path_factory.mktemp("issuer"))


@pytest.fixture(scope="session")
def options(tmp_path_factory, issuer):
    """The options of a server with credentials behind a proxy, without its public URL."""
    policy = tmp_path_factory.mktemp("policy") / "policy.json"
    roles = {"operator": [{"actions": ["operate"]}]}
    policy.write_text(json.dumps({"authenticated": EVERYTHING, "roles": roles}))
    return ["--jwt-key-file", issuer.file, "--policy", policy, "--trusted-proxies", "127.0.0.1"]


@pytest.fixture(scope="session")
def upstream(options):
    """The server behind the proxies."""
    with Server(None, arguments=[*options, "--public-url", f"https://{NAME}"]) as server:
        yield server
        assert server.stop() == 0, server.log_text()


@pytest.fixture(scope="module", params=KINDS)
def front(request, upstream, authority, tmp_path_factory):
    """Each proxy with its shipped configuration."""
    with Front(request.param, upstream.port, authority, tmp_path_factory.mktemp(request.param)) as front:
        yield front


@pytest.fixture
def bearer(issuer):
    return issuer.bearer("alice")

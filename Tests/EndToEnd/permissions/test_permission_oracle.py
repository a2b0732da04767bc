# Random callers send random requests, and the rules of Documentation/Security.md decide about each of them.

import os

import pytest

import permission_grants
from harness import Server
from permission_programs import CANARY, Violation, World
from permission_shared import PermissionProgram

#: A longer run by hand: RIVULET_PERMISSION_PROGRAMS=10000 RIVULET_PERMISSION_SEED=7 python -m pytest FILE
PROGRAMS = int(os.environ.get("RIVULET_PERMISSION_PROGRAMS", "500"))
SEED = os.environ.get("RIVULET_PERMISSION_SEED", "1")
REQUESTS = 12


@pytest.fixture
def world(tmp_path):
    """Makes servers, and kills them at the end of the test."""
    worlds = []

    def make(**options):
        folder = tmp_path / str(len(worlds))
        folder.mkdir()
        worlds.append(World(folder, SEED, lambda arguments: Server(None, arguments=arguments), **options))
        return worlds[-1]

    yield make
    for one in worlds:
        one.close()
        one.server.__exit__()


def test_guarantee_7_no_answer_has_a_hidden_byte_and_no_granted_request_is_refused(world):
    strict = world()
    for number in range(PROGRAMS):
        PermissionProgram(strict, SEED, number).run(REQUESTS)
    log = strict.server.log_text().encode()
    assert not CANARY.search(log), CANARY.search(log)
    assert strict.asked > 20 * PROGRAMS


def without(*members):
    return lambda grant: {name: value for name, value in grant.items() if name not in members}


def every_session(grant):
    return grant | ({"sessions": ["*"]} if "sessions" in grant else {})


def every_action(grant):
    reaches = "sessions" in grant or "stores" in grant or "values" in grant
    return grant | ({"actions": ["*"]} if reaches else {})


WEAKER = {
    "paths": without("paths"), "events": without("events"), "items": without("items"), "sessions": every_session, "actions": every_action,
    "the app": lambda grant: grant | ({"app": "*"} if "app" in grant else {}),
    "the names of views": lambda grant: grant | ({"views": ["*"]} if "views" in grant else {}),
    "the names of values": lambda grant: grant | ({"values": ["*"]} if "values" in grant else {}),
    "one level of paths": lambda grant: grant | ({"paths": [path.rpartition("/")[0] for path in grant["paths"]]} if "paths" in grant else {}),
}  # fmt: skip


@pytest.mark.parametrize("ignored", WEAKER)
def test_guarantee_7_a_server_that_ignores_a_part_of_grants_is_found(world, ignored):
    weak = world(weaken=WEAKER[ignored])
    with pytest.raises(Violation):
        for number in range(200):
            PermissionProgram(weak, SEED, number).run(REQUESTS)


def test_the_search_finds_a_canary_beside_the_mask(world):
    class Blind(PermissionProgram):
        def shown(self, mask, session=None):
            return set()

    with pytest.raises(Violation, match="the answer shows"):
        for number in range(50):
            Blind(world(), SEED, number).run(REQUESTS)


def test_a_grant_that_is_not_valid_refuses_the_token(world):
    server = world()
    for number in range(60):
        grants = [{"type": "rivulet"} | permission_grants.broken(number)]
        answer = server.ask("GET", "/v1/me", None, server.issuer.bearer("u", authorization_details=grants))
        assert answer.status == 401, grants
    assert "reason=authorization_details" in server.server.log_text()

# A cluster of three nodes serves through every node, survives its owner, and loses nothing in a plan of faults.

import json
import os
import time

import pytest

import cluster_chaos
import harness
from harness import PATIENCE, Session
from nats import NATSCluster
from nodes import Nodes
from proxy import Proxy
from tokens import Issuer

S = "/v1/apps/counter/sessions/"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with cluster_chaos.cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
def nodes(cluster):
    cluster.heal()
    return cluster


def rename(node, session, title, **headers):
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return node.server.request("POST", f"{S}{session}/events", {"rename": title}, fields)


def title(node, session):
    answer = node.server.get(f"{S}{session}/state/p/title")
    assert answer.status == 200, answer
    return answer.json


def acknowledged(node, session, text, seconds=PATIENCE):
    """Dispatches until it is acknowledged, and returns the answer and the seconds that it took."""
    begin, key = time.monotonic(), f'"{text}"'
    while True:
        try:
            answer = rename(node, session, text, Idempotency_Key=key)
            if answer.status == 200:
                return answer, time.monotonic() - begin
        except (OSError, EOFError):
            pass
        assert time.monotonic() - begin < seconds, node.log_text()[-3_000:]
        time.sleep(0.01)


def test_every_node_takes_every_request(nodes):
    for number, node in enumerate(nodes.all):
        answer = rename(node, "any", f"title {number}")
        assert answer.status == 200 and answer.json["durable"] is True and answer.json["version"] == number + 1, answer
        assert [title(other, "any") for other in nodes.all] == [f"title {number}"] * 3
    logs = [node.server.get(f"{S}any/events").body for node in nodes.all]
    assert logs[0] == logs[1] == logs[2] and len(json.loads(logs[0])) == 3
    cursors = {node.server.get(f"{S}any/state").headers["etag"] for node in nodes.all}
    assert len(cursors) == 1


def test_the_cluster_describes_itself(nodes):
    owner = nodes.owner()
    # A node reads the records of the others once a second.
    known = lambda node: [each["state"] for each in nodes.status(node)["nodes"]] == ["live"] * 3
    nodes.until("all nodes know each other", lambda: all(map(known, nodes.all)))
    for node in nodes.all:
        status = nodes.status(node)
        assert set(status) == {"cluster", "node", "nodes", "partitions"} and status["node"] == node.name
        assert {each["name"]: each["state"] for each in status["nodes"]} == dict.fromkeys(["node0", "node1", "node2"], "live")
        assert all(set(each) == {"name", "build", "state", "lease_seconds"} for each in status["nodes"])
        [partition] = status["partitions"]
        assert set(partition) == {"partition", "owner", "term", "head", "applied", "state"}
        assert (partition["partition"], partition["owner"], partition["state"]) == (0, owner.name, "open")
    assert len({nodes.status(node)["cluster"] for node in nodes.all}) == 1
    for command in ("status", "check"):
        ended = nodes.command(command)
        assert ended.returncode == 0 and (command == "check" or owner.name in ended.stdout), ended


def test_a_retry_through_another_node_gets_the_first_answer(nodes):
    answers = [rename(node, "retry", "once", Idempotency_Key='"retry"') for node in nodes.all]
    assert {answer.body for answer in answers} == {answers[0].body}
    assert [answer.headers.get("idempotency-replayed") for answer in answers] == [None, "true", "true"]


def test_streams_of_all_nodes_survive_the_death_of_the_owner(nodes):
    rename(nodes.all[0], "survivor", "before")
    owner = nodes.owner()
    standbys = [node for node in nodes.all if node is not owner]
    sessions = [Session(node.server, "survivor") for node in standbys]
    streams = [session.stream("/p/title", **options) for session in sessions for options in ({}, {"resume": "all"})]
    for stream in streams:
        stream.expect("snapshot")
    owner.kill()
    answer, seconds = acknowledged(standbys[0], "survivor", "after")
    assert seconds <= 1.1 * nodes.lease + 1, seconds
    acknowledged(standbys[1], "survivor", "later")
    for stream in streams:
        changes = [stream.expect("change")]
        if stream is streams[1] or stream is streams[3]:
            changes.append(stream.expect("change"))
            assert [change.data["version"] for change in changes] == [2, 3]
        while changes[-1].changed.get("/p/title") != "later":
            changes.append(stream.expect("change"))
        stream.close()
    owner.start()
    nodes.wait()
    assert title(owner, "survivor") == "later"


def test_an_owner_that_is_started_again_at_once_keeps_the_partition(nodes):
    owner = nodes.owner()
    owner.kill()
    owner.start()
    _, seconds = acknowledged(owner, "again", "after")
    assert seconds <= 2, seconds
    assert nodes.owner() is owner
    nodes.wait()


def test_an_owner_that_is_stopped_hands_over_at_once(nodes):
    owner = nodes.owner()
    [other, _] = [node for node in nodes.all if node is not owner]
    with Session(owner.server, "stopped").stream("/p/title") as stream:
        stream.expect("snapshot")
        assert owner.stop() == 0, owner.log_text()[-3_000:]
        assert stream.expect("bye").data["reason"] == "draining"
    _, seconds = acknowledged(other, "stopped", "after")
    assert seconds <= 1, seconds
    owner.start()
    nodes.wait()


def test_a_drained_owner_gives_its_partition_away(nodes):
    owner = nodes.owner()
    ended = nodes.command("drain", owner.name)
    assert ended.returncode == 0, ended
    assert nodes.owner() is not owner
    answer, _ = acknowledged(nodes.owner(), "drained", "after")
    assert answer.status == 200
    unknown = nodes.command("drain", "node9")
    assert unknown.returncode != 0 and "node9" in unknown.stdout + unknown.stderr
    if owner.is_running:
        owner.stop()
    owner.start()
    nodes.wait()


def test_an_empty_node_joins(nodes):
    text = "x" * 10_000
    for number in range(20):
        assert rename(nodes.all[0], f"joined-{number}", f"{number} {text}").status == 200
    fourth = nodes.node("node3")
    nodes.all.append(fourth)
    try:
        nodes.start([fourth])
        assert title(fourth, "joined-7") == f"7 {text}"
        assert rename(fourth, "joined-7", "through the fourth").json["version"] == 2
        assert fourth.stop() == 0
    finally:
        nodes.all.remove(fourth)
        if fourth.is_running:
            fourth.kill()


def test_a_node_without_nats_is_not_ready_until_it_comes(nodes):
    standby = nodes.standbys()[0]
    standby.kill()
    standby.part("drop")
    standby.start()
    for _ in range(20):
        assert standby.ask("/readyz").status == 503 and standby.ask("/healthz").status == 200
        time.sleep(0.05)
    standby.part("pass")
    nodes.wait([standby])


def test_faults_lose_and_repeat_nothing(nodes):
    """The plan of continuous integration: twelve faults, each with its checks."""
    seed = int(os.environ.get("RIVULET_CLUSTER_SEED") or time.time_ns() % 1_000_000)
    options = cluster_chaos.options_of([], seed=seed, faults=12)
    print(f"seed {seed}; again: {cluster_chaos.command(options)}")
    world = cluster_chaos.run(options, nodes)
    assert not world.findings, f"{len(world.findings)} findings, seed {seed}: {world.findings[0]}"
    # A run in which one of these never happened proves nothing.
    moves = sum(stream.oracle.moves for stream in world.streams)
    assert world.acknowledged > 1_000 and world.repeated > 20 and moves > 0, world.summary()


# Credentials.

POLICY = {
    "authenticated": [{"actions": ["*"], "app": "*", "sessions": ["*"]}],
    "roles": {"operator": [{"actions": ["operate"]}]},
}


def test_a_ticket_opens_on_any_node_and_a_revocation_ends_streams_on_all(tmp_path):
    issuer, policy = Issuer(tmp_path), tmp_path / "policy.json"
    policy.write_text(json.dumps(POLICY))
    arguments = ["--jwt-key-file", issuer.file, "--policy", policy]
    operator = issuer.bearer("root", "operator")
    with NATSCluster(tmp_path) as nats, Proxy() as proxy, Nodes(tmp_path, nats, proxy, arguments=arguments, headers=operator) as nodes:
        nodes.initialise()
        nodes.start()
        alice = issuer.bearer("alice", jti="alice-1")
        stream = f"{S}team/changes?path=/p/title"
        streams = []
        for maker, opener in zip(nodes.all, [*nodes.all[1:], nodes.all[0]]):
            made = maker.server.request("POST", "/v1/tickets", {"stream": stream}, alice)
            assert made.status == 201, made
            target = f"{stream}&ticket={made.json['ticket']}"
            streams.append(opened(opener, target, 200))
            for node in nodes.all:
                opened(node, target, 401)
        begin = time.monotonic()
        assert nodes.all[1].server.request("POST", "/v1/revocations", {"jti": "alice-1"}, operator).status == 201
        for connection in streams:
            connection.until(b"event: bye\ndata: ")
            assert b'"revoked"' in connection.until(b"\n\n")
            connection.close()
        assert time.monotonic() - begin <= 2
        assert {node.server.request("GET", f"{S}team/state", headers=alice).status for node in nodes.all} == {401}


def opened(node, target, expected):
    """A stream of this target, which the node answers with this status."""
    connection = harness.Connection(node.server)
    connection.send(harness.message("GET", target, headers={"Accept": "text/event-stream"}))
    status, _ = connection.stream_head()
    assert status == expected, (node.name, status)
    if status == 200:
        return connection
    connection.close()

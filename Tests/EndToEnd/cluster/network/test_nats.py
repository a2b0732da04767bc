# The NATS servers of the cluster tests can be killed, paused, damaged and filled, and the small client sees it.

import asyncio
import os

import pytest

from nats import NATSCluster
from nats_client import STREAM_FULL, WRONG_LAST_SEQUENCE, Client, Lines, Publisher, Refused, Unanswered, parsed


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    with NATSCluster(tmp_path_factory.mktemp("three")) as cluster:
        with cluster.client() as client:
            client.make_stream("LOG", ["log.*"], replicas=3)
        yield cluster


@pytest.fixture
def one(tmp_path):
    with NATSCluster(tmp_path / "one", count=1, store_max="16MB") as cluster:
        yield cluster


def append(cluster, subject, text, last=None):
    """Appends a message; tries again while there is no leader."""
    def tried():
        with cluster.client() as client:
            return client.append(subject, text, last, seconds=2)
    return cluster.until("an append succeeds", tried)


def text(cluster, sequence):
    with cluster.client() as client:
        return client.message("LOG", sequence)["data"]


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_messages_are_read_in_any_pieces(size):
    received = b"INFO {}\r\nMSG a.b 1 5\r\nab\r\nc\r\nHMSG a 1 r 4 6\r\nheadxy\r\nPING\r\n+OK\r\n"
    lines, read = Lines(), []
    for at in range(0, len(received), size):
        read += lines.feed(received[at : at + size])
    assert read == [("INFO", "{}", b"", b""), ("MSG", ["a.b", "1"], b"", b"ab\r\nc"), ("HMSG", ["a", "1", "r"], b"head", b"xy"),
                    ("PING", "", b"", b""), ("+OK", "", b"", b"")]  # fmt: skip


def test_a_list_of_servers_is_read():
    assert parsed("nats://a:1,b:2,nats://c:3") == [("a", 1), ("b", 2), ("c", 3)]


def test_an_append_succeeds_only_behind_the_last_message_of_its_subject(three):
    first = append(three, "log.cas", b"a", 0)
    with three.client() as client:
        second = client.append("log.cas", b"b", first)
        with pytest.raises(Refused) as refused:
            client.append("log.cas", b"c", first)
        assert refused.value.code == WRONG_LAST_SEQUENCE and second > first
        assert client.message("LOG", second)["subject"] == "log.cas"
        assert client.streams() == ["LOG"]
        with pytest.raises(Unanswered):
            client.append("no.stream", b"d")


def test_one_of_racing_appends_succeeds(three):
    async def race():
        publishers = [await Publisher.connect(three.servers[number % 3].port) for number in range(6)]
        outcomes = await asyncio.gather(*(each._append("log.race", b"x", 0) for each in publishers), return_exceptions=True)
        for each in publishers:
            each.transport.abort()
        return outcomes
    outcomes = asyncio.run(race())
    assert sum(isinstance(outcome, int) for outcome in outcomes) == 1, outcomes
    assert sum(isinstance(outcome, Refused) for outcome in outcomes) == 5, outcomes


def test_the_settings_are_those_that_rivulet_demands(three):
    for server in three.servers:
        config = server.get("/varz")["jetstream"]["config"]
        assert config["sync_always"] is True
        with Client(server.port) as client:
            assert client.info["version"] == "2.15.1" and "connect_urls" not in client.info
            assert client.info["max_payload"] >= 8_000_000


def test_a_killed_leader_loses_nothing(three):
    sequence = append(three, "log.killed", b"kept")
    leader = three.leader("LOG")
    leader.kill()
    follower = three.leader("LOG")
    assert follower is not leader
    append(three, "log.killed", b"after")
    leader.start()
    three.until("all servers are current", lambda: three.is_current("LOG"))
    assert text(three, sequence) == "a2VwdA=="


def test_a_paused_server_stands_still(three):
    follower = three.followers("LOG")[0]
    follower.pause()
    with pytest.raises((Unanswered, OSError)):
        Client(follower.port, seconds=0.5).ask("INFO", seconds=0.5)
    append(three, "log.paused", b"meanwhile")
    follower.resume()
    three.until("all servers are current", lambda: three.is_current("LOG"))


@pytest.mark.parametrize("damage", ["wipe", "delete_newest_block", "truncate_newest_block"])
def test_a_damaged_follower_comes_back(three, damage):
    sequence = append(three, "log.damaged", os.urandom(2_000))
    before = text(three, sequence)
    three.until("all servers are current", lambda: three.is_current("LOG"))
    follower = three.followers("LOG")[0]
    follower.kill()
    if damage == "wipe":
        follower.wipe()
    else:
        assert getattr(follower, damage)("LOG") > 1_000
    append(three, "log.damaged", b"after")
    follower.start()
    three.wait()
    three.until("all servers are current", lambda: three.is_current("LOG"))
    assert text(three, sequence) == before


def test_a_full_server_refuses_appends_until_there_is_room(one):
    with one.client() as client:
        client.make_stream("LOG", ["log.*"])
        client.make_stream("FILLER", ["filler"])
        client.append("log.a", b"before")
        with pytest.raises(Refused):
            for _ in range(64):
                client.append("filler", bytes(1_000_000))
        with pytest.raises(Refused):
            client.append("log.a", bytes(500_000))
        client.delete_stream("FILLER")
    append(one, "log.a", bytes(500_000))


def test_a_stream_without_room_refuses_appends_until_it_has_room(one):
    with one.client() as client:
        client.make_stream("LOG", ["log.*"])
        client.append("log.a", b"a")
        log = client.stream("LOG")
        client.update_stream(log["config"] | {"max_bytes": log["state"]["bytes"] + 1})
        with pytest.raises(Refused) as refused:
            client.append("log.a", b"b")
        assert refused.value.code == STREAM_FULL
        client.update_stream(log["config"])
        assert client.append("log.a", b"b") == 2


def test_a_restarted_server_has_its_port_and_its_messages(one):
    server = one.servers[0]
    with one.client() as client:
        client.make_stream("LOG", ["log.*"])
        client.append("log.a", b"a")
    server.stop()
    assert not server.is_running
    server.start()
    one.wait()
    with one.client() as client:
        assert client.stream("LOG")["state"]["messages"] == 1


def test_no_server_is_left(tmp_path):
    with NATSCluster(tmp_path, count=1) as cluster:
        process = cluster.servers[0].process
        cluster.servers[0].pause()
    assert process.poll() is not None

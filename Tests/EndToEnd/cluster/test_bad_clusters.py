# Wrong settings and lost logs are refused or halt, each with a line that names the remedy.

import subprocess

import pytest

import cluster_chaos
import harness
from faults import LOG
from nats import NATSCluster
from nodes import SECRET, Nodes

ALICE = "/v1/apps/counter/sessions/alice"


@pytest.fixture(scope="module")
def nats(tmp_path_factory):
    """Servers with a cluster of which no node runs."""
    with NATSCluster(tmp_path_factory.mktemp("nats")) as nats:
        Nodes(tmp_path_factory.mktemp("nodes"), nats, count=0).initialise()
        yield nats


def refused(tmp_path, *arguments, variables=None, seconds=20.0):
    """The output of a node that must end by itself with an error."""
    ended = subprocess.run(
        [harness.binary(), "serve", "--port", "0", "--data", tmp_path / "data", *map(str, arguments)],
        capture_output=True, text=True, timeout=seconds,
        env=harness.environment() | ({"RIVULET_SECRET_KEY": SECRET} if variables is None else variables),
    )  # fmt: skip
    assert ended.returncode not in (0, None) and ended.returncode > 0, ended
    return ended.stdout + ended.stderr


def joining(nats, *arguments, name="node0"):
    return ["--cluster", nats.url, "--node", name, "--lease", "3s", *arguments]


def test_a_cluster_that_was_not_initialised_names_the_command(tmp_path):
    with NATSCluster(tmp_path) as empty:
        assert "rivulet cluster init" in refused(tmp_path, *joining(empty, "--nats-sync-verified"))


def test_another_secret_key_is_refused(nats, tmp_path):
    other = {"RIVULET_SECRET_KEY": "another-secret-key-with-32-bytes"}
    assert "RIVULET_SECRET_KEY" in refused(tmp_path, *joining(nats, "--nats-sync-verified"), variables=other)


def test_a_missing_secret_key_is_refused(nats, tmp_path):
    assert "RIVULET_SECRET_KEY" in refused(tmp_path, *joining(nats, "--nats-sync-verified"), variables={})


def test_a_node_that_knows_nothing_of_the_disks_of_nats_is_refused(nats, tmp_path):
    output = refused(tmp_path, *joining(nats))
    assert "--nats-monitor" in output and "--nats-sync-verified" in output


def test_tls_is_refused_with_the_reason(nats, tmp_path):
    address = nats.url.replace("nats://", "tls://")
    assert "tls" in refused(tmp_path, "--cluster", address, "--node", "node0", "--nats-sync-verified").lower()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("lease", ["2s", "61s", "x"])
def test_a_lease_out_of_range_is_refused(nats, tmp_path, lease):
    output = refused(tmp_path, "--cluster", nats.url, "--node", "node0", "--nats-sync-verified", "--lease", lease)
    assert "--lease" in output and "3" in output and "60" in output


@pytest.mark.parametrize("arguments", [["--memory"], ["--node", "a node"], ["--cluster", "http://127.0.0.1:1"]], ids=" ".join)
def test_options_that_contradict_a_cluster_are_refused(nats, tmp_path, arguments):
    given = joining(nats, "--nats-sync-verified")
    if arguments[0] in given:
        given[given.index(arguments[0]) + 1] = arguments[1]
        arguments = []
    refused(tmp_path, *given, *arguments)


def test_monitors_are_read(nats, tmp_path):
    monitors = [word for server in nats.servers for word in ("--nats-monitor", server.monitor)]
    with Nodes(tmp_path, nats, count=0) as nodes:
        nodes.common = ["--workers", "1", "--lease", "3s", *monitors]
        nodes.all.append(nodes.node("node0"))
        nodes.start()
        assert nodes.all[0].server.request("POST", f"{ALICE}/events", "increment").json["durable"] is True
        assert nodes.all[0].stop() == 0
    missing = nats.servers[2].name
    assert missing in refused(tmp_path, *joining(nats, *monitors[:4], name="node1"))


def test_servers_that_do_not_sync_are_refused(tmp_path):
    with NATSCluster(tmp_path, sync='"2m"') as lazy:
        Nodes(tmp_path, lazy, count=0).initialise()
        monitors = [word for server in lazy.servers for word in ("--nats-monitor", server.monitor)]
        output = refused(tmp_path, *joining(lazy, *monitors))
        assert "sync_interval: always" in output and "nats0" in output


def test_a_second_node_of_the_same_name_is_refused(nats, tmp_path):
    with Nodes(tmp_path, nats, count=1) as nodes:
        nodes.start()
        output = refused(tmp_path / "other", *joining(nats, "--nats-sync-verified"))
        assert "node0" in output and "--node" in output
        assert nodes.all[0].is_ready


@pytest.fixture
def doomed(tmp_path):
    """A cluster with one acknowledged dispatch that every node has applied."""
    with cluster_chaos.cluster(tmp_path) as nodes:
        assert nodes.all[0].server.request("POST", f"{ALICE}/events", {"rename": "kept"}).status == 200
        places = lambda: [nodes.partition(node).get("applied") for node in nodes.all]
        nodes.until("all have applied it", lambda: len(set(places())) == 1 and None not in places())
        yield nodes


def is_halted(nodes, word):
    """True if every node reports the halted partition, and its log names the remedy."""
    return all(nodes.partition(node).get("state") == "halted" and word in node.log_text() for node in nodes.running)


def restart(nodes):
    for node in nodes.all:
        node.start()


def test_an_empty_log_halts_until_it_is_reseeded(doomed):
    for node in doomed.all:
        node.kill()
    with doomed.nats.client() as client:
        settings = client.stream(LOG)["config"]
        client.delete_stream(LOG)
        client.ask(f"STREAM.CREATE.{LOG}", settings)
    restart(doomed)
    doomed.until("the partition is halted", lambda: is_halted(doomed, "cluster reseed"))
    assert not any(node.is_ready for node in doomed.all)
    assert doomed.all[0].server.request("POST", f"{ALICE}/events", "increment").status == 503
    ended = doomed.command("reseed", "--from", "node1")
    assert ended.returncode == 0, ended
    for node in doomed.running:
        node.kill()
    doomed.start()
    for node in doomed.all:
        assert node.server.get(f"{ALICE}/state/p/title").json == "kept"
    assert doomed.all[2].server.request("POST", f"{ALICE}/events", "increment").json["version"] == 2


def test_a_shorter_log_halts(doomed):
    """The newest blocks of all servers are gone, so the log ends before the nodes' position."""
    for node in doomed.all:
        node.kill()
    for server in doomed.nats.servers:
        server.stop()
    for server in doomed.nats.servers:
        server.delete_newest_block(LOG)
        server.start()
    doomed.nats.wait()
    restart(doomed)
    doomed.until("the partition is halted", lambda: is_halted(doomed, "cluster reseed"))


def test_a_foreign_message_in_the_log_halts(doomed):
    with doomed.nats.client() as client:
        last = client.stream(LOG)["state"]["last_seq"]
        subject = client.message(LOG, last)["subject"]
        client.append(subject, b"this is no frame", None)
    doomed.until("the partition is halted", lambda: is_halted(doomed, ""))
    assert not any(node.is_ready for node in doomed.all)


def test_an_initialised_cluster_is_not_initialised_again(nats, tmp_path):
    with Nodes(tmp_path, nats, count=0) as nodes:
        again = nodes.command("init")
        assert again.returncode != 0 and "already" in again.stdout + again.stderr, again

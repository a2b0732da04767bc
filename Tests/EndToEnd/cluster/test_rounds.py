# The clients and the checker find nothing on one right server, and find the errors of a wrong one.

import contextlib
import shutil

import pytest

import cluster_chaos
import rounds
from nodes import Nodes
from plan import Fault


@pytest.fixture
def alone(tmp_path):
    with Nodes(tmp_path, count=1) as nodes:
        nodes.start()
        yield nodes


def run(nodes, monkeypatch, *plan, **overrides):
    monkeypatch.setattr(cluster_chaos, "plan_of", lambda _: plan)
    return cluster_chaos.run(cluster_chaos.options_of([], alone=True, seed=1, calm=1.0, **overrides), nodes)


def test_a_right_server_has_no_finding(alone, monkeypatch):
    world = run(alone, monkeypatch, Fault("kill-owner", 0.0), Fault("pause-owner", 1.0), Fault("stop-owner", 0.0))
    assert not world.findings
    # A run in which one of these never happened proves nothing.
    assert world.acknowledged > 200 and world.repeated > 10, world.summary()
    # Each stream connected once, and once more for each restart.
    assert {stream.joined for stream in world.streams} == {3}
    assert all(stream.events > 10 for stream in world.streams)


class Wrong(rounds.Faults):
    """A fault after which the server has an older data folder: acknowledged dispatches are lost."""

    @contextlib.contextmanager
    def _restore_owner(self, fault):
        [node] = self.nodes.all
        older = node.folder.with_name("older")
        node.kill()
        if older.exists():
            shutil.rmtree(node.folder)
            older.rename(node.folder)
        else:
            shutil.copytree(node.folder, older)
        yield
        node.start()


def test_a_server_that_loses_acknowledged_dispatches_is_found(alone, monkeypatch):
    monkeypatch.setattr(rounds, "Faults", Wrong)
    monkeypatch.setattr(rounds, "PATIENCE", 1.5)
    world = run(alone, monkeypatch, Fault("restore-owner", 0.0), Fault("restore-owner", 0.0))
    found = "\n".join(world.findings)
    assert "was acknowledged at version" in found or "the log goes on with version" in found, found[:2_000]
    assert "no order explains the operations" in found


class Refusing(rounds.Worker):
    """A client that treats some acknowledged requests as if they had been refused."""

    def take(self, record, request, headers, body):
        super().take(record, request, headers, body)
        if self.count % 20 == 0:
            request.status = "refused"


def test_a_dispatch_that_is_in_the_log_although_it_was_refused_is_found(alone, monkeypatch):
    monkeypatch.setattr(rounds, "Worker", Refusing)
    world = run(alone, monkeypatch, streams=2)
    assert any("was refused and is in the log" in finding for finding in world.findings)

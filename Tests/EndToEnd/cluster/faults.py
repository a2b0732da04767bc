# Carries out the faults of a plan.
"""Each fault takes effect, lasts, and is healed. The functions block, so the rounds call them in another thread."""

import contextlib
import time

from nats_client import Refused

#: The stream of the log in NATS, which `rivulet cluster init` creates, and the stream that fills the disk space.
LOG = "RVL_0"
FILLER = "TEST_FILLER"
#: The seconds by which a delayed link is late. A renewal of a lease still comes in time.
DELAY = 0.2


class Faults:
    """The faults that a cluster can have. `nats` is None for one server without a cluster."""

    def __init__(self, nodes, nats):
        self.nodes, self.nats = nodes, nats

    @contextlib.contextmanager
    def fault(self, fault):
        """The fault is in effect within the block, and healed after it."""
        kind, _, target = fault.kind.partition("-")
        method = getattr(self, "_" + fault.kind.replace("-", "_"), None)
        if method is not None:
            healing = method(fault)
        elif target.startswith("nats"):
            healing = self._server(kind, self._nats_target(target), fault)
        else:
            healing = self._node(kind, self._node_target(target), fault)
        with healing:
            yield

    def happen(self, fault):
        """Carries out a whole fault."""
        with self.fault(fault):
            time.sleep(fault.seconds)

    # Targets.

    def _node_target(self, target):
        return self.nodes.owner() if target == "owner" else self.nodes.standbys()[0]

    def _nats_target(self, target):
        return self.nats.leader(LOG) if target == "nats-leader" else self.nats.followers(LOG)[0]

    # Ways.

    @contextlib.contextmanager
    def _node(self, kind, node, fault):
        match kind:
            case "kill" | "lose":
                node.kill()
                yield
                node.start()
            case "stop":
                assert node.stop() == 0, node.log_text()[-3_000:]
                yield
                node.start()
            case "wipe":
                node.kill()
                node.wipe()
                yield
                node.start()
            case "pause":
                node.pause()
                yield
                node.resume()
            case "part":
                node.part(fault.how)
                yield
                node.part("pass")
            case "delay":
                node.part("pass", DELAY)
                yield
                node.part("pass")

    @contextlib.contextmanager
    def _server(self, kind, server, fault):
        match kind:
            case "pause":
                server.pause()
                yield
                server.resume()
            case "kill" | "stop":
                getattr(server, kind)()
                yield
                server.start()
            case "spoil":
                server.kill()
                self._damage(server, fault.how)
                yield
                server.start()
        self.nats.wait()
        self.nats.until("all servers are current", lambda: self.nats.is_current(LOG))

    def _damage(self, server, how):
        if how == "wipe":
            server.wipe()
        else:
            getattr(server, how)(LOG)

    # Faults with other targets.

    @contextlib.contextmanager
    def _part_owner_from_leader(self, fault):
        """Parts the owner from one server alone. Its client has to find another one."""
        leader, owner = self._nats_target("nats-leader"), self.nodes.owner()
        link = next(link for link in owner.links if link.target == leader.port)
        with link.during(fault.how):
            yield

    @contextlib.contextmanager
    def _kill_all_nodes(self, fault):
        for node in self.nodes.all:
            node.kill()
        yield
        self.nodes.start()

    @contextlib.contextmanager
    def _fill_nats(self, fault):
        """Fills the disk space of the servers, and frees it again."""
        with self.nats.client() as client:
            client.make_stream(FILLER, [FILLER], replicas=self.nats.replicas)
        self.nats.until("the servers are full", self._is_filled)
        yield

        def emptied():
            with self.nats.client() as client:
                client.delete_stream(FILLER)
            return True

        self.nats.until("the filler is gone", emptied)
        self.nats.until("all servers are current", lambda: self.nats.is_current(LOG))

    @contextlib.contextmanager
    def _fill_log(self, fault):
        """Gives the log no more room than it uses. The servers refuse its messages, and take all others."""
        with self.nats.client() as client:
            log = client.stream(LOG)
            client.update_stream(log["config"] | {"max_bytes": log["state"]["bytes"] + 1})
        yield
        with self.nats.client() as client:
            client.update_stream(log["config"])

    def _is_filled(self):
        """Appends to the filler until it is refused."""
        with self.nats.client() as client:
            for _ in range(2_000):
                try:
                    client.append(FILLER, bytes(1_000_000))
                except Refused:
                    return True
        return False

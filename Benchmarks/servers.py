# The measured servers: Rivulet, the floor, and the peers. Each server has one core and the client another, if the
# machine has two.

import contextlib
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import tools

HERE = pathlib.Path(__file__).resolve().parent
BINARY = os.environ.get("RIVULET_BINARY", str(HERE.parent / ".build" / "release" / "rivulet"))
#: The program of Peers/HummingbirdPeer, which is built by hand.
HUMMINGBIRD = pathlib.Path(os.environ.get("BENCH_HB", HERE / "Peers" / "HummingbirdPeer" / ".build" / "release" / "HummingbirdPeer"))
NCHAN_MODULE = pathlib.Path("/usr/lib/nginx/modules/ngx_nchan_module.so")
SERVER_CORE, CLIENT_CORE = (["taskset", "-c", "0"], ["taskset", "-c", "1"]) if (os.cpu_count() or 1) > 1 else ([], [])
#: NCHAN_PORT is the port in Peers/nchan.conf.
FLOOR_PORT, NCHAN_PORT, HUMMINGBIRD_PORT = 9201, 9202, 9203
#: The most seconds until a server listens, and until it ends.
START_MOST, END_MOST = 10.0, 20.0


def cpu_seconds(pid):
    """User and kernel time of a process."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def data_folder():
    """A temporary folder on the measured disk."""
    return tempfile.TemporaryDirectory(prefix="rivulet-bench-", dir=os.environ.get("RIVULET_BENCH_DATA"))


@contextlib.contextmanager
def running(command, **options):
    """Runs a process on the server's core, and ends it with its children."""
    process = subprocess.Popen([*SERVER_CORE, *command], start_new_session=True, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(END_MOST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def rivulet(*arguments, folder=None):
    """Runs Rivulet with one loop, on the given folder or a new one. Yields its process id and its port."""
    with contextlib.nullcontext(folder) if folder else data_folder() as folder:
        keep = [] if "--memory" in arguments else ["--data", folder]
        command = [BINARY, "serve", "--port", "0", "--workers", "1", "--log-level", "error", *keep, *arguments]
        with running(command, stdout=subprocess.PIPE, text=True) as process:
            match = re.search(r":(\d+)$", process.stdout.readline().strip())
            if match is None:
                sys.exit("the server did not start")
            yield process.pid, int(match[1])


@contextlib.contextmanager
def listening(command, port):
    """Runs a server on this port, which must be free. Yields its process id and the port."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            sys.exit(f"port {port} is in use: end the server that listens there")
    with running(command) as process:
        end = time.monotonic() + START_MOST
        while True:
            with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if time.monotonic() > end or process.poll() is not None:
                sys.exit(f"{command[0]} did not start")
            time.sleep(0.05)
        yield process.pid, port


def floor():
    """The C program on libuv that answers each request without parsing it, and writes one event to each stream."""
    return listening([tools.build("floor"), str(FLOOR_PORT)], FLOOR_PORT)


def snapshots(count):
    """The C program on libuv that answers each request with the same `count` bytes."""
    return listening([tools.build("snapshots"), str(FLOOR_PORT), str(count)], FLOOR_PORT)


@contextlib.contextmanager
def nchan():
    with tempfile.TemporaryDirectory(prefix="rivulet-bench-") as folder:
        command = ["nginx", "-p", f"{folder}/", "-c", HERE / "Peers" / "nchan.conf", "-e", "nchan.log", "-g", "daemon off;"]
        with listening(command, NCHAN_PORT) as server:
            yield server


def hummingbird():
    return listening([HUMMINGBIRD, str(HUMMINGBIRD_PORT)], HUMMINGBIRD_PORT)


def peers():
    """The servers beside Rivulet that this machine has: always the floor, and nginx with nchan and the Hummingbird program if they are installed."""
    found = {"floor": floor}
    if shutil.which("nginx") and NCHAN_MODULE.exists():
        found["nchan"] = nchan
    if HUMMINGBIRD.exists():
        found["hummingbird"] = hummingbird
    return found

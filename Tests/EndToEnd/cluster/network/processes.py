# Processes that the tests start: ports on which they can come back, and their certain end.
"""Ports that stay free while their server is down, and processes that never outlive the test."""

import atexit
import contextlib
import os
import pathlib
import random
import signal
import socket
import sys

#: Ports that this process has given out.
_ports = set()
#: The running processes.
_processes = set()


def steady_ports(count):
    """Ports below the range from which the kernel takes the ports of outgoing connections."""
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    chance, found = random.Random(os.urandom(8)), []
    while len(found) < count:
        port = chance.randrange(10_000, first)
        if port not in _ports and _is_free(port):
            _ports.add(port)
            found.append(port)
    return found


def _is_free(port):
    with contextlib.closing(socket.socket()) as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def watched(process):
    """Kills the process when this one ends, if it still runs then."""
    for ended in [other for other in _processes if other.poll() is not None]:
        _processes.discard(ended)
    _processes.add(process)
    return process


@atexit.register
def _end_all():
    for process in _processes:
        if process.poll() is None:
            process.kill()
            process.wait()


def end_on_signals():
    """Makes SIGTERM and SIGHUP end this program as an exception does, so that its processes end with it."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))

#!/usr/bin/env python3
# The figures of a cluster, all processes on this machine. They are measured by hand.
"""cluster_figures.py [rate] [alone] [failover] [streams] [--seconds S] [--repeats N] [--streams N]

rate      dispatches of 64 clients over 1,000 sessions, in turn with conditional appends to NATS
alone     the p50 of one client, in turn with that of appends
failover  the time from a kill of the owner to the next acknowledged dispatch: restarted in place, and dead
streams   the owner's CPU time of an event with 3 and with 10,000 streams of one session

Needs a release build; RIVULET_BINARY names another one. Each figure is printed with its goal.
"""

import argparse
import asyncio
import contextlib
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import threading
import time

# The harness and the oracle are in other folders. pytest finds them there; a run as a program needs these lines.
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "chaos"), str(HERE / "network")]

import harness
import load
from cluster_chaos import cluster
from processes import end_on_signals

CLIENTS, SESSIONS, EVENTS = 64, 1_000, 100
TITLE = "/v1/apps/counter/sessions/figure"


def report(name, value, goal):
    print(f"{name}: {value}; goal: {goal}", flush=True)


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def in_turn(nodes, targets, clients, sessions, options):
    """Rates of dispatches and of appends in the same minute: the median slice of each."""
    stream = f"FIGURE{time.monotonic_ns()}"
    with nodes.nats.client() as client:
        client.make_stream(stream, [f"{stream}.*"], replicas=nodes.nats.replicas)
    slices = max(1, round(options.seconds / 10))
    # The sessions are stored before the measurement.
    asyncio.run(load.dispatches(targets, clients, sessions, 3))
    pairs, last = [], {}
    for _ in range(slices):
        ours = asyncio.run(load.dispatches(targets, clients, sessions, 5))
        pairs.append((ours, asyncio.run(load.appends(nodes.nats, stream, last, clients, sessions, 5))))
    with nodes.nats.client() as client:
        client.delete_stream(stream)
    return [sorted(rates, key=lambda rate: rate.per_second)[len(rates) // 2] for rates in zip(*pairs)]


def rate(nodes, options):
    for name, targets in (("at the owner", [nodes.owner()]), ("through all nodes", nodes.all)):
        ours, theirs = in_turn(nodes, targets, CLIENTS, SESSIONS, options)
        report(f"dispatches of {CLIENTS} clients over {SESSIONS:,} sessions {name}", f"{ours}, NATS alone {theirs}: "
               f"{ours.per_second / theirs.per_second:.0%}", "at least 60 %, aim 100 %")  # fmt: skip


def alone(nodes, options):
    ours, theirs = in_turn(nodes, [nodes.owner()], 1, 1, options)
    report("one client alone at the owner", f"{ours}, NATS alone {theirs}: {ours.p50 / theirs.p50:.2f} commits", "p50 at most 2 commits")


def acknowledged(nodes, text, seconds=60):
    """Waits until one of the nodes acknowledges a dispatch, asked by one client each."""
    done = threading.Event()

    def ask(node):
        while not done.is_set():
            with contextlib.suppress(OSError, EOFError, AttributeError), harness.Connection(node.server, 30) as connection:
                if connection.request("POST", f"{TITLE}/events", {"rename": text}).status == 200:
                    done.set()
            time.sleep(0.005)

    for node in nodes:
        threading.Thread(target=ask, args=(node,), daemon=True).start()
    assert done.wait(seconds), f"no dispatch was acknowledged within {seconds} s"


def killed(nodes, is_restarted):
    """The seconds from the kill of the owner to the next acknowledged dispatch."""
    owner = nodes.owner()
    acknowledged([owner], "before")
    others = [node for node in nodes.all if node is not owner]
    begin = time.monotonic()
    owner.kill()
    if is_restarted:
        threading.Thread(target=owner.start, daemon=True).start()
    acknowledged(others, f"after {begin}")
    seconds = time.monotonic() - begin
    if is_restarted:
        nodes.until("the owner runs again", lambda: owner.is_running)
    else:
        owner.start()
    nodes.wait()
    return seconds


def failover(nodes, options):
    for name, is_restarted, goal in (("restarted in place", True, 2.0), ("dead", False, 1.1 * nodes.lease + 1)):
        times = [killed(nodes, is_restarted) for _ in range(options.repeats)]
        report(f"from the kill of the owner to the next acknowledged dispatch, {name}",
               f"median {statistics.median(times):.2f} s, most {max(times):.2f} s of {len(times)}", f"at most {goal:.1f} s")  # fmt: skip


def cost(nodes, targets, count):
    """The owner's CPU seconds of one event with so many streams, without what it uses in the same time at rest."""
    owner = nodes.owner()
    acknowledged([owner], "before the streams")
    crowd = load.Crowd(targets, count, "figure")
    try:
        begin, before = time.monotonic(), cpu_seconds(owner.server.process)
        with harness.Connection(owner.server) as connection:
            for number in range(EVENTS):
                expected = crowd.events + count
                assert connection.request("POST", f"{TITLE}/events", {"rename": f"event {number} {begin}"}).status == 200
                crowd.wait(lambda: crowd.events >= expected)
        seconds, used = time.monotonic() - begin, cpu_seconds(owner.server.process) - before
        before = cpu_seconds(owner.server.process)
        time.sleep(seconds)
        assert crowd.ended == 0, f"{crowd.ended} streams ended"
        return (used - (cpu_seconds(owner.server.process) - before)) / EVENTS
    finally:
        crowd.close()


def streams(nodes, options):
    standbys = nodes.standbys()
    for name, targets in (("on the two standbys", standbys), ("on all nodes", nodes.all)):
        few, many = cost(nodes, targets, 3), cost(nodes, targets, options.streams)
        # The kernel counts CPU time in hundredths of a second, so a small cost is vague.
        report(f"the owner's CPU time of an event, streams {name}", f"{few * 1e3:.2f} ms with 3, {many * 1e3:.2f} ms with {options.streams:,}: "
               f"{many / max(few, 1e-4):.2f} times", "at most 1.2 times")  # fmt: skip


FIGURES = {"rate": rate, "alone": alone, "failover": failover, "streams": streams}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=" ".join(FIGURES))
    parser.add_argument("--seconds", type=float, default=60, help="of each rate (60)")
    parser.add_argument("--repeats", type=int, default=5, help="of each kill (5)")
    parser.add_argument("--streams", type=int, default=10_000, help="of one session (10,000)")
    options = parser.parse_args()
    if unknown := set(options.figures) - set(FIGURES):
        parser.error(f"no figure {', '.join(sorted(unknown))}: there are {', '.join(FIGURES)}")
    end_on_signals()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    os.environ.setdefault("RIVULET_BINARY", str(harness.ROOT / ".build" / "release" / "rivulet"))
    for name in options.figures or FIGURES:
        print(f"Tests/EndToEnd/cluster/cluster_figures.py {name} --seconds {options.seconds:g} --repeats {options.repeats}", flush=True)
        with tempfile.TemporaryDirectory(prefix="rivulet-figures-") as folder, cluster(folder) as nodes:
            FIGURES[name](nodes, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())

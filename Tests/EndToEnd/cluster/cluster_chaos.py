#!/usr/bin/env python3
# The chaos test of a cluster: real nodes and real NATS servers with faults, and a checker of all that the clients saw.
"""cluster_chaos.py [--faults N] [--seed N] [--kinds KIND ...] [--alone]

Starts three NATS servers and three nodes, with a proxy between them. Clients dispatch, read and stream through all nodes. After each fault of the
plan, the clients rest, and the checker judges the logs, the answers, the reads, the store and the streams. At the end the databases of the nodes are compared.
The seed decides the plan, but not the exact time of each request. The exit status is 1 after a finding; the folder with all logs is then kept.
--alone runs the same clients and the same checker on one server without a cluster.
"""

import argparse
import asyncio
import contextlib
import pathlib
import random
import shutil
import sys
import tempfile

# The harness and the oracle are in other folders. pytest finds them there; a run as a program needs these lines.
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent), str(HERE.parent / "chaos"), str(HERE / "network")]

import plan as plans
from nats import NATSCluster
from nodes import LEASE, Nodes
from processes import end_on_signals
from proxy import Proxy
from rounds import World

#: The kinds of faults that one server without a cluster can have.
ALONE = ("kill-owner", "pause-owner", "stop-owner", "lose-owner")


def options_of(arguments=None, **overrides):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=12, help="(12)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="(random)")
    parser.add_argument("--kinds", nargs="*", choices=plans.KINDS, metavar="KIND", help="only these: " + " ".join(plans.KINDS))
    parser.add_argument("--alone", action="store_true", help="one server without a cluster")
    parser.add_argument("--sessions", type=int, default=9, help="(9)")
    parser.add_argument("--clients", type=int, default=6, help="at once (6)")
    parser.add_argument("--streams", type=int, default=18, help="over all nodes (18)")
    parser.add_argument("--pause", type=float, default=0.03, help="mean seconds between the requests of a client (0.03)")
    parser.add_argument("--calm", type=float, default=3.0, help="seconds of the first round, without a fault (3)")
    options = parser.parse_args(arguments)
    for name, value in overrides.items():
        setattr(options, name, value)
    return options


def plan_of(options):
    kinds = options.kinds or (ALONE if options.alone else None)
    if not kinds:
        return plans.plan(options.seed, options.faults, LEASE)
    chance, drawn = random.Random(options.seed), []
    while len(drawn) < options.faults:
        drawn += chance.sample(kinds, len(kinds))
    return [plans.fault(kind, chance, LEASE) for kind in drawn[: options.faults]]


@contextlib.contextmanager
def cluster(folder, **options):
    """Three NATS servers, a proxy, and three nodes that are ready."""
    with NATSCluster(folder) as nats, Proxy() as proxy, Nodes(folder, nats, proxy, **options) as nodes:
        nodes.initialise()
        nodes.start()
        yield nodes


def run(options, nodes):
    """Runs the rounds on nodes that are ready, and returns the world with its findings."""
    world_of = lambda: World(options, nodes, nodes.nats)

    async def whole():
        world = world_of()
        await world.run(plan_of(options))
        return world

    world = asyncio.run(whole())
    print(world.summary(), flush=True)
    return world


def command(options):
    extra = (" --alone" if options.alone else "") + (f" --kinds {' '.join(options.kinds)}" if options.kinds else "")
    return f"Tests/EndToEnd/cluster/cluster_chaos.py --faults {options.faults} --seed {options.seed}{extra}"


def main():
    options = options_of()
    end_on_signals()
    print(f"seed {options.seed}; again: {command(options)}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="rivulet-cluster-"))
    with contextlib.ExitStack() as stack:
        if options.alone:
            nodes = stack.enter_context(Nodes(folder, count=1))
            nodes.start()
        else:
            nodes = stack.enter_context(cluster(folder))
        world = run(options, nodes)
        for node in nodes.all:
            (folder / f"{node.name}.log").write_text(node.log_text())
    if world.findings:
        print(f"{len(world.findings)} findings; the logs are in {folder}; again: {command(options)}")
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

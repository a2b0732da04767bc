# The faults of a cluster test, drawn from a seed.
"""A plan is a list of faults. The same seed gives the same plan."""

import dataclasses
import random

#: The kinds of faults that each short run has, in an order of its own.
NEEDED = (
    "kill-owner", "lose-owner", "kill-standby", "pause-owner", "pause-standby", "kill-nats-leader", "pause-nats-leader",
    "stop-nats-follower", "part-owner", "wipe-standby", "spoil-nats-follower", "fill-nats",
)  # fmt: skip
#: The kinds that only longer runs have.
FURTHER = ("stop-owner", "wipe-owner", "part-standby", "delay-owner", "stop-nats-leader", "pause-nats-follower", "kill-all-nodes",
           "part-owner-from-leader", "fill-log")  # fmt: skip
KINDS = NEEDED + FURTHER
PARTITIONS = ("drop", "freeze", "to_server", "to_client")
DAMAGES = ("delete_newest_block", "truncate_newest_block", "wipe")


@dataclasses.dataclass(frozen=True)
class Fault:
    kind: str
    #: The seconds until the fault ends.
    seconds: float
    #: The mode of a partition, or the kind of damage.
    how: str = ""

    def __str__(self):
        return f"{self.kind} for {self.seconds:.1f} s" + (f" ({self.how})" if self.how else "")


def plan(seed, count, lease):
    """Draws faults. The first dozen has each needed kind once. Then all kinds follow in turn."""
    chance, kinds = random.Random(seed), []
    kinds += chance.sample(NEEDED, len(NEEDED))
    while len(kinds) < count:
        kinds += chance.sample(FURTHER, len(FURTHER)) + chance.sample(NEEDED, len(NEEDED))
    return [fault(kind, chance, lease) for kind in kinds[:count]]


def fault(kind, chance, lease):
    """Draws the length and the way of one fault."""
    if kind in ("lose-owner", "wipe-owner"):
        # Another node has to claim the partition first.
        return Fault(kind, 1.1 * lease + chance.uniform(1, 3))
    if kind in ("kill-owner", "kill-all-nodes", "stop-owner"):
        return Fault(kind, 0.0)
    if kind.startswith("part-"):
        return Fault(kind, chance.uniform(2, 8), chance.choice(PARTITIONS))
    if kind == "spoil-nats-follower":
        return Fault(kind, chance.uniform(0.5, 2), chance.choice(DAMAGES))
    if kind in ("pause-owner", "pause-standby", "pause-nats-leader", "pause-nats-follower", "delay-owner"):
        return Fault(kind, chance.uniform(2, 8))
    return Fault(kind, chance.uniform(0.5, 3))

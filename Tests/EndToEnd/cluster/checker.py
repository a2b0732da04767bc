# The judge of the cluster tests. It knows what clients saw and what each node has, and nothing of Rivulet's code.
"""Pure functions from recorded histories to findings: texts, of which a right history has none."""

import dataclasses

import linear
from chaos_oracle import LOG_INCARNATION, Fault, Oracle, Place

#: The states of a request.
ACKNOWLEDGED, REFUSED, UNKNOWN = "acknowledged", "refused", "unknown"


@dataclasses.dataclass(eq=False)
class Request:
    """One dispatch of a client, over all its attempts. Its nonce is in its event and nowhere else."""

    nonce: str
    event: object
    invoked: float
    #: The version of the If-Match field, or None.
    expected: int | None = None
    key: str | None = None
    returned: float | None = None
    status: str = UNKNOWN
    #: The document of the answer. A refusal has the version and the value that it named.
    answer: dict | None = None
    version: int | None = None
    value: object = linear.UNSEEN
    #: The bodies of all answers of 200 to this key, byte for byte.
    bodies: set = dataclasses.field(default_factory=set)

    def operation(self):
        if self.status == UNKNOWN:
            return linear.Operation("write", self.invoked, None, self.nonce, None, self.expected)
        kind = "write" if self.status == ACKNOWLEDGED else "refusal"
        value = self.nonce if self.status == ACKNOWLEDGED else self.value
        return linear.Operation(kind, self.invoked, self.returned, value, self.version, self.expected)


@dataclasses.dataclass(eq=False)
class Read:
    """One read of a whole state."""

    invoked: float
    returned: float
    version: int
    state: object
    #: The nonce that the state shows, or UNSEEN.
    value: object = linear.UNSEEN

    def operation(self):
        return linear.Operation("read", self.invoked, self.returned, self.value, self.version)


@dataclasses.dataclass(eq=False)
class Write:
    """One write to a store, and the cursor of its answer if it has one."""

    item: str
    nonce: str
    invoked: float
    returned: float | None = None


@dataclasses.dataclass(eq=False)
class ItemRead:
    item: str
    value: str | None
    invoked: float
    returned: float


# Logs.


def dense(entries, after=0):
    """Each version follows the one before it."""
    for number, entry in enumerate(entries, after + 1):
        if entry["version"] != number:
            return [f"the log goes on with version {entry['version']} after {number - 1}"]
    return []


def equal(logs):
    """All nodes have the same log. `logs` has a list of entries by node."""
    [first, *others] = sorted(logs.items())
    findings = []
    for name, entries in others:
        if entries == first[1]:
            continue
        at = next((at for at, pair in enumerate(zip(first[1], entries)) if pair[0] != pair[1]), None)
        if at is None:
            findings.append(f"{first[0]} has {len(first[1])} entries, and {name} has {len(entries)}")
        else:
            findings.append(f"{first[0]} has {first[1][at]}, and {name} has {entries[at]}")
    return findings


def ledger(requests, entries, nonces_of):
    """Each acknowledged nonce is in the log once, at the version of its answer. No refused or unsent nonce is there.

    `nonces_of` returns the nonces of a log entry.
    """
    findings, places = [], {}
    known = {request.nonce: request for request in requests}
    for entry in entries:
        for nonce in nonces_of(entry):
            if nonce in places:
                findings.append(f"{nonce} is in the log twice: at version {places[nonce]} and at {entry['version']}")
            places.setdefault(nonce, entry["version"])
            if nonce not in known:
                findings.append(f"version {entry['version']} has {nonce}, which no client sent: {entry}")
    for request in requests:
        place = places.get(request.nonce)
        if request.status == ACKNOWLEDGED and place is None:
            findings.append(f"{request.nonce} was acknowledged at version {request.version} and is not in the log")
        elif request.status == ACKNOWLEDGED and place != request.version:
            findings.append(f"{request.nonce} was acknowledged at version {request.version} and is in the log at {place}")
        elif request.status == REFUSED and place is not None:
            findings.append(f"{request.nonce} was refused and is in the log at version {place}")
    return findings


def replays(requests):
    """All answers to one key are the same bytes."""
    return [f"{request.key} has {len(request.bodies)} answers: {sorted(request.bodies)}"
            for request in requests if len(request.bodies) > 1]  # fmt: skip


def reads(reads, states):
    """Each read shows the stored half of the state that the log gives at its version. `states` has it by version."""
    return [f"a read at version {read.version} has {str(read.state['p'])[:200]}, and the log gives {str(states[read.version])[:200]}"
            for read in reads if read.version in states and read.state["p"] != states[read.version]]  # fmt: skip


def order(requests, reads, version, value):
    """The operations on one session have an order. `version` and `value` are those before all of them."""
    operations = [each.operation() for each in (*requests, *reads)]
    found = linear.finding(operations, linear.Session(version, value))
    return [] if found is None else [found]


def carried(requests, entries, nonces_of):
    """The unknown requests that are not in the log. They may still happen."""
    logged = {nonce for entry in entries for nonce in nonces_of(entry)}
    return [request for request in requests if request.status == UNKNOWN and request.nonce not in logged]


# Stores.


def store(writes, reads, before):
    """The operations on each item have an order. `before` has the items' values before all of them."""
    findings = []
    for item in {each.item for each in (*writes, *reads)}:
        operations = [linear.Operation("write", each.invoked, each.returned, each.nonce) for each in writes if each.item == item]
        operations += [linear.Operation("read", each.invoked, each.returned, each.value) for each in reads if each.item == item]
        found = linear.finding(operations, linear.Register(before.get(item)))
        findings += [f"item {item}: {found}"] if found else []
    return findings


def serial(answers):
    """The answers of a store name versions in the order of time. `answers` has tuples of (invoked, returned, epoch, version).

    A write that began after the answer of another write has a later version. No two writes have the same version.
    """
    findings = []
    for epoch in {answer[2] for answer in answers}:
        mine = sorted((answer for answer in answers if answer[2] == epoch), key=lambda answer: answer[3])
        for before, after in zip(mine, mine[1:]):
            if before[3] == after[3]:
                findings.append(f"two writes made version {before[3]} of the store")
        latest = None
        for answer in mine:
            if latest is not None and answer[1] < latest[0]:
                findings.append(f"version {answer[3]} of the store was answered before version {latest[3]} was asked for")
            if latest is None or answer[0] > latest[0]:
                latest = answer
    return findings


# Streams.


class ClusterOracle(Oracle):
    """Judges a stream that stays open while the owner of its session changes.

    A plain stream may then get one change that merges several versions. A stream with `resume=all` gets each version once.
    """

    def __init__(self, number, watch):
        super().__init__(number, watch)
        #: True while nothing is disturbed. A plain stream then gets each change by itself.
        self.is_calm = False
        self.moves = 0

    def event(self, event):
        if event.name == "change" and self._expects is None and self.place is not None:
            self._continue(Place.of(event.cursor), event)
        super().event(event)

    def _continue(self, place, event):
        is_moved = place.incarnation != self.place.incarnation and self.place.incarnation != LOG_INCARNATION
        if is_moved and place.version == self.place.version and any(
            not change["path"].startswith("/t") for change in event.data["changes"]
        ):
            raise Fault(f"version {place.version} came twice, from two owners")
        if is_moved or not (self.is_calm or self.watch.resumes_all):
            # The stream's node asked the owner again from the stream's cursor, like a stream that resumes.
            self.moves += is_moved
            self._expects, self.connection = "resume", self.connection + 1


def survived(connections, starts):
    """A stream connects once for each start of its own node. `connections` and `starts` are numbers since it opened."""
    return [f"the stream connected {connections} times, and its node started {starts} times"] if connections > starts else []

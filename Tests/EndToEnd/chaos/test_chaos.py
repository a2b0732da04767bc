# Runs the chaos test for a bounded time, and shows that it finds the errors that it must find.

import asyncio
import json
import os
import re
import zlib

import pytest

import chaos
from chaos_document import Misfit, applied, check_nested
from chaos_ledger import Dispatch, Epoch
from chaos_wire import BlockReader, Malformed, ResponseReader, parse_block


def run(data, **overrides):
    """The world after a run."""
    options = chaos.options_of([], data=data, **overrides)
    if seed := os.environ.get("RIVULET_CHAOS_SEED"):
        options.seed = int(seed)
    print(f"seed {options.seed}; again: {chaos.command(options)}")
    world = asyncio.run(chaos.run(options))
    print(world.summary())
    return world


def test_no_stream_misses_repeats_or_alters_a_change_over_disconnects_restarts_and_slow_reading(data):
    world = run(data, seconds=28, streams=250)
    assert not world.findings, f"{len(world.findings)} findings, seed {world.options.seed}: {world.findings[0]}"
    # A run in which one of these never happened proves nothing.
    assert world.stops and world.kills and world.deletions and world.merged and world.events > 2_000 and world.ends > 100, world.summary()


class Falsifier:
    """Falsifies one block of one stream that watches a session with short texts, and records that it did."""

    def __init__(self, fault):
        self.fault, self.held, self.victim, self.response, self.is_done, self.seen = fault, None, None, None, False, 0

    def __call__(self, stream, blocks):
        return [spoilt for block in blocks for spoilt in self.block(stream, block)]

    def block(self, stream, block):
        if self.held is not None and stream is self.victim and not self.fault.startswith("misrouted"):
            held, self.held = self.held, None
            # If the connection ended after the held block, the server repeats that block. Nothing would be falsified.
            spoilt = self.later(held, block) if stream._response is self.response else [block]
            self.is_done = spoilt not in ([held, block], [block])
            return spoilt
        is_wanted = block.startswith(b"event: " + self.name) and not stream.watch.session.is_heavy and not stream.watch.is_patch
        if self.is_done or not is_wanted or stream.watch.interval:
            if self.fault.startswith("misrouted") and self.is_done and self.held is not None and self.is_foreign(stream):
                (held, self.held) = (self.held, None)
                return [block, held]
            return [block]
        self.seen += 1
        if self.seen < 10 and self.name == b"change":
            return [block]
        spoilt = getattr(self, self.fault)(stream, block)
        if spoilt is None:
            return [block]
        self.is_done, self.victim, self.response = True, stream, stream._response
        return spoilt

    @property
    def name(self):
        return b"bye" if self.fault.startswith("without") else b"change"

    # Each of these methods returns the blocks that replace one block, or None if this block is not suitable.

    def dropped(self, _, block):
        return []

    def without_bye(self, _, block):
        return []

    def without_last_chunk(self, stream, block):
        stream._response.is_ended = False
        return [block]

    def doubled(self, _, block):
        return [block, block]

    def swapped(self, _, block):
        return self.hold(block)

    def merged(self, _, block):
        return self.hold(block)

    def cut(self, _, block):
        return self.hold(block)

    # A misrouted block also reaches its own stream, so only the other stream is wrong.

    def misrouted(self, stream, block):
        self.origin, self.held = stream.watch, block
        return [block]

    def misrouted_within_its_session(self, stream, block):
        self.origin = stream.watch
        if not any(self.is_foreign(other) for other in stream.world.streams):
            return None
        self.held = block
        return [block]

    def transient_dropped(self, stream, block):
        place = stream.oracle.place
        return [] if place and json.loads(block.split(b"data: ", 1)[1])["version"] == place.version else None

    # Only a value without parts is altered. A later change of a part would not fit the text "altered", which would be
    # another finding.
    def altered(self, _, block):
        return self.with_data(block, lambda data: self.is_stored(data) and self.is_leaf(data) and data["changes"][0].update(value="altered"))

    def of_another_version(self, _, block):
        head, tail = block.split(b'"version":', 1)
        return [head + b'"version":1' + tail]

    def told_twice(self, _, block):
        return self.with_data(block, lambda data: data["changes"].append(data["changes"][0]) is None)

    def not_changed(self, stream, block):
        changes = [{"op": "replace", "path": "/p/filter", "value": stream.oracle.values.get(("p", "filter"))}]
        watches = ("p", "filter") in stream.oracle.values
        return self.with_data(block, lambda data: watches and data.update(changes=changes) is None)

    def inner_dropped(self, _, block):
        return self.with_data(block, lambda data: self.with_inner(data, lambda at, change: data["changes"].pop(at)))

    def inner_altered(self, _, block):
        return self.with_data(block, lambda data: self.with_inner(
            data, lambda at, change: "value" in change and change.update(value="altered") is None))

    @staticmethod
    def with_inner(data, alter):
        """Alters the first change of a path below another path of the event."""
        paths = [change["path"] for change in data["changes"]]
        inner = (at for at, path in enumerate(paths) if any(path.startswith(outer + "/") for outer in paths[:at]))
        at = next(inner, None)
        return at is not None and bool(alter(at, data["changes"][at]))

    def hold(self, block):
        self.held = block
        return []

    def later(self, held, block):
        if self.fault == "swapped":
            return [block, held]
        if self.fault == "cut":
            return [held[: len(held) // 2] + block]
        if self.fault == "merged" and block.startswith(b"event: change"):
            first = json.loads(held.split(b"data: ", 1)[1])
            versions = first["version"], json.loads(block.split(b"data: ", 1)[1])["version"]
            if versions[0] < versions[1]:
                return self.with_data(block, lambda data: data.update(changes=[change for change in first["changes"] if change["path"] not in [
                    later["path"] for later in data["changes"]]] + data["changes"]) is None)
        return [held, block]

    @staticmethod
    def is_stored(data):
        return data["changes"][0]["op"] == "replace" and data["changes"][0]["path"].startswith("/p/")

    @staticmethod
    def is_leaf(data):
        return not isinstance(data["changes"][0]["value"], (dict, list))

    def is_foreign(self, stream):
        if stream.watch.is_patch:
            return False
        if self.fault == "misrouted":
            return stream.watch.session is not self.origin.session
        mine, theirs = self.origin.patterns, stream.watch.patterns
        return stream.watch.session is self.origin.session and stream.oracle.place and not {path[:1] for path in mine + [()]} & {
            path[:1] for path in theirs}

    @staticmethod
    def with_data(block, alter):
        head, data = block.split(b"data: ", 1)
        data = json.loads(data)
        return [head + b"data: " + json.dumps(data).encode() + b"\n\n"] if alter(data) is not False else None


#: The finding of each falsification: a pattern in the first lines of findings.
FAULTS = {
    "dropped": "never came|it has|Misfit", "doubled": "not after", "swapped": "not after|never came|it has|Misfit",
    "misrouted": "another epoch|a change before|not after",
    "misrouted_within_its_session": "is watched|not after", "transient_dropped": "never came|it has|Misfit",
    "cut": "Malformed", "merged": "never came|Misfit", "altered": "the log gives|is what it was", "of_another_version": "version and the cursor differ",
    "told_twice": "twice in one event", "without_bye": "the last chunk without a bye", "without_last_chunk": "a bye without the last chunk",
    "not_changed": "is what it was|twice", "inner_dropped": "disagrees? with", "inner_altered": "not what the outer change gave",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_falsified_stream_is_a_finding(data, fault):
    falsifier = Falsifier(fault)
    ways = ("stop",) if fault.startswith("without") else (None,)
    world = run(data, seconds=15, round=1.5, streams=60, sessions=8, pause=0.005, patience=1e6, mangle=falsifier, ways=ways, deletions=0, seed=5)
    assert falsifier.is_done, "nothing was falsified"
    assert any(re.search(FAULTS[fault], finding.split("\n")[0]) for finding in world.findings), world.findings[:3]


CHANGE = {"op": "replace", "path": "/filter", "value": "open"}


def ledger(*events):
    """An epoch with a log of these events."""
    epoch = Epoch({"filter": "all"}, [])
    epoch.read([{"version": number, "event": event, "changes": [{**CHANGE, "path": "/p/filter", "value": str(number)}]}
                for number, event in enumerate(events, 1)])
    return epoch


def acknowledged(version, event):
    answer = {"version": version, "cursor": f"abcdefgh.{version}.aaaa-0", "durable": True,
              "changes": [{**CHANGE, "path": "/p/filter", "value": str(version)}]}
    return Dispatch(event, answer)


def test_a_lost_acknowledged_dispatch_is_a_finding():
    epoch = ledger("a")
    for version, event in ((1, "a"), (2, "b")):
        epoch.acknowledge(acknowledged(version, event))
    epoch.check()
    assert len(epoch.findings) == 1 and "not in the log" in epoch.findings[0]


def test_a_dispatch_that_is_in_the_log_twice_is_a_finding():
    epoch = ledger("a", "a")
    epoch.acknowledge(acknowledged(1, "a"))
    epoch.check()
    assert len(epoch.findings) == 1 and "no request explains" in epoch.findings[0]


def test_a_version_that_was_acknowledged_twice_is_a_finding():
    epoch = ledger("a")
    for _ in range(2):
        epoch.acknowledge(acknowledged(1, "a"))
    assert "twice" in epoch.findings[0]


def test_an_unanswered_dispatch_may_be_in_the_log_or_not():
    epoch = ledger("a", "b")
    epoch.acknowledge(acknowledged(1, "a"))
    epoch.unknown += [Dispatch({"b": {}}), Dispatch("c")]
    epoch.check()
    assert not epoch.findings and [dispatch.event for dispatch in epoch.unknown] == ["c"]


TODOS = {("todos",): [{"id": "a", "done": False}, {"id": "b", "done": True}]}
ADDED = {"op": "add", "path": "/todos/c", "index": 2, "value": {"id": "c", "done": False}}


@pytest.mark.parametrize("change", [
    {"op": "replace", "path": "/todos/c/done", "value": True},
    {"op": "replace", "path": "/todos/a/done", "value": False},
    {"op": "remove", "path": "/todos/c"},
    {"op": "move", "path": "/todos/a", "index": 0},
    {"op": "move", "path": "/todos/a", "index": 2},
    {**ADDED, "path": "/todos/a", "value": {"id": "a", "done": True}},
    {**ADDED, "index": 3},
    {**ADDED, "path": "/todos/d"},
    {"op": "replace", "path": "/filter", "value": "open"},
    {"op": "replace", "path": "/todos/a/done"},
], ids=str)
def test_a_change_that_does_not_fit_is_a_finding(change):
    with pytest.raises(Misfit):
        applied(TODOS, [("todos",)], change)


def test_changes_that_fit_are_applied():
    after = TODOS
    for change in (ADDED, {"op": "move", "path": "/todos/c", "index": 0}, {"op": "remove", "path": "/todos/b"},
                   {"op": "replace", "path": "/todos/a/done", "value": True}):
        after = applied(after, [("todos",)], change)
    assert after == {("todos",): [{"id": "c", "done": False}, {"id": "a", "done": True}]}
    assert [todo["id"] for todo in TODOS[("todos",)]] == ["a", "b"]


PATHS = [("todos",), ("todos", "*", "done")]
NESTED = TODOS | {("todos", "a", "done"): False, ("todos", "b", "done"): True}
REPLACED = {"op": "replace", "path": "/todos", "value": [{"id": "c", "done": False}, {"id": "b", "done": True}]}
WITHIN = [{"op": "remove", "path": "/todos/a/done"}, {"op": "add", "path": "/todos/c/done", "value": False}]


def made(changes, is_merged=False):
    """The values after an event with these changes."""
    values, told = NESTED, []
    for change in changes:
        values = applied(values, PATHS, change, is_merged, told)
        told.append(tuple(change["path"].split("/")[1:]))
    check_nested(values, PATHS)
    return values


def test_nested_paths_each_get_the_change():
    after = made([REPLACED, *WITHIN])
    assert after == {("todos",): REPLACED["value"], ("todos", "b", "done"): True, ("todos", "c", "done"): False}


def test_a_change_is_applied_to_each_watched_path_that_contains_it():
    after = made([{"op": "replace", "path": "/todos/a/done", "value": True}])
    assert after[("todos",)][0] == {"id": "a", "done": True} and after[("todos", "a", "done")] is True


@pytest.mark.parametrize("changes", [
    [REPLACED],
    [REPLACED, WITHIN[0]],
    [REPLACED, WITHIN[1]],
    [*WITHIN, REPLACED],
    [REPLACED, WITHIN[0], {**WITHIN[1], "value": True}],
    [REPLACED, WITHIN[0], {**WITHIN[1], "op": "replace"}],
    [REPLACED, *WITHIN, {"op": "replace", "path": "/todos/b/done", "value": True}],
    [ADDED],
    [{"op": "remove", "path": "/todos/a"}],
], ids=str)
def test_an_inner_change_that_is_missing_or_wrong_is_a_finding(changes):
    with pytest.raises(Misfit):
        made(changes)


def test_a_merged_change_may_remove_a_value_that_was_added_and_removed_in_between():
    gone = [{"op": "remove", "path": "/todos/d/done"}]
    assert made(gone, is_merged=True) == NESTED
    with pytest.raises(Misfit):
        made(gone)


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_a_body_is_read_in_any_pieces(size):
    received = HEAD + b"6\r\n:\n\ndat\r\n10\r\na: 1\n\nid: 2\ndata\r\n0\r\n\r\n"
    response, blocks, read = ResponseReader(), BlockReader(), []
    for at in range(0, len(received), size):
        read += blocks.feed(response.feed(received[at : at + size]))
    assert read == [b":\n\n", b"data: 1\n\n"] and response.is_ended and not blocks.is_between_blocks


def test_a_compressed_body_is_read_event_by_event():
    response, packer = ResponseReader(), zlib.compressobj(wbits=31)
    head = HEAD.replace(b"OK\r\n", b"OK\r\nContent-Encoding: gzip\r\n")
    for event in (b"data: 1\n\n", b"data: 2\n\n"):
        packed = packer.compress(event) + packer.flush(zlib.Z_SYNC_FLUSH)
        assert response.feed(head + b"%x\r\n%b\r\n" % (len(packed), packed)) == event
        head = b""
    with pytest.raises(Malformed):
        response.feed(b"4\r\n\xff\xff\xff\xff\r\n")


@pytest.mark.parametrize("chunk", [
    b"3\r\nabcd\r\n", b"x\r\n", b"0\r\n\r\n1\r\n", b"\r\n", b"03\r\nabc\r\n", b"A\r\n", b"3;a=b\r\nabc\r\n", b"3\nabc\n", b"3\r\r\nabc\r\n", b"0\r\na: b\r\n\r\n",
    b"123456789012345678",
])
def test_a_malformed_chunk_is_a_finding(chunk):
    with pytest.raises(Malformed):
        ResponseReader().feed(HEAD + chunk)


@pytest.mark.parametrize("block", [
    b"event: change\nid: 1\ndata: {\n\n", b"data: {}\n\n", b"event:change\ndata: {}\n\n", b"event: a\nevent: b\ndata: {}\n\n",
    b'event: a\ndata: {"a":1,"a":2}\n\n', b"event: a\ndata: \xff\n\n", b"retry: soon\n\n",
])
def test_a_malformed_block_is_a_finding(block):
    with pytest.raises(Malformed):
        parse_block(block)

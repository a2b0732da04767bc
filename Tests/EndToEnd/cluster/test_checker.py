# The checker has no finding for right histories, and has one for each wrong history.

import dataclasses
import json

import pytest

import checker
from chaos_ledger import Session
from chaos_oracle import Fault, Watch
from chaos_wire import Event
from checker import ACKNOWLEDGED, REFUSED, UNKNOWN, ClusterOracle, ItemRead, Read, Request, Write


def entry(version, nonce):
    return {"version": version, "event": {"rename": nonce}, "changes": [{"op": "replace", "path": "/p/title", "value": nonce}]}


def nonces_of(entry):
    return [entry["event"]["rename"]]


def sent(nonce, version=None, status=ACKNOWLEDGED, **options):
    return Request(nonce, {"rename": nonce}, invoked=0, returned=1, status=status, version=version, **options)


LOG = [entry(1, "a"), entry(2, "b"), entry(3, "c")]


def test_a_right_ledger_has_no_finding():
    requests = [sent("a", 1), sent("b", status=UNKNOWN), sent("c", 3), sent("d", status=UNKNOWN), sent("e", 2, REFUSED)]
    assert checker.ledger(requests, LOG, nonces_of) == checker.dense(LOG) == []
    assert [each.nonce for each in checker.carried(requests, LOG, nonces_of)] == ["d"]


@pytest.mark.parametrize(
    ("requests", "entries", "expected"),
    [
        ([sent("a", 1), sent("b", 2), sent("c", 3), sent("d", 4)], LOG, "d was acknowledged at version 4 and is not in the log"),
        ([sent("a", 1), sent("b", 3), sent("c", 3)], LOG, "b was acknowledged at version 3 and is in the log at 2"),
        ([sent("a", 1), sent("b", 2, REFUSED), sent("c", 3)], LOG, "b was refused"),
        ([sent("a", 1), sent("b", 2)], LOG, "no client sent"),
        ([sent("a", 1), sent("b", 2), sent("c", 3)], [*LOG, entry(4, "b")], "b is in the log twice"),
    ],
)  # fmt: skip
def test_a_wrong_ledger_is_found(requests, entries, expected):
    [finding] = checker.ledger(requests, entries, nonces_of)
    assert expected in finding


def test_a_log_with_a_gap_or_a_repetition_is_found():
    assert "version 3 after 1" in checker.dense([LOG[0], LOG[2]])[0]
    assert "version 1 after 1" in checker.dense([LOG[0], LOG[0]])[0]
    assert checker.dense(LOG[1:], after=1) == []


def test_logs_that_differ_are_found():
    assert checker.equal({"one": LOG, "two": LOG[:], "three": [dict(each) for each in LOG]}) == []
    assert "one has 3 entries, and two has 2" in checker.equal({"one": LOG, "two": LOG[:2]})[0]
    forked = [*LOG[:2], entry(3, "x")]
    assert len(checker.equal({"one": LOG, "two": forked, "three": forked})) == 2


def test_answers_of_one_key_that_differ_are_found():
    assert checker.replays([sent("a", 1, key="k", bodies={b"1"}), sent("b", 2, key="l")]) == []
    assert "k has 2 answers" in checker.replays([sent("a", 1, key="k", bodies={b"1", b"2"})])[0]


def test_a_read_that_the_log_does_not_give_is_found():
    states = {1: {"title": "a"}, 2: {"title": "b"}}
    right, wrong = Read(0, 1, 2, {"p": {"title": "b"}, "t": {}}), Read(0, 1, 2, {"p": {"title": "a"}, "t": {}})
    assert checker.reads([right], states) == []
    assert len(checker.reads([right, wrong], states)) == 1


def test_an_order_of_requests_and_reads_is_sought():
    requests = [sent("a", 1), dataclasses.replace(sent("b", 2), invoked=2, returned=3)]
    assert checker.order(requests, [Read(4, 5, 2, {}, "b")], 0, "-") == []
    assert checker.order(requests, [Read(4, 5, 1, {}, "a")], 0, "-")
    refused = dataclasses.replace(sent("c", 2, REFUSED, expected=1, value="b"), invoked=4, returned=5)
    assert checker.order([*requests, refused], [], 0, "-") == []
    assert checker.order([*requests, dataclasses.replace(refused, expected=2)], [], 0, "-")


def test_the_items_of_a_store_are_registers():
    writes = [Write("i", "a", 0, 1), Write("i", "b", 2), Write("j", "c", 0, 1)]
    assert checker.store(writes, [ItemRead("i", "a", 3, 4), ItemRead("i", "b", 5, 6)], {}) == []
    [finding] = checker.store(writes, [ItemRead("i", "b", 3, 4), ItemRead("i", "a", 5, 6)], {})
    assert finding.startswith("item i")
    assert checker.store([], [ItemRead("i", "z", 0, 1)], {"i": "z"}) == []
    assert checker.store([], [ItemRead("i", None, 0, 1)], {"i": "z"})


def test_versions_of_a_store_are_in_the_order_of_time():
    assert checker.serial([(0, 1, "e", 1), (2, 9, "e", 3), (3, 4, "e", 2), (10, 11, "f", 1)]) == []
    assert "two writes" in checker.serial([(0, 1, "e", 1), (2, 3, "e", 1)])[0]
    assert "before version" in checker.serial([(0, 1, "e", 2), (2, 3, "e", 1)])[0]


# Streams.


SESSION_LOG = [entry(number, f"t{number}") for number in range(1, 6)]


class Told:
    """A stream of `/p/title` from version 0, as the oracle is told it."""

    def __init__(self, resumes_all=False, is_calm=False):
        session = Session("counter", "s", {"p": {"title": "-"}}, False, False)
        session.current = "abcdefgh"
        session.epoch("abcdefgh").read(SESSION_LOG)
        self.oracle = ClusterOracle(0, Watch(session, ["/p/title"], resumes_all=resumes_all))
        self.oracle.is_calm = is_calm
        self.oracle.connected(None, self.oracle.watch)
        self.tell("snapshot", 0, {"values": {"/p/title": "-"}, "stream": "0-0-a-b"})

    def tell(self, name, version, data, incarnation="aaaa"):
        data = {"version": version, **data}
        self.oracle.event(Event(name, f"abcdefgh.{version}.{incarnation}-0", data, json.dumps(data).encode()))

    def change(self, version, incarnation="aaaa", value=None, path="/p/title"):
        value = f"t{version}" if value is None else value
        self.tell("change", version, {"changes": [{"op": "replace", "path": path, "value": value}]}, incarnation)

    def verify(self):
        self.oracle.verify(is_live=True)


def verdict(body, **options):
    """The fault of a stream, or None."""
    try:
        told = Told(**options)
        body(told)
        told.verify()
    except Fault as fault:
        return str(fault)
    return None


def changes(*versions):
    """Tells these versions. A pair is a version of another owner."""
    def body(told):
        for version in versions:
            told.change(*(version if isinstance(version, tuple) else (version,)))
    return body


@pytest.mark.parametrize("options", [{}, {"is_calm": True}, {"resumes_all": True}], ids=str)
def test_a_stream_of_each_version_is_right(options):
    assert verdict(changes(1, 2, 3, 4, 5), **options) is None
    assert verdict(changes(1, 2, (3, "bbbb"), (4, "bbbb"), (5, "cccc")), **options) is None


def test_a_stream_that_reads_the_log_after_a_failover_is_right():
    assert verdict(changes(1, 2, (3, "0000"), (4, "0000"), (5, "bbbb")), resumes_all=True) is None


def test_a_plain_stream_may_merge_versions_while_the_owner_changes():
    assert verdict(changes(1, 2, (5, "bbbb"))) is None
    assert verdict(changes(1, 2, (5, "bbbb")), is_calm=True) is None
    assert verdict(changes(1, 2, 5)) is None, "the stream's node may have lost a message of the bus"


@pytest.mark.parametrize(
    ("versions", "options", "expected"),
    [
        ((1, 2, 5), {"is_calm": True}, "never came"),
        ((1, 2, (5, "bbbb")), {"resumes_all": True}, "never came"),
        ((1, 2, 4, 5), {"resumes_all": True}, "never came"),
        ((1, 2, 3, 4), {}, "never came, and the session stands at 5"),
        ((1, 2, 3, 4), {"resumes_all": True}, "never came"),
        ((1, 2, 2, 3, 4, 5), {}, "not after"),
        ((1, 2, 2, 3, 4, 5), {"resumes_all": True}, "not after"),
        ((1, 2, (2, "bbbb"), 3, 4, 5), {"resumes_all": True}, "came twice, from two owners"),
        ((1, 2, (2, "bbbb"), 3, 4, 5), {}, "came twice, from two owners"),
        ((1, 3, 2, 4, 5), {}, "not after"),
        ((1, 2, (1, "bbbb")), {}, "a version before"),
        ((1, 2, (3, "bbbb", "x"), 4, 5), {}, "the log gives"),
        ((1, 2, 3, 4, 5, 6), {}, "is not in the log"),
    ],
)  # fmt: skip
def test_a_wrong_stream_is_found(versions, options, expected):
    assert expected in (verdict(changes(*versions), **options) or "no fault")


def test_a_reset_and_a_second_snapshot_are_found():
    values = {"values": {"/p/title": "t2"}}
    assert "a reset" in verdict(lambda told: (told.change(1), told.tell("reset", 2, {"reason": "epoch-changed", **values})))
    assert "a snapshot" in verdict(lambda told: (told.change(1), told.tell("snapshot", 2, values)))


def test_a_second_connection_needs_a_start_of_the_own_node():
    assert checker.survived(1, 1) == checker.survived(2, 2) == checker.survived(1, 3) == []
    assert checker.survived(2, 1)

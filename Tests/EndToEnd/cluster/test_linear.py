# The search for an order agrees with a brute force on small histories, and finds the histories that have no order.

import itertools
import random

import pytest

from linear import IMPOSSIBLE, UNSEEN, Operation, Register, Session, finding


def write(invoked, returned, value, version=None, expected=None):
    return Operation("write", invoked, returned, value, version, expected)


def read(invoked, returned, value=UNSEEN, version=None):
    return Operation("read", invoked, returned, value, version)


def refusal(invoked, returned, expected, version, value=UNSEEN):
    return Operation("refusal", invoked, returned, value, version, expected)


RIGHT = {
    "one after the other": [write(0, 1, "a", 1), read(2, 3, "a", 1), write(4, 5, "b", 2), read(6, 7, "b", 2)],
    "a read beside a write, before it": [write(0, 10, "a", 1), read(1, 2, "-", 0)],
    "a read beside a write, after it": [write(0, 10, "a", 1), read(1, 2, "a", 1), read(3, 4, "a", 1)],
    "writes beside each other in the other order": [write(0, 10, "a", 2), write(1, 9, "b", 1), read(11, 12, "a", 2)],
    "an unanswered write that happened": [write(0, None, "a"), read(1, 2, "a", 1)],
    "an unanswered write that happened late": [write(0, None, "a"), read(1, 2, "-", 0), write(3, 4, "b", 1), read(5, 6, "a", 2)],
    "an unanswered write that did not happen": [write(0, None, "a"), write(1, 2, "b", 1), read(3, 4, "b", 1)],
    "a condition that held": [write(0, 1, "a", 1), write(2, 3, "b", 2, expected=1)],
    "a condition that did not hold": [write(0, 1, "a", 1), refusal(2, 3, 0, 1, "a")],
    "an unanswered condition that held": [write(0, None, "a", expected=0), read(1, 2, "a", 1)],
}
WRONG = {
    "a stale read": [write(0, 1, "a", 1), write(2, 3, "b", 2), read(4, 5, "a", 1)],
    "a read of an older value at a new version": [write(0, 1, "a", 1), write(2, 3, "b", 2), read(4, 5, "a", 2)],
    "a lost write": [write(0, 1, "a", 1), read(2, 3, "-", 0)],
    "a read of the future": [read(0, 1, "a", 1), write(2, 3, "a", 1)],
    "a version twice": [write(0, 1, "a", 1), write(2, 3, "b", 1)],
    "a gap": [write(0, 1, "a", 1), write(2, 3, "b", 3)],
    "two reads in turn": [write(0, 20, "a", 1), read(1, 2, "a", 1), read(3, 4, "-", 0)],
    "a condition that held at another version": [write(0, 1, "a", 1), write(2, 3, "b", 2, expected=0)],
    "a refusal although the condition held": [write(0, 1, "a", 1), refusal(2, 3, 1, 1)],
    "an unanswered write twice": [write(0, None, "a"), read(1, 2, "a", 1), write(3, 4, "b", 2), read(5, 6, "a", 3)],
    "an unanswered condition that did not hold": [write(0, 1, "b", 1), write(2, None, "a", expected=0), read(3, 4, "a", 2)],
    "two owners": [write(0, 1, "a", 1), write(2, 5, "b", 2), write(3, 4, "c", 2)],
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_history_with_an_order_is_none(name):
    assert finding(RIGHT[name], Session(0, "-")) is None


@pytest.mark.parametrize("name", WRONG)
def test_a_history_without_an_order_is_found(name):
    assert "no order explains" in finding(WRONG[name], Session(0, "-"))


def test_a_register_is_checked_without_versions():
    assert finding([write(0, 9, "a"), read(1, 2, None), read(3, 4, "a")], Register()) is None
    assert finding([write(0, 9, "a"), read(1, 2, "a"), read(3, 4, None)], Register())
    assert finding([write(0, None, "a"), read(1, 2, None), read(3, 4, "a")], Register()) is None
    assert finding([write(0, 1, "a"), write(2, None, "b"), read(3, 4, "b"), read(5, 6, "a")], Register())


def brute(operations, model):
    """True if some order of the answered operations, and of some unanswered ones, explains them."""
    optional = [each for each in operations if each.returned is None]
    fixed = [each for each in operations if each.returned is not None]
    for count in range(len(optional) + 1):
        for chosen in itertools.combinations(optional, count):
            if any(explains(order, model) for order in itertools.permutations([*fixed, *chosen])):
                return True
    return False


def explains(order, model):
    state = model.start
    for at, operation in enumerate(order):
        if any(later.end < operation.invoked for later in order[at + 1 :]):
            return False
        state = model.step(state, operation)
        if state is IMPOSSIBLE:
            return False
    return True


def small(chance, has_versions):
    """A random history of a few operations. About half of them have an order."""
    operations, version, value = [], 0, "-" if has_versions else None
    moments = sorted(chance.sample(range(100), 6))
    for number, moment in enumerate(moments[: chance.randint(2, 6)]):
        invoked, returned = moment - chance.randint(0, 15), moment + chance.randint(1, 15)
        kind = chance.choice(("write", "write", "read", "unanswered", "refusal") if has_versions else ("write", "read", "read", "unanswered"))
        if kind in ("write", "unanswered"):
            expected = chance.choice((None, None, version)) if has_versions else None
            if kind == "write" or chance.random() < 0.5:
                version, value = version + 1, f"w{number}"
            answered = version if has_versions and kind == "write" else None
            operations.append(write(invoked, returned if kind == "write" else None, f"w{number}", answered, expected))
        elif kind == "read":
            operations.append(read(invoked, returned, value, version if has_versions else None))
        else:
            operations.append(refusal(invoked, returned, chance.randint(0, 3), version, value))
    if chance.random() < 0.5 and operations:
        # Alters one answer.
        at = chance.randrange(len(operations))
        wrong = operations[at]
        shift = chance.choice((-1, 1)) if wrong.version is not None else 0
        operations[at] = Operation(wrong.kind, wrong.invoked, wrong.returned, chance.choice((wrong.value, "w0", "w1")),
                                   None if wrong.version is None else max(0, wrong.version + shift), wrong.expected)  # fmt: skip
    chance.shuffle(operations)
    return operations


@pytest.mark.parametrize("has_versions", [True, False])
def test_the_search_agrees_with_a_brute_force(has_versions):
    chance, counts = random.Random(25), {True: 0, False: 0}
    for _ in range(1_500):
        operations = small(chance, has_versions)
        model = Session(0, "-") if has_versions else Register()
        expected = brute(operations, model)
        assert (finding(operations, model) is None) == expected, operations
        counts[expected] += 1
    assert min(counts.values()) > 200, counts


def long(chance, count, clients, unanswered):
    """A history with an order, of clients that work at the same time, with unanswered writes of which a third happened."""
    operations, version, value = [], 0, "-"
    for number in range(count):
        invoked, returned = number - chance.random() * clients, number + chance.random() * clients
        draw = chance.random()
        if draw < unanswered:
            if chance.random() < 0.3:
                version, value = version + 1, f"u{number}"
            operations.append(write(invoked, None, f"u{number}"))
        elif draw < 0.6:
            version, value = version + 1, f"w{number}"
            operations.append(write(invoked, returned, value, version))
        else:
            operations.append(read(invoked, returned, value, version))
    return operations


def test_a_long_history_with_unanswered_writes_is_decided():
    chance = random.Random(1)
    operations = long(chance, 4_000, 8, 0.01)
    assert finding(operations, Session(0, "-")) is None
    at = next(at for at, each in enumerate(operations) if at > 3_000 and each.kind == "read")
    stale = operations[at]
    operations[at] = read(stale.invoked, stale.returned, stale.value, stale.version - 20)
    assert finding(operations, Session(0, "-"))

# The plans of faults are the same for the same seed, and a short one has every needed kind.

import collections

from plan import DAMAGES, KINDS, NEEDED, PARTITIONS, plan


def test_a_seed_gives_one_plan():
    assert plan(7, 50, 3) == plan(7, 50, 3) != plan(8, 50, 3)


def test_a_short_plan_has_each_needed_kind_once():
    for seed in range(20):
        assert sorted(fault.kind for fault in plan(seed, 12, 3)) == sorted(NEEDED)


def test_a_long_plan_has_every_kind_often():
    counts = collections.Counter(fault.kind for fault in plan(1, 200, 3))
    assert set(counts) == set(KINDS) and min(counts.values()) >= 9, counts
    assert {fault.how for fault in plan(1, 200, 3)} == {"", *PARTITIONS, *DAMAGES}


def test_a_lost_owner_is_away_for_longer_than_its_lease():
    for lease in (3, 10):
        assert all(fault.seconds > 1.1 * lease for fault in plan(3, 200, lease) if fault.kind == "lose-owner")
        assert all(2 <= fault.seconds <= 8 for fault in plan(3, 200, lease) if fault.kind.startswith(("pause", "part")))

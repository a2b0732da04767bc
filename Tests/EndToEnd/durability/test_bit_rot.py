# A flipped bit of the database is served correctly or reported, and never served wrong. bit_rot.py is the complete
# test.

import os

import bit_rot


def test_guarantee_9_a_flipped_bit_of_any_page_is_served_right_or_reported():
    seed = os.environ.get("RIVULET_BIT_ROT_SEED")
    outcome = bit_rot.run(bit_rot.options_of([], flips=200, logs=20, together=4, seed=int(seed) if seed else 20261123))
    print(f"seed {outcome.seed}: {outcome.summary()}")
    assert not outcome.findings, outcome.findings[0]
    assert outcome.counts["flips"] == 200 and outcome.counts["reported"] > 5, outcome.summary()

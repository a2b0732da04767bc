# Runs the power-cut test for a bounded number of states, and shows that it finds the errors that it must find.

import os
import random

import pytest

import power_cut
from power_cut_disk import Disk, Kind, Record


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    seed = int(os.environ.get("RIVULET_CUT_SEED", random.randrange(1 << 30)))
    print(f"RIVULET_CUT_SEED={seed}")
    return power_cut.recorded(tmp_path_factory.mktemp("cuts") / "recording", seed, 360)


def test_guarantee_2_an_acknowledged_dispatch_survives_a_power_cut_exactly_once(recording):
    found = power_cut.findings(recording, states=50)
    assert not found, f"{len(found)} findings, seed {recording.seed}: {found[0]}"
    # The run is valid only if the write-ahead log was copied into the database, truncated and started again, and if
    # files were created and deleted.
    kinds = [record.kind for record in recording.records]
    assert kinds.count(Kind.ACKNOWLEDGED) > 300 and min(map(kinds.count, (Kind.CREATE, Kind.UNLINK, Kind.TRUNCATE))) >= 3, recording.summary()


def test_a_start_syncs_the_log_of_a_killed_server_before_it_writes(recording):
    # A killed server may leave a whole commit that no sync covers. SQLite takes this commit and writes the next one
    # behind it. A power cut could then lose the first and keep a part of the second.
    assert recording.unsynced_starts() == []


def test_a_disk_that_ignores_syncs_loses_acknowledged_operations(recording):
    found = power_cut.findings(recording, states=8, ignores_syncs=True)
    assert any("is not its state after" in finding or "cannot be read" in finding for finding in found), found


def written(file, offset, text):
    return Record(Kind.WRITE, "", file, offset, text)


def left(disk, tries=300):
    """The contents of `a` that power cuts leave; None if the file does not exist."""
    found = set()
    for seed in range(tries):
        chance = random.Random(seed)
        file = disk.names(chance).get("a")
        found.add(None if file is None else file.after_a_cut(chance))
    return found


def test_a_power_cut_keeps_synced_bytes_and_any_other_sectors():
    disk = Disk()
    steps = [Record(Kind.CREATE, "a", 7, 0, b""), written(7, 0, b"x" * 1024), Record(Kind.SYNC, "a", 7, 1, b"")]
    # A sync does not cover a write that comes during it.
    steps += [written(7, 0, b"y" * 1024), Record(Kind.SYNCED, "a", 7, 1, b"")]
    for step in steps:
        disk.take(step)
    assert left(disk) == {None, *(one * 512 + other * 512 for one in (b"x", b"y") for other in (b"x", b"y"))}
    for step in (Record(Kind.SYNC, "", 1, 2, b""), Record(Kind.SYNCED, "", 1, 2, b"")):
        disk.take(step)
    assert None not in left(disk), "its name was synced with the folder"


def test_a_kept_sector_never_lacks_an_earlier_write():
    disk = Disk()
    for step in (Record(Kind.CREATE, "a", 7, 0, b""), written(7, 0, b"1" * 24), written(7, 24, b"2" * 488)):
        disk.take(step)
    contents = left(disk) - {None}
    assert b"1" * 24 + b"2" * 488 in contents and b"1" * 24 in contents and b"" in contents
    assert not any(b"22222222" in content and not content.startswith(b"1" * 24) for content in contents)

# Makes system calls of the server fail, a few of each kind. failing_calls.py tests all of them.

import shutil

import pytest

import failing_calls
from failing_calls import Case

#: strace counts the calls of each thread. The start and the commits have separate threads, so one K selects calls of
#: both.
CASES = [
    Case("fsync", "EIO", 1),
    Case("fsync", "ENOSPC", 2),
    Case("fdatasync", "EIO", 1),
    Case("fdatasync", "EIO", 3, is_new=False),
    Case("fdatasync", "EIO", 5, is_lasting=True, is_new=False),
    Case("fdatasync", "ENOSPC", 4, is_new=False),
    Case("fdatasync", "ENOSPC", 5),
    Case("fdatasync", "EINTR", 6, is_new=False),
    Case("pwrite64", "EIO", 20),
    Case("pwrite64", "EIO", 12, is_new=False),
    Case("pwrite64", "ENOSPC", 15, is_lasting=True, is_new=False),
    Case("pwrite64", "ENOSPC", 18, is_new=False),
    Case("pwrite64", "EINTR", 14, is_new=False),
    Case("ftruncate", "EIO", 1, is_new=False),
    Case("ftruncate", "ENOSPC", 2),
    Case("openat", "EMFILE", 1),
    Case("openat", "EMFILE", 7, is_new=False),
    Case("openat", "EMFILE", 12, is_lasting=True, is_new=False),
    Case("openat", "EIO", 10, is_new=False),
    Case("openat", "EIO", 11, is_new=False),
    Case("openat", "EIO", 13),
    Case("openat", "EINTR", 5),
    Case("accept4", "EMFILE", 2, is_new=False),
    Case("accept4", "EMFILE", 3, is_lasting=True, is_new=False),
    Case("accept4", "EINTR", 2),
]


def test_no_failing_system_call_loses_what_was_acknowledged():
    if shutil.which("strace") is None:
        pytest.skip("no strace: apt-get install strace")
    words, found = failing_calls.run(CASES, seed=1)
    print("\n".join(f"{call} {error}: {word}, K {numbers}" for (call, error, word), numbers in words.items()))
    assert not found, f"{len(found)} findings: {found[0]}"
    # The run is valid only if calls of the start and of commits failed, and if the server recovered from some failures.
    reached = {(call, word) for call, _, word in words}
    assert {("fdatasync", "start refused"), ("fdatasync", "refused"), ("pwrite64", "refused")} <= reached, reached
    assert {"unnoticed"} <= {word for _, word in reached}

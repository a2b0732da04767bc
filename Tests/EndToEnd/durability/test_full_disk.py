# A full disk permits deletions, and the server is not ready until the disk has space again.

import subprocess

import pytest

from harness import Server

MEBIBYTE = 1 << 20
RESERVE = 16 * MEBIBYTE


@pytest.fixture
def disk(tmp_path):
    """A separate disk of 48 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this machine does not permit the mount of a separate disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def free(disk):
    return int(subprocess.run(["stat", "-f", "-c", "%a %S", disk], capture_output=True, text=True, check=True).stdout.split()[0]) * 4096


def allocated(path):
    return path.stat().st_blocks * 512


def fill(server, session):
    """Dispatches until the disk is full, and returns the last acknowledged version."""
    acked = session.info()["version"]
    for number in range(400):
        answer = session.post({"rename": "x" * 20_000 + str(number)})
        if answer.status != 200:
            assert answer.status == 507, answer
            return acked
        acked = answer.json["version"]
    raise AssertionError("the disk is not full")


def test_a_full_disk_permits_deletions_and_readyz_stays_unready_until_there_is_space(disk):
    with Server(disk / "data", arguments=("--workers", "1")) as server:
        assert server.get("/readyz").status == 200
        reserve = disk / "data" / "rivulet.db.reserve"
        assert allocated(reserve) == RESERVE and reserve.stat().st_mode & 0o777 == 0o600
        for name in ("one", "two", "three"):
            for number in range(10):
                server.session(name).dispatch({"rename": f"{name} {number} " + "y" * 20_000})
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(free(disk) - MEBIBYTE))
        acked = fill(server, server.session("three"))
        for _ in range(3):
            answer = server.get("/readyz")
            assert answer.status == 503 and answer.problem["type"].endswith("not-ready"), answer
        for name in ("one", "two"):
            assert server.request("DELETE", server.session(name).path).status == 204
            assert server.get(server.session(name).path).status == 404
            # The readiness check's own write waits for the erasure.
            assert server.get("/readyz").status == 503, "there is no room beside the reserve yet"
            assert allocated(reserve) == RESERVE, "the reserve is taken again after a deletion"
        assert server.session("three").info()["version"] == acked, "reads go on"
        ballast.unlink()
        assert server.get("/readyz").status == 200
        assert server.session("three").dispatch({"rename": "after"})["version"] == acked + 1
        fill_again = disk / "ballast"
        fill_again.write_bytes(bytes(free(disk) - MEBIBYTE))
        fill(server, server.session("three"))
        server.kill()
    # The reserve remains after the process ends, also on a full disk.
    with Server(disk / "data", arguments=("--workers", "1")) as server:
        assert allocated(reserve) == RESERVE
        assert server.request("DELETE", server.session("three").path).status == 204
        fill_again.unlink()
        assert server.get("/readyz").status == 200
        assert server.stop() == 0


def test_nothing_is_reserved_in_memory(serve, tmp_path):
    server = serve(None)
    assert server.get("/readyz").status == 200
    assert list(tmp_path.iterdir()) == []

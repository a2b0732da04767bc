# The cluster tests have a stage of their own, `Tests/run cluster`, because they take minutes.

import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
# The servers and the proxy, and the ledger and the oracle of the chaos test.
sys.path += [str(HERE / "network"), str(HERE.parent / "chaos")]


def pytest_ignore_collect(collection_path, config):
    """Leaves these tests out, unless an argument names this folder or a file in it."""
    named = [pathlib.Path(argument.split("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in named) else True

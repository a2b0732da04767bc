# The C programs of this folder, built in .build/bench of the repository.
"""Benchmarks/tools.py: builds all programs, and prints their paths."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parent / ".build" / "bench"
FLAGS = ["-O2", "-g", "-std=c11", "-Wall", "-Wextra", "-Werror"]
#: The folder of each program, and its libraries.
PROGRAMS = {"load": ("Load", []), "floor": ("Floor", ["-luv"]), "commit": ("Commit", ["-lsqlite3"]), "snapshots": ("Snapshots", ["-luv"])}


def build(name):
    """Builds a program unless it is newer than its sources. Returns its path."""
    folder, libraries = PROGRAMS[name]
    program, files = BUILD / name, [pathlib.Path(__file__), *sorted((HERE / folder).iterdir())]
    if program.exists() and program.stat().st_mtime > max(file.stat().st_mtime for file in files):
        return program
    BUILD.mkdir(parents=True, exist_ok=True)
    # The program is replaced in one step, because another run may be using the old one.
    unfinished = BUILD / f"{name}.{os.getpid()}"
    subprocess.run(["cc", *FLAGS, "-o", unfinished, *(file for file in files if file.suffix == ".c"), *libraries], check=True)
    unfinished.replace(program)
    return program


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    for each in PROGRAMS:
        print(build(each))

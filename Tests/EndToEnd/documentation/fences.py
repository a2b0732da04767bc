# The code blocks of the pages, and a check of the package manifests among them.
"""Reads the fenced blocks of a Markdown page, and runs manifests of packages."""

import json
import re
import subprocess

from harness import ROOT


def text(page):
    return (ROOT / page).read_text()


def fenced(page):
    """Each fenced block of a page: its language and its text."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text(page), re.S | re.M)


def block(page, language, beginning):
    """The text of the only block of this language that begins so."""
    [found] = [code for kind, code in fenced(page) if kind == language and code.startswith(beginning)]
    return found


def check_manifest(manifest, folder):
    """Checks a package's manifest with SwiftPM. The manifest may depend on products of this repository only."""
    folder.mkdir()
    (folder / "Package.swift").write_text(manifest)
    dumped = subprocess.run(
        ["swift", "package", "--package-path", str(folder), "dump-package"], capture_output=True, text=True, timeout=120
    )
    assert dumped.returncode == 0, dumped.stderr
    package = json.loads(dumped.stdout)
    [[dependency]] = [entry["fileSystem"] for entry in package["dependencies"]]
    assert dependency["path"] == str(folder.parent / "rivulet")
    targets = {target["name"] for target in package["targets"]}
    offered = set(re.findall(r"\.(?:library|executable)\(name: \"(\w+)\"", text("Package.swift")))
    for target in package["targets"]:
        for needed in target["dependencies"]:
            if "product" in needed:
                assert needed["product"][0] in offered and needed["product"][1] == "rivulet", needed
            else:
                assert needed["byName"][0] in targets, needed

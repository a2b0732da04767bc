# Part of Rivulet. See README.md for the architecture.
# What the README shows of the sources is what the sources say.

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_readme_shows_the_whole_counter_as_it_is():
    source = (ROOT / "Sources/RivuletCLI/CounterApp.swift").read_text()
    app = source[source.index("import Rivulet") :].strip()
    assert f"```swift\n{app}\n```" in (ROOT / "README.md").read_text()

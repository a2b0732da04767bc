# Documentation/Architecture.md leads to the code of today: each name that it gives is declared in the file that it gives.

import re

import pytest

from harness import ROOT

PAGE = ROOT / "Documentation/Architecture.md"
HEADINGS = ["Modules", "A dispatch", "A stream", "Threads", "Invariants", "Where to find"]
#: `name` in [File.swift](../path/File.swift)
STEP = re.compile(r"`(\w+)` in\s+\[([^\]]+)\]\(\.\./([^)]+)\)")


def sections():
    parts = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def declares(text, name):
    """Whether a Swift source declares this name."""
    return re.search(rf"^(?!\s*//).*\b(?:func|var|let|case|struct|class|enum|protocol|actor|typealias) {name}\b", text, re.M) is not None


def fault(step):
    """The fault of a step on the page; nil where it leads to a declaration."""
    name, title, path = step
    file = ROOT / path
    if not file.is_file():
        return f"{path} does not exist"
    if file.name != title:
        return f"the link to {path} reads {title}"
    return None if declares(file.read_text(), name) else f"{path} declares no {name}"


def test_the_page_has_its_sections():
    assert list(sections()) == HEADINGS


def test_each_name_on_the_page_is_declared_in_its_file():
    steps = STEP.findall(PAGE.read_text())
    # The pattern finds all: a name with a link that it misses would not be checked.
    assert len(steps) > 40
    assert len(steps) == len(re.findall(r"` in\s+\[", PAGE.read_text()))
    faults = [found for step in steps if (found := fault(step))]
    assert not faults, "Documentation/Architecture.md:\n" + "\n".join(faults)


def test_ten_behaviours_are_found_in_two_steps():
    rows = re.findall(r"^\| (?!Behaviour|-)(.*?) \|(.*)\|$", sections()["Where to find"], re.M)
    assert len(rows) == 10
    for behaviour, way in rows:
        cells = [cell.strip() for cell in way.split("|") if cell.strip()]
        assert 1 <= len(cells) <= 2 and all(STEP.fullmatch(cell) for cell in cells), behaviour


def test_each_module_stands_below_those_that_it_imports():
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", sections()["Modules"], re.M)
    modules = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(modules) == sorted(path.name for path in (ROOT / "Sources").iterdir())
    for index, module in enumerate(modules):
        for path in (ROOT / "Sources" / module).rglob("*.swift"):
            imported = set(re.findall(r"^(?:\w+ |@\w+ )*import (\w+)", path.read_text(), re.M)) & set(modules)
            assert imported <= set(modules[:index]), f"{path.relative_to(ROOT)} imports {imported - set(modules[:index])}"


@pytest.mark.parametrize(
    "step, found",
    [
        (("dispatch", "None.swift", "Sources/None.swift"), "Sources/None.swift does not exist"),
        (("none", "Clamped.swift", "Sources/RivuletObservation/Wrappers/Clamped.swift"), "declares no none"),
        (("range", "Clamp.swift", "Sources/RivuletObservation/Wrappers/Clamped.swift"), "reads Clamp.swift"),
        (("range", "Clamped.swift", "Sources/RivuletObservation/Wrappers/Clamped.swift"), None),
    ],
)
def test_a_step_that_leads_nowhere_is_a_fault(step, found):
    assert fault(step) is None if found is None else found in fault(step)

# Documentation/Architecture.md matches the present code: each file that it links exists, and each name before a file is
# declared there.

import re

import pytest

from harness import ROOT

PAGE = ROOT / "Documentation/Architecture.md"
HEADINGS = ["Modules", "A dispatch", "A stream", "Threads", "Invariants", "Where to find", "To change"]
#: [File.swift](../path/File.swift), or with an anchor
LINK = re.compile(r"\[([^\]]+)\]\(\.\./([^)#]+)(?:#[^)]*)?\)")
#: `name` in [File.swift](../path/File.swift), or `name`, `other` and `third` in it
STEP = re.compile(r"((?:(?:`\w+`, )*`\w+` and )?`\w+`) in\s+" + LINK.pattern)


def sections():
    parts = re.split(r"^## (.*)$", PAGE.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def declares(text, name):
    """True if a source declares this name, in Swift or as a function in C."""
    swift = rf"^(?!\s*//).*\b(?:func|var|let|case|struct|class|enum|protocol|actor|typealias) {name}\b"
    return re.search(rf"{swift}|^(?:static )?\w+ {name}\(.*{{", text, re.M) is not None


def fault_of_link(title, path):
    """The error of a link to a file of the repository; None if the link's text is the name of an existing file."""
    file = ROOT / path
    if not file.is_file():
        return f"{path} does not exist"
    return None if file.name == title else f"the link to {path} reads {title}"


def fault(step):
    """The error of a step on the page; None if it leads to a declaration of each name."""
    names, title, path = step
    if found := fault_of_link(title, path):
        return found
    text = (ROOT / path).read_text()
    return next((f"{path} declares no {name}" for name in re.findall(r"\w+", names.replace(" and ", " ")) if not declares(text, name)), None)


def test_the_page_has_its_sections():
    assert list(sections()) == HEADINGS


def test_each_name_on_the_page_is_declared_in_its_file():
    steps = STEP.findall(PAGE.read_text())
    # The count ensures that the pattern finds all steps. A step that it misses would not be checked.
    assert len(steps) > 40
    assert len(steps) == len(re.findall(r"` in\s+\[", PAGE.read_text()))
    faults = [found for step in steps if (found := fault(step))]
    assert not faults, "Documentation/Architecture.md:\n" + "\n".join(faults)


def test_each_file_on_the_page_exists():
    links = LINK.findall(PAGE.read_text())
    # A link to a source that the pattern misses would not be checked.
    assert len(links) == len(re.findall(r"\]\(\.\./", PAGE.read_text())) > 90
    faults = [found for title, path in links if (found := fault_of_link(title, path))]
    assert not faults, "Documentation/Architecture.md:\n" + "\n".join(faults)


def test_each_list_of_a_change_names_its_files():
    lists = re.split(r"^\*\*(.*):\*\*$", sections()["To change"], flags=re.M)
    files = {title: len(set(LINK.findall(text))) for title, text in zip(lists[1::2], lists[2::2])}
    assert len(files) == 3 and min(files.values()) >= 7, files


def test_ten_behaviours_are_found_in_two_steps():
    rows = re.findall(r"^\| (?!Behaviour|-)(.*?) \|(.*)\|$", sections()["Where to find"], re.M)
    assert len(rows) == 10
    for behaviour, way in rows:
        cells = [cell.strip() for cell in way.split("|") if cell.strip()]
        assert 1 <= len(cells) <= 2 and all(STEP.fullmatch(cell) for cell in cells), behaviour


def test_each_module_is_listed_after_the_modules_that_it_imports():
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
        (("`range`, `none` and `Clamped`", "Clamped.swift", "Sources/RivuletObservation/Wrappers/Clamped.swift"), "declares no none"),
        (("`range` and `Clamped`", "Clamped.swift", "Sources/RivuletObservation/Wrappers/Clamped.swift"), None),
    ],
)
def test_a_step_with_a_wrong_link_or_name_is_an_error(step, found):
    assert fault(step) is None if found is None else found in fault(step)

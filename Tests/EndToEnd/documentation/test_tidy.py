# The rules of writing that can be counted hold: sentences, columns and lines of files. CONTRIBUTING.md has the rules.

import pathlib
import subprocess

import pytest

import prose
from harness import ROOT

#: Texts by others, and texts that quote others.
OTHERS = ("Tests/Corpora/", "Tests/Fuzz/corpus/", "Tests/Rows/")
SOURCES = (".swift", ".c", ".h", ".js", ".mjs", ".py", ".css")
COLUMNS_MAX = 120
LINES_MAX = 500
#: The most sentences of 1,000 that may break a rule. A ceiling falls with the count, and never rises.
CEILINGS = {
    "comments": {"begin with a question word": 1, "have words for people": 1, "have over 30 words": 3},
    "pages": {"begin with a question word": 1, "have words for people": 2, "have over 30 words": 7},
}
RULES = {
    "begin with a question word": lambda sentence: sentence.opens_badly,
    "have words for people": lambda sentence: sentence.has_persons,
    "have over 30 words": lambda sentence: len(sentence.words) > 30,
}


def texts():
    """The files of the repository with texts of ours: pairs of a path and its text."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
    ).stdout
    for path in sorted(filter(None, listed.split("\0"))):
        if path.startswith(OTHERS) or not (pathlib.Path(ROOT) / path).is_file():
            continue
        try:
            yield path, (pathlib.Path(ROOT) / path).read_text()
        except UnicodeDecodeError:
            continue


@pytest.fixture(scope="module")
def files():
    return dict(texts())


def is_source(path, text):
    return path.endswith(SOURCES) or text.startswith("#!")


@pytest.fixture(scope="module")
def sentences(files):
    found = {"comments": [], "pages": []}
    for path, text in files.items():
        if path.endswith(".md"):
            found["pages"] += prose.page_sentences(path, text)
        elif is_source(path, text):
            found["comments"] += prose.comment_sentences(path, text)
    return found


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", CEILINGS)
def test_sentences_keep_the_rules_of_writing(sentences, kind, rule):
    all_of_kind = sentences[kind]
    assert len(all_of_kind) > 1_000, "few sentences were found: the count says nothing"
    broken = [sentence for sentence in all_of_kind if RULES[rule](sentence)]
    share = 1_000 * len(broken) / len(all_of_kind)
    assert share <= CEILINGS[kind][rule], f"{share:.1f} of 1,000 sentences {rule}:\n" + "\n".join(map(str, broken))


def test_comments_end_at_column_120(files):
    wide = [
        f"{path}:{number}: {len(line)} columns"
        for path, text in files.items()
        if is_source(path, text)
        for number, line in enumerate(text.split("\n"), 1)
        if len(line) > COLUMNS_MAX and prose.is_comment(path, line) and "http" not in line
    ]
    assert not wide, "\n".join(wide)


def test_files_have_at_most_500_lines(files):
    long = [
        f"{path}: {count} lines"
        for path, text in files.items()
        if is_source(path, text) and (count := text.count("\n")) > LINES_MAX
    ]
    assert not long, "\n".join(long)


# Tests of the counting functions.


def found_in(text, path="a.swift"):
    return [sentence.text for sentence in prose.comment_sentences(path, text)]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.swift", "/// One idea. Another one\n/// in two lines.\nlet a = 1", ["One idea.", "Another one in two lines."]),
        ("a.swift", "let a = 1  // The reason for it.", ["The reason for it."]),
        ("a.swift", 'let a = "https://example.com/a b c"', []),
        ("a.swift", "// MARK: - The head\n", []),
        ("a.swift", "/// The parts:\n/// - first item\n/// - second item", ["The parts:", "first item", "second item"]),
        ("a.swift", "/// ```\n/// what is this\n/// ```\n/// The text after it.", ["The text after it."]),
        ("a.py", '"""The text of a module."""\n# The reason.\nx = "some other text"', ["The reason.", "The text of a module."]),
        ("run", "#!/bin/sh\n# The text of a script.\n", ["The text of a script."]),
        ("a.js", "/**\n * The text of a function.\n */", ["The text of a function."]),
    ],
)
def test_sentences_of_comments_are_found(path, text, expected):
    assert found_in(text, path) == expected


def test_sentences_of_pages_are_found():
    page = "# The heading\n\nOne idea. `Another` one.\n\n```\nwhat is code\n```\n\n| a word here | the cell |\n| --- | --- |\n| Who are they? | an answer |\n"
    found = [sentence.text for sentence in prose.page_sentences("a.md", page)]
    assert found == ["The heading", "One idea.", "`Another` one.", "a word here", "the cell", "Who are they?", "an answer"]


@pytest.mark.parametrize(
    ("text", "opens_badly", "has_persons"),
    [
        ("What it is.", True, False),
        ("Whether it is known.", True, False),
        ("How many there are.", True, False),
        ("Whatever comes next.", True, False),
        ("The streams of anybody.", False, True),
        ("The caller, whose stream ends.", False, True),
        ("The name `who` of a field.", False, False),
        ("However long it takes.", False, False),
        ("Howitzers are loud.", False, False),
        ("The session is whole.", False, False),
    ],
)
def test_broken_rules_are_counted(text, opens_badly, has_persons):
    sentence = prose.Sentence("a.md", 1, text)
    assert (sentence.opens_badly, sentence.has_persons) == (opens_badly, has_persons)

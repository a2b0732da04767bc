# No text of the repository refers to a file, a heading or a page that a reader cannot open.

import os
import pathlib
import re
import urllib.parse

import pytest

from harness import ROOT

#: The top folders with the project's own texts.
FOLDERS = (".ci", "Benchmarks", "Documentation", "Public", "Sources", "Tests")
#: Folders of builds and caches within the top folders.
PRODUCTS = re.compile(r"\.build.*|__pycache__|node_modules|\.venv")
#: Paths on a page that belong to the reader's own project.
OTHERS = {"Sources/votes/main.swift", "Sources/votes-server/main.swift"}
#: The references that a `Source:` may name apart from an address in angle brackets: an RFC, a draft of one, or a manual
#: page.
PUBLIC = re.compile(
    r"(?:RFC \d{1,5}|draft-[a-z0-9-]+-\d\d)(?:(?: sections? | ?§)\d+(?:\.\d+)*(?:(?:, ?§?| and )\d+(?:\.\d+)*(?!\d* ?\())*)?"
    r"|[a-z_0-9]+\(\d\)"
)
#: Folders and pages that were once beside the repository.
OUTSIDE = re.compile(
    r"(?:\.\./|(?<![\w./-]))(?:(?:spec|shared|research)/|(?:design|systems|language|style|house|http|examples)\.md\b)|(?<![\w./-])/work/"
)
COMMENT = re.compile(r"^\s*(///?|#:?|\*)(?: |$)")


def without_code(text):
    """The lines of a page outside of fenced blocks. A line within a block is empty."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
        elif fence is not None and mark and mark[1].startswith(fence):
            fence, line = None, ""
        lines.append("" if fence is not None else line)
    return lines


def anchors(text):
    """The anchors of a page on GitHub: the anchors of its headings, and the anchors that the page sets itself."""
    found = set()
    for line in without_code(text):
        found.update(re.findall(r'<a (?:id|name)="([^"]+)">', line))
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
            number, unique = 0, slug
            while unique in found:
                number += 1
                unique = f"{slug}-{number}"
            found.add(unique)
    return found


def line_of(match):
    return match.string.count("\n", 0, match.start()) + 1


class Repository:
    """The texts of a folder, and the errors of their references, each as a line `PATH:LINE: ERROR`."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.known = {}
        paths = [path for path in self.root.iterdir() if path.is_file()]
        for folder in FOLDERS:
            for path, folders, files in os.walk(self.root / folder):
                # The texts of the corpora are by others.
                folders[:] = [] if path.endswith("/Tests/Corpora") else [name for name in folders if not PRODUCTS.fullmatch(name)]
                paths += [pathlib.Path(path) / name for name in files]
        # This file contains wrong references as examples.
        for path in sorted(set(paths) - {pathlib.Path(__file__)}):
            try:
                self.texts[path.relative_to(self.root).as_posix()] = path.read_text()
            except UnicodeDecodeError:
                continue

    def pages(self):
        return {path: text for path, text in self.texts.items() if path.endswith(".md")}

    def resolve(self, target, page=""):
        """The error of a reference with its `#anchor`, from a page or from the top folder; None if it is valid."""
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or parts.netloc:
            is_public = parts.scheme == "https" and re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc or "")
            return None if is_public and re.fullmatch(r"[!-~]+", target) else f"{target} is no https address"
        name = urllib.parse.unquote(parts.path)
        path = self.root / os.path.dirname(page) / name if name else self.root / page
        if not path.resolve().is_relative_to(self.root.resolve()):
            return f"{target} is outside of the repository"
        if not path.exists():
            return f"{target} does not exist"
        key = path.resolve().relative_to(self.root.resolve()).as_posix()
        if parts.fragment and not (key.endswith(".md") and parts.fragment in self.anchors(key)):
            return f"{target}: {key} has no anchor #{parts.fragment}"
        return None

    def anchors(self, key):
        if key not in self.known:
            self.known[key] = anchors(self.texts[key])
        return self.known[key]

    def sources(self):
        """Each `Source:` of a comment: its path, its line, and the text after it in the comment's paragraph."""
        for path, text in self.texts.items():
            lines = [] if path.endswith(".md") else text.split("\n")
            for number, line in enumerate(lines):
                start = re.search(r"\bSources?: ", line) if ": " in line and "Source" in line else None
                mark = start and re.search(r"(?:^|\s)(///?|#:?|\*) ", line[: start.start()])
                if not mark:
                    continue
                rest = [line[start.end() :]]
                for follower in lines[number + 1 :]:
                    comment = COMMENT.match(follower)
                    if not comment or not follower[comment.end() :].strip() or "Source:" in follower:
                        break
                    rest.append(follower[comment.end() :])
                yield path, number + 1, " ".join(rest)

    def faults_of_sources(self):
        for path, line, text in self.sources():
            # The references come first, with commas between them. The text after them is prose.
            while True:
                address = re.match(r"<([^<>\s]*)>", text)
                named = PUBLIC.match(text)
                if address and (fault := self.resolve(address[1])):
                    yield f"{path}:{line}: {fault}"
                if not address and not named:
                    yield f"{path}:{line}: a source is <an address>, an RFC or a manual page, not: {text[:60]}"
                    break
                text = text[(address or named).end() :]
                rows = re.match(r"(?:(?:, | to )[A-F]-\d\d)*", text)[0]
                for row in re.findall(r"[A-F]-\d\d", rows):
                    if fault := self.resolve(f"{address[1].split('#')[0] if address else ''}#{row.lower()}"):
                        yield f"{path}:{line}: {fault}"
                text = text[len(rows) :]
                comma = re.match(r", (?=<|RFC |draft-|[a-z_0-9]+\(\d\))", text)
                if not comma:
                    break
                text = text[comma.end() :]

    def faults_of_addresses(self):
        """Errors of each `<path>` or `<path#anchor>` of a page in the sources, at any position."""
        for path, text in self.texts.items():
            for match in re.finditer(r"<((?:Documentation|Tests|Benchmarks|README|CHANGELOG)[\w/.-]*\.md(?:#[^<>\s]*)?)>", text):
                if fault := self.resolve(match[1]):
                    yield f"{path}:{line_of(match)}: {fault}"

    def faults_of_links(self):
        for path, text in self.pages().items():
            for number, line in enumerate(without_code(text), 1):
                plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "``", line)
                targets = re.findall(r"\]\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?: \"[^\"]*\")?\)", plain)
                for target in targets + re.findall(r"^\s*\[[^\]]+\]:\s*<?([^\s<>]+)", plain):
                    if fault := self.resolve(target, path):
                        yield f"{path}:{number}: {fault}"

    def faults_of_paths(self):
        """Errors of each path that a page has as code: `Sources/…`, `Tests/…`, `X.md`."""
        tops = "|".join(map(re.escape, FOLDERS))
        for path, text in self.pages().items():
            for number, line in enumerate(without_code(text), 1):
                for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
                    for name in re.findall(rf"(?<![^\s(])(?:\./)?((?:{tops})/[\w./+*-]*[\w/*]|[\w./-]+\.md)(?![\w/])", code):
                        folders = [""] if re.match(rf"(?:{tops})/", name) else ["", path.rpartition("/")[0], "Documentation"]
                        if name not in OTHERS and not any(list(self.root.glob(f"{folder}/{name}".strip("/"))) for folder in folders):
                            yield f"{path}:{number}: `{name}` does not exist"

    def faults_of_outside(self):
        for path, text in self.texts.items():
            for match in OUTSIDE.finditer(text):
                yield f"{path}:{line_of(match)}: {match[0]} is outside of the repository"

    def faults(self):
        kinds = (self.faults_of_sources, self.faults_of_addresses, self.faults_of_links, self.faults_of_paths, self.faults_of_outside)
        return sorted({fault for kind in kinds for fault in kind()})


def test_every_reference_of_the_repository_is_valid():
    repository = Repository(ROOT)
    # The counts ensure that the patterns find references. Without the counts, a broken pattern would pass.
    assert len(list(repository.sources())) > 150
    assert sum(text.count("](") for text in repository.pages().values()) > 80
    faults = repository.faults()
    assert not faults, "\n" + "\n".join(faults)


#: A page with headings, an anchor that it sets itself, a file, and a source that refers to them.
SOUND = {
    "Documentation/Page.md": "# A page\n\n## Stores, values & `keys`\n\n## Again\n\n## Again\n\n"
    '| <a id="a-01"></a>A-01 | [here](#again-1), [there](../README.md#top) |\n\n```\n[no link](nowhere.md), `Sources/none.swift`\n```\n',
    "README.md": "# Top\n\n[The page](Documentation/Page.md#stores-values--keys), `Sources/Room/File.swift`, `Documentation/*.md`, `[no](link)`.\n",
    "Sources/Room/File.swift": "/// One.\n///\n/// Source: RFC 9110 §8.8.3, <Documentation/Page.md#a-01>, A-01; tcp(7).\n"
    "/// Sources: draft-ietf-x-07 section 2.1, RFC 9651 sections 3, 5,\n/// <https://sqlite.org/wal.html#a>, the log.\nlet one = 1 // Source: pthread_join(3)\n",
}


def made(folder, changes):
    for path, text in (SOUND | changes).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return Repository(folder)


def test_valid_references_are_no_errors(tmp_path):
    repository = made(tmp_path, {})
    assert len(list(repository.sources())) == 3
    assert repository.faults() == []


@pytest.mark.parametrize(
    "path, text, fault",
    [
        ("README.md", "# Top\n[x](Documentation/Page.md#stores)", "README.md:2: Documentation/Page.md#stores: Documentation/Page.md has no anchor #stores"),
        ("README.md", "# Top\n[x](#bottom)", "README.md:2: #bottom: README.md has no anchor #bottom"),
        ("README.md", "# Top\n[x](Documentation/None.md)", "README.md:2: Documentation/None.md does not exist"),
        ("README.md", "# Top\n[x](../beside/page.md)", "README.md:2: ../beside/page.md is outside of the repository"),
        ("README.md", "# Top\n[x]: Documentation/None.md", "README.md:2: Documentation/None.md does not exist"),
        ("README.md", "# Top\n[x](http://example.com/)", "README.md:2: http://example.com/ is no https address"),
        ("README.md", "# Top\n`Sources/Room/None.swift`", "README.md:2: `Sources/Room/None.swift` does not exist"),
        ("README.md", "# Top\n`Sources/None/*.swift`", "README.md:2: `Sources/None/*.swift` does not exist"),
        ("README.md", "# Top\n`Tests/run -j 2`", "README.md:2: `Tests/run` does not exist"),
        ("README.md", "# Top\nSee `None.md`.", "README.md:2: `None.md` does not exist"),
        ("Sources/a.swift", "/// Source: <Documentation/Page.md#none>.", "Sources/a.swift:1: Documentation/Page.md#none: Documentation/Page.md has no anchor #none"),
        ("Sources/a.swift", "/// Source: RFC 1, <Documentation/None.md>.", "Sources/a.swift:1: Documentation/None.md does not exist"),
        ("Sources/a.swift", "/// Source: RFC 1,\n/// <Sources/None.swift>.", "Sources/a.swift:1: Sources/None.swift does not exist"),
        ("Sources/a.swift", "/// Source: <Documentation/Page.md#a-01>, A-02.", "Sources/a.swift:1: Documentation/Page.md#a-02: Documentation/Page.md has no anchor #a-02"),
        ("Sources/a.swift", "/// Source: <http://sqlite.org/>", "Sources/a.swift:1: http://sqlite.org/ is no https address"),
        ("Sources/a.swift", "/// Source: <https://sqlite>", "Sources/a.swift:1: https://sqlite is no https address"),
        ("Tests/a.py", "x = 1  # Source: a book", "Tests/a.py:1: a source is <an address>, an RFC or a manual page, not: a book"),
        ("Public/a.js", "// Source: https://sqlite.org/", "Public/a.js:1: a source is <an address>, an RFC or a manual page, not: https://sqlite.org/"),
        ("Tests/a.py", "# As in <Documentation/Page.md#none>.", "Tests/a.py:1: Documentation/Page.md#none: Documentation/Page.md has no anchor #none"),
        ("Tests/a.py", "# As in " + "spec" + "/page.", "Tests/a.py:1: " + "spec" + "/ is outside of the repository"),
        ("Benchmarks/a", "cd ../" + "shared" + "/tools", "Benchmarks/a:1: ../" + "shared" + "/ is outside of the repository"),
        ("CHANGELOG.md", "by design" + ".md", "CHANGELOG.md:1: design" + ".md is outside of the repository"),
    ],
)
def test_a_broken_reference_is_an_error(tmp_path, path, text, fault):
    assert fault in made(tmp_path, {path: text}).faults()

"""Finds the sentences of comments and pages, and the ones that break a rule of CONTRIBUTING.md."""

import dataclasses
import io
import os
import re
import tokenize

#: A sentence begins with its noun, not with one of these.
OPENINGS = re.compile(r"(?:Whatever|What|Whoever|Whose|Whom|Who|Whether|How|Wherever|Where|Why)\b")
#: Things are not people.
PERSONS = re.compile(r"\b(?:who(?:m|se|ever)?|(?:no|some|every|any)body|someone)\b", re.I)
#: The end of a sentence: a point, and after it a space and a new beginning.
END = re.compile(r"(?<=[.!?])[)\"'”`*]*\s+(?=[\"'(`*\[]*[A-Z0-9`])")
#: Points that end no sentence.
SHORT = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|No|approx)\.$")


@dataclasses.dataclass(frozen=True)
class Sentence:
    """A sentence, and the line on which its paragraph begins."""

    path: str
    line: int
    text: str

    @property
    def words(self):
        return [word for word in re.split(r"\s+", self.text) if re.search(r"\w", word)]

    @property
    def opens_badly(self):
        return bool(OPENINGS.match(self.text.lstrip("\"'(*_[")))

    @property
    def has_persons(self):
        return bool(PERSONS.search(re.sub(r"`[^`]*`", "", self.text)))

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}"


def sentences(paragraph):
    """The sentences of one paragraph."""
    text = re.sub(r"\s+", " ", paragraph).strip()
    parts, start = [], 0
    for match in END.finditer(text):
        if SHORT.search(text[start : match.start()].rstrip(")\"'”`*")):
            continue
        parts.append(text[start : match.start()])
        start = match.end()
    parts.append(text[start:])
    # A line of code, a rule or a link is no sentence.
    return [part for part in parts if len(re.findall(r"[A-Za-z]{2,}", part)) >= 2]


def paragraphs(lines):
    """Joins the lines of one comment or page to paragraphs. Returns the number of each paragraph's first line with its text."""
    first, text = 0, []
    for number, line in lines:
        item = re.match(r"\s*(?:[-*+]|\d+\.|#{1,6})\s+(.*)", line)
        if not line.strip() or item:
            if text:
                yield first, " ".join(text)
            first, text = number, []
        if line.strip():
            text.append(item[1] if item else line.strip())
            first = first if len(text) > 1 else number
    if text:
        yield first, " ".join(text)


def blocks(lines, marker):
    """The comments of a file: each a list of pairs of a line's number and its text without the marker."""
    block, kind = [], None
    for number, line in enumerate(lines, 1):
        match = marker.match(line)
        if match and not re.match(r"(?:MARK|swift-format|swift-tools|sourcery|noqa|!)", match[2].strip()):
            if kind not in (None, match[1]):
                yield block
                block = []
            kind = match[1]
            block.append((number, match[2]))
        elif block:
            yield block
            block, kind = [], None
    if block:
        yield block


SLASHES = re.compile(r"^(?:[^\"]*?\S\s+)?\s*(///?)(?!/)\s?(.*)$")
HASHES = re.compile(r"^\s*(#:?)(?!!)\s?(.*)$")
STARS = re.compile(r"^\s*(/\*\*?|\*(?!/))\s?(.*?)(?:\*/)?$")


def without_fences(lines):
    """All lines, with an empty text for each line in a fenced block."""
    fence = None
    for number, line in lines:
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence is None and mark:
            fence = mark[1]
            line = ""
        elif fence is not None:
            if mark and mark[1].startswith(fence):
                fence = None
            line = ""
        yield number, line


def python_strings(text):
    """The docstrings of a Python file, as blocks."""
    before = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and before in (None, tokenize.INDENT, tokenize.NEWLINE, tokenize.NL):
            if token.string.startswith(('"""', '"')) and token.line.strip().startswith('"'):
                body = token.string.strip('"')
                yield [(token.start[0] + at, line) for at, line in enumerate(body.split("\n"))]
        if token.type != tokenize.COMMENT:
            before = token.type


def is_comment(path, line):
    """True if a whole line is a comment."""
    return bool(re.match(r"\s*(?://|/?\*)" if path.endswith((".swift", ".c", ".h", ".js", ".mjs", ".css")) else r"\s*#", line))


def comment_sentences(path, text):
    """All sentences in the comments of one source file."""
    lines = text.split("\n")
    name = os.path.basename(path)
    if name.endswith((".swift", ".c", ".h", ".js", ".mjs", ".ts", ".css")):
        found = list(blocks(lines, SLASHES)) + list(blocks(lines, STARS))
    elif name.endswith(".py"):
        found = list(blocks(lines, HASHES)) + list(python_strings(text))
    else:
        found = list(blocks(lines, HASHES))
    for block in found:
        for number, paragraph in paragraphs(without_fences(block)):
            for sentence in sentences(paragraph):
                yield Sentence(path, number, sentence)


def page_sentences(path, text):
    """All sentences of one page: paragraphs, list items, headings and table cells."""
    lines = []
    for number, line in without_fences(enumerate(text.split("\n"), 1)):
        if re.match(r"\s*\|", line):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            if all(re.fullmatch(r"\s*:?-+:?\s*", cell) for cell in cells):
                continue
            for cell in cells:
                lines += [(number, cell), (number, "")]
        else:
            lines.append((number, re.sub(r"^\s*>\s?", "", line)))
    for number, paragraph in paragraphs(lines):
        for sentence in sentences(re.sub(r"<!--.*?-->|</?[a-z][^>]*>", "", paragraph)):
            yield Sentence(path, number, sentence)

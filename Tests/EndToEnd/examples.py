# Runs the curl examples of a Markdown page against a real server, and compares curl's output with the page.
"""The `console` blocks of a page: commands behind `$ `, each with the output that the page shows."""

import dataclasses
import datetime
import json
import re
import subprocess

from harness import PATIENCE

#: Names that a server chooses. A page uses its own names, and each of them always means the same name of the server.
NAME = re.compile(
    r"(?<![a-z0-9])[a-z0-9]{8}(?=\.\d)"  # the epoch of a cursor, or of a tag
    r'|(?<="epoch":")[a-z0-9]{8}(?=")'
    r"|(?<=\d\.)[a-z0-9]{4}(?=-\d)"  # the incarnation of a cursor
    r"|(?<![a-z0-9])[a-z0-9]{26}(?![a-z0-9])"  # a session's fresh id
    r'|(?<="stream":")[^"]+|(?<=/v1/streams/)[a-z0-9-]+'
)
#: Today and tomorrow by the server's clock, because midnight may come during the run.
DAYS = "|".join(f"{datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days):%Y-%m-%d}" for days in (0, 1))
#: Values that differ in each run.
CHANCE = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"  # a time of the server's clock; the times in the examples have no fraction
    rf"|(?:{DAYS})T\d\d:\d\d:\d\dZ"  # such a time in the first millisecond of a second
    r'|(?<=retry: )\d+|(?<="after":)\d+|(?<=rivulet-session=)[^;]+|(?<="trace_id":")[0-9a-f]{32}'
)


@dataclasses.dataclass
class Example:
    command: str
    output: str
    #: The events that other clients dispatch while a stream is open.
    meanwhile: list

    @property
    def is_stream(self):
        return re.search(r" -N ", self.command) is not None


def blocks(page):
    """The examples of each `console` block."""
    for block in re.findall(r"^```console\n(.*?)^```", page, re.S | re.M):
        parts = re.split(r"^\$ ", block, flags=re.M)
        assert parts[0] == "", f"a block does not begin with a command: {block}"
        yield [example(part) for part in parts[1:]]


def example(text):
    command, _, output = re.fullmatch(r"((?:[^\n]*\\\n)*[^\n]*)(\n?)(.*)", text, re.S).groups()
    command, _, comment = re.match(r"(.*?)(\s{2,}# ([^\n]*))?$", command, re.S).groups()
    events = re.fullmatch(r"meanwhile[^:]*: (.*)", comment or "")
    return Example(command, output.strip(), json.loads(f"[{events[1]}]") if events else [])


def alike(text):
    """The text without the parts that differ from run to run."""
    return CHANCE.sub("TIME", NAME.sub("NAME", text)).strip()


class Examples:
    """Runs the examples of a page in their order. `variables` are the addresses that the page's commands use."""

    def __init__(self, server, **variables):
        self.server = server
        self.variables = variables
        #: The server's name for each name on the page.
        self.names = {}

    def check(self, example):
        """Checks that the command prints the output on the page. The page may show only some lines of a head."""
        if example.is_stream:
            printed = self._streamed(example)
        else:
            printed = self.curl(example.command).communicate(timeout=PATIENCE)[0].replace("\r", "")
        if re.search(r" -s?i ", example.command):
            (shown_head, shown), (head, printed) = (text.partition("\n\n")[::2] for text in (example.output, printed))
            for line in shown_head.splitlines():
                fitting = [other for other in head.splitlines() if alike(other) == alike(line)]
                assert fitting, f"{example.command}: {line!r} is not in the head {head}"
                self._learn(line, fitting[0], example)
        else:
            shown = example.output
        assert alike(printed) == alike(shown), f"{example.command}\nprints {printed}"
        self._learn(shown, printed, example)

    def curl(self, command):
        """Starts curl. Names on the page are replaced by the server's names."""
        command = NAME.sub(lambda name: self.names.get(name[0], name[0]), command)
        address = f"http://127.0.0.1:{self.server.port}"
        return subprocess.Popen(
            ["bash", "-c", command.replace("curl ", "curl -sS ", 1)],
            env={"PATH": "/usr/bin:/bin"} | {name: address + path for name, path in self.variables.items()},
            stdout=subprocess.PIPE,
            text=True,
        )

    def _streamed(self, example):
        """The lines of a stream, as many as the page shows. After the first event, other clients dispatch."""
        client = self.curl(re.sub(r"(^|\| )curl ", r"\1exec curl ", example.command))
        lines = [client.stdout.readline()]
        while not lines[-1].startswith("data:"):
            assert lines[-1], f"{example.command} ended after {lines}"
            lines.append(client.stdout.readline())
        for event in example.meanwhile:
            session = re.search(r"\$\w+(?=/changes)", example.command)[0]
            done = self.curl(f"curl -f --json '{json.dumps(event)}' {session}/events")
            assert done.wait(PATIENCE) == 0, event
            done.stdout.close()
        while len(lines) < len(example.output.splitlines()):
            lines.append(client.stdout.readline())
        client.kill()
        client.communicate()
        return "".join(lines)

    def _learn(self, shown, printed, example):
        for mine, name in zip(NAME.findall(shown.strip()), NAME.findall(printed.strip()), strict=True):
            known = self.names.setdefault(mine, name)
            assert known == name, f"{example.command}: the page's {mine} stands for {known} and for {name}"
            assert list(self.names.values()).count(name) == 1, f"{example.command}: the page has two names for {name}"

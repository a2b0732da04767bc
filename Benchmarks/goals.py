# The goals in figures, the limits of a quiet machine, and the table of the goals that are met.

import dataclasses
import datetime
import os
import pathlib
import platform
import re
import time

#: Shares of one core: the CPU time of other processes, and the time that the host took. Rounds with more are left out.
OTHER_CPU_MOST, STEAL_MOST = 0.05, 0.03
#: A figure from fewer quiet rounds is marked.
QUIET_ROUNDS_LEAST = 6


@dataclasses.dataclass(frozen=True)
class Goal:
    """The goal of one figure."""

    what: str
    must: float
    aim: float
    unit: str = ""
    is_least: bool = False  # True if more is better.
    #: Counted and not timed, so that it is also valid on a busy machine.
    is_counted: bool = False

    def text(self, value):
        number = f"{value:,.0f}" if value >= 100 or (self.unit == "B" and value == int(value)) else f"{value:.2f}"
        return f"{number} {self.unit}".strip()

    def is_met(self, value, bound):
        return value >= bound if self.is_least else value <= bound


GOALS = {
    "a_floor": Goal("CPU per delivery, 1,000 streams on one path, to the floor", 1.30, 1.15),
    "b_floor": Goal("CPU per delivery, 10,000 streams on one path, to the floor", 1.30, 1.15),
    "c_floor": Goal("CPU per delivery, 1,000 sessions × 10 streams, in memory, to the floor", 1.40, 1.25),
    "instructions": Goal("instructions per delivery to the C libuv floor", 1.2, 1.1, is_counted=True),
    "a_nchan": Goal("CPU per delivery, 1,000 streams, to nginx+nchan", 0.90, 0.80),
    "a_hummingbird": Goal("CPU per delivery, 1,000 streams, to Hummingbird", 0.50, 0.40),
    "idle_memory": Goal("user memory per idle stream at 10,000", 2048, 1024, "B"),
    "accept": Goal("CPU to accept a stream, to the floor", 2.5, 1.5),
    "idle_cpu": Goal("CPU of 10,000 idle streams between heartbeats, of a core", 0.5, 0.0, "%"),
    "idle_heartbeats": Goal("the same with heartbeats every 15 s", 2.5, 2.5, "%"),
    "idle_heartbeats_most": Goal("CPU of 19,800 idle streams with heartbeats every 15 s, of a core", 5.0, 5.0, "%"),
    "transient": Goal("CPU of a small transient dispatch, to a POST of the floor", 3.0, 2.0),
    "rtt": Goal("one stream: POST to delivery, p50, to the floor", 1.3, 1.15),
    "durable": Goal("durable dispatches, 64 connections over 1,000 sessions", 20_000, 30_000, "/s", is_least=True),
    "durable_ack": Goal("durable answer, one client: p50 minus the p50 of a commit, in p50s of a POST to the floor", 2.0, 1.0),
    "change_bytes": Goal("a one-field change in a state of 1 MB: bytes sent to a stream of the whole state", 200, 200, "B", is_counted=True),
    "change_others": Goal("the same: bytes sent to a stream of another path", 0, 0, "B", is_counted=True),
    "change_cost": Goal("the same: CPU of the dispatch, to one in a state of 1 KB", 1.2, 1.05),
    "crowd_whole_plain": Goal("1,000 streams and 1,000 reads of 5 MB at once: the share of readers that got all of it", 100, 100, "%", is_least=True, is_counted=True),
    "crowd_turn_plain": Goal("the same without gzip: longest turn of the loop", 20, 10, "ms"),
    "crowd_health_plain": Goal("the same without gzip: `/healthz` from outside beside them, p99", 50, 20, "ms"),
    "crowd_memory_plain": Goal("the same without gzip: memory, to three snapshots and 8 KiB a connection", 1, 0.7, is_counted=True),
    "crowd_whole_gzip": Goal("the same crowd with gzip: the share of readers that got all of it", 100, 100, "%", is_least=True, is_counted=True),
    "crowd_turn_gzip": Goal("the same with gzip: longest turn of the loop", 20, 10, "ms"),
    "crowd_health_gzip": Goal("the same with gzip: `/healthz` from outside beside them, p99", 50, 20, "ms"),
    "crowd_memory_gzip": Goal("the same with gzip: memory, to three snapshots and 8 KiB a connection", 1, 0.7, is_counted=True),
    "crowd_mute": Goal("1,000 gzip streams of 5 MB that never read: memory, to `heldBytesMax`", 1, 0.5, is_counted=True),
    "crowd_bodies": Goal("3,000 bodies of 1 MB under way: memory, to `heldBodyBytesMax` and 8 KiB a connection", 1, 0.7, is_counted=True),
    "crowd_rest": Goal("10 s after each of these crowds: memory above the state before", 32, 16, "MiB", is_counted=True),
    "joins_whole": Goal("5,000 streams of 44 KiB at once: the share of readers that got all of it", 100, 100, "%", is_least=True, is_counted=True),
    "joins_turn": Goal("5,000 streams of 44 KiB at once: longest turn of the loop", 20, 10, "ms"),
    "joins": Goal("5,000 streams of 44 KiB at once: first connect to last byte, to the floor", 1.5, 1.2),
    "wrong": Goal("deliveries lost, doubled or reordered, in all runs", 0, 0, is_counted=True),
}


@dataclasses.dataclass
class Figure:
    """A measured figure: one value for each quiet round, the number of all rounds, and the text that is printed beside it."""

    values: list
    rounds: int
    command: str = ""
    beside: str = ""

    @property
    def median(self):
        ordered = sorted(self.values)
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def busy_seconds():
    """Busy and stolen CPU seconds of the whole machine."""
    fields = [int(field) / os.sysconf("SC_CLK_TCK") for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields[:3]) + sum(fields[5:7]), fields[7]


def own_seconds():
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Quiet:
    """True after a measurement if nothing else used the machine. `server` returns the CPU seconds of the server."""

    def __init__(self, server=lambda: 0.0):
        self._server = server
        self._began = time.monotonic(), busy_seconds(), own_seconds(), server()

    def __bool__(self):
        began, (busy, stolen), own, server = self._began
        seconds, (busy_now, stolen_now) = time.monotonic() - began, busy_seconds()
        other = busy_now - busy - (own_seconds() - own) - (self._server() - server)
        # The kernel counts CPU time in ticks, so each of the two readings may be wrong by one tick.
        allowance = 2 / os.sysconf("SC_CLK_TCK")
        return other - allowance <= OTHER_CPU_MOST * seconds and stolen_now - stolen - allowance <= STEAL_MOST * seconds


def is_quiet(result):
    """True if no other process used the machine during a run of the load generator."""
    machine = (result or {}).get("machine")
    return bool(machine) and machine["other_cpu_share"] <= OTHER_CPU_MOST and machine["steal_share"] <= STEAL_MOST


def is_machine_quiet(seconds=3.0):
    """True if no other work runs now."""
    quiet = Quiet()
    time.sleep(seconds)
    return bool(quiet)


def row(name, figure):
    """A row of the table, with a figure or without one."""
    goal = GOALS[name]
    cells = [goal.what, f"{'≥' if goal.is_least else '≤'} {goal.text(goal.must)}", f"{'≥' if goal.is_least else '≤'} {goal.text(goal.aim)}"]
    if figure is None:
        return [*cells, "", "not measured", ""]
    if not figure.values:
        return [*cells, "", f"no quiet round of {figure.rounds}", f"`{figure.command}`"]
    value = figure.median
    spread = f" [{goal.text(min(figure.values))}..{goal.text(max(figure.values))}]" if len(figure.values) > 1 else ""
    verdict = "aim" if goal.is_met(value, goal.aim) else "must" if goal.is_met(value, goal.must) else "**missed**"
    if not goal.is_counted and len(figure.values) < min(QUIET_ROUNDS_LEAST, figure.rounds):
        verdict += f", of only {len(figure.values)} quiet rounds of {figure.rounds}"
    elif not goal.is_counted and figure.rounds < QUIET_ROUNDS_LEAST:
        verdict += f", of only {figure.rounds} rounds"
    return [*cells, goal.text(value) + spread + (f"; {figure.beside}" if figure.beside else ""), verdict, f"`{figure.command}`"]


def processor():
    """The CPU's name with its family and model, because clouds shorten the name."""
    text = pathlib.Path("/proc/cpuinfo").read_text()
    name, family, model = (re.search(rf"^{field}\s*: (.*)$", text, re.M) for field in ("model name", "cpu family", "model"))
    numbers = f" (family {family[1]}, model {model[1]})" if family and model else ""
    return (name[1] if name else platform.machine()) + numbers


HEAD = """# Results

Written by `Benchmarks/run --write`; do not edit. A row that was measured again alone has the time of that measurement.
A ratio compares two figures of the same round. A figure is the median of the quiet rounds, with the least and the most in brackets.
A round is quiet when nothing but the server and the client used more than {other:.0%} of a core, and the host took less than {steal:.0%}.
The column "met" names the goal that is met, "must" or the stricter "aim". One process may open 20,000 files on this machine, so a server
has at most 19,800 streams here. `Benchmarks/sessions` measures the start of a server with 100,000 stored sessions, and the first read of
one. README.md has the causes of the figures that miss their goal.

{date}, revision {revision}, {processor}, {cores} cores, Linux {kernel}, the server on one core and the client on the other.

| what | must | aim | measured | met | command |
| --- | --- | --- | --- | --- | --- |
"""


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def line(name, figure, remark=""):
    return "| " + " | ".join(row(name, figure)) + remark + " |"


def is_of_today(text):
    """True if a RESULTS.md is of this day and this machine. Otherwise its rows cannot be compared with new rows."""
    machine = f"{processor()}, {os.cpu_count()} cores, Linux {platform.release()},"
    return any(head.startswith(now()[:10]) and machine in head for head in text.split("\n"))


def renewed(text, figures, runs, revision):
    """The text of RESULTS.md, in which these figures and runs replace the rows of the same names. Each new row has its time and its revision."""
    key = lambda text: text.split(": " if text.startswith("- ") else " | ")[0]
    new = {key(line(name, None)): line(name, figures[name], f", {now()}, revision {revision}") for name in GOALS if name in figures}
    new |= {key(run): run for run in runs}
    lines = text.split("\n")
    # New rows follow the other rows, and new runs follow the other runs.
    rows = {key(line(name, None)) for name in GOALS}
    for row in [row for name, row in new.items() if name not in map(key, lines)]:
        last = max(number for number, old in enumerate(lines) if (key(old) in rows if row.startswith("|") else old.startswith("- ")))
        lines.insert(last + 1, row)
    return "\n".join(new.get(key(old), old) for old in lines)


def table(figures, revision):
    """The text of RESULTS.md, including goals without a figure."""
    head = HEAD.format(
        other=OTHER_CPU_MOST, steal=STEAL_MOST, date=now(),
        revision=revision, processor=processor(), cores=os.cpu_count(), kernel=platform.release(),
    )
    return head + "".join(line(name, figures.get(name)) + "\n" for name in GOALS)

# Streams and their deliveries in Rivulet, beside the floor and the peers. The load generator runs against each of them
# in turn.

import json
import statistics
import subprocess
import sys

import servers
import tools
from goals import Figure, is_quiet

#: The title of each scenario, and its options of the load generator.
SCENARIOS = {
    "a": ("1,000 streams of one topic, closed loop", "--subs 1000 --count 1000000 --seconds 4 --warmup 30"),
    "b": ("10,000 streams of one topic, closed loop", "--subs 10000 --count 1000000 --seconds 4 --warmup 3 --idle 2"),
    "c": ("1,000 topics of 10 streams, topics at random, 8 publishers, at most 16 events open",
          "--subs 10000 --topics 1000 --pubs 8 --window 16 --random --count 10000000 --seconds 4 --warmup 1000"),
    "rtt": ("one stream, closed loop: POST to delivery", "--subs 1 --count 1000000 --seconds 2 --warmup 500"),
    "lat": ("1,000 streams of one topic, 20 events a second", "--subs 1000 --count 80 --rate 20 --warmup 5"),
}
#: A topic is a session of the app `counter`, and an event a new title. The first event of a stream is its snapshot.
RIVULET_OPTIONS = [
    "--ready-events", "1", "--seq-mark", "i=", "--time-mark", "t=", "--get", "/v1/apps/counter/sessions/{k}/changes?path=/p/title",
    "--post", "/v1/apps/counter/sessions/{k}/events", "--body", '{"rename":"i={i},t={t},{pad:72}"}',
]
#: For each scenario: the goal's name, the peer, and the figure of the ratio.
GOALS = {
    "a": (("a_floor", "floor", "server.cpu_us_per_delivery"), ("a_nchan", "nchan", "server.cpu_us_per_delivery"),
          ("a_hummingbird", "hummingbird", "server.cpu_us_per_delivery")),
    "b": (("b_floor", "floor", "server.cpu_us_per_delivery"),),
    "c": (("c_floor", "floor", "server.cpu_us_per_delivery"),),
    "rtt": (("rtt", "floor", "delivery_us.p50"),),
}
#: The title of a column, its figure, and the decimals.
COLUMNS = (
    ("deliveries/s", "deliveries_per_s", 0), ("CPU us/delivery", "server.cpu_us_per_delivery", 2), ("CPU us/event", "server.cpu_us_per_event", 1),
    ("p50 us", "delivery_us.p50", 0), ("p99 us", "delivery_us.p99", 0), ("max us", "delivery_us.max", 0), ("ack p50 us", "ack_us.p50", 0),
    ("ack p99 us", "ack_us.p99", 0), ("lost", "lost", 0), ("bytes/delivery", "bytes_per_delivery", 0), ("connects/s", "connects_per_s", 0),
    ("PSS/conn", "server.pss_per_conn", 0), ("idle CPU", "server.idle_cpu_share", 3), ("server CPU share", "server.cpu_share", 2),
    ("other CPU", "machine.other_cpu_share", 2),
)
RATIO = "server.cpu_us_per_delivery"
#: The most seconds that one run of the load generator takes.
RUN_MOST = 120


def measure(scenarios, rounds, figures, command):
    """Runs the scenarios, sets the figures of the goals, and yields a table for each scenario. `command`, with the scenario after it, repeats one scenario."""
    faults = []
    for scenario in scenarios:
        results = [{name: run(scenario, name, server) for name, server in all_servers().items()} for _ in range(rounds)]
        figures |= scenario_figures(scenario, results, f"{command} {scenario}")
        faults += [fault_count(each["rivulet"]) for each in results]
        yield table(scenario, results)
    figures["wrong"] = Figure([sum(faults)], 1, f"{command} {','.join(scenarios)}")


def all_servers():
    return servers.peers() | {"rivulet": lambda: servers.rivulet("--memory")}


def run(scenario, name, server):
    """Runs the load generator once against a fresh server; None if there is no result."""
    with server() as (pid, port):
        command = [*servers.CLIENT_CORE, tools.build("load"), "--label", name, "--port", str(port), "--pid", str(pid), "--timeout", "25",
                   *SCENARIOS[scenario][1].split(), *(RIVULET_OPTIONS if name == "rivulet" else [])]
        try:
            outcome = subprocess.run(command, capture_output=True, text=True, timeout=RUN_MOST)
        except subprocess.TimeoutExpired:
            print(f"{scenario}, {name}: no end after {RUN_MOST} s", file=sys.stderr)
            return None
    if outcome.stderr:
        print(f"{scenario}, {name}: {outcome.stderr.strip()}", file=sys.stderr)
    return json.loads(outcome.stdout) if outcome.stdout else None


def value(result, path):
    for name in path.split("."):
        result = result[name]
    return result


def ratios(results, name, peer, path):
    """The ratios of one server's figure to another's, for each round that was quiet for both."""
    pairs = [(each[name], each[peer]) for each in results if is_quiet(each[name]) and is_quiet(each[peer])]
    return [value(ours, path) / value(theirs, path) for ours, theirs in pairs if value(theirs, path)]


def scenario_figures(scenario, results, command):
    return {
        name: Figure(ratios(results, "rivulet", peer, path), len(results), command)
        for name, peer, path in GOALS.get(scenario, ()) if peer in results[0]
    }


def fault_count(result):
    """The number of wrong deliveries. A run without a result has infinitely many."""
    return abs(result["lost"]) + result["duplicate"] + result["out_of_order"] + result["unmatched"] if result else float("inf")


def table(scenario, results):
    """Medians of the quiet rounds, with the range of the first two columns and of the ratio."""
    titles = [title for title, _, _ in COLUMNS]
    lines = [f"### {scenario}: {SCENARIOS[scenario][0]}", "",
             "| server | runs | " + " | ".join([*titles[:2], "ratio of CPU to the floor", *titles[2:]]) + " |", "|" + " --- |" * (len(COLUMNS) + 3)]
    for name in results[0]:
        quiet = [each[name] for each in results if is_quiet(each[name])]
        cells = [name, f"{len(quiet)}/{len(results)}"]
        if quiet:
            with_spread = [spread([value(each, path) for each in quiet], decimals) for _, path, decimals in COLUMNS[:2]]
            medians = [f"{statistics.median(value(each, path) for each in quiet):,.{decimals}f}" for _, path, decimals in COLUMNS[2:]]
            cells += [*with_spread, spread(ratios(results, name, "floor", RATIO), 2), *medians]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def spread(values, decimals):
    if not values:
        return ""
    return f"{statistics.median(values):,.{decimals}f} [{min(values):,.{decimals}f}..{max(values):,.{decimals}f}]"

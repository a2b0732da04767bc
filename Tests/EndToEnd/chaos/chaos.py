#!/usr/bin/env python3
# The chaos test: many streams with disconnects, restarts and slow readers. The whole history of each stream is checked.
"""chaos.py [--minutes M | --seconds S] [--streams N] [--sessions N] [--seed N]

Streams of sessions of the example apps open, close and pause, and writers dispatch. The server is stopped and killed, always on the same data folder.
After each round the test waits until nothing changes. It then compares the history of each stream with the logs of the sessions.
The first findings are printed with all that their streams received, and the exit status is then 1.
The seed decides the actions, but not the exact time of each action.
"""

import argparse
import asyncio
import pathlib
import random
import sys
import tempfile
import time

# The harness is in the parent folder. pytest finds it there; a run as a program needs this line.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))

import chaos_document as document
from chaos_clients import CUT, Client, Stream, Writer
from chaos_ledger import Session
from chaos_oracle import Fault, Watch
from harness import Server

PATIENCE = 60.0
FINDINGS_MAX = 10
#: Key paths that streams watch, one by one or together.
POINTERS = {
    "counter": ("", "/p", "/p/count", "/p/step", "/p/title", "/p/limits", "/p/limits/warnAt", "/p/limits/label", "/p/history",
                "/p/history/0", "/t", "/t/lastEvent", "/t/warning", "/t/warning/text"),
    "todos": ("", "/p", "/p/todos", "/p/todos", "/p/filter", "/t/editing", "/t", "/p/todos/t0", "/p/todos/t1", "/p/todos/t2/title",
              "/p/todos/t3/done", "/p/todos/n1"),
}
WILDCARDS = {"counter": ("/p/limits/*", "/p/history/*"), "todos": ("/p/todos/*/done", "/p/todos/*", "/p/todos/*/title")}


class World:
    """The state that all parts of one run share."""

    def __init__(self, options):
        self.options = options
        self.chance = random.Random(options.seed)
        self.loop = asyncio.get_running_loop()
        self.server, self.port = None, 0
        self.kills = self.stops = self.events = self.ends = self.acknowledged = self.rejected = self.deletions = self.repathed = 0
        self.findings = []
        self.is_over = self.is_resting = self.is_stopping = False
        #: The mean seconds between the actions of a stream, the mean seconds between the dispatches of a writer, and
        #: the part of `retry` that a stream waits.
        self.patience, self.pause, self.hurry = options.patience, options.pause, 0.1
        self.writing = asyncio.Event()
        self.sessions, self.streams, self.features = [], [], set()
        self._tasks = set()

    def start(self, coroutine):
        """Runs the coroutine. An error in it becomes a finding."""
        task = self.loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task):
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.find(f"the test itself failed: {task.exception()!r}")

    def find(self, text):
        self.findings.append(text)
        if len(self.findings) <= FINDINGS_MAX:
            print(f"FINDING {len(self.findings)} (seed {self.options.seed}): {text}\n", file=sys.stderr, flush=True)

    # The server.

    async def serve(self, data):
        start = lambda: Server(data, port=self.port, arguments=("--workers", "2", "--log-level", "warning"))
        self.server = await self.loop.run_in_executor(None, start)
        self.port = self.server.port
        self.is_stopping = False

    async def stop(self, is_kill):
        server, self.is_stopping = self.server, True
        if is_kill:
            # Each connection records the number of kills at its beginning. The number is a fraction during a kill,
            # and so marks a connection that began or ended in that time.
            self.kills += 0.5
            await self.loop.run_in_executor(None, server.kill)
            self.kills += 0.5
        else:
            self.stops += 1
            status = await self.loop.run_in_executor(None, server.stop)
            if status != 0:
                self.find(f"SIGTERM ended the server with {status}: {server.log_text()[-3000:]}")
        server.log.close()

    # Preparation.

    async def prepare(self):
        client = Client(self)
        defaults = {}
        for app in POINTERS:
            status, defaults[app] = await client.request("GET", f"/v1/apps/{app}/sessions/pristine/state")
            assert status == 200, status
        for query, name in (("resume=all", "resume"), ("interval=50", "interval"), ("format=json-patch", "patch")):
            if await self.takes(f"path=/p/count&{query}"):
                self.features.add(name)
        if await self.takes("path=/p/limits/*"):
            self.features.add("wildcards")
        client.close()
        for number in range(self.options.sessions):
            app = ("counter", "todos")[number % 2]
            self.sessions.append(Session(app, f"chaos-{number}", defaults[app], number % 7 == 6, number % 5 == 4))
        for number in range(self.options.streams):
            self.streams.append(Stream(self, number, self.watch(self.chance.choice(self.sessions)), self.options.mangle))

    async def takes(self, query):
        """True if the server supports this kind of stream."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        target = f"/v1/apps/counter/sessions/pristine/changes?{query}"
        writer.write(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".encode())
        status = int((await reader.readline()).split()[1])
        writer.transport.abort()
        assert status in (200, 400), status
        return status == 200

    def watch(self, session):
        chance = self.chance
        watch = Watch(session, self.pointers(session), is_gzip=chance.random() < 0.2)
        kind = chance.random()
        if kind < 0.15 and "resume" in self.features:
            watch.resumes_all = True
        elif kind < 0.25 and "interval" in self.features:
            watch.interval = chance.choice((20, 100, 500))
        elif kind < 0.4 and "patch" in self.features and "*" not in "".join(watch.pointers):
            watch = Watch(session, watch.pointers[:1] or [""], is_patch=True, is_gzip=watch.is_gzip)
        return watch

    def pointers(self, session, is_patch=False):
        """Random paths that a stream of the session can watch."""
        chance = self.chance
        has_wildcards = "wildcards" in self.features and not is_patch
        pointers = POINTERS[session.app] + (WILDCARDS[session.app] if has_wildcards else ())
        paths = chance.sample(pointers, 1 if is_patch else chance.choice((1, 1, 1, 2, 3, 5)))
        return [path for path in paths if path] if chance.random() < 0.9 else []

    # Chaos.

    async def disturb(self, seconds, how):
        """Runs one round: a kill or a stop of the server, and deletions of sessions."""
        end = self.loop.time() + seconds
        moment = self.loop.time() + self.chance.uniform(0.3, 0.7) * seconds
        client = Client(self)
        while (now := self.loop.time()) < end and not self.findings:
            if how and now > moment:
                await self.stop(how == "kill")
                await asyncio.sleep(self.chance.uniform(0, 0.3))
                await self.serve(self.options.data)
                how = None
            if self.chance.random() < self.options.deletions:
                await self.delete(client)
            await asyncio.sleep(0.1)
        client.close()

    async def delete(self, client):
        session = self.chance.choice([session for session in self.sessions if session.may_be_deleted])
        session.is_closing = True
        try:
            while session.in_flight:
                await asyncio.sleep(0.01)
            await self.synchronise(client, session)
            if session.current is not None:
                session.deletions += 1
                self.deletions += 1
                session.epochs[session.current].is_open = False
                status, answer = await client.request("DELETE", session.path)
                if status != 204:
                    self.find(f"DELETE {session.path}: {status} {answer}")
        except CUT:
            pass  # The next read of the session shows if it is deleted.
        finally:
            session.is_closing = False

    async def synchronise(self, client, session):
        """Reads the new entries of a session's log."""
        status, information = await client.request("GET", session.path)
        session.current = information["epoch"] if status == 200 else None
        if status != 200:
            return
        epoch = session.epoch(session.current)
        epoch.is_open = True
        while epoch.last < information["version"]:
            status, entries = await client.request("GET", f"{session.path}/events?after={epoch.last}&limit=500")
            if status != 200 or not entries:
                return self.find(f"{session.path}: the request for its log after version {epoch.last} of {information['version']} got {status} {entries}")
            epoch.read(entries)

    # Judgement.

    async def rest(self):
        """Waits until the streams are settled and no request is in flight."""
        self.writing.clear()
        self.is_resting, self.hurry = True, 0.02
        end = self.loop.time() + PATIENCE
        while self.loop.time() < end:
            for stream in self.streams:
                stream.hurry_up()
            waited = [stream for stream in self.streams if not stream.is_dead and not stream.is_settled]
            newest = max((stream.last_bytes for stream in self.streams), default=0)
            if not waited and not any(session.in_flight for session in self.sessions) and self.loop.time() - newest > 0.4:
                return
            await asyncio.sleep(0.05)
        for stream in waited:
            stream.find(Fault(f"it was not open and up to date {PATIENCE:.0f} s after the last dispatch"))

    async def judge(self):
        client, states = Client(self), {}
        for session in self.sessions:
            await self.synchronise(client, session)
            _, states[session] = await client.request("GET", session.path + "/state")
            self.judge_session(session, states[session])
        await self.settle(states)
        for stream in self.streams:
            if stream.is_dead:
                continue
            try:
                stream.oracle.verify(is_live=True)
                stream.oracle.verify_state(states[stream.watch.session])
            except Fault as fault:
                _, told = await client.request("GET", "/v1/streams?limit=1000")
                behind = [other for other in told["streams"] if other.get("session") == stream.watch.session.name and other["state"] != "live"]
                stream.find(Fault(f"{fault}\nstreams of its session that are not live, as the server reports: {behind}"))
        self.forget()
        client.close()

    def judge_session(self, session, state):
        for name, epoch in session.epochs.items():
            epoch.check()
            if name == session.current and epoch.states[epoch.last] != state["p"]:
                self.find(f"{session.path}: the log results in {epoch.states[epoch.last]!r:.600}, but the state is {state['p']!r:.600}")
        for finding in session.findings():
            self.find(finding)

    async def settle(self, states):
        """Waits for bytes that are still in flight. The caller then reports each stream that is not up to date.

        A socket with a closed window is probed after 0.2 s, 0.4 s and so on.
        """
        end = self.loop.time() + PATIENCE
        while self.loop.time() < end:
            if all(stream.is_dead or stream.oracle.has(states[stream.watch.session]) for stream in self.streams):
                return
            await asyncio.sleep(0.1)

    def forget(self):
        """Drops the versions that no stream is compared with any more."""
        needed = {}
        for stream in self.streams:
            if stream.oracle.received:
                place = stream.oracle.received[-1].place
                key = (stream.watch.session, place.epoch)
                needed[key] = min(needed.get(key, place.version), place.version)
        for session in self.sessions:
            for name, epoch in session.epochs.items():
                epoch.forget(min(needed.get((session, name), epoch.last), epoch.last))

    @property
    def merged(self):
        return sum(stream.oracle.merged for stream in self.streams)

    def summary(self):
        connections = sum(stream.oracle.connection for stream in self.streams)
        return (f"{len(self.streams)} streams with {connections} connections got {self.events} events of {self.acknowledged} dispatches "
                f"({self.rejected} were rejected, {self.deletions} sessions deleted) over {self.stops} stops and {self.kills:.0f} kills; "
                f"the server ended {self.ends} connections, slow readers got {self.merged} merged events, and open streams changed their paths {self.repathed} times; kinds: {', '.join(sorted(self.features)) or 'plain'}")


async def run(options):
    """Runs the test, and returns its world with the findings."""
    world = World(options)
    await world.serve(options.data)
    try:
        await world.prepare()
        for stream in world.streams:
            stream.start()
        writers = [world.start(Writer(world, number).run()) for number in range(options.writers)]
        end = time.monotonic() + options.seconds
        ways = []
        while time.monotonic() < end and not world.findings:
            ways = ways or world.chance.sample(options.ways, len(options.ways))
            world.is_resting, world.hurry = False, 0.1
            world.writing.set()
            await world.disturb(min(options.round, max(1.0, end - time.monotonic())), ways.pop())
            await world.rest()
            if not world.findings:
                await world.judge()
            if options.verbose:
                print(world.summary(), flush=True)
        world.is_over = True
        world.writing.set()
        await asyncio.gather(*writers)
        for stream in world.streams:
            if stream.transport:
                stream.transport.abort()
        await world.stop(is_kill=False)
    finally:
        world.is_over = True
        if world.server.process.poll() is None:
            world.server.kill()
    return world


def options_of(arguments=None, **overrides):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="how long")
    parser.add_argument("--seconds", type=float, default=30, help="how long (30)")
    parser.add_argument("--round", type=float, default=6, help="seconds of chaos before each judgement (6)")
    parser.add_argument("--streams", type=int, default=300, help="at once (300)")
    parser.add_argument("--sessions", type=int, default=20, help="(20)")
    parser.add_argument("--writers", type=int, default=8, help="dispatching at once (8)")
    parser.add_argument("--pause", type=float, default=0.02, help="mean seconds between the dispatches of a writer (0.02)")
    parser.add_argument("--patience", type=float, default=3, help="mean seconds before a stream disconnects or stops reading (3)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="(random)")
    parser.add_argument("--verbose", action="store_true", help="a line for each round")
    options = parser.parse_args(arguments)
    #: Options for test_chaos.py: a function that falsifies blocks, the ways to end the server, the chance of a deletion
    #: each 0.1 s.
    options.mangle, options.ways, options.deletions = None, ("kill", "stop", None), 0.08
    for name, value in overrides.items():
        setattr(options, name, value)
    if options.minutes:
        options.seconds = options.minutes * 60
    return options


def command(options):
    return (f"Tests/EndToEnd/chaos/chaos.py --seconds {options.seconds:g} --streams {options.streams} --sessions {options.sessions} "
            f"--seed {options.seed}")


def main():
    options = options_of()
    print(f"seed {options.seed}; again: {command(options)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="rivulet-chaos-") as folder:
        options.data = pathlib.Path(folder) / "data"
        world = asyncio.run(run(options))
    print(world.summary())
    if world.findings:
        print(f"{len(world.findings)} findings; again: {command(options)}")
    return 1 if world.findings else 0


if __name__ == "__main__":
    sys.exit(main())

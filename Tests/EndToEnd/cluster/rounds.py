# Rounds of a cluster test: clients work, a fault happens, all comes to rest, and the checker judges.

import asyncio
import concurrent.futures
import json
import random
import sqlite3
import sys
import time

import checker
from faults import Faults
from nodes import PATIENCE
from workload import ITEMS, POINTERS, STORE, Client, NoAnswer, NotSent, Record, StoreWorker, Stream, Worker, nonces_of

FINDINGS_MAX = 5
#: The seconds of work before a fault, and after it.
BEFORE, AFTER = 0.7, 1.0
#: The lower bits of an item's place; the upper ones are the number of its collection.
ARRIVAL_BITS = 40
#: The content of a replica, in the terms of all replicas: a row has no number that differs between nodes.
CONTENT = {
    "session": "SELECT app, id, epoch, created FROM session ORDER BY app, id",
    "log": "SELECT app, id, v, time, cmd, event, changes FROM log JOIN session USING (sid) ORDER BY app, id, v",
    "answer": "SELECT app, session.id, answer.id, time, print, body FROM answer JOIN session USING (sid) ORDER BY app, session.id, answer.id",
    "item": "SELECT name, key, created, age, document FROM item JOIN collection ON number = place >> {shift} ORDER BY name, place",
}


class World:
    """The state that all parts of one run share."""

    def __init__(self, options, nodes, nats):
        self.options, self.cluster, self.nodes = options, nodes, nodes.all
        self.faults = Faults(nodes, nats)
        self.chance = random.Random(options.seed)
        self.findings = []
        self.is_over = False
        self.writing = asyncio.Event()
        self.pause = options.pause
        self.records, self.workers, self.streams = [], [], []
        self.writes, self.item_reads, self.store_answers, self.items = [], [], [], {}
        self.acknowledged = self.unknown = self.repeated = 0
        #: The greatest number of seconds between two acknowledgements in this round.
        self.silence, self._latest = 0.0, time.monotonic()
        self._pool = concurrent.futures.ThreadPoolExecutor(4)

    def find(self, text):
        self.findings.append(text)
        if len(self.findings) <= FINDINGS_MAX:
            print(f"FINDING {len(self.findings)} (seed {self.options.seed}): {text}\n", file=sys.stderr, flush=True)

    def note_epoch(self, record, tag):
        """Each session has one epoch, because no client deletes it."""
        epoch = tag.strip('"').split(".")[0]
        if record.session.current is None:
            record.session.current = epoch
            record.session.epoch(epoch)
        elif epoch != record.session.current:
            self.find(f"{record.path} has the epoch {epoch} after {record.session.current}")

    def acknowledge(self):
        self.acknowledged += 1
        now = time.monotonic()
        self.silence, self._latest = max(self.silence, now - self._latest), now

    async def call(self, function, *arguments):
        """Runs a function that blocks."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    # Preparation.

    async def prepare(self):
        options, client = self.options, Client()
        for number in range(options.sessions):
            app = ("counter", "counter", "todos")[number % 3]
            _, _, default = await client.request(self.nodes[0], "GET", f"/v1/apps/{app}/sessions/pristine/state")
            self.records.append(Record(app, f"cluster-{number}", json.loads(default)))
        client.close()
        self.workers = [Worker(self, number) for number in range(options.clients)] + [StoreWorker(self, options.clients + number) for number in range(2)]
        # Each session is stored before a stream opens, because only then its epoch lasts.
        for record in self.records:
            await self.workers[0].dispatch(record, None, True)
        for number in range(options.streams):
            record = self.records[number % len(self.records)]
            pointers = self.chance.choice(POINTERS[record.app])
            self.streams.append(Stream(self, number, self.nodes[number % len(self.nodes)], record, pointers, resumes_all=number % 2 == 1))

    # A round.

    async def round(self, fault=None):
        """One fault, or calm work if it is None; then the judgement."""
        for stream in self.streams:
            stream.oracle.is_calm = fault is None
        self.silence, self._latest, before = 0.0, time.monotonic(), self.acknowledged
        self.writing.set()
        await asyncio.sleep(BEFORE)
        begin = time.monotonic()
        await self.disturb(fault)
        lasted = time.monotonic() - begin
        await asyncio.sleep(AFTER)
        # A fault that stopped all work for longer than itself has to show work again before the round ends.
        await self.until("a dispatch is acknowledged after the fault", lambda: self._latest > begin + lasted)
        await self.rest()
        begin = time.monotonic()
        await self.judge()
        print(f"{fault or 'no fault'}: {self.acknowledged - before} acknowledged, {self.silence:.1f} s without, judged in {time.monotonic() - begin:.1f} s", flush=True)

    async def disturb(self, fault):
        """Carries out a fault. A cluster that does not heal is a finding."""
        if fault is None:
            return await asyncio.sleep(self.options.calm)
        try:
            await self.call(self.faults.happen, fault)
        except AssertionError as error:
            self.find(f"{fault}: {error}")

    async def until(self, what, holds, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                logs = "\n".join(f"--- {node.name}:\n{node.log_text()[-2_000:]}" for node in self.nodes)
                return self.find(f"not in {seconds:g} s: {what}\n{logs}")
            await asyncio.sleep(0.02)

    async def rest(self):
        """Waits until no request is under way and all nodes are ready."""
        self.writing.clear()
        await self.until("no request is under way", lambda: not any(worker.is_busy for worker in self.workers), 2 * PATIENCE)
        try:
            await self.call(self.cluster.wait)
        except AssertionError as error:
            self.find(str(error))

    # Judgement.

    async def get(self, client, node, target):
        """The answer of one node, which may need a moment after a fault."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                status, headers, body = await client.request(node, "GET", target)
                if status != 503 or time.monotonic() > end:
                    return status, headers, body
            except (NoAnswer, NotSent):
                if time.monotonic() > end:
                    raise
            await asyncio.sleep(0.05)

    async def judge(self):
        client, states = Client(), {}
        for record in self.records:
            states[record] = await self.judge_session(client, record)
        await self.judge_store(client)
        client.close()
        settled = lambda stream: stream.is_dead or (stream.is_open and stream.oracle.has(states[stream.record]))
        end = time.monotonic() + PATIENCE
        while not all(map(settled, self.streams)) and time.monotonic() < end:
            await asyncio.sleep(0.05)
        for stream in self.streams:
            stream.judge(states[stream.record])
        for record in self.records:
            epoch = record.session.epochs[record.session.current]
            epoch.forget(epoch.last)

    async def judge_session(self, client, record):
        """Compares the session's requests and reads with its log, and returns its state."""
        epoch = record.session.epochs[record.session.current]
        logs, infos, states = {}, {}, {}
        for node in self.nodes:
            _, headers, body = await self.get(client, node, record.path + "/state")
            infos[node.name], states[node.name] = int(headers["rivulet-version"]), json.loads(body)
            self.note_epoch(record, headers["etag"])
            logs[node.name] = await self.entries(client, node, record, epoch.last, infos[node.name])
        entries, state = logs[self.nodes[0].name], states[self.nodes[0].name]
        findings = [f"the versions differ: {infos}"] if len(set(infos.values())) > 1 else []
        findings += [f"the states differ: {states}"[:1_000]] if any(other != state for other in states.values()) else []
        findings += checker.equal(logs) + checker.dense(entries, epoch.last) + checker.ledger(record.requests, entries, nonces_of)
        findings += checker.replays(record.requests) + checker.order(record.requests, record.reads, *record.start)
        epoch.read(entries)
        epoch.check()
        findings += [*record.session.findings(), *checker.reads(record.reads, epoch.states)]
        if epoch.states[epoch.last] != state["p"]:
            findings.append(f"the log results in {epoch.states[epoch.last]!r:.600}, but the state is {state['p']!r:.600}")
        for finding in findings:
            self.find(f"{record.path}: {finding}")
        record.requests, record.reads = checker.carried(record.requests, entries, nonces_of), []
        record.start = (epoch.last, record.shown(state))
        return state

    async def entries(self, client, node, record, after, last):
        """The log of a session as one node has it."""
        entries = []
        while after + len(entries) < last:
            status, _, body = await self.get(client, node, f"{record.path}/events?after={after + len(entries)}&limit=1000")
            page = json.loads(body)
            if status != 200 or not page:
                self.find(f"{node.name}: the log of {record.path} after version {after + len(entries)} of {last}: {status} {body[:300]}")
                break
            entries += page
        return entries

    async def judge_store(self, client):
        shown = {}
        for node in self.nodes:
            _, _, body = await self.get(client, node, f"{STORE}?limit=100")
            shown[node.name] = {item["id"]: item["text"] for item in json.loads(body)["items"] if item["id"] in ITEMS}
        values = shown[self.nodes[0].name]
        findings = [f"the nodes differ: {shown}"] if any(other != values for other in shown.values()) else []
        now = time.monotonic()
        reads = self.item_reads + [checker.ItemRead(item, values.get(item), now, now) for item in ITEMS]
        findings += checker.store(self.writes, reads, self.items) + checker.serial(self.store_answers)
        for finding in findings:
            self.find(f"the store: {finding}")
        # An unanswered write may still happen, unless its item shows it now.
        self.writes = [write for write in self.writes if write.returned is None and values.get(write.item) != write.nonce]
        self.item_reads, self.store_answers, self.items = [], [], values

    # The end.

    async def run(self, plan):
        tasks = []
        try:
            await self.prepare()
            tasks += [asyncio.create_task(each.run()) for each in (*self.workers, *self.streams)]
            for task in tasks:
                task.add_done_callback(self._ended)
            await self.round()
            for fault in plan:
                if not self.findings:
                    await self.round(fault)
            if not self.findings and self.cluster.nats is not None:
                for finding in await self.call(self.differing_replicas):
                    self.find(finding)
        finally:
            self.is_over = True
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for worker in self.workers:
                worker.client.close()
            # The transports close in the next turn of the loop.
            await asyncio.sleep(0.01)
            self._pool.shutdown()

    def _ended(self, task):
        if not task.cancelled() and task.exception() is not None:
            self.find(f"the test itself failed: {task.exception()!r}")

    def differing_replicas(self):
        """Kills the nodes when all have applied the whole log, and compares their databases."""
        def applied():
            places = {known.get(end) for node in self.nodes for known in [self.cluster.partition(node)] for end in ("head", "applied")}
            return len(places) == 1 and None not in places

        self.cluster.until("all nodes have applied the log", applied)
        for node in self.nodes:
            node.kill()
        return list(self._differences())

    def _differences(self):
        contents = {node.name: content(node.folder / "rivulet.db") for node in self.nodes}
        [first, *others] = contents.items()
        for name, other in others:
            for table, rows in first[1].items():
                if rows != other[table]:
                    pair = next((pair for pair in zip(rows, other[table]) if pair[0] != pair[1]), None)
                    yield f"the table {table} of {first[0]} and {name}: {len(rows)} and {len(other[table])} rows, first difference {pair!s:.600}"

    def summary(self):
        connections = sum(stream.joined for stream in self.streams)
        return (f"{self.acknowledged} dispatches acknowledged, {self.unknown} without an outcome, {self.repeated} repeated; "
                f"{len(self.streams)} streams with {connections} connections got {sum(stream.events for stream in self.streams)} changes, "
                f"over {sum(stream.oracle.moves for stream in self.streams)} moves of their sessions")  # fmt: skip


def content(path):
    """The content of a database by table."""
    database = sqlite3.connect(path)
    try:
        return {table: database.execute(query.format(shift=ARRIVAL_BITS)).fetchall() for table, query in CONTENT.items()}
    finally:
        database.close()

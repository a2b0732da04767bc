# The clients of the cluster tests: requests and streams through all nodes. They record what they sent and received.

import asyncio
import json
import re
import time
import urllib.parse

import checker
import linear
from chaos_ledger import Dispatch, Session
from chaos_oracle import Fault, Watch
from chaos_document import Misfit
from chaos_wire import BlockReader, Malformed, ResponseReader, parse_block
from checker import ACKNOWLEDGED, REFUSED, UNKNOWN, ClusterOracle, ItemRead, Read, Request, Write

#: The seconds that a client waits for an answer, and the seconds for which it repeats a request with a key.
ANSWER_MAX, RETRY_MAX = 15.0, 60.0
NONCE = re.compile(r"n\d+-\d+z")
#: The key paths of streams, for each app.
POINTERS = {"counter": ([""], ["/p/title"], ["/p/title", "/t/lastEvent"]), "todos": ([""], ["/p/todos"], ["/p/todos", "/t"])}
ITEMS = tuple(f"item{number}" for number in range(4))
#: The answers to a write that the clients count as unknown; 507 is that of a full log.
UNDECIDED = (503, 500, 507)
STORE = "/v1/apps/notes/stores/notes"


class NotSent(Exception):
    """The node took no connection, so the request did not reach it."""


class NoAnswer(Exception):
    """The request may have had its effect."""


class Client:
    """Requests to any node, each on the connection that the client keeps to that node."""

    def __init__(self):
        self._streams = {}

    async def request(self, node, method, target, body=None, headers=()):
        """The status, the headers and the body of an answer."""
        try:
            kept = self._streams.pop(node, None) or await asyncio.wait_for(asyncio.open_connection("127.0.0.1", node.port, limit=1 << 26), 3)
        except (OSError, TimeoutError) as error:
            raise NotSent(str(error)) from error
        try:
            response, received = await asyncio.wait_for(self._exchange(kept, method, target, body, headers), ANSWER_MAX)
        except (OSError, EOFError, TimeoutError) as error:
            kept[1].transport.abort()
            raise NoAnswer(repr(error)) from error
        except asyncio.CancelledError:
            kept[1].transport.abort()
            raise
        if response.headers.get("connection") == "close":
            kept[1].transport.abort()
        else:
            self._streams[node] = kept
        return response.status, response.headers, received

    async def _exchange(self, streams, method, target, body, headers):
        reader, writer = streams
        lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in headers)]
        data = b"" if body is None else json.dumps(body).encode()
        lines += [] if body is None else ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        writer.write("\r\n".join([*lines, "", ""]).encode() + data)
        response, received = ResponseReader(), b""
        while response.status is None or not response.is_ended:
            part = await reader.read(1 << 20)
            if not part:
                raise EOFError("closed")
            received += response.feed(part)
            if response.status in (204, 304):
                break
        return response, received

    def close(self):
        for _, writer in self._streams.values():
            writer.transport.abort()
        self._streams.clear()


class Record:
    """All that the clients know of one session."""

    def __init__(self, app, name, default):
        self.session = Session(app, name, default, is_heavy=False, may_be_deleted=False)
        self.app, self.path = app, self.session.path
        self.requests, self.reads = [], []
        #: The version and the shown value at the last judgement.
        self.start = (0, self.shown(default))
        self.newest, self.todos = 0, []

    def shown(self, state):
        """The nonce that a state shows."""
        return state["p"]["title"] if self.app == "counter" else linear.UNSEEN

    def event(self, nonce, chance):
        if self.app == "counter":
            rename = {"rename": nonce}
            return [{"setStep": chance.randint(1, 10)}, rename] if chance.random() < 0.2 else rename
        if self.todos and chance.random() < 0.7:
            return {"rename": {"id": chance.choice(self.todos), "title": nonce}}
        return {"add": {"id": nonce.replace("n", "t").rstrip("z"), "title": nonce}}


def nonces_of(entry):
    """The nonces of a log entry, each once."""
    return list(dict.fromkeys(NONCE.findall(json.dumps(entry["event"]))))


class Worker:
    """Dispatches and reads, one request at a time, through random nodes."""

    def __init__(self, world, number):
        self.world, self.number, self.count = world, number, 0
        self.client, self.is_busy = Client(), False
        self._old = []

    async def run(self):
        world, chance = self.world, self.world.chance
        try:
            while not world.is_over:
                await world.writing.wait()
                self.is_busy = True
                await self.step(chance.choice(world.records), chance.random())
                self.is_busy = False
                await asyncio.sleep(chance.expovariate(1 / world.pause))
        finally:
            self.client.close()

    async def step(self, record, draw):
        if draw < 0.25:
            await self.read(record)
        elif draw < 0.32 and self._old:
            await self.repeat(self.world.chance.choice(self._old))
        else:
            # A third of the requests is conditional. Half of all requests have a key.
            expected = record.newest if self.world.chance.random() < 0.3 else None
            await self.dispatch(record, expected, self.world.chance.random() < 0.5)

    def nonce(self):
        self.count += 1
        return f"n{self.number}-{self.count}z"

    async def ask(self, method, target, body=None, headers=()):
        """Sends a request through a random node; through another one if it is not reached.

        Half of the clients have a node of their own, so that a node that hangs does not hold all of them.
        """
        end, nodes = time.monotonic() + RETRY_MAX, self.world.nodes
        node = self.world.chance.choice(nodes) if self.number % 2 else nodes[self.number % len(nodes)]
        while True:
            try:
                return await self.client.request(node, method, target, body, headers)
            except NotSent:
                node = self.world.chance.choice(nodes)
                if time.monotonic() > end:
                    raise NoAnswer("no node takes a connection") from None
                await asyncio.sleep(0.02)

    async def read(self, record):
        invoked = time.monotonic()
        try:
            status, headers, body = await self.ask("GET", record.path + "/state")
        except NoAnswer:
            return
        if status == 200:
            self.world.note_epoch(record, headers["etag"])
            state, version = json.loads(body), int(headers["rivulet-version"])
            record.reads.append(Read(invoked, time.monotonic(), version, state, record.shown(state)))
            record.newest = max(record.newest, version)
        elif status != 503:
            self.world.find(f"GET {record.path}/state: {status} {body[:300]}")

    async def dispatch(self, record, expected, has_key):
        nonce = self.nonce()
        request = Request(nonce, record.event(nonce, self.world.chance), time.monotonic(), expected, f"k-{nonce}" if has_key else None)
        record.requests.append(request)
        dispatch = Dispatch(request.event)
        record.session.lost.append(dispatch)
        while request.status == UNKNOWN:
            await self.attempt(record, request)
            if not has_key or time.monotonic() > request.invoked + RETRY_MAX:
                break
            if request.status == UNKNOWN:
                await asyncio.sleep(0.05)
        if request.status == UNKNOWN:
            self.world.unknown += 1
            return
        record.session.lost.remove(dispatch)
        if request.status == ACKNOWLEDGED:
            dispatch.answer = request.answer
            record.session.epoch(record.session.current).acknowledge(dispatch)
            if record.app == "todos" and "add" in request.event and len(record.todos) < 200:
                record.todos.append(request.event["add"]["id"])
            if has_key:
                self._old = [*self._old[-30:], (record, request)]

    def fields(self, record, request):
        headers = [("Idempotency-Key", f'"{request.key}"')] if request.key else []
        return headers + ([("If-Match", f'"{record.session.current}.{request.expected}"')] if request.expected is not None else [])

    async def attempt(self, record, request):
        """Sends the request once, and records its outcome if it is known then."""
        world = self.world
        try:
            status, headers, body = await self.ask("POST", record.path + "/events", request.event, self.fields(record, request))
        except NoAnswer:
            return
        if status == 200:
            self.take(record, request, headers, body)
            world.acknowledge()
        elif status == 412 and request.expected is not None:
            answer = json.loads(body)
            request.status, request.returned, request.answer = REFUSED, time.monotonic(), answer
            world.note_epoch(record, answer["cursor"])
            request.version = int(answer["cursor"].split(".")[1])
            request.value = record.shown(answer["value"])
            record.newest = max(record.newest, request.version)
        elif status not in UNDECIDED and not (status == 409 and request.key):
            world.find(f"POST {record.path}/events {request.event}: {status} {body[:300]}")

    def take(self, record, request, headers, body):
        answer = json.loads(body)
        request.bodies.add(body)
        if request.status == UNKNOWN:
            request.status, request.returned = ACKNOWLEDGED, time.monotonic()
            request.answer, request.version = answer, answer["version"]
        if not answer["durable"]:
            self.world.find(f"{request.nonce} was answered as not durable: {answer}")
        self.world.note_epoch(record, answer["cursor"])
        record.newest = max(record.newest, answer["version"])

    async def repeat(self, old):
        """Sends an acknowledged request again. The answer must be the first one."""
        record, request = old
        try:
            status, headers, body = await self.ask("POST", record.path + "/events", request.event, self.fields(record, request))
        except NoAnswer:
            return
        if status == 200:
            self.take(record, request, headers, body)
            self.world.repeated += 1
            if headers.get("idempotency-replayed") != "true":
                self.world.find(f"{request.key} was carried out again: {body[:300]}")
        elif status not in (*UNDECIDED, 409):
            self.world.find(f"{request.key} again: {status} {body[:300]}")


class StoreWorker(Worker):
    """Writes and reads items of the store."""

    async def step(self, _, draw):
        item, invoked = self.world.chance.choice(ITEMS), time.monotonic()
        try:
            if draw < 0.5:
                status, _, body = await self.ask("GET", f"{STORE}/{item}")
                if status in (200, 404):
                    value = json.loads(body)["text"] if status == 200 else None
                    return self.world.item_reads.append(ItemRead(item, value, invoked, time.monotonic()))
            else:
                write = Write(item, self.nonce(), invoked)
                self.world.writes.append(write)
                note = {"id": item, "text": write.nonce, "created": "2026-01-02T03:04:05Z"}
                status, _, body = await self.ask("POST", f"{STORE}/operations", {"operations": [{"insert": [note]}]})
                if status == 200:
                    write.returned = time.monotonic()
                    epoch, version = json.loads(body)["cursor"].split(".")
                    return self.world.store_answers.append((invoked, write.returned, epoch, int(version)))
        except NoAnswer:
            return
        if status not in UNDECIDED:
            self.world.find(f"the store: {status} {body[:300]}")


class Stream:
    """One subscriber of one node, over its whole life."""

    def __init__(self, world, number, node, record, pointers, resumes_all):
        self.world, self.node, self.record = world, node, record
        self.oracle = ClusterOracle(number, Watch(record.session, pointers, resumes_all))
        self.starts, self.joined, self.events = node.starts - 1, 0, 0
        self.is_open = self.is_dead = False

    async def run(self):
        while not self.world.is_over and not self.is_dead:
            try:
                await self._connection()
            except (OSError, EOFError, TimeoutError) as error:
                self.oracle.note(f"ended: {error!r}")
            except (Fault, Malformed, Misfit) as fault:
                self.find(fault)
            self.is_open = False
            await asyncio.sleep(0.1)

    async def _connection(self):
        watch, cursor = self.oracle.watch, self.oracle.cursor
        reader, writer = await asyncio.wait_for(asyncio.open_connection("127.0.0.1", self.node.port), 3)
        try:
            query = urllib.parse.urlencode([("path", pointer) for pointer in watch.pointers if pointer] + [("resume", "all")] * watch.resumes_all)
            lines = [f"GET {self.record.path}/changes?{query} HTTP/1.1", "Host: localhost", "Accept: text/event-stream"]
            lines += [f"Last-Event-ID: {cursor}"] if cursor else []
            writer.write("\r\n".join([*lines, "", ""]).encode())
            await self._read(reader, cursor)
        finally:
            writer.transport.abort()

    async def _read(self, reader, cursor):
        response, blocks, has_event = ResponseReader(), BlockReader(), False
        self.oracle.connected(cursor, self.oracle.watch)
        while piece := await reader.read(65_536):
            was_headless = response.status is None
            body = response.feed(piece)
            if was_headless and response.status is not None:
                if response.status != 200:
                    raise Fault(f"the status {response.status}")
                self.is_open, self.joined = True, self.joined + 1
            for event in map(parse_block, blocks.feed(body)):
                if event is None:
                    continue
                self.oracle.event(event)
                self.events += event.name == "change"
                if event.name == "bye":
                    # A stream that did not open, or that reached its greatest age, may connect again.
                    self.joined -= not has_event or event.data["reason"] == "expired"
                    self.is_open = False
                has_event |= event.name not in ("retry", "bye")
        raise EOFError("the end of the connection")

    def find(self, fault):
        self.is_dead = True
        self.world.find(f"{type(fault).__name__}: {fault}\non {self.node.name}, {self.oracle.story()}")

    def judge(self, state):
        """Compares the stream with the log and the state."""
        if self.is_dead:
            return
        try:
            self.oracle.verify(is_live=True)
            self.oracle.verify_state(state)
            for finding in checker.survived(self.joined, self.node.starts - self.starts):
                raise Fault(finding)
        except (Fault, Misfit) as fault:
            self.find(fault)

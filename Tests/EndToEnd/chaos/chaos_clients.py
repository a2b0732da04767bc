# The clients of the chaos test: streams that open, close and pause, and writers that record the acknowledged
# dispatches.

import asyncio
import json
import socket
import struct
import urllib.parse

from chaos_document import Misfit
from chaos_ledger import Dispatch
from chaos_oracle import Fault, Oracle
from chaos_wire import BlockReader, Malformed, ResponseReader, parse_block

#: The receive buffer of a slow reader. With so few bytes, a reader is behind after a few events.
SMALL_WINDOW = 4_096
#: The part of the dispatches that goes to sessions with long texts, and the range of bytes of such a text.
HEAVY_PART, LONG_TEXT = 0.2, (20_000, 100_000)
HOST = ("127.0.0.1",)
CUT = (OSError, EOFError)


class Stream(asyncio.Protocol):
    """One subscriber over its whole life. `world` has the random generator and the port, and takes findings."""

    def __init__(self, world, number, watch, mangle=None):
        self.world, self._opened_watch = world, watch
        self.oracle = Oracle(number, watch)
        self.mangle = mangle
        self.transport = None
        self.is_dead = False  # True after the stream's first finding.
        self.is_joined = False
        self.was_paused = False
        self.last_bytes = 0.0
        self._timer, self._retry = None, 1_000
        self._is_leaving = self._cuts_next = False
        self._receive_buffer = SMALL_WINDOW if watch.session.is_heavy or world.chance.random() < 0.2 else None

    @property
    def watch(self):
        return self.oracle.watch

    @property
    def is_settled(self):
        """True if the stream is open and has the values and the paths that the server promised."""
        return self.is_joined and self.oracle.values is not None and not self.oracle.is_promised

    # Connecting.

    async def connect(self):
        self._connecting = None
        world, chance = self.world, self.world.chance
        cursor = self.oracle.cursor
        if cursor is None or chance.random() < (0.5 if self.oracle.is_told_not_to_return else 0.1):
            cursor = None
        elif chance.random() < 0.02:
            cursor = chance.choice(("aaaaaaaa.1.bbbb-0", "nonsense", cursor + "x"))
        sock = socket.socket()
        if self._receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
        sock.setblocking(False)
        try:
            await world.loop.sock_connect(sock, (*HOST, world.port))
        except OSError:
            sock.close()
            return self._reconnect(0.1)
        if world.is_over or self.is_dead:
            return sock.close()
        self._response, self._blocks = ResponseReader(), BlockReader()
        self._killed, self._stopped, self._came_late = world.kills, world.stops, world.is_stopping
        self._is_leaving = self.is_joined = self.was_paused = self._cuts_next = False
        # An EventSource reconnects with its original URL. Another client can reconnect with the paths that it watches
        # now.
        if chance.random() < 0.5:
            self._opened_watch = self.watch
        self.oracle.connected(cursor, self._opened_watch)
        await world.loop.create_connection(lambda: self, sock=sock)
        query = [("path", pointer) for pointer in self.watch.pointers]
        query += [("resume", "all")] if self.watch.resumes_all else []
        query += [("interval", str(self.watch.interval))] if self.watch.interval else []
        query += [("format", "json-patch")] if self.watch.is_patch else []
        lines = [f"GET {self.watch.session.path}/changes?{urllib.parse.urlencode(query)} HTTP/1.1", "Host: localhost",
                 "Accept: text/event-stream"]
        lines += [f"Last-Event-ID: {cursor}"] if cursor else []
        lines += ["Accept-Encoding: gzip"] if self.watch.is_gzip else []
        self.transport.write("\r\n".join([*lines, "", ""]).encode())

    def _reconnect(self, seconds):
        if not self.world.is_over and not self.is_dead and self._connecting is None:
            self._connecting = self.world.loop.call_later(seconds, lambda: self.world.start(self.connect()))

    def start(self):
        self._connecting = None
        self._reconnect(self.world.chance.uniform(0, 0.5))

    def connection_made(self, transport):
        self.transport = transport
        transport.max_size = 65_536
        self._plan()

    # Reading.

    def data_received(self, data):
        if self.is_dead or self._is_leaving:
            return
        self.last_bytes = self.world.loop.time()
        is_cut = self._cuts_next
        try:
            # The rest of the data after a cut is lost with the connection.
            self._read(data[: self.world.chance.randrange(len(data))] if is_cut else data)
        except (Fault, Malformed, Misfit) as fault:
            self.find(fault)
        if is_cut:
            self.leave(is_reset=True)

    def _read(self, data):
        body = self._response.feed(data)
        if self._response.status is None:
            return
        if self._response.status != 200:
            return self._refused()
        if not self.is_joined:
            self._joined()
        blocks = self._blocks.feed(body)
        for block in self.mangle(self, blocks) if self.mangle else blocks:
            event = parse_block(block)
            if event is not None:
                self._take(event)

    def _take(self, event):
        if event.name == "retry":
            self._retry = event.data
        self.oracle.event(event)
        self.world.events += 1

    def _joined(self):
        kind = self._response.headers.get("content-type", "").split(";")[0]
        if kind != "text/event-stream":
            raise Malformed(f"the content type {kind!r}")
        self.is_joined = True

    def _refused(self):
        if not self._response.is_ended:
            return
        status = self._response.status
        if status == 204 and self.watch.session.deletions:
            self.oracle.note("204: deleted")
            self.oracle.cursor = None
        else:
            raise Malformed(f"the status {status}")
        self._is_leaving = True
        self.transport.abort()

    def connection_lost(self, error):
        if self._timer:
            self._timer.cancel()
        self.transport = None
        joined, self.is_joined = self.is_joined, False
        if self.is_dead or self.world.is_over:
            return
        try:
            if not self._is_leaving:
                self._server_ended(joined, error)
        except Fault as fault:
            return self.find(fault)
        hurry = self.world.hurry
        self._reconnect(self.world.chance.uniform(0, 0.05) if self._is_leaving else self._retry / 1_000 * hurry)

    def _server_ended(self, joined, error):
        self.oracle.note(f"the server ended it: {error or 'FIN'}, after {self.world.stops} stops and {self.world.kills:g} kills")
        self.world.ends += 1
        if joined and self._response.is_ended and not self.oracle.has_bye:
            raise Fault("the last chunk without a bye")
        # The connection may have come and gone while the server was being killed.
        if self._killed != self.world.kills or self.world.kills % 1:
            return
        # A reader that was paused while the server stopped may have lost the last events.
        if self.was_paused and self._stopped != self.world.stops:
            return
        # A connection that came while the server stopped may not have been accepted.
        has_stopped = self._stopped != self.world.stops or self._came_late
        if not self.oracle.has_bye and (joined or not has_stopped):
            raise Fault(f"the server ended it without a bye ({error or 'FIN'})")
        if self.oracle.has_bye and not self._response.is_ended:
            raise Fault("a bye without the last chunk")
        if joined and not self._blocks.is_between_blocks:
            raise Fault("the stream ended within an event")

    def find(self, fault):
        self.is_dead = True
        self.world.find(f"{type(fault).__name__}: {fault}\n{self.oracle.story()}")
        if self.transport:
            self.transport.abort()

    # Chaos.

    def _plan(self):
        """Schedules the next action."""
        chance = self.world.chance
        self._timer = self.world.loop.call_later(chance.expovariate(1 / self.world.patience), self._act)

    def _act(self):
        if self.transport is None or self.world.is_resting:
            return self._plan() if self.transport else None
        choice = self.world.chance.random()
        if choice < 0.1 and self.oracle.name and self.oracle.next_watch is None:
            self.world.start(self.change_paths())
            self._plan()
        elif choice < 0.2:
            self._cuts_next = True
        elif choice < 0.45:
            self.leave(is_reset=choice < 0.3)
        elif choice < 0.75 or self.watch.session.is_heavy:
            self.was_paused = True
            self.oracle.note("stops reading")
            self.transport.pause_reading()
            self._timer = self.world.loop.call_later(self.world.chance.uniform(0.2, 5 if self.watch.session.is_heavy else 2), self._resume)
        else:
            self._plan()

    def _resume(self):
        if self.transport is not None and not self.world.is_resting and self.world.chance.random() < 0.1:
            self.leave(is_reset=True)  # Disconnects while much data is unread.
        elif self.transport is not None:
            self.oracle.note("reads again")
            self.transport.resume_reading()
            self._plan()

    async def change_paths(self):
        """Changes the paths of the open stream."""
        oracle, connection, client = self.oracle, self.oracle.connection, Client(self.world)
        oracle.next_watch = watch = self.watch.at(self.world.pointers(self.watch.session, self.watch.is_patch))
        oracle.note(f"is to watch {watch.pointers}")
        try:
            status, answer = await client.request("PATCH", f"/v1/streams/{oracle.name}", {"paths": watch.pointers})
        except CUT:
            return  # The stream ended with the server.
        finally:
            client.close()
        if oracle.connection != connection:
            return
        oracle.note(f"{status} for {watch.pointers}")
        if status == 200:
            self.world.repathed += 1
            oracle.is_promised = oracle.next_watch is watch
        elif status != 404 or (self.transport is not None and self.is_joined and not self.was_paused and self.world.is_resting):
            self.find(Fault(f"PATCH of its paths: {status} {answer}"))

    def leave(self, is_reset):
        if self.transport is None:
            return
        self.oracle.note("leaves with RST" if is_reset else "leaves with FIN")
        self._is_leaving = True
        if is_reset:
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        else:
            self.transport.close()

    def hurry_up(self):
        """Reads again, because the test waits for this stream."""
        if self.transport is not None and not self.transport.is_reading():
            self._timer.cancel()
            self._resume()


class Client:
    """Requests on a persistent connection."""

    def __init__(self, world):
        self.world = world
        self._streams = None

    async def request(self, method, target, body=None):
        """The status and the JSON of an answer. Raises one of the errors in CUT if the connection was lost before the answer."""
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection(*HOST, self.world.port, limit=1 << 26)
            return await asyncio.wait_for(self._exchange(method, target, body), 30)
        except TimeoutError as error:
            self.close()
            self.world.find(f"no answer within 30 s: {method} {target}")
            raise ConnectionError("no answer") from error
        except CUT:
            self.close()
            raise

    async def _exchange(self, method, target, body):
        reader, writer = self._streams
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        writer.write(head.encode() + b"\r\n" + data)
        response = ResponseReader()
        received = b""
        while response.status is None or not response.is_ended:
            part = await reader.read(1 << 20)
            if not part:
                raise EOFError("closed")
            received += response.feed(part)
            if response.status == 204:
                break
        if response.headers.get("connection") == "close":
            self.close()
        return response.status, json.loads(received) if received else None

    def close(self):
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


class Writer:
    """Dispatches random events, one at a time, and records their outcomes."""

    def __init__(self, world, number):
        self.world, self.number, self.count = world, number, 0
        self.client = Client(world)

    async def run(self):
        world = self.world
        while not world.is_over:
            await world.writing.wait()
            heavy = [session for session in world.sessions if session.is_heavy]
            session = world.chance.choice(heavy if heavy and world.chance.random() < HEAVY_PART else world.sessions)
            if session.is_closing:
                await asyncio.sleep(0.01)
                continue
            session.in_flight += 1
            try:
                await self.step(session)
            except CUT:
                await asyncio.sleep(0.05)
            finally:
                session.in_flight -= 1
            await asyncio.sleep(world.chance.expovariate(1 / world.pause))
        self.client.close()

    async def step(self, session):
        chance = self.world.chance
        choice = chance.random()
        if choice < 0.01:
            await self.dispatch(session, "/reset", "$reset", None)
        elif choice < 0.02 and (epoch := session.epochs.get(session.current)) and epoch.last > 0:
            version = chance.randint(max(1, epoch.last - 20), epoch.last)
            await self.dispatch(session, f"/restore?version={version}", {"$restore": {"version": version}}, None)
        else:
            event = self.event(session) if choice < 0.9 else [self.event(session) for _ in range(chance.randint(2, 5))]
            await self.dispatch(session, "/events", event, event)

    def text(self, session):
        self.count += 1
        mark = f"w{self.number}-{self.count}-é\n"
        return mark + "x" * self.world.chance.randint(*LONG_TEXT) if session.is_heavy else mark

    def event(self, session):
        chance = self.world.chance
        if session.app == "counter":
            return chance.choice((
                "increment", "decrement", "touch", "touch", "noop", "dismissWarning", "reset", {"setCount": chance.randint(-20, 120)},
                {"setStep": chance.randint(0, 11)}, {"rename": self.text(session)}, {"rename": self.text(session)}, {"rename": ""},
                {"setLimits": {"warnAt": chance.randint(1, 100), "label": self.text(session)}}, {"setWarnAt": chance.randint(1, 100)},
                {"nonsense": 1},
            ))
        name = f"t{chance.randint(0, 9)}"
        return chance.choice((
            {"add": {"id": name, "title": self.text(session)}}, {"insert": {"id": name, "title": self.text(session), "at": chance.randint(0, 6)}},
            {"toggle": name}, {"rename": {"id": name, "title": self.text(session)}}, {"rename": {"id": name, "title": self.text(session)}},
            {"remove": name}, {"move": {"id": name, "to": chance.randint(0, 6)}}, {"edit": name}, {"edit": None}, "clearDone",
            {"setFilter": chance.choice(("all", "open", "done", "odd"))}, {"addMany": {"count": chance.randint(1, 4)}},
        ))

    async def dispatch(self, session, resource, event, body):
        dispatch = Dispatch(event)
        session.lost.append(dispatch)  # Removed when the answer comes.
        status, answer = await self.client.request("POST", session.path + resource, body)
        if status == 200:
            session.lost.remove(dispatch)
            dispatch.answer = answer
            self.world.acknowledged += 1
            session.epoch(answer["cursor"].split(".")[0]).acknowledge(dispatch)
        elif status in (422, 503) or (status == 404 and "restore" in resource):
            session.lost.remove(dispatch)
            self.world.rejected += 1
        else:
            session.lost.remove(dispatch)
            self.world.find(f"POST {session.path}{resource} {str(event)[:200]}: {status} {answer}")

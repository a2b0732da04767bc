# A TCP proxy between the nodes and NATS, which partitions them as a network would.
"""Links that pass, drop, hold or delay bytes, as the test's thread says."""

import asyncio
import contextlib
import threading

from processes import steady_ports

#: The modes of a link. A held byte is not lost: it arrives when the link passes again, as after a repair of a network.
#:   pass       all bytes pass
#:   drop       connections are closed, and so is each new one
#:   freeze     connections are accepted, and all bytes are held
#:   to_server  bytes to the server pass, and its own are held
#:   to_client  bytes of the server pass, and those to it are held
MODES = ("pass", "drop", "freeze", "to_server", "to_client")
_OPEN = {"pass": {"up", "down"}, "drop": {"up", "down"}, "freeze": set(), "to_server": {"up"}, "to_client": {"down"}}
PIECE_MAX = 65_536


class Link:
    """One listening port. Its connections lead to one target port."""

    def __init__(self, proxy, target):
        self._proxy, self.target = proxy, target
        [self.port] = steady_ports(1)
        self.mode, self.delay, self.accepted = "pass", 0.0, 0
        self._transports = set()
        self._changed = asyncio.Event()

    def set(self, mode, delay=0.0):
        """Changes the mode, and the seconds by which each piece is late. Returns when the change is in force."""
        assert mode in MODES, mode
        self._proxy.run(self._set(mode, delay))

    @contextlib.contextmanager
    def during(self, mode, delay=0.0):
        self.set(mode, delay)
        try:
            yield
        finally:
            self.set("pass")

    @property
    def connections(self):
        return len(self._transports) // 2

    async def _set(self, mode, delay):
        self.mode, self.delay = mode, delay
        if mode == "drop":
            for transport in list(self._transports):
                transport.abort()
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def listen(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)

    async def close(self):
        self._server.close()
        await self._set("drop", 0)

    async def _gate(self, direction):
        while direction not in _OPEN[self.mode]:
            await self._changed.wait()
        if self.delay:
            await asyncio.sleep(self.delay)

    async def _accept(self, reader, writer):
        self.accepted += 1
        mine = {writer.transport}
        self._transports |= mine
        try:
            if self.mode == "drop":
                return
            while not _OPEN[self.mode]:
                await self._changed.wait()
            if writer.transport.is_closing():
                return
            above, out = await asyncio.open_connection("127.0.0.1", self.target)
            mine.add(out.transport)
            self._transports |= mine
            await asyncio.gather(self._pump(reader, out, "up"), self._pump(above, writer, "down"))
        except OSError:
            pass
        finally:
            for transport in mine:
                transport.abort()
            self._transports -= mine

    async def _pump(self, reader, writer, direction):
        while piece := await reader.read(PIECE_MAX):
            await self._gate(direction)
            writer.write(piece)
            await writer.drain()
        await self._gate(direction)
        with contextlib.suppress(OSError):
            writer.write_eof()


class Proxy:
    """All links of a test, on a thread of their own."""

    def __init__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.links = []

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    def link(self, target):
        """A new link to a port of this machine."""
        link = Link(self, target)
        self.run(link.listen())
        self.links.append(link)
        return link

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for link in self.links:
            self.run(link.close())
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self):
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

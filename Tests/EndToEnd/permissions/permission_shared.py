"""The requests for streams, documents, stores, values and secrets."""

import json
import re
import time
import urllib.parse
import zlib

from harness import Connection, message
from permission_model import ALL, Mask, leaves, matches, named
from permission_programs import CANARY, plain
from permission_requests import SessionProgram, pattern, quoted

STORE = "/v1/apps/notes/stores/notes"
WAIT = 3.0


def pointer(path):
    return "".join("/" + ("*" if token is None else token.replace("~", "~0").replace("/", "~1")) for token in path)


def literal(text):
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text.split("/")[1:])


def tokens(text):
    return pattern(literal(text))


class PermissionProgram(SessionProgram):
    """All requests."""

    # Streams.

    def open(self, target, headers):
        """Opens a stream as the caller: its connection, its status and its head."""
        connection = Connection(self.world.server)
        self.trail.append(f"GET {target} {headers}")
        connection.send(message("GET", target, headers=self.fields | headers))
        status, head = connection.stream_head()
        self.search(json.dumps(head).encode(), target, ())
        return connection, status, head

    def refused_stream(self, connection, status, head, target, allowed=()):
        """Reads the whole answer that is no stream."""
        body = b"" if status == 204 else connection._exactly(int(head["content-length"]))
        connection.close()
        self.search(plain(body, head), target, allowed)

    def finish(self, connection, head, target, allowed, expected=()):
        """Ends a stream as an operator, after the expected texts came, and returns its events."""
        end, inflater, text = time.monotonic() + WAIT, zlib.decompressobj(31), b""
        is_coded, missing = head.get("content-encoding") == "gzip", list(expected)
        name = re.search(r"/v1/streams/([^>]+)>", head["link"])[1] if "link" in head else None
        connection.socket.settimeout(WAIT)
        while True:
            text += inflater.decompress(connection.buffer) if is_coded else connection.buffer
            connection.buffer = b""
            missing = [one for one in missing if one not in text]
            if not missing or time.monotonic() > end:
                break
            try:
                connection._more()
            except (EOFError, TimeoutError):
                break
        if name is not None:
            self.world.owned("DELETE", f"/v1/streams/{name}")
        connection.ended()
        text += inflater.decompress(connection.buffer) if is_coded else connection.buffer
        connection.close()
        self.search(text, target, allowed)
        self.expect(not missing, f"the stream lacks {missing}", text)
        return [(block["event"], json.loads(block["data"]), block.get("id")) for raw in text.decode().split("\n\n") if "data" in (block := self.block(raw))]

    @staticmethod
    def block(raw):
        return {name: value.removeprefix(" ") for name, _, value in (line.partition(":") for line in raw.split("\n")) if name}

    def stream(self):
        access, chance = self.access(), self.chance
        view = chance.choice(["CounterView", "SummaryView"]) if chance.random() < 0.15 else None
        if view is not None:
            return self.view_stream(view, access)
        paths = [pattern(self.path()) for _ in range(chance.choice([0, 1, 1, 2, 3]))]
        if self.app != "counter" and chance.random() < 0.3:
            paths.append(("p", "todos" if self.app == "todos" else "drafts", None, "title" if self.app == "todos" else "text"))
        is_patch = len(paths) <= 1 and not any(None in path for path in paths) and chance.random() < 0.3
        query = [("path", pointer(path)) for path in paths] + ([("format", "json-patch")] if is_patch else [])
        headers = {"Accept-Encoding": "gzip"} if chance.random() < 0.3 else {}
        cursor = chance.choice(self.cursors[self.session]) if self.cursors[self.session] and chance.random() < 0.4 else None
        if cursor is not None:
            if chance.random() < 0.5:
                query.append(("cursor", cursor))
            else:
                headers["Last-Event-ID"] = cursor
        interval = not is_patch and chance.random() < 0.15
        if interval:
            query.append(("interval", "20"))
        elif not is_patch and chance.random() < 0.3:
            query.append(("resume", "all"))
        mask, is_narrowed = access.reads.within(paths)
        granted = access.has("read") and bool(mask.paths) and not (is_patch and is_narrowed and (len(mask.paths) > 1 or None in mask.paths[0]))
        target = self.address(self.session) + "/changes" + ("?" + urllib.parse.urlencode(query) if query else "")
        connection, status, head = self.open(target, headers)
        if status != 200:
            self.refused_stream(connection, status, head, target)
            return self.expect(status == (204 if cursor and granted else self.refused) and (granted or status != 204), f"a stream is {status}", head)
        self.expect(granted, "a stream that is not granted", head)
        self.expect(("rivulet-masked" in head) == is_narrowed, "the mark of a mask", head)
        before = self.truth()
        for _ in range(chance.choice([0, 1, 2])):
            self.change(self.session)
        patched = chance.random() < 0.2 and self.repath(head, access, is_patch)
        self.refresh(self.session)
        visible = Mask([()] if access.reads.is_all else access.reads.paths) if patched else mask
        fresh = [leaf for place, leaf in mask.leaves(self.truth()) if mask.grants(place.path) and isinstance(leaf, str) and CANARY.search(leaf.encode())]
        expected = [] if patched or cursor or interval else [json.dumps(leaf)[1:40].rstrip('"').encode() for leaf in fresh]
        events = self.finish(connection, head, target, self.shown(visible), expected)
        self.cursors[self.session] += [identifier for _, _, identifier in events if identifier]
        for name, data, _ in events:
            self.check_event(name, data, visible, is_patch)
        if events and events[0][0] == "snapshot" and not patched and cursor is None:
            values = {(place.path, leaf) for path, value in events[0][1]["values"].items() for place, leaf in leaves(value, literal(path), at_element(path, value))}
            needed = {(place.path, leaf) for place, leaf in mask.leaves(before) if mask.grants(place.path)}
            later = {(place.path, leaf) for place, leaf in mask.leaves(self.truth())}
            self.expect(values == needed or self.truth() != before and (needed - values) | (values - needed) <= needed | later | values, f"the snapshot needs {needed}", events)

    def check_event(self, name, data, mask, is_patch):
        """Each path of an event is within the mask."""
        if name in ("snapshot", "reset"):
            found = list(data["values"])
        elif name == "change" and not is_patch:
            found = [change["path"] for change in data["changes"]]
        else:
            found = []
        outside = [path for path in found if not mask.meets(tokens(path))]
        self.expect(not outside, f"an event has the paths {outside}", data)
        if name in ("snapshot", "reset"):
            hidden = [path for path in found if not mask.grants(tokens(path))]
            self.expect(not hidden, f"values at {hidden}", data)

    def repath(self, head, access, is_patch):
        """Gives the open stream other paths, as its caller and as another."""
        name = re.search(r"/v1/streams/([^>]+)>", head["link"])[1]
        other, fields = next(((caller, fields) for caller, fields in self.callers if caller.me != self.caller.me), (None, None))
        if other is not None and not other.allows("operate"):
            for method, body in (("PATCH", {"paths": []}), ("GET", None), ("DELETE", None)):
                answer = self.world.ask(method, f"/v1/streams/{name}", body, fields)
                self.expect(answer.status == (401 if other.is_anonymous else 403), f"{method} of another's stream", answer)
        paths = [pattern(self.path()) for _ in range(self.chance.choice([0, 1, 2]))]
        mask, is_narrowed = access.reads.within(paths)
        answer = self.ask("PATCH", f"/v1/streams/{name}", {"paths": [pointer(path) for path in paths]})
        if self.caller.me is None and not self.caller.allows("operate"):
            return not self.expect(answer.status == 401, "an anonymous stream has no owner", answer)
        if answer.status == 200:
            self.expect(all(access.reads.grants(tokens(path)) for path in answer.json["paths"]), "paths beyond the mask", answer)
            self.expect(("rivulet-masked" in answer.headers) == is_narrowed, "the mark of a mask", answer)
        else:
            right = answer.status == 400 and is_patch and len(paths) > 1 or answer.status in (401, 403) and (not mask.paths or is_patch and is_narrowed)
            self.expect(right, "a granted PATCH is refused", answer)
        return True

    def view_stream(self, view, access):
        target = self.address(self.session) + f"/views/{view}/changes"
        connection, status, head = self.open(target, {})
        granted = access.has("read") and named(access.views, view)
        if status != 200:
            self.refused_stream(connection, status, head, target)
            exists = (view == "CounterView") == (self.app == "counter") and self.app != "notes"
            return self.expect(status == (self.refused if not granted else 404) and not (granted and exists), f"a stream of a view is {status}", head)
        self.expect(granted, "a view that is not granted", head)
        self.change(self.session)
        self.refresh(self.session)
        self.finish(connection, head, target, self.shown(Mask([("p", "title")])))

    # Documents.

    def documents(self):
        target, kind = self.chance.choice([("/v1/apps", "describe"), ("/openapi.json", "describe"), (f"/v1/apps/{self.app}", self.app), (f"/v1/apps/{self.app}/types.d.ts", self.app),
                                           ("/metrics", "operate"), ("/v1/streams", "operate"), ("/v1/me", None), ("/healthz", None), ("/problems", None), ("/", None)])  # fmt: skip
        answer = self.ask("GET", target)
        if kind is None:
            return self.expect(answer.status == 200, "an open resource", answer)
        granted = self.caller.allows(kind) if kind in ("describe", "operate") else self.caller.allows("describe", self.app)
        if not self.is_refused(answer, granted):
            self.expect(answer.status == 200, "a document", answer)

    def head_and_options(self):
        path = self.path()
        target = self.address(self.session) + "/state" + quoted(path)
        answer = self.ask("OPTIONS", target, headers={"Origin": "http://localhost", "Access-Control-Request-Method": "GET"} if self.chance.random() < 0.5 else {})
        self.expect(answer.status in (204, 400) and not answer.body, "OPTIONS", answer)
        access = self.access()
        answer = self.ask("HEAD", target)
        if not self.is_refused(answer, access.has("read") and access.reads.meets(pattern(path))):
            self.expect(answer.status in (200, 404), "HEAD", answer)

    # Stores, values and secrets.

    def put_item(self, identifier=None):
        item = {"id": identifier or self.chance.choice([*self.ids, f"{self.canary()}-x", self.callers[0][0].me or "k-3", f"{self.callers[-1][0].me}-1"]), "text": self.text(), "created": "2026-01-01T00:00:00Z"}
        self.world.owned("PUT", f"{STORE}/{item['id']}", item)
        self.items.append(item)

    def put_values(self):
        for name, value in (("theme", self.canary()), ("recent", [self.canary(), self.canary()])):
            self.world.owned("PUT", f"/v1/apps/notes/values/{name}", value)
            self.value_texts += CANARY.findall(json.dumps(value).encode())

    def seen_items(self):
        """The canaries of the items that the caller may read."""
        patterns = self.caller.items("notes", "notes", "read")
        return {found for item in self.items if matches(patterns, item["id"]) for found in CANARY.findall(json.dumps(item).encode())}

    def store(self):
        read, write = (self.caller.items("notes", "notes", action) for action in ("read", "write"))
        kind = self.chance.choice(["list", "list", "insert", "operations", "clear"])
        if kind == "list":
            owned = self.world.owned("GET", STORE).json
            limit, items, after = self.chance.choice(["", "?limit=1", "?limit=2"]), [], ""
            while True:
                answer = self.ask("GET", STORE + limit + after, None, self.seen_items())
                if self.is_refused(answer, read != []):
                    return
                items += answer.json["items"]
                if "next" not in answer.json:
                    break
                after = ("&" if limit else "?") + "after=" + urllib.parse.quote(answer.json["next"])
            return self.expect(items == [item for item in owned["items"] if matches(read, item["id"])], f"not the granted part of {owned}", answer)
        item = {"id": self.canary(), "text": self.text(), "created": "2026-01-01T00:00:00Z"}
        method, target, body = {"insert": ("POST", STORE, item), "operations": ("POST", STORE + "/operations", {"operations": [{"remove": [self.chance.choice(self.ids)]}, {"insert": [item]}]}),
                                "clear": ("DELETE", STORE, None)}[kind]  # fmt: skip
        stale = {"If-Match": '"aaaaaaaa.1"'} if self.chance.random() < 0.3 else {}
        answer = self.ask(method, target, body, self.seen_items(), stale)
        if not self.is_refused(answer, write is ALL):
            self.expect(answer.status in ((412,) if stale else (200, 201, 204)), "a change of a store", answer)
            self.items.append(item)

    def item(self):
        method = self.chance.choice(["GET", "GET", "PUT", "DELETE"])
        identifier = self.chance.choice([item["id"] for item in self.items] + ["k-9"])
        patterns = self.caller.items("notes", "notes", "read" if method == "GET" else "write")
        owned = self.world.owned("GET", f"{STORE}/{identifier}")
        body = {"id": identifier, "text": self.text(), "created": "2026-01-01T00:00:00Z"} if method == "PUT" else None
        headers = self.chance.choice([{}, {}, {"If-None-Match": "*"}, {"If-Match": '"other"'}]) if method != "GET" else {}
        answer = self.ask(method, f"{STORE}/{identifier}", body, self.seen_items(), headers)
        if self.is_refused(answer, matches(patterns, identifier)):
            return
        exists = owned.status == 200
        if method == "GET":
            return self.expect(answer.status == owned.status and (not exists or answer.json == owned.json), f"the owner gets {owned}", answer)
        if "If-Match" in headers or ("If-None-Match" in headers and exists):
            return self.expect(answer.status in (412, 404), "the condition holds", answer)
        self.expect(answer.status in ((200, 201) if method == "PUT" else (204 if exists else 404,)), "a change of an item", answer)
        if body is not None:
            self.items.append(body)

    def value(self):
        name = self.chance.choice(["theme", "recent", "hapticsEnabled"])
        method = self.chance.choice(["GET", "GET", "PUT", "DELETE", "toggle"])
        reads, writes = (self.caller.value_allowed("notes", name, action) for action in ("read", "write"))
        target = f"/v1/apps/notes/values/{name}"
        new = {"theme": self.canary(), "recent": [self.canary()], "hapticsEnabled": True}[name]
        self.value_texts += CANARY.findall(json.dumps(new).encode())
        allowed = self.value_texts if reads else ()
        if method == "toggle":
            answer = self.ask("POST", target + "/toggle", None, allowed)
        else:
            stale = {"If-Match": '"aaaaaaaa.1"'} if method != "GET" and self.chance.random() < 0.3 else {}
            answer = self.ask(method, target, json.dumps(new).encode() if method == "PUT" else None, allowed, stale | ({"Content-Type": "application/json"} if method == "PUT" else {}))
        if self.is_refused(answer, reads if method == "GET" else writes):
            return
        if method == "toggle" and name != "hapticsEnabled":
            return self.expect(answer.status == 404, "no boolean", answer)
        if method != "GET" and "stale" in locals() and stale:
            return self.expect(answer.status == 412 and (reads or "value" not in answer.json), "the value of a 412", answer)
        self.expect(answer.status == (200 if reads else 204), "an answer with the value", answer)

    def shared_stream(self):
        chance = self.chance
        is_store = chance.random() < 0.5
        target = STORE + "/events" if is_store else "/v1/apps/notes/values/theme/changes"
        granted = self.caller.items("notes", "notes", "read") is ALL if is_store else self.caller.value_allowed("notes", "theme", "read")
        connection, status, head = self.open(target, {})
        if status != 200:
            self.refused_stream(connection, status, head, target)
            return self.expect(not granted and status == self.refused, f"a stream is {status}", head)
        self.expect(granted, "a stream that is not granted", head)
        self.put_item()
        self.put_values()
        self.finish(connection, head, target, self.seen_items() | (set() if is_store else set(self.value_texts)))

    def secret(self):
        method = self.chance.choice(["GET", "PUT", "DELETE"])
        granted = self.caller.allows("secrets", "notes")
        answer = self.ask(method, "/v1/apps/notes/secrets/apiToken", self.canary() if method == "PUT" else None)
        if not self.is_refused(answer, granted):
            self.expect(answer.status in (200, 204, 503), "a secret", answer)


def at_element(path, value):
    """True for an element of a keyed collection; the path names its id."""
    return isinstance(value, dict) and value.get("id") == literal(path)[-1] if path else False

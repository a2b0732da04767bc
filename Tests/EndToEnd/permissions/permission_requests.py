"""The requests for sessions: each asks as a random caller, and compares the answer with the rules and with the owner's answer."""

import json
import urllib.parse

from permission_model import ANY, Mask, leaves, matches, named, trimmed
from permission_programs import CANARY, Program, plain


def quoted(path):
    return "".join("/" + urllib.parse.quote(token.replace("~", "~0").replace("/", "~1"), safe="") for token in path)


def pattern(path):
    """The path as the server compares it with a mask before it looks for an element with the id `*`."""
    return tuple(ANY if token == "*" else token for token in path)


class SessionProgram(Program):
    """The requests for the sessions of an app."""

    def state(self):
        path = self.path()
        version = self.chance.choice([None, None, None, self.chance.randrange(5)])
        query = "" if version is None else f"?version={version}"
        self.read_state(path, query, {})

    def read_state(self, path, query, headers):
        access = self.access()
        mask, action = (access.history, "history") if query else (access.reads, "read")
        owned = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{self.session}/state{quoted(path)}{query}")
        allowed = self.shown(mask) if access.has(action) else set()
        answer = self.ask("GET", self.address(self.session) + "/state" + quoted(path) + query, None, allowed, headers)
        if self.is_refused(answer, access.has(action) and mask.meets(pattern(path))):
            return None
        if owned.status != 200:
            self.expect(answer.status == owned.status, f"the owner gets {owned.status}", answer)
            return None
        expected = trimmed(mask.leaves(owned.json, path))
        if mask.grants(path):
            self.expect(answer.status == 200 and answer.json == owned.json and "rivulet-masked" not in answer.headers, "not the whole value", answer)
        elif answer.status == 404:
            self.expect(not expected, f"no value in place of {expected}", answer)
            return None
        else:
            self.expect(answer.status == 200 and answer.headers.get("rivulet-masked") == "?1", "not the masked value", answer)
            self.expect(trimmed(list(leaves(answer.json, path))) == expected, f"expected {expected}", answer)
        self.cursors[self.session].append(answer.headers["etag"].strip('"'))
        if self.stored[self.session] and self.chance.random() < 0.2:
            self.condition(path, query, mask, expected, answer.headers["etag"])
        return answer

    def condition(self, path, query, mask, expected, tag):
        """The tag of one mask is not the tag of another mask."""
        again = self.ask("GET", self.address(self.session) + "/state" + quoted(path) + query, headers={"If-None-Match": tag})
        self.expect(again.status == 304 and not again.body, "the tag is not its own", again)
        other, fields = self.chance.choice(self.callers)
        access = other.access(self.app, self.session)
        their, action = (access.history, "history") if query else (access.reads, "read")
        answer = self.world.ask("GET", f"/v1/apps/{self.app}/sessions/{self.session}/state{quoted(path)}{query}", None, fields | {"If-None-Match": tag})
        if answer.status == 304:
            self.expect(access.has(action) and mask.grants(path) == their.grants(path) and set(mask.paths) == set(their.paths) or mask.grants(path) and their.grants(path),
                        f"304 under another mask: {other.subject} {their.paths}", answer)  # fmt: skip

    def log(self):
        access = self.access()
        target = "/events" + self.chance.choice(["", "?after=1", "?limit=2", "?after=1&limit=1"])
        owned = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{self.session}{target}")
        allowed = self.shown(access.history) if access.has("history") else set()
        if access.history.is_all:
            allowed = allowed | self.sent[self.session]
        lines = {"Accept": "application/x-ndjson"} if self.chance.random() < 0.3 else {}
        answer = self.ask("GET", self.address(self.session) + target, None, allowed, lines)
        if self.is_refused(answer, access.has("history")):
            return
        self.expect(answer.status == owned.status, f"the owner gets {owned.status}", answer)
        if answer.status != 200:
            return
        self.expect(("rivulet-masked" in answer.headers) == (not access.history.is_all), "the mark of a mask", answer)
        entries = [json.loads(line) for line in answer.body.splitlines()] if lines else answer.json
        self.expect([entry["version"] for entry in entries] == [entry["version"] for entry in owned.json], "other versions", answer)
        for entry, whole in zip(entries, owned.json):
            if access.history.is_all:
                self.expect(entry == whole, "not the whole log", answer)
                continue
            self.expect("event" not in entry and entry["time"] == whole["time"], "an event in a masked log", answer)
            self.expect(self.entry_leaves(entry, access.history) == self.entry_leaves(whole, access.history), f"not the masked part of {whole}", answer)

    def entry_leaves(self, entry, mask):
        """The visible leaves of the changes of a log entry."""
        found = []
        for change in entry.get("changes", []):
            path = tuple(token.replace("~1", "/").replace("~0", "~") for token in change["path"].split("/")[1:])
            if "value" in change:
                in_collection = isinstance(change["value"], dict) and change["value"].get("id") == path[-1]
                found += mask.leaves([change["value"]], path[:-1]) if in_collection else mask.leaves(change["value"], path)
        return trimmed(found)

    def views(self):
        access = self.access()
        name = self.chance.choice([None, "CounterView", "SummaryView", "Other"])
        target = "/views" if name is None else f"/views/{name}"
        owned = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{self.session}{target}")
        granted = access.has("read") and (access.views != [] if name is None else named(access.views, name))
        answer = self.ask("GET", self.address(self.session) + target, None, self.shown(Mask([("p", "title")])) if granted else ())
        if self.is_refused(answer, granted):
            return
        self.expect(answer.status == owned.status, f"the owner gets {owned.status}", answer)
        if answer.status == 200:
            expected = {view: value for view, value in owned.json.items() if named(access.views, view)} if name is None else owned.json
            self.expect(answer.json == expected, f"expected {expected}", answer)

    def describe(self):
        owned = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{self.session}")
        answer = self.ask("GET", self.address(self.session))
        if not self.is_refused(answer, self.access().has("read")):
            self.expect(answer.status == owned.status and (answer.status != 200 or answer.json == owned.json), f"the owner gets {owned}", answer)

    # Changes.

    def dispatch(self):
        access, chance = self.access(), self.chance
        events = [self.event(self.truth()) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        is_array, are_lines = len(events) > 1 and chance.random() < 0.5, False
        if len(events) > 1 and not is_array:
            are_lines = True
        headers, tag = {}, None
        if are_lines:
            body, headers = b"".join(json.dumps(event).encode() + b"\n" for event, _ in events), {"Content-Type": "application/x-ndjson"}
        else:
            body = [event for event, _ in events] if is_array else events[0][0]
            tag = chance.choice([None] * 6 + ["*", '"aaaaaaaa.1"', "own"])
            headers |= {"If-Match": tag} if tag not in (None, "own") else {}
            headers |= {"Prefer": "return=minimal"} if chance.random() < 0.1 else {}
            headers |= {"Idempotency-Key": f'"{chance.choice("ab")}{chance.randrange(10**9)}"'} if chance.random() < 0.25 else {}
        if tag == "own":
            read = self.world.ask("GET", f"/v1/apps/{self.app}/sessions/{self.session}/state", None, self.fields)
            if read.status == 200 and self.stored[self.session]:
                headers["If-Match"] = read.headers["etag"]
        strict = "?strict=1" if chance.random() < 0.1 else ""
        was_stored = self.stored[self.session]
        self.did_send(self.session, [event for event, _ in events])
        answer, allowed = self.send("POST", self.address(self.session) + "/events" + strict, body, headers)
        names = [name for _, name in events]
        granted = access.has("dispatch") and (are_lines or all(named(access.events, name) for name in names))
        if access.has("dispatch") and not was_stored and not access.has("create"):
            return self.expect(answer.status == 404 or (answer.status == 403 and not granted), "an event creates a session", answer)
        if self.is_refused(answer, granted):
            return self.did_refuse(answer, names, is_array) if access.has("dispatch") else None
        if tag == '"aaaaaaaa.1"':
            self.expect(answer.status == 412, "not 412", answer)
            shown = trimmed(list(leaves(answer.json.get("value", {}))))
            expected = trimmed(access.reads.leaves(self.snapshots[self.session][-2])) if access.has("read") else []
            return self.expect(shown == expected, f"the 412 needs {expected}", answer)
        self.expect(answer.status in ((200, 204, 422) if not are_lines else (200,)), "not 200", answer)
        if are_lines:
            statuses = [json.loads(line).get("status", 200) for line in answer.body.splitlines()]
            right = all((status == 403) == (not named(access.events, name)) for status, name in zip(statuses, names))
            return self.expect(len(statuses) == len(names) and right, f"wrong lines {statuses} of {names}", answer)
        self.check_changes(answer, access)
        if "Idempotency-Key" in headers and answer.status in (200, 204):
            self.repeat(answer, body, strict, headers, allowed)

    def send(self, method, target, body, headers):
        """Sends a change, and learns the state after it before the answer is searched."""
        self.trail.append(f"{method} {target} {body} {headers}")
        fields = self.fields | headers | ({"Accept-Encoding": "gzip"} if self.chance.random() < 0.4 else {})
        answer = self.world.ask(method, target, body, fields)
        answer.body = plain(answer.body, answer.headers)
        for line in answer.body.splitlines()[:-1]:
            # The state after a line may be in the log and in streams, although later lines have changed it.
            past = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{self.session}/state?version={json.loads(line).get('version', 0)}")
            self.snapshots[self.session] += [past.json] if past.status == 200 else []
        self.refresh(self.session)
        allowed = self.readable()
        self.search(answer.body + json.dumps(answer.headers).encode(), f"{method} {target} {body}", allowed)
        return answer, allowed

    def did_refuse(self, answer, names, is_array):
        events = self.access().events
        first = next(index for index, name in enumerate(names) if not named(events, name))
        self.expect(answer.json["needs"]["event"] == names[first], "another event is refused", answer)
        pointers = [error["pointer"] for error in answer.json.get("errors", [])]
        self.expect(pointers == ([f"/{first}"] if is_array else []), "another pointer", answer)

    def check_changes(self, answer, access):
        """The changes of an answer have the granted values of the new state, and no other."""
        if answer.status != 200:
            hidden = not (access.has("read") and access.reads.grants(("p", "count")))
            return self.expect(not hidden or b"would become" not in answer.body, "a hidden value is in a refusal", answer)
        reads = access.reads if access.has("read") else Mask([])
        for change in answer.json["changes"]:
            path = tuple(change["path"].split("/")[1:])
            parts = [path for path, _ in leaves(change.get("value"), path)] or [path]
            self.expect(reads.meets(path) and all(reads.meets(part.path if hasattr(part, "path") else part) for part in parts), f"a change of {path}", answer)
        for coercion in answer.json.get("coerced", []):
            self.expect(reads.grants(tuple(coercion["path"].split("/")[1:])), "a hidden coercion", answer)
        before, after = self.snapshots[self.session][-2:]
        new = {leaf for _, leaf in reads.leaves(after)} - {leaf for _, leaf in reads.leaves(before)} if self.stored[self.session] else set()
        missing = [leaf for leaf in new if CANARY.search(str(leaf).encode()) and json.dumps(leaf)[1:-1].encode() not in answer.body and leaf not in json.dumps(before)]
        self.expect(not missing, f"the changes lack {missing}", answer)

    def repeat(self, first, body, strict, headers, allowed):
        """A retry by the caller gets the first answer; the same request by another caller does not."""
        target = f"/v1/apps/{self.app}/sessions/{self.session}/events{strict}"
        again = self.world.ask("POST", target, body, self.fields | headers)
        if self.caller.me is not None:
            self.expect(again.status == first.status and again.body == first.body and again.headers.get("idempotency-replayed") == "true", f"not the first answer {first}", again)
        other, fields = next((pair for pair in self.callers if pair[0] is not self.caller), (None, None))
        if other is None or (other.me is None and self.caller.me is None) or other.me == self.caller.me:
            return
        answer = self.world.ask("POST", target, body, fields | headers)
        self.expect("idempotency-replayed" not in answer.headers, "another caller's answer is replayed", answer)
        self.refresh(self.session)
        access = other.access(self.app, self.session)
        self.search(plain(answer.body, answer.headers), f"{body}", self.shown(access.reads) if access.has("read") else set())

    def put(self):
        access = self.access()
        path, value, event = self.chance.choice({
            "counter": [(("p", "count"), 7, "setCount"), (("p", "count"), 300, "setCount"), (("p", "title"), self.canary(), "rename"), (("p", "limits", "warnAt"), 5, "setWarnAt"), (("p", "history"), [1], None)],
            "todos": [(("p", "todos", self.chance.choice(self.texts), "title"), self.canary(), "rename"), (("p", "filter"), "done", "setFilter"), (("t", "editing"), None, "edit"), (("p", "todos"), [], None)],
            "notes": [(("p", "selected"), None, None)],
        }[self.app])  # fmt: skip
        was_stored = self.stored[self.session]
        self.did_send(self.session, {"put": value})
        body = json.dumps(value).encode()
        answer, _ = self.send("PUT", self.address(self.session) + "/state" + quoted(path), body, {"Content-Type": "application/json"})
        if event is None:
            return self.expect(answer.status == (405 if access.has("dispatch") else self.refused), "a path without an event", answer)
        granted = access.has("dispatch") and named(access.events, event)
        if access.has("dispatch") and not was_stored and not access.has("create"):
            return self.expect(answer.status in (404, 403), "a value creates a session", answer)
        if not self.is_refused(answer, granted):
            self.expect(answer.status in (200, 422), "not 200", answer)
            self.check_changes(answer, access)

    def restore(self):
        access = self.access()
        version = self.chance.randrange(4)
        target = self.chance.choice(["/reset", f"/restore?version={version}", f"/restore?version={version}"])
        stale = {"If-Match": '"aaaaaaaa.1"'} if self.chance.random() < 0.2 else {}
        was_stored = self.stored[self.session]
        answer, _ = self.send("POST", self.address(self.session) + target, None, stale)
        if self.is_refused(answer, access.has("restore")) or answer.status == 404:
            return
        self.expect(answer.status in ((412,) if stale and was_stored else (200, 404, 410, 412)), "not the right status", answer)
        if answer.status == 200:
            self.check_changes(answer, access)

    def fork(self):
        access = self.access()
        version = self.chance.choice([None, None, 1])
        target = f"{self.tag}-{self.chance.choice('cde')}"
        query = "" if version is None else f"?version={version}"
        answer = self.ask("POST", self.address(self.session) + "/fork" + query, {"id": target})
        granted = access.has("fork") and access.has("read") and access.reads.is_all and (version is None or (access.has("history") and access.history.is_all))
        if self.is_refused(answer, granted and self.access(target).has("create")):
            return
        self.expect(answer.status in (201, 404, 409, 410), "not 201", answer)
        self.expect(answer.status == 409 or answer.status == 404 or self.stored[self.session], "a copy of nothing", answer)
        self.added(target)

    def added(self, session):
        for table, empty in ((self.snapshots, []), (self.sent, set()), (self.cursors, [])):
            table.setdefault(session, empty)
        if session not in self.sessions:
            self.sessions.append(session)
        self.refresh(session)

    def create(self):
        identifier = f"{self.tag}-{self.chance.choice('acde')}"
        state = {"p": {"title": self.canary()}} if self.app == "counter" else {}
        access = self.access(identifier)
        by_put = self.chance.random() < 0.5
        target = f"/v1/apps/{self.app}/sessions" + (f"/{identifier}" if by_put else "")
        answer = self.ask("PUT" if by_put else "POST", target, {"state": state} | ({} if by_put else {"id": identifier}))
        if not self.is_refused(answer, access.has("create")):
            existing = 409 if not by_put else 200 if access.has("read") else 204
            self.expect(answer.status == (existing if self.stored.get(identifier) else 201), "not created", answer)
        self.added(identifier)

    def delete(self):
        answer = self.ask("DELETE", self.address(self.session))
        if not self.is_refused(answer, self.access().has("delete")):
            self.expect(answer.status == (204 if self.stored[self.session] else 404), "not deleted", answer)
        self.refresh(self.session)

    def list(self):
        found = self.caller.listed(self.app)
        limit = self.chance.choice([1, 2, 1000])
        owned = self.world.owned("GET", f"/v1/apps/{self.app}/sessions?limit=1000").json["sessions"]
        listed, after = [], ""
        while True:
            answer = self.ask("GET", f"/v1/apps/{self.app}/sessions?limit={limit}{after}")
            if self.is_refused(answer, found is not None):
                return
            self.expect(answer.status == 200, "no list", answer)
            listed += answer.json["sessions"]
            if "next" not in answer.json:
                break
            after = "&after=" + answer.json["next"]
        self.expect(listed == [entry for entry in owned if matches(found, entry["id"])], f"not the granted part of {owned}", listed)

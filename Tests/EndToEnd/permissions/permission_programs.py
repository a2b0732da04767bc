"""Programs of random requests by random callers. Each hidden value has a canary, which must be in no byte of an answer."""

import hashlib
import json
import random
import re
import zlib

import permission_grants as grants
from harness import Connection, run
from permission_model import Caller
from tokens import Issuer, encoded

CANARY = re.compile(rb"cn[0-9a-f]{12}")
ROLES = 40
KEYS = 20


def unlimited():
    """The arguments for a server that limits no rates, if the server has such limits."""
    return ["--rate-limits", "off"] if "--rate-limits" in run("serve", "--help").stdout else []


class Violation(AssertionError):
    """The server and the rules differ."""


class World:
    """One server with keys, its policy of random roles, and its API keys.

    `weaken` changes each random grant on its way to the server, so that the server allows more than the rules.
    """

    def __init__(self, folder, seed, start, weaken=lambda grant: grant):
        self.issuer, self.weaken = Issuer(folder), weaken
        chance = random.Random(f"policy {seed}")
        general = ["p*", "*-a", "*-b", "${me}", "pub-*", "*", "p*a"]

        def several(count):
            ids = ["k-1", "k-2", "k-3", "k-4"]
            return [grants.grant(chance, chance.choice(["counter", "todos", "notes"]), general, ids) for _ in range(count)]

        self.roles = {f"role{number}": several(chance.choice([1, 2])) for number in range(ROLES)}
        everything = [{"actions": ["*", "operate"], "app": "*", "sessions": ["*"], "stores": ["*"], "values": ["*"], "views": ["*"], "paths": [""]}]
        self.authenticated = [{"actions": ["read"], "app": "todos", "sessions": ["${me}"], "paths": ["/p/filter"]}]
        self.anonymous = [{"actions": ["read"], "app": "counter", "sessions": ["*-b"], "paths": ["/p/count", "/t/lastEvent"]},
                          {"actions": ["dispatch", "create", "read"], "app": "todos", "sessions": ["${me}"], "paths": ["/p/todos/*/title"]}]  # fmt: skip
        roles = {role: list(map(weaken, given)) for role, given in self.roles.items()}
        policy = {"roles": roles | {"owner": everything}, "authenticated": self.authenticated, "anonymous": self.anonymous}
        (folder / "policy.json").write_text(json.dumps(policy))
        self.keys = {}
        for number in range(KEYS):
            identifier, secret = f"{number:08d}", chance.randbytes(32)
            text = f"rvk_{identifier}_{encoded(secret)}_"
            self.keys[identifier] = (f"{text}{zlib.crc32(text.encode()):08x}", hashlib.sha256(secret).hexdigest(), several(2))
        entries = [{"id": name, "name": name, "sha256": digest, "grants": list(map(weaken, given))} for name, (_, digest, given) in self.keys.items()]
        file = folder / "keys.json"
        file.write_text(json.dumps({"keys": entries}))
        file.chmod(0o600)
        self.server = start(["--jwt-key-file", self.issuer.file, "--policy", folder / "policy.json", "--api-keys", file, *unlimited()])
        self.owner = self.issuer.bearer("owner", "owner")
        self.connection, self.asked = None, 0

    def ask(self, method, target, body=None, headers=None):
        """Sends a request over a connection that many requests share."""
        self.asked += 1
        for attempt in range(2):
            fresh = self.connection is None
            self.connection = self.connection or Connection(self.server)
            try:
                answer = self.connection.request(method, target, body, headers)
            except (EOFError, ConnectionError):
                self.close()
                if fresh:
                    raise
                continue
            if answer.headers.get("connection") == "close":
                self.close()
            return answer
        raise Violation(f"the server closed the connection of {method} {target}")

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def owned(self, method, target, body=None, **headers):
        return self.ask(method, target, body, self.owner | headers)

    def caller(self, chance, number, app, sessions, ids):
        """A caller with random grants: its model, and its header fields."""
        kind = chance.choices(["token", "roles", "both", "key", "anonymous", "cookie"], [6, 2, 1, 1.5, 0.7, 0.7])[0]
        if kind in ("anonymous", "cookie"):
            fields, me = {}, None
            if kind == "cookie":
                answer = self.ask("GET", "/v1/apps/todos/sessions/me/state")
                fields = {"Cookie": answer.headers["set-cookie"].split(";")[0]}
                me = self.ask("GET", "/v1/me", None, fields).json["me"]
            return Caller(None, self.anonymous, me, is_anonymous=True), fields
        given = self.anonymous + self.authenticated
        if kind == "key":
            identifier = chance.choice(list(self.keys))
            text, _, own = self.keys[identifier]
            subject, claims, fields, given = f"key:{identifier}", {}, {"Authorization": "Bearer " + text}, given + own
        else:
            subject, claims = f"u{number}-{chance.randrange(10**6)}", {"team": chance.choice(ids)}
            own = [grants.grant(chance, app, sessions, ids) for _ in range(chance.choice([1, 2, 2, 3, 4]))] if kind != "roles" else []
            roles = chance.sample(sorted(self.roles), chance.choice([1, 2])) if kind != "token" else []
            given = given + own + sum((self.roles[role] for role in roles), [])
            details = [{"type": "rivulet"} | self.weaken(grant) for grant in own] + [{"type": "foreign", "actions": ["fly"]}] * (chance.random() < 0.1)
            fields = self.issuer.bearer(subject, *roles, authorization_details=details, **claims)
            if chance.random() < 0.1:
                fields = {"Cookie": "rivulet-token=" + fields["Authorization"].removeprefix("Bearer ")}
        me = self.ask("GET", "/v1/me", None, fields)
        if me.status != 200 or me.json["subject"] != subject:
            raise Violation(f"GET /v1/me: {me}, grants {given}")
        return Caller(subject, given, me.json["me"], claims), fields


def plain(body, headers):
    return zlib.decompressobj(31).decompress(body) if headers.get("content-encoding") == "gzip" else body


class Program:
    """A few sessions of one app, a few callers, and some requests."""

    def __init__(self, world, seed, number):
        self.world, self.number = world, number
        self.chance = random.Random(f"{seed} {number}")
        self.app = self.chance.choice(["counter", "todos", "todos", "notes"])
        self.tag = f"p{number}"
        self.trail, self.snapshots, self.sent, self.stored, self.cursors = [], {}, {}, {}, {}
        self.ids = [f"k-{index}" for index in range(1, 3)] + [self.canary() for _ in range(4)]
        self.texts = self.ids + self.chance.choices([[], ["é"], ["e\u0301", "é"], ["*"], ["a~/b"], ["%2F", "0"], ["id"]], [4, 1, 1, 1, 1, 1, 1])[0]
        self.items, self.value_texts = [], []

    def canary(self):
        return f"cn{self.chance.randrange(16**12):012x}"

    def text(self):
        """A text that has a canary, and may be long enough for a compressed answer."""
        return self.canary() + (" " + "long " * 400 if self.chance.random() < 0.1 else "")

    # The program.

    def run(self, count):
        sessions = [f"{self.tag}-a", f"{self.tag}-b", f"{self.tag}-*", "*", f"{self.tag}-c", "*-a", "${me}", "x${me}", "${sub}", f"{self.tag}*a", "home"]
        self.callers = [self.world.caller(self.chance, f"{self.number}-{index}", self.app, sessions, self.texts) for index in range(2)]
        self.sessions = [f"{self.tag}-a", f"{self.tag}-b", f"{self.tag}-c"] + [caller.me for caller, _ in self.callers if caller.me]
        if self.app == "notes":
            self.world.owned("DELETE", "/v1/apps/notes/stores/notes")
            for _ in range(3):
                self.put_item()
            self.put_values()
        for session in self.sessions:
            self.snapshots[session], self.sent[session], self.stored[session], self.cursors[session] = [], set(), False, []
            for _ in range(0 if session.endswith("-c") else self.chance.choice([0, 2, 5]) if session.endswith("-b") else 4):
                self.change(session)
            self.refresh(session)
        kinds = [(self.state, 6), (self.log, 3), (self.views, 2), (self.describe, 1), (self.stream, 5), (self.dispatch, 6), (self.put, 2), (self.restore, 1.5),
                 (self.fork, 1.5), (self.create, 1), (self.delete, 0.5), (self.list, 1), (self.documents, 1), (self.head_and_options, 1)]  # fmt: skip
        if self.app == "notes":
            kinds += [(self.store, 3), (self.item, 5), (self.value, 4), (self.shared_stream, 2), (self.secret, 1)]
        for _ in range(count):
            if self.chance.random() < 0.2:
                session = self.chance.choice(self.sessions[:2])
                self.change(session)
                self.refresh(session)
            self.caller, self.fields = self.chance.choice(self.callers)
            self.session = self.chance.choices(self.sessions, [6, 3, 1] + [1.5] * (len(self.sessions) - 3))[0]
            self.chance.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()
        for session in [*self.sessions, f"{self.tag}-d", f"{self.tag}-e"]:
            self.world.owned("DELETE", f"/v1/apps/{self.app}/sessions/{session}")

    def fail(self, text, answer=None):
        grants = "\n".join(map(repr, self.caller.given))
        raise Violation(f"program {self.number}: {text}\nanswer: {answer}\ncaller: {self.caller.subject} {self.caller.me}\n{grants}\n" + "\n".join(self.trail[-3:]))

    def expect(self, condition, text, answer=None):
        if not condition:
            self.fail(text, answer)

    # Requests.

    def address(self, session):
        """The path of a session, in which `me` may stand for the caller's own."""
        name = "me" if session == self.caller.me and self.chance.random() < 0.5 else session
        return f"/v1/apps/{self.app}/sessions/{name}"

    def ask(self, method, target, body=None, allowed=(), headers=None, fields=None):
        """Sends the caller's request, and searches the answer for canaries that the caller may not see."""
        headers = (self.fields if fields is None else fields) | (headers or {})
        if self.chance.random() < 0.4:
            headers = {"Accept-Encoding": "gzip"} | headers
        self.trail.append(f"{method} {target} {body} {({name: value[:60] for name, value in headers.items()})}")
        answer = self.world.ask(method, target, body, headers)
        text = plain(answer.body, answer.headers)
        self.search(text + json.dumps(answer.headers).encode(), f"{method} {target} {body}", allowed)
        answer.body = text
        return answer

    def search(self, text, request, allowed):
        found = set(CANARY.findall(text)) - set(CANARY.findall(request.encode())) - set(allowed) - self.caller.named
        self.expect(not found, f"the answer shows {found}", text)

    @property
    def refused(self):
        return 401 if self.caller.is_anonymous else 403

    def is_refused(self, answer, granted):
        """True for a request that is not granted; checks that it is refused."""
        if granted:
            self.expect(answer.status not in (401, 403), "a granted request is refused", answer)
            return False
        self.expect(answer.status == self.refused, f"a request that is not granted is {answer.status}", answer)
        return True

    def access(self, session=None):
        return self.caller.access(self.app, session or self.session)

    def shown(self, mask, session=None):
        """The canaries of all states of a session that a mask leaves."""
        found = set()
        for snapshot in self.snapshots[session or self.session]:
            for _, leaf in mask.leaves(snapshot):
                found.update(CANARY.findall(str(leaf).encode()))
        return found

    def readable(self, session=None):
        access = self.access(session)
        return self.shown(access.reads, session) if access.has("read") else set()

    # The true state.

    def refresh(self, session):
        answer = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{session}/state")
        self.expect_owner(answer, 200)
        self.snapshots[session].append(answer.json)
        self.cursors[session].append(answer.headers["etag"].strip('"'))
        self.stored[session] = self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{session}").status == 200

    def expect_owner(self, answer, status):
        if answer.status != status:
            raise Violation(f"program {self.number}: the owner's answer is {answer}\n" + "\n".join(self.trail[-3:]))

    def truth(self, session=None):
        return self.snapshots[session or self.session][-1]

    def change(self, session):
        """An event by the owner."""
        event, _ = self.event(self.snapshots[session][-1] if self.snapshots[session] else None)
        answer = self.world.owned("POST", f"/v1/apps/{self.app}/sessions/{session}/events", event)
        if answer.status not in (200, 422):
            raise Violation(f"program {self.number}: the owner's {event} is {answer}")
        self.did_send(session, event)
        # The next event needs the elements of this state.
        self.snapshots[session].append(self.world.owned("GET", f"/v1/apps/{self.app}/sessions/{session}/state").json)

    def did_send(self, session, events):
        """Records the canaries of events. The one of a sensitive event is in no answer and no log."""
        for event in events if isinstance(events, list) else [events]:
            if not isinstance(event, dict) or "setNote" not in event:
                self.sent[session].update(CANARY.findall(json.dumps(event).encode()))

    def event(self, truth):
        """A random event that the app accepts in this state, and its name."""
        chance = self.chance
        if self.app == "counter":
            event = chance.choice([{"setCount": chance.choice([3, 50, 79, 90, 500])}, {"setStep": chance.choice([2, 50])}, {"rename": self.text()}, {"setNote": self.canary()},
                                   {"setLimits": {"warnAt": chance.choice([10, 80]), "label": self.text()}}, {"setWarnAt": 60}, "dismissWarning", "touch", "noop"])  # fmt: skip
        elif self.app == "notes":
            ids = [draft["id"] for draft in (truth or {"p": {"drafts": []}})["p"]["drafts"]] or [chance.choice(self.texts)]
            event = chance.choice([{"saveDraft": {"id": chance.choice(self.texts), "text": self.text()}}] * 3 + [{"select": chance.choice(ids)}, {"discardDraft": chance.choice(ids)}])
        else:
            ids = [todo["id"] for todo in (truth or {"p": {"todos": []}})["p"]["todos"]]
            new = [identifier for identifier in self.texts if identifier not in ids]
            choices = [{"setFilter": chance.choice(["all", "open", "done"])}, "clearDone"]
            if ids:
                one = chance.choice(ids)
                choices += [{"toggle": one}, {"rename": {"id": one, "title": self.text()}}, {"edit": one}, {"move": {"id": one, "to": chance.randrange(len(ids))}}, {"remove": one}]
            if new:
                choices += [{"add": {"id": chance.choice(new), "title": self.text()}}, {"insert": {"id": chance.choice(new), "title": self.text(), "at": 0}}] * (1 if len(ids) > 2 else 3)
            event = chance.choice(choices)
        return event, event if isinstance(event, str) else next(iter(event))

    def path(self, truth=None):
        """A random key path of the state, as its tokens."""
        chance = self.chance
        paths = {"counter": [(), ("p",), ("t",), ("p", "count"), ("p", "title"), ("p", "limits"), ("p", "limits", "label"), ("p", "history"), ("t", "warning"), ("t", "warning", "text")],
                 "todos": [(), ("p",), ("t",), ("p", "todos"), ("p", "filter"), ("t", "editing")], "notes": [(), ("p",), ("p", "selected"), ("p", "drafts")]}[self.app]  # fmt: skip
        if self.app != "counter" and chance.random() < 0.5:
            name, fields = ("todos", ["title", "done"]) if self.app == "todos" else ("drafts", ["text", "created"])
            element = ("p", name, chance.choice(self.texts))
            return chance.choice([element, (*element, chance.choice(fields))])
        return chance.choice(paths)

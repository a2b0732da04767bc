# The work of the power-cut test: clients that record the state of each thing after each of their operations.

import json
import os
import random

from harness import Connection
from notes import APP, STORE, note
from power_cut_disk import Kind, mark

SESSIONS = "/v1/apps/counter/sessions/"
CUT = (OSError, EOFError)


class Thing:
    """A thing with one writer. `states[n]` is its state after its first `n` operations."""

    def __init__(self, empty):
        self.states = [empty]
        #: Each operation: its number in the log, method, target, body, headers, and the statuses that acknowledge it.
        self.operations = []

    @property
    def state(self):
        return self.states[-1]

    def add(self, operation, state):
        self.operations.append(operation)
        self.states.append(state)
        return operation

    def again(self, connection, operation):
        """Sends an operation for the first time, or repeats it like a client that got no answer."""
        _, method, target, body, headers, statuses = operation
        answer = connection.request(method, target, body, headers)
        assert answer.status in statuses, f"{method} {target}: {answer}"


class Session(Thing):
    """A session. Its log is compared entry by entry."""

    def __init__(self, identifier, is_deleted):
        super().__init__(())
        self.name, self.path, self.is_deleted = f"session {identifier}", SESSIONS + identifier, is_deleted

    def operation(self, number, chance):
        if self.is_deleted and self.state and chance.random() < 0.15:
            return self.add((number, "DELETE", self.path, None, {}, (204, 404)), ())
        size = chance.choice((0, 0, 0, 200, 3_000, 20_000))
        events = [{"rename": f"{number}.{part}" + "x" * size} for part in range(chance.choice((1, 1, 3)))]
        # Several events of one request are one entry.
        entry = events if len(events) > 1 else events[0]
        operation = number, "POST", self.path + "/events", entry, {"Idempotency-Key": f'"{number}"'}, (200,)
        return self.add(operation, (*self.state, entry))

    def read(self, connection):
        events = []
        while True:
            answer = connection.request("GET", f"{self.path}/events?limit=1000&after={len(events)}")
            if answer.status == 404:
                return ()
            assert answer.status == 200, answer
            entries = answer.json
            assert [entry["version"] for entry in entries] == list(range(len(events) + 1, len(events) + len(entries) + 1)), "versions with a gap"
            events += [entry["event"] for entry in entries]
            # A page is also limited in bytes, so only an empty page ends the log.
            if not entries:
                break
        if not events:
            return ()
        last = events[-1][-1] if isinstance(events[-1], list) else events[-1]
        title = connection.request("GET", self.path + "/state/p/title").json
        assert title == last["rename"], f"the state has {title[:40]!r}, the log ends with {brief(tuple(events))}"
        return tuple(events)


class Notes(Thing):
    """The notes of one writer in the shared store."""

    def __init__(self, writer):
        super().__init__({})
        self.name, self.prefix = f"notes of {writer}", f"w{writer}-"

    def operation(self, number, chance):
        one, other = (f"{self.prefix}{chance.randrange(8)}" for _ in range(2))
        text = f"{number}" + "y" * chance.choice((0, 0, 500, 9_000))
        match chance.choice(("put", "put", "delete", "both")):
            case "put":
                return self.add((number, "PUT", f"{STORE}/{one}", note(one, text), {}, (200, 201, 204)), self.state | {one: text})
            case "delete":
                state = {name: text for name, text in self.state.items() if name != one}
                return self.add((number, "DELETE", f"{STORE}/{one}", None, {}, (204, 404)), state)
            case _:
                steps = [{"remove": [one, other]}, {"insert": [note(name, text) for name in {one: 0, other: 0}]}]
                return self.add((number, "POST", STORE + "/operations", {"operations": steps}, {}, (200,)), self.state | {one: text, other: text})

    def read(self, connection):
        items = connection.request("GET", STORE + "?limit=1000").json["items"]
        return {item["id"]: item["text"] for item in items if item["id"].startswith(self.prefix)}


class Value(Thing):
    name = "value theme"

    def __init__(self):
        super().__init__("light")

    def operation(self, number, chance):
        text = "dark" if self.state == "light" else "light"
        return self.add((number, "PUT", APP + "/values/theme", text, {}, (200, 204)), text)

    def read(self, connection):
        return connection.request("GET", APP + "/values/theme").json


class Secret(Thing):
    name = "secret apiToken"

    def __init__(self):
        super().__init__(False)

    def operation(self, number, chance):
        if self.state:
            return self.add((number, "DELETE", APP + "/secrets/apiToken", None, {}, (204,)), False)
        return self.add((number, "PUT", APP + "/secrets/apiToken", f"secret {number}", {}, (204,)), True)

    def read(self, connection):
        return connection.request("GET", APP + "/secrets/apiToken").json["set"]


class Writer:
    """One client. It performs one operation after the other on its own things."""

    def __init__(self, number, seed, log):
        self.chance = random.Random(f"{seed} {number}")
        self.things = [Session(f"s{number}", False), Session(f"d{number}", True), Notes(number)]
        self.things += [Value()] if number == 0 else [Secret()] if number == 1 else []
        self._log, self._next, self._open = log, number * 1_000_000, None

    def run(self, server, until):
        """Works until `until` returns true and no operation is open, or until the server is gone."""
        try:
            with Connection(server) as connection:
                # After a kill, an operation without an answer is sent again.
                while self._open is not None or not until():
                    self.step(connection)
        except CUT:
            pass

    def step(self, connection):
        """Sends the next operation, or the last one again if it was not acknowledged."""
        if self._open is None:
            thing = self.chance.choice(self.things)
            self._open = thing, thing.operation(self._next, self.chance)
            self._next += 1
            os.write(self._log, mark(Kind.SENT, self._open[1][0]))
        thing, operation = self._open
        thing.again(connection, operation)
        os.write(self._log, mark(Kind.ACKNOWLEDGED, operation[0]))
        self._open = None


def differences(things, connection, sent, acknowledged):
    """A line for each thing with a state that is not possible after the acknowledged and the sent operations."""
    lines = []
    for thing in things:
        least = sum(operation[0] in acknowledged for operation in thing.operations)
        most = sum(operation[0] in sent for operation in thing.operations)
        try:
            found = thing.read(connection)
            if found not in thing.states[least : most + 1]:
                lines.append(f"{thing.name} has {brief(found)}, which is not its state after {least} to {most} operations: "
                             f"{' or '.join(map(brief, thing.states[least : most + 1]))}")
            elif most:
                # The last operation may be applied already. Its key ensures that it is applied once.
                thing.again(connection, thing.operations[most - 1])
                if thing.read(connection) != thing.states[most]:
                    lines.append(f"{thing.name} has {brief(thing.read(connection))} after operation {most} was sent again")
        except (AssertionError, KeyError, *CUT) as fault:
            lines.append(f"{thing.name} cannot be read: {str(fault)[:600]}")
    return lines


def brief(state):
    if not isinstance(state, tuple):
        return json.dumps(state)[:200]
    return f"{len(state)} entries, the last " + ", ".join(json.dumps(entry)[:40] for entry in state[-3:])

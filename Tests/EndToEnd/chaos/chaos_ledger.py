# The chaos test's record of a session: the requests, the acknowledgements, and the entries of its log.

import dataclasses
import json

import chaos_document as document

#: Events that the apps dispatch themselves.
OWN_EVENTS = ({"rename": "Full"},)


@dataclasses.dataclass(eq=False)
class Dispatch:
    """One request that may change a session."""

    event: object
    #: None until an answer came. The answer has version, cursor, durable and changes.
    answer: dict | None = None


class Epoch:
    """One history of a session, replayed from its log."""

    def __init__(self, default, unknown):
        self.states = {0: default}  # The stored half by version.
        self.entries = {}
        self.last = 0
        #: False after a deletion of the session. Its log may have had more entries than the test has read.
        self.is_open = True
        self.acknowledged = {}
        self.transients = {}
        #: Requests without an answer. They may have been applied in any epoch.
        self.unknown = unknown
        self.findings = []
        self._checked = 0

    def acknowledge(self, dispatch):
        """Records an answer of 200."""
        answer = dispatch.answer
        version = answer["version"]
        if not answer["changes"]:
            return
        if not answer["durable"]:
            position = answer["cursor"].split(".")[2]
            if (version, position) in self.transients:
                self.findings.append(f"two transient dispatches were acknowledged as {answer['cursor']}")
            self.transients[version, position] = answer
        elif version in self.acknowledged:
            self.findings.append(f"version {version} was acknowledged twice: {self.acknowledged[version]} and {dispatch}")
        else:
            self.acknowledged[version] = dispatch

    def read(self, entries):
        """Takes further entries of the log."""
        for entry in entries:
            version = entry["version"]
            if version != self.last + 1:
                self.findings.append(f"the log goes on with version {version} after {self.last}")
            state = {(): {"p": self.states[self.last]}}
            for change in entry["changes"]:
                if change.get("transient"):
                    continue
                try:
                    state = document.applied(state, [()], change)
                except document.Misfit as misfit:
                    self.findings.append(f"the log's version {version}: {misfit}: {change}")
            self.entries[version], self.states[version], self.last = entry, state[()]["p"], version

    def check(self):
        """Checks that each acknowledged dispatch is in the log once, and that each other entry has a cause."""
        for version, dispatch in self.acknowledged.items():
            if version > self.last and self.is_open:
                self.findings.append(f"version {version} was acknowledged and is not in the log: {dispatch}")
        for version in range(self._checked + 1, self.last + 1):
            entry = self.entries[version]
            dispatch = self.acknowledged.get(version)
            if dispatch is None:
                self._claim(entry)
                continue
            if normal(entry["event"]) != normal(dispatch.event):
                self.findings.append(f"version {version} has the event {entry['event']} in the log, but {dispatch.event} was acknowledged")
            logged = [{name: value for name, value in change.items() if name != "transient"} for change in entry["changes"]]
            if logged != dispatch.answer["changes"]:
                self.findings.append(f"version {version}: the log has {logged}, the answer {dispatch.answer['changes']}")
        self._checked = self.last

    def _claim(self, entry):
        """Assigns an entry without an acknowledgement to a request without an answer."""
        for dispatch in self.unknown:
            if normal(dispatch.event) == normal(entry["event"]):
                self.unknown.remove(dispatch)
                return
        if entry["event"] not in OWN_EVENTS:
            self.findings.append(f"no request explains version {entry['version']}: {json.dumps(entry)[:300]}")

    def forget(self, before):
        """Drops the versions that no stream is compared with any more."""
        for version in [version for version in self.states if version < before]:
            del self.states[version]
            self.entries.pop(version, None)

    def is_visible(self, version, patterns):
        """True if streams of these paths must get an event of this version. None means that the log cannot decide it."""
        undecided = False
        before, after = self.states[version - 1], self.states[version]
        for change in self.entries[version]["changes"]:
            path = document.tokens(change["path"])
            for pattern in patterns:
                if not document.matches(pattern, path):
                    continue
                if len(pattern) < len(path) or (len(pattern) == len(path) and change["op"] != "move"):
                    return True
                if change["op"] == "move":
                    continue
                if change.get("transient"):
                    undecided = True
                elif document.select({"p": before}, [pattern]) != document.select({"p": after}, [pattern]):
                    return True
        return None if undecided else False


def normal(event):
    """The event in one form, because a client may write it in several."""
    if isinstance(event, list):
        events = [normal(each) for each in event]
        return events[0] if len(events) == 1 else events
    if isinstance(event, str):
        return {event: {}}
    return event


class Session:
    """A session of an app, over all its histories."""

    def __init__(self, app, name, default, is_heavy, may_be_deleted):
        self.app, self.name, self.default = app, name, default
        self.path = f"/v1/apps/{app}/sessions/{name}"
        #: True if its texts are long, so that a slow reader gets merged changes.
        self.is_heavy = is_heavy
        self.may_be_deleted = may_be_deleted
        self.epochs = {}
        self.current = None
        self.in_flight = 0
        self.is_closing = False
        self.lost = []
        self.deletions = 0

    def epoch(self, name):
        if name not in self.epochs:
            self.epochs[name] = Epoch(self.default["p"], self.lost)
        return self.epochs[name]

    def findings(self):
        for name, epoch in self.epochs.items():
            for finding in epoch.findings:
                yield f"session {self.app}/{self.name}, epoch {name}: {finding}"
            epoch.findings = []

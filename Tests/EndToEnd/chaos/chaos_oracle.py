# The judge of the chaos test. It compares one stream's whole life, over all its connections, with the session's log.

import collections
import dataclasses
import json
import re

import chaos_document as document

CURSOR = re.compile(r"([a-z0-9]{8})\.(\d+)\.([a-z0-9]+)-(\d+)(u?)(?:\.[a-z0-9]+)?")
REASONS = {"bye": {"deleted", "draining", "expired", "revoked", "limit", "slow", "unavailable"},
           "reset": {"unknown-cursor", "history-gone", "epoch-changed", "paths-changed", "places-unknown"}}
#: The placeholder for the incarnation in cursors of readers that know only the log.
LOG_INCARNATION = "0000"
#: The server merges nothing for a reader with fewer unsent bytes. The number is a little less than half of the bytes
#: that can wait in a group, because events have another form in transit.
#: Source: <Documentation/HTTP.md#change-streams>
UNSENT_MIN = 120 * 1024
#: A snapshot or reset of at least so many bytes may be shared with streams that joined before. A merged change follows.
SHARED_MIN = 4096
HISTORY_MAX = 60


def shortened(value):
    """A short form of a value for messages, without the filler of long texts."""
    return re.sub("x{12,}", "x…x", str(value))[:400]


class Fault(Exception):
    """An error in the events of a stream."""


@dataclasses.dataclass(frozen=True)
class Place:
    """The parts of a cursor."""

    epoch: str
    version: int
    incarnation: str
    transients: int

    @staticmethod
    def of(cursor):
        match = CURSOR.fullmatch(cursor or "")
        if match is None:
            raise Fault(f"the cursor {cursor!r}")
        return Place(match[1], int(match[2]), match[3], int(match[4]))


@dataclasses.dataclass
class Received:
    """One event that has values."""

    place: Place
    values: dict
    #: "start": all values are given. "catch-up": missed changes may be merged. "change": no change before it may be
    #: missing.
    kind: str
    #: The number of the connection.
    connection: int
    changes: list | None
    #: The paths that the stream watched then.
    patterns: list
    #: The misfit of the event. It is an error only if the reader was not slow.
    misfit: Exception | None = None
    #: True if the stream read the log up to this event. The event may then have changes that are in no log.
    may_be_end_of_log: bool = False


class Watch:
    """The request of a stream."""

    def __init__(self, session, pointers, resumes_all=False, interval=0, is_patch=False, is_gzip=False):
        self.session, self.pointers = session, pointers
        self.patterns = sorted({document.tokens(pointer) for pointer in pointers}) or [()]
        self.resumes_all, self.interval, self.is_patch, self.is_gzip = resumes_all, interval, is_patch, is_gzip

    def at(self, pointers):
        """The same request for other paths."""
        return Watch(self.session, pointers, self.resumes_all, self.interval, self.is_patch, self.is_gzip)

    def __str__(self):
        extra = [name for name in ("resumes_all", "interval", "is_patch", "is_gzip") if getattr(self, name)]
        return f"{self.session.app}/{self.session.name} {self.pointers or ['']} {extra or ''}"


class Oracle:
    """Judges the events of one stream, and raises a Fault for a wrong one."""

    def __init__(self, number, watch):
        self.number, self.watch = number, watch
        self.history = collections.deque(maxlen=HISTORY_MAX)
        self.place, self.values, self.cursor = None, None, None
        self.received = []  # The last verified event, and all later events.
        self.connection = 0
        #: The number of events that merge several versions because the reader was slow.
        self.merged = 0
        self._expects, self._asked = None, None
        self._may_be_shared = False
        self._has_log_only_transients = False
        #: The name of the open stream if it is known, the request for its next paths, and True if the server promised
        #: these paths.
        self.name, self.next_watch, self.is_promised = None, None, False
        #: The paths that the stream watched at its cursor, and True if it reconnected with other paths.
        self._cursor_patterns, self._has_other_paths = watch.patterns, False
        self.has_bye = False
        self.is_told_not_to_return = False

    # Calls of the stream's connection.

    def connected(self, cursor, watch):
        """Records the start of a connection with these paths, and with a cursor or None."""
        self.note(f"connects with {cursor}" if cursor else "connects afresh")
        # The connection before this one may have ended before its first event.
        self._has_other_paths = watch.patterns != self._cursor_patterns
        if watch.patterns != self.watch.patterns:
            self.note(f"and for {watch.pointers}")
            self.watch = watch
        self.name, self.next_watch, self.is_promised = None, None, False
        self.connection += 1
        self._may_be_shared = False
        self._expects, self._asked = ("resume" if cursor else "fresh"), cursor
        self.has_bye = False

    def note(self, text):
        self.history.append(text)

    def event(self, event):
        """Judges the next event."""
        self.note(f"{event.name} {event.cursor} {shortened(event.data)}")
        if event.name == "retry":
            return
        if self.has_bye:
            raise Fault("an event after bye")
        if event.name == "bye":
            return self._bye(event)
        if event.name not in ("snapshot", "reset", "change"):
            raise Fault(f"an event with an unknown name: {event.name!r}")
        place = Place.of(event.cursor)
        if event.name == "change" and self.watch.is_patch:
            changes = event.data
            if not isinstance(changes, list) or not changes:
                raise Fault("data that is no patch")
        else:
            if event.data.get("version") != place.version:
                raise Fault("the version and the cursor differ")
        if event.name == "change":
            self._change(event, place)
        else:
            self._start(event, place)
        self.place, self.cursor, self._expects = place, event.cursor, None
        self._cursor_patterns = self.watch.patterns

    def _bye(self, event):
        data = event.data
        if set(data) != {"reason", "reconnect", "after"} or data["reason"] not in REASONS["bye"] or event.cursor:
            raise Fault("a malformed bye")
        self.has_bye, self.is_told_not_to_return = True, not data["reconnect"]
        if data["reason"] == "deleted" and not self.watch.session.deletions:
            raise Fault("a bye because of a deletion, but no client deleted the session")

    def _start(self, event, place):
        is_repathed = event.name == "snapshot" and self._expects is None and self.next_watch is not None
        if is_repathed:
            self.watch, self.next_watch, self.is_promised = self.next_watch, None, False
        if event.name == "snapshot" and self._expects != "fresh" and not is_repathed:
            raise Fault("a snapshot that is not the first event of a fresh stream")
        expected = {"version", "values"} | ({"reason"} if event.name == "reset" else set())
        # The first event of a connection names its stream.
        if set(event.data) - {"stream"} != expected or (self._expects and "stream" not in event.data):
            raise Fault(f"the members {sorted(event.data)}")
        if event.name == "reset":
            self._reset(event.data["reason"], place)
        self.name = event.data.get("stream", self.name)
        values = {document.tokens(pointer): value for pointer, value in event.data["values"].items()}
        for path in values:
            if not any(len(path) == len(pattern) and document.matches(pattern, path) for pattern in self.watch.patterns):
                raise Fault(f"a value at {document.text(path)!r}, which is not watched")
        if self.place is not None and place.epoch == self.place.epoch and place.version < self.place.version:
            raise Fault(f"a version before {self.place}, which the stream had shown already")
        document.check_nested(values, self.watch.patterns)
        self.values = values
        self._keep(place, "start", None)
        self._may_be_shared = len(json.dumps(event.data, ensure_ascii=False, separators=(",", ":")).encode()) >= SHARED_MIN

    def _reset(self, reason, place):
        if reason not in REASONS["reset"]:
            raise Fault("a reset for no known reason")
        # A value that contains a wildcard's matches has changed. Without its old value, the server cannot list the
        # matches that were removed.
        has_wildcard = any("*" in pattern for pattern in self.watch.patterns)
        is_merged = self._expects == "resume" or self.watch.interval > 0 or self.watch.session.is_heavy
        if reason == "places-unknown" and has_wildcard and is_merged:
            return
        if self._expects != "resume":
            raise Fault("a reset that is not the first event of a resumed stream")
        if self.place is None or self._asked != self.cursor:
            return  # The cursor was an invention of the test.
        if self._has_other_paths:
            if reason != "paths-changed":
                raise Fault("a reset that does not say that the paths changed")
            return
        # A session that was never stored begins a new epoch with each incarnation.
        may_be_gone = self.watch.session.deletions or self.place.version == 0
        if reason != "epoch-changed" or place.epoch == self.place.epoch or not may_be_gone:
            raise Fault("a reset without a cause")

    def _change(self, event, place):
        before = self.place
        # Streams that open at the same time share their first event. One merged change to the present state may follow.
        may_be_bridge, self._may_be_shared = self._may_be_shared, False
        if self._expects == "fresh" or before is None:
            raise Fault("a change before a snapshot")
        if self._expects == "resume" and self._has_other_paths:
            raise Fault("a change, although the stream resumed with other paths")
        is_resume = self._expects == "resume" and not self.watch.resumes_all
        # A work thread writes the first change of a large state. One merged change to the present state may follow.
        self._may_be_shared = is_resume and self.watch.session.is_heavy
        is_catch_up = is_resume or may_be_bridge
        is_other_incarnation = place.incarnation != before.incarnation
        if place.epoch != before.epoch:
            raise Fault(f"a change of another epoch, not of {before.epoch}")
        # A stream that reads the log version by version continues in the present incarnation.
        has_log_only = self.watch.resumes_all and before.incarnation == LOG_INCARNATION
        if is_other_incarnation and self.connection == self.received[-1].connection and not has_log_only:
            raise Fault("another incarnation within a connection")
        if not is_other_incarnation and (place.version, place.transients) <= (before.version, before.transients):
            raise Fault(f"not after {before}")
        if place.version < before.version:
            raise Fault(f"a version before {before}")
        is_merged = is_catch_up or is_other_incarnation or self.watch.interval > 0
        changes, misfit, may_be_end_of_log = None, None, self.watch.resumes_all and (self._expects == "resume" or has_log_only)
        # The log has no changes that transient events made to transient fields. A stream that reads the log cannot know
        # the present values of these fields.
        self._has_log_only_transients = may_be_end_of_log or place.incarnation == LOG_INCARNATION
        if self.watch.is_patch:
            self._patch(event.data)
        else:
            try:
                changes = self._changes(event, is_merged, place.version == before.version and not is_merged)
            except (Fault, document.Misfit) as fault:
                # The event may be a merged change for a slow reader, even if it merges one long change only. The later
                # comparison with the log decides that.
                if is_merged or not self.watch.session.is_heavy:
                    raise
                changes, misfit = self._changes(event, True, False), fault
        self._keep(place, "catch-up" if is_catch_up else "change", changes, misfit, may_be_end_of_log)

    def _changes(self, event, is_merged, is_transient):
        if set(event.data) != {"version", "changes"} or not event.data["changes"]:
            raise Fault("a malformed change")
        values, told, given = self.values, set(), []
        for change in event.data["changes"]:
            path = change.get("path")
            # A merged event has a path twice if its value was removed and added again. Any event may have both a move
            # of an element and a change of its value.
            if path in told and not (is_merged and change["op"] == "add") and not (change["op"] == "move" and (path, "move") not in told):
                raise Fault(f"{path!r} twice in one event")
            told |= {path, (path, change["op"])}
            in_transients = document.tokens(path)[:1] == ("t",)
            if is_transient and not in_transients:
                raise Fault(f"{path!r} changed without a version")
            is_vague = is_merged or (in_transients and self._has_log_only_transients)
            values = document.applied(values, self.watch.patterns, change, is_vague, given)
            given += [document.tokens(path)] if change["op"] != "move" else []
        self._check_nested(values)
        self.values = values
        return event.data["changes"]

    def _check_nested(self, values):
        """Checks that the values of nested paths agree. Transient fields are left out if the values come from the log."""
        if len(self.watch.patterns) == 1:
            return
        if self._has_log_only_transients:
            values = {path: {"p": value["p"]} if path == () else value for path, value in values.items() if path[:1] != ("t",)}
        document.check_nested(values, [pattern for pattern in self.watch.patterns if not self._has_log_only_transients or pattern[:1] == ("p",)])

    def _patch(self, operations):
        path = self.watch.patterns[0]
        after = document.patched(self.values.get(path, document.ABSENT), operations)
        self.values = {path: after}

    def _keep(self, place, kind, changes, *rest):
        self.received.append(Received(place, self.values, kind, self.connection, changes, self.watch.patterns, *rest))

    # Verification.

    def verify(self, is_live):
        """Compares the events since the last verification with the log. `is_live` means that the stream is connected and has every event."""
        last = None
        for received in self.received:
            self._verify(received, last)
            last = received
        if last is None:
            return
        if is_live and last.place.epoch == self.watch.session.current:
            self._verify_end(last)
        self.received = [last]
        last.changes = None

    def _epoch(self, place):
        epoch = self.watch.session.epochs.get(place.epoch)
        if epoch is None and place.version > 0:
            raise Fault(f"an epoch that the session never had: {place}")
        return epoch

    def _verify(self, received, last):
        place, epoch = received.place, self._epoch(received.place)
        if epoch is None or place.version > epoch.last:
            if epoch is not None and epoch.is_open:
                raise Fault(f"{place} is not in the log, which ends at {epoch.last}")
            return
        if place.version not in epoch.states:
            return  # This event was verified before. It stays as the start of the comparison.
        expected = document.select({"p": epoch.states[place.version]}, stored_half(received.patterns))
        stored = {path: value for path, value in received.values.items() if path[:1] != ("t",)}
        if self.watch.is_patch:
            stored = {path: value for path, value in stored.items() if value is not None or path in expected}
        if not same_stored(stored, expected):
            raise Fault(f"at {place} it has {shortened(stored)}, and the log gives {shortened(expected)}")
        if received.kind == "start" or last is None or last.place.epoch != place.epoch:
            return
        if last.place.version < place.version:
            self._verify_gap(epoch, last, received)
        elif received.misfit is not None:
            raise Fault(str(received.misfit))
        self._verify_transients(epoch, last, received)

    def _verify_gap(self, epoch, last, received):
        place = received.place
        is_transient = (place.version, f"{place.incarnation}-{place.transients}") in epoch.transients
        may_be_transient = is_transient or place.transients > last.place.transients
        # A transient change has the version of the last stored event, and that event came already.
        versions = range(last.place.version + 1, place.version + is_transient)
        missed = [version for version in versions if epoch.is_visible(version, received.patterns)]
        is_slow = self._is_slow(epoch, received.patterns, range(last.place.version + 1, place.version + 1))
        if received.misfit is not None and not is_slow:
            raise Fault(str(received.misfit))
        may_be_merged = received.kind == "catch-up" or self.watch.interval > 0
        self.merged += bool(missed) and is_slow and not may_be_merged
        if missed and not (is_slow or may_be_merged):
            raise Fault(f"version {missed[0]} never came, before {place}: {shortened(epoch.entries[missed[0]])}")
        # An event of a paced stream may be caused by any version since the stream's last event.
        told = range(last.place.version + 1 if self.watch.interval else place.version, place.version + 1)
        is_seen = any(epoch.is_visible(version, received.patterns) is not False for version in told)
        # A merged event has the version of the session's last change, even if the stream does not see that change.
        # An event that no log entry explains has that version, too.
        is_merged = received.kind == "catch-up" or self._is_not_logged(received)
        if not (is_seen or missed or may_be_transient or is_merged):
            raise Fault(f"version {place.version} changed nothing that is watched: {shortened(epoch.entries[place.version])}")

    def _is_slow(self, epoch, patterns, versions):
        """True if these versions have so many bytes that a slow reader gets a merged change."""
        if not self.watch.session.is_heavy:
            return False
        return sum(len(str(epoch.entries[version])) for version in versions
                   if epoch.is_visible(version, patterns) is not False) > UNSENT_MIN

    @staticmethod
    def _is_not_logged(received):
        """True for the event at the end of a read of the log. It has the present values of transient fields."""
        return received.may_be_end_of_log and received.place.incarnation != LOG_INCARNATION and all(
            document.tokens(change["path"])[:1] == ("t",) for change in received.changes)

    def _verify_transients(self, epoch, last, received):
        """Checks that no acknowledged transient change is missing between two events of one connection. Also checks that the event has the changes of its dispatch's answer."""
        place = received.place
        if received.connection != last.connection or received.kind != "change" or self.watch.interval or self.watch.session.is_heavy:
            return
        if place.incarnation != last.place.incarnation or self.watch.is_patch:
            return
        for number in range(last.place.transients + 1, place.transients + 1):
            for version in range(last.place.version, place.version + 1):
                answer = epoch.transients.get((version, f"{place.incarnation}-{number}"))
                if answer is None or not (seen := self._whole(answer["changes"], received.patterns)):
                    continue
                if (version, number) != (place.version, place.transients):
                    raise Fault(f"the transient change {answer} never came, before {place}")
                if [change for change in received.changes if change in seen] != seen:
                    raise Fault(f"{received.changes} came, and the answer was {answer}")

    def _whole(self, changes, patterns):
        """The changes that the stream sees unaltered."""
        paths = [(change, document.tokens(change["path"])) for change in changes]
        return [change for change, path in paths if change["op"] == "replace" and any(
            len(pattern) <= len(path) and document.matches(pattern, path) for pattern in patterns)]

    def _verify_end(self, last):
        epoch = self._epoch(last.place)
        if epoch is None:
            return
        for version in range(last.place.version + 1, epoch.last + 1):
            if epoch.is_visible(version, self.watch.patterns) and not self._is_even(epoch, last.place.version, epoch.last):
                raise Fault(f"version {version} never came, and the session stands at {epoch.last}: {shortened(epoch.entries[version])}")

    def _is_even(self, epoch, before, after):
        """True if a resumed, paced or slow stream missed only changes that were reverted."""
        if self.received[-1].connection == self.connection and not self.watch.interval and not self.watch.session.is_heavy:
            return False
        stored = stored_half(self.watch.patterns)
        return document.select({"p": epoch.states[before]}, stored) == document.select({"p": epoch.states[after]}, stored)

    def has(self, state):
        """True if the document is that of a session with this state."""
        return self._known(state) == document.select(state, self.watch.patterns)

    def verify_state(self, state):
        """Compares the document with the state of a session without requests in flight."""
        if not self.has(state):
            expected = document.select(state, self.watch.patterns)
            raise Fault(f"it has {shortened(self._known(state))}, and the state is {shortened(expected)}")

    def _known(self, state):
        """The stream's values. In a patched document, a null for an absent value is left out."""
        if not self.watch.is_patch or self.values is None:
            return self.values
        expected = document.select(state, self.watch.patterns)
        return {path: value for path, value in self.values.items() if value is not None or path in expected}

    def story(self):
        return f"stream {self.number}, {self.watch}:\n" + "\n".join(f"    {line}" for line in self.history)


def stored_half(patterns):
    return [pattern for pattern in patterns if pattern[:1] != ("t",)]


def same_stored(values, expected):
    """True if the values agree, apart from the transient half, which is in no log."""
    if values.keys() != expected.keys():
        return False
    return all(value == expected[path] if path else value["p"] == expected[path]["p"] for path, value in values.items())

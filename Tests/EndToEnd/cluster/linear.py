# Decides by the algorithm of Wing and Gong if concurrent operations on one object have an order that explains them.
"""Linearizability of the operations on one session, or on one item of a store.

Source: <https://www.cs.cmu.edu/~wing/publications/WingGong93.pdf>, with the memo of
<https://www.cs.ox.ac.uk/people/gavin.lowe/LinearizabiltyTesting/paper.pdf>.
"""

import dataclasses
import math

#: A value that an operation does not show.
UNSEEN = object()
#: The value of unanswered writes that no read shows.
UNREAD = object()
#: The state after an operation that cannot happen.
IMPOSSIBLE = object()
#: The most configurations of one search. A search that needs more is a finding, because its history was not decided.
CONFIGURATIONS_MAX = 2_000_000


@dataclasses.dataclass(frozen=True, eq=False)
class Operation:
    """One operation of a client.

    `kind` is "write", "read", or "refusal" for a condition that did not hold. `version` is the version that the answer named,
    and `expected` the version of the condition. `returned` is None if no answer came: the operation may happen at any time.
    """

    kind: str
    invoked: float
    returned: float | None
    value: object = UNSEEN
    version: int | None = None
    expected: int | None = None

    @property
    def end(self):
        return math.inf if self.returned is None else self.returned


class Session:
    """The model of a session: each write makes the next version."""

    def __init__(self, version=0, value=UNSEEN):
        self.start = (version, value)

    @staticmethod
    def step(state, operation):
        """The state after the operation, or IMPOSSIBLE if it cannot happen in this state."""
        version, value = state
        match operation.kind:
            case "write":
                if operation.expected not in (None, version) or operation.version not in (None, version + 1):
                    return IMPOSSIBLE
                return version + 1, operation.value
            case "read" | "refusal":
                is_seen = operation.value is UNSEEN or value is UNSEEN or operation.value == value
                holds = operation.kind == "refusal" and operation.expected == version
                return state if operation.version == version and is_seen and not holds else IMPOSSIBLE

    @staticmethod
    def is_missed(state, operation):
        """True if the operation cannot happen in any later state."""
        return operation.version is not None and operation.version < state[0] + (operation.kind == "write")

    @staticmethod
    def useful(operations):
        """The operations, with the versions of the unanswered writes that a read shows."""
        read = {each.value: each.version for each in operations if each.kind != "write" and each.value is not UNSEEN}
        for each in operations:
            if each.returned is None:
                each = dataclasses.replace(each, version=read.get(each.value), value=each.value if each.value in read else UNREAD)
            yield each


class Register:
    """The model of an item: a read shows the last write."""

    def __init__(self, value=None):
        self.start = value

    @staticmethod
    def step(state, operation):
        if operation.kind == "write":
            return operation.value
        return state if operation.value == state else IMPOSSIBLE

    @staticmethod
    def is_missed(state, operation):
        return False

    @staticmethod
    def useful(operations):
        """The operations without the unanswered writes that no read shows. They change nothing, because a write shows nothing."""
        read = {operation.value for operation in operations if operation.kind == "read"}
        return [operation for operation in operations if operation.returned is not None or operation.value in read]


@dataclasses.dataclass(frozen=True)
class _Configuration:
    """A set of operations that have happened, and the state after them.

    All answered operations before `base` have happened, and those in `beyond`. `unanswered` has the unanswered ones.
    """

    base: int
    beyond: frozenset
    unanswered: frozenset
    state: object


class _Search:
    def __init__(self, operations, model):
        operations = list(model.useful(operations))
        self.model = model
        self.answered = sorted((each for each in operations if each.returned is not None), key=lambda each: each.invoked)
        self.unanswered = sorted((each for each in operations if each.returned is None), key=lambda each: each.invoked)

    def _window(self, configuration):
        """The answered operations that may come next. Each began before any other of the rest had its answer."""
        end, window = math.inf, []
        for index in range(configuration.base, len(self.answered)):
            operation = self.answered[index]
            if operation.invoked > end:
                break
            if index not in configuration.beyond:
                window.append(index)
                end = min(end, operation.end)
        return [index for index in window if self.answered[index].invoked <= end], end

    def next(self, configuration):
        """The configurations after one more operation."""
        window, end = self._window(configuration)
        state = configuration.state
        if any(self.model.is_missed(state, self.answered[index]) for index in window):
            return
        has_unread = False
        for number, operation in enumerate(self.unanswered):
            if number not in configuration.unanswered and operation.invoked <= end:
                # Any of the unread writes has the same effect, so only the earliest one is tried.
                is_unread = operation.value is UNREAD and operation.expected is None
                if is_unread and has_unread:
                    continue
                has_unread |= is_unread
                after = self.model.step(state, operation)
                if after is not IMPOSSIBLE:
                    yield dataclasses.replace(configuration, unanswered=configuration.unanswered | {number}, state=after)
        for index in reversed(window):
            after = self.model.step(state, self.answered[index])
            if after is not IMPOSSIBLE:
                base, beyond = configuration.base, configuration.beyond | {index}
                while base in beyond:
                    beyond, base = beyond - {base}, base + 1
                yield dataclasses.replace(configuration, base=base, beyond=beyond, state=after)

    def run(self):
        """None if there is an order, or the furthest configuration."""
        stack = [_Configuration(0, frozenset(), frozenset(), self.model.start)]
        seen, furthest = set(stack), stack[0]
        while stack:
            configuration = stack.pop()
            if configuration.base == len(self.answered):
                return None
            if len(seen) > CONFIGURATIONS_MAX:
                break
            if configuration.base > furthest.base:
                furthest = configuration
            for following in self.next(configuration):
                if following not in seen:
                    seen.add(following)
                    stack.append(following)
        return furthest

    def story(self, configuration):
        """The operations that fit nowhere."""
        window, _ = self._window(configuration)
        waiting = [f"    {self.answered[index]}" for index in window]
        rest = [f"    {each}" for number, each in enumerate(self.unanswered) if number not in configuration.unanswered]
        return "\n".join([f"no order explains the operations after the state {configuration.state}:", *waiting,
                          f"  {len(rest)} unanswered:", *rest[:10]])  # fmt: skip


def finding(operations, model):
    """None if the operations are linearizable, or a text that shows the first ones that are not."""
    search = _Search(operations, model)
    furthest = search.run()
    return None if furthest is None else search.story(furthest)

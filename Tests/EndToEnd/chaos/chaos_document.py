# The state as a client of the chaos test has it: values at watched paths, and functions that apply changes to them.
"""Values are never altered in place: an earlier document stays the same, and the next one shares most of its parts."""


class Absent:
    def __repr__(self):
        return "absent"


ABSENT = Absent()


class Misfit(Exception):
    """A change that does not fit the document."""


def tokens(pointer):
    """The tokens of a JSON Pointer."""
    if pointer == "":
        return ()
    if not pointer.startswith("/"):
        raise Misfit(f"{pointer!r} is no JSON Pointer")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer[1:].split("/"))


def text(path):
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in path)


def position(value, token):
    """The index of the list's element that the token names. The token is an id, or an index if the elements have no ids."""
    if value and isinstance(value[0], dict) and "id" in value[0]:
        return next((at for at, element in enumerate(value) if str(element["id"]) == token), None)
    return int(token) if token.isdigit() and int(token) < len(value) else None


def child(value, token):
    if isinstance(value, dict):
        return value.get(token, ABSENT)
    if isinstance(value, list):
        at = position(value, token)
        return ABSENT if at is None else value[at]
    return ABSENT


def value_at(value, path):
    for token in path:
        value = child(value, token)
        if value is ABSENT:
            return ABSENT
    return value


def places(value, pattern, at=()):
    """Yields each path that matches the pattern, with its value. `*` matches any token."""
    if value is ABSENT:
        return
    if len(at) == len(pattern):
        yield at, value
        return
    token = pattern[len(at)]
    if token != "*":
        found = child(value, token)
        yield from places(found, pattern, (*at, token)) if found is not ABSENT else ()
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, pattern, (*at, name))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            has_id = isinstance(element, dict) and "id" in element
            yield from places(element, pattern, (*at, str(element["id"]) if has_id else str(index)))


def select(state, patterns):
    """The values at the patterns by concrete path, as a snapshot has them."""
    return {place: value for pattern in patterns for place, value in places(state, pattern)}


def matches(pattern, path):
    """True if the pattern and the path match up to the end of the shorter one."""
    return all(wanted in ("*", token) for wanted, token in zip(pattern, path))


def altered(value, path, change, is_merged):
    """The value after the change at the path below it."""
    if len(path) > 1:
        inner = altered(child(value, path[0]), path[1:], change, is_merged)
        if isinstance(value, dict):
            return {**value, path[0]: inner}
        at = position(value, path[0])
        return [*value[:at], inner, *value[at + 1 :]]
    token, operation = path[0], change["op"]
    if isinstance(value, dict):
        return _altered_member(value, token, change, is_merged)
    if not isinstance(value, list):
        raise Misfit(f"{operation} in {value!r:.100}, which has no parts")
    at = position(value, token)
    index = change.get("index")
    if operation == "add":
        if at is not None:
            raise Misfit("add of a value that is present")
        if not isinstance(index, int) or not 0 <= index <= len(value):
            raise Misfit(f"add at {index!r} of {len(value)} elements")
        if str(change["value"].get("id")) != token:
            raise Misfit("add of an element that has another id")
        return [*value[:index], change["value"], *value[index:]]
    if at is None:
        raise Misfit(f"{operation} of an absent value")
    if operation == "remove":
        return [*value[:at], *value[at + 1 :]]
    if operation == "move":
        rest = [*value[:at], *value[at + 1 :]]
        if not isinstance(index, int) or not 0 <= index <= len(rest):
            raise Misfit(f"move to {index!r} of {len(value)} elements")
        if index == at and not is_merged:
            raise Misfit("move to the present index")
        return [*rest[:index], value[at], *rest[index:]]
    _check_differs(value[at], change["value"], is_merged)
    return [*value[:at], change["value"], *value[at + 1 :]]


def _altered_member(value, token, change, is_merged):
    operation = change["op"]
    if operation == "add":
        if token in value:
            raise Misfit("add of a value that is present")
        return {**value, token: change["value"]}
    if token not in value:
        raise Misfit(f"{operation} of an absent value")
    if operation == "remove":
        return {name: member for name, member in value.items() if name != token}
    if operation != "replace":
        raise Misfit(f"{operation} of a member")
    _check_differs(value[token], change["value"], is_merged)
    return {**value, token: change["value"]}


def _check_differs(before, after, is_merged):
    if not is_merged and before == after:
        raise Misfit("the value is what it was")


def is_within(path, outer):
    """True if the path is below the outer path."""
    return len(outer) < len(path) and path[: len(outer)] == outer


def applied(values, patterns, change, is_merged=False, told=()):
    """The values by path after one change. `is_merged` means that the server cannot know exactly which values the reader has.

    Each watched path gets a separate change. A change alters the value at its path and the watched values that contain it.
    It does not alter the watched values within it. `told` has the paths of the event's earlier changes.
    If an earlier change replaced a value that contains this path, the watched values that contain both have this change already.
    """
    if not {"op", "path"} <= set(change) <= {"op", "path", "value", "index", "transient"}:
        raise Misfit(f"not the members of a change: {sorted(change)}")
    operation = change["op"]
    if operation not in ("add", "replace", "remove", "move") or ("value" in change) != (operation in ("add", "replace")):
        raise Misfit(f"no change: {change!r:.200}")
    path = tokens(change["path"])
    if not any(len(pattern) <= len(path) and matches(pattern, path) for pattern in patterns):
        raise Misfit("nothing at or above this path is watched")
    if operation != "move" and any(is_within(other, path) for other in told):
        raise Misfit("an earlier change of this event is within this path")
    is_watched = any(len(pattern) == len(path) and matches(pattern, path) for pattern in patterns)
    containers = [place for place in values if is_within(path, place)]
    # Only an element that is watched alone, or a value at a watched path itself, has no container here.
    if not containers and not is_watched:
        raise Misfit("the watched value that contains this path is absent")
    if operation == "move" and not containers:
        raise Misfit("move of an element whose collection is not watched")
    after = dict(values)
    for place in containers:
        if any(is_within(path, outer) and len(outer) >= len(place) for outer in told):
            if value_at(values[place], path[len(place) :]) != change.get("value", ABSENT):
                raise Misfit("not what the outer change gave")
        elif is_merged and is_watched and operation == "remove" and value_at(values[place], path[len(place) :]) is ABSENT:
            pass  # The value was added and removed in between. A stream that watches only this path needs the change.
        else:
            after[place] = altered(values[place], path[len(place) :], change, is_merged)
    if is_watched and operation != "move":
        _check_place(values.get(path, ABSENT), change, is_merged)
        after.pop(path, None)
        if "value" in change:
            after[path] = change["value"]
    return after


def check_nested(values, patterns):
    """Checks that each watched value agrees with the watched values within it.

    Each path that a pattern matches within another value has the same value there, and no other path within it has a value.
    If the outer value is absent, the values within it are absent, too.
    """
    for place in values:
        for pattern in patterns:
            outer = place[: len(pattern)]
            if len(pattern) < len(place) and matches(pattern, place) and outer not in values:
                raise Misfit(f"{text(place)!r} disagrees with {text(outer)!r}, which contains it and has no value")
    for outer, value in values.items():
        for pattern in patterns:
            if len(pattern) <= len(outer) or not matches(pattern, outer):
                continue
            expected = {outer + below: part for below, part in places(value, pattern[len(outer) :])}
            known = {place: part for place, part in values.items() if is_within(place, outer) and len(place) == len(pattern) and matches(pattern, place)}
            if known != expected:
                wrong = [text(place) for place in known.keys() | expected.keys() if known.get(place, ABSENT) != expected.get(place, ABSENT)]
                raise Misfit(f"{sorted(wrong)} disagree with {text(outer)!r}, which contains them")


def _check_place(before, change, is_merged):
    operation = change["op"]
    if is_merged:
        return
    if (before is ABSENT) != (operation == "add"):
        raise Misfit(f"{operation} of {'an absent' if before is ABSENT else 'a present'} value")
    if operation == "replace":
        _check_differs(before, change["value"], is_merged)


def patched(document, operations):
    """The document after an RFC 6902 patch. ABSENT becomes null, as in the HTTP contract."""
    document = None if document is ABSENT else document
    for operation in operations:
        name, path = operation["op"], tokens(operation["path"])
        if name == "move":
            source = tokens(operation["from"])
            value = _at(document, source)
            document = _patched(document, source, "remove", None)
            document = _patched(document, path, "add", value)
        else:
            document = _patched(document, path, name, operation.get("value"))
    return document


def _at(document, path):
    for token in path:
        try:
            document = document[int(token)] if isinstance(document, list) else document[token]
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise Misfit(f"a patch from {path}, which does not exist") from error
    return document


def _patched(document, path, name, value):
    if not path:
        if name not in ("add", "replace"):
            raise Misfit(f"{name} of the root")
        return value
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if (rest or name != "add") and head not in document:
            raise Misfit(f"{name} at {head!r}, which does not exist")
        if rest:
            return {**document, head: _patched(document[head], rest, name, value)}
        if name == "remove":
            return {key: member for key, member in document.items() if key != head}
        return {**document, head: value}
    if not isinstance(document, list) or not (head.isdigit() or head == "-"):
        raise Misfit(f"{name} at {head!r} of {document!r:.80}")
    at = len(document) if head == "-" else int(head)
    if at > len(document) or (at == len(document) and (rest or name != "add")):
        raise Misfit(f"{name} at {at} of {len(document)} elements")
    if rest:
        return [*document[:at], _patched(document[at], rest, name, value), *document[at + 1 :]]
    return [*document[:at], *([value] if name != "remove" else []), *document[at + (name != "add") :]]

# What a client of the chaos test knows of a state: values at watched paths, and how changes alter them.
"""Values are never altered in place: a document of before stays what it was, and most of it is shared with the one after."""


class Absent:
    def __repr__(self):
        return "absent"


ABSENT = Absent()


class Misfit(Exception):
    """A change that cannot be made to the document it is for."""


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
    """Where the token leads in a list: to the element of this id, or of this index where elements have no ids."""
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
    """Each place that the pattern (`*` is any token) leads to, with its value."""
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
    """The values at the patterns, by concrete path: what a snapshot says."""
    return {place: value for pattern in patterns for place, value in places(state, pattern)}


def matches(pattern, path):
    """Whether the pattern's first tokens are the path's, as far as both go."""
    return all(wanted in ("*", token) for wanted, token in zip(pattern, path))


def altered(value, path, change, is_merged):
    """The value with the change at the path below it made."""
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
            raise Misfit("add of what is there")
        if not isinstance(index, int) or not 0 <= index <= len(value):
            raise Misfit(f"add at {index!r} of {len(value)} elements")
        if str(change["value"].get("id")) != token:
            raise Misfit("add of an element that has another id")
        return [*value[:index], change["value"], *value[index:]]
    if at is None:
        raise Misfit(f"{operation} of what is not there")
    if operation == "remove":
        return [*value[:at], *value[at + 1 :]]
    if operation == "move":
        rest = [*value[:at], *value[at + 1 :]]
        if not isinstance(index, int) or not 0 <= index <= len(rest):
            raise Misfit(f"move to {index!r} of {len(value)} elements")
        if index == at and not is_merged:
            raise Misfit("move to where it is")
        return [*rest[:index], value[at], *rest[index:]]
    _check_differs(value[at], change["value"], is_merged)
    return [*value[:at], change["value"], *value[at + 1 :]]


def _altered_member(value, token, change, is_merged):
    operation = change["op"]
    if operation == "add":
        if token in value:
            raise Misfit("add of what is there")
        return {**value, token: change["value"]}
    if token not in value:
        raise Misfit(f"{operation} of what is not there")
    if operation == "remove":
        return {name: member for name, member in value.items() if name != token}
    if operation != "replace":
        raise Misfit(f"{operation} of a member")
    _check_differs(value[token], change["value"], is_merged)
    return {**value, token: change["value"]}


def _check_differs(before, after, is_merged):
    if not is_merged and before == after:
        raise Misfit("the value is what it was")


def applied(values, patterns, change, is_merged=False):
    """The values by path with one change made. `is_merged`: the server cannot know exactly what the reader has."""
    if not {"op", "path"} <= set(change) <= {"op", "path", "value", "index", "transient"}:
        raise Misfit(f"not the members of a change: {sorted(change)}")
    operation = change["op"]
    if operation not in ("add", "replace", "remove", "move") or ("value" in change) != (operation in ("add", "replace")):
        raise Misfit(f"no change: {change!r:.200}")
    path = tokens(change["path"])
    if not any(len(pattern) <= len(path) and matches(pattern, path) for pattern in patterns):
        raise Misfit("nothing at or above this path is watched")
    after = dict(values)
    for place in values:
        if len(place) < len(path) and path[: len(place)] == place:
            after[place] = altered(values[place], path[len(place) :], change, is_merged)
    # Only an element that is watched alone, or what is at a watched path itself, has no container here.
    if not any(len(place) < len(path) and path[: len(place)] == place for place in values):
        if not any(len(pattern) == len(path) and matches(pattern, path) for pattern in patterns):
            raise Misfit("what contains this path is not there")
        _check_place(values.get(path, ABSENT), change, is_merged)
    new = change.get("value", ABSENT)
    if operation == "move":
        return after
    for place in [place for place in after if place[: len(path)] == path]:
        del after[place]
    for pattern in patterns:
        if len(pattern) >= len(path) and matches(pattern, path):
            rest = pattern[len(path) :]
            after.update((path + below, value) for below, value in places(new, rest))
    return after


def _check_place(before, change, is_merged):
    operation = change["op"]
    if operation == "move":
        raise Misfit("move of an element whose collection is not watched")
    if is_merged:
        return
    if (before is ABSENT) != (operation == "add"):
        raise Misfit(f"{operation} of what is {'not ' if before is ABSENT else ''}there")
    if operation == "replace":
        _check_differs(before, change["value"], is_merged)


def patched(document, operations):
    """The document after an RFC 6902 patch; ABSENT is null, as the contract has it."""
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
            raise Misfit(f"a patch from {path}, which is not there") from error
    return document


def _patched(document, path, name, value):
    if not path:
        if name not in ("add", "replace"):
            raise Misfit(f"{name} of the root")
        return value
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if (rest or name != "add") and head not in document:
            raise Misfit(f"{name} at {head!r}, which is not there")
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

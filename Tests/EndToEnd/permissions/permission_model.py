"""The rules of permissions, written from Documentation/Security.md and not from the server's code.

A path is a tuple of tokens. `ANY` is the token `*` of a pattern.
"""

import re

EVERY = frozenset("describe read dispatch create delete list history restore fork write secrets".split())
ANY = None
ALL = None
VARIABLE = re.compile(r"(\*|\$\{[^}]*\})")


class Caller:
    """A caller with its grants. Without a subject it is anonymous, and may have the `me` of a cookie."""

    def __init__(self, subject, grants, me=None, claims=None, is_anonymous=False):
        self.subject, self.me, self.claims, self.is_anonymous = subject, me, claims or {}, is_anonymous
        self.given = grants
        #: The texts that the grants and claims themselves have, so that the caller knows them.
        self.named = set(re.findall(rb"cn[0-9a-f]{12}", repr((grants, claims)).encode()))
        self.grants = [Grant(grant, self) for grant in grants]

    def value(self, variable):
        """The caller's text for a variable; None if it has none."""
        if variable == "me":
            return self.me
        return self.subject if variable == "sub" else self.claims.get(variable.removeprefix("claim."))

    def access(self, app, session):
        """The permissions in one session."""
        return Access([grant for grant in self.grants if grant.is_of(app) and matches(grant.sessions, session)])

    def allows(self, action, app=None):
        """True if an action that is not one on a session is granted."""
        if action == "describe" and not self.is_anonymous:
            return True
        return any(action in grant.actions and (grant.app in (None, "*") if app is None else grant.is_of(app)) for grant in self.grants)

    def items(self, app, store, action):
        """The patterns of the items of a store; None for all items, and an empty list for none."""
        found = [grant.items for grant in self.grants if action in grant.actions and grant.is_of(app) and named(grant.stores, store)]
        return ALL if any(items is ALL or any(is_star(item) for item in items) for items in found) else sum(found, [])

    def value_allowed(self, app, value, action):
        return any(action in grant.actions and grant.is_of(app) and named(grant.values, value) for grant in self.grants)

    def listed(self, app):
        """The patterns of the sessions in a list; None if the list is refused."""
        patterns = sum((grant.sessions for grant in self.grants if "list" in grant.actions and grant.is_of(app)), [])
        if not patterns or any(is_star(pattern) for pattern in patterns):
            return patterns or None
        shortest = min((pattern.beginning for pattern in patterns), key=len)
        return patterns if shortest and all(pattern.beginning.startswith(shortest) for pattern in patterns) else None


class Grant:
    """One grant, with the caller's values in place of the variables."""

    def __init__(self, grant, caller):
        actions = set(grant["actions"])
        self.actions = actions - {"*"} | (EVERY if "*" in actions else set())
        self.app = grant.get("app")
        self.sessions = patterns(grant.get("sessions", []), caller)
        self.events = grant.get("events", ALL)
        self.views, self.stores, self.values = (grant.get(name, []) for name in ("views", "stores", "values"))
        self.items = patterns(grant["items"], caller) if "items" in grant else ALL
        # A view is never implied by paths, and paths are never implied by views.
        whole = [()] if not self.views else []
        self.paths = [path for text in grant["paths"] if (path := bound(text, caller)) is not ABSENT] if "paths" in grant else whole

    def is_of(self, app):
        return self.app in (app, "*")


class Pattern:
    """A pattern of ids."""

    def __init__(self, expression, beginning):
        self.expression, self.beginning = re.compile(expression, re.S), beginning


ABSENT = object()


def pattern(text, caller):
    expression, beginning, is_literal = "", "", True
    for part in filter(None, VARIABLE.split(text)):
        if part == "*":
            expression, is_literal = expression + ".*", False
            continue
        literal = caller.value(part[2:-1]) if part.startswith("${") else part
        if not literal:
            return ABSENT
        expression += re.escape(literal)
        beginning += literal if is_literal else ""
    return Pattern(expression, beginning)


def patterns(texts, caller):
    return [found for text in texts if (found := pattern(text, caller)) is not ABSENT]


def is_star(found):
    return re.fullmatch(r"(\.\*)+", found.expression.pattern) is not None


def matches(found, name):
    return found is ALL or any(one.expression.fullmatch(name) for one in found)


def named(names, name):
    return names is ALL or name in names or "*" in names


def bound(text, caller):
    """The tokens of a granted path; ABSENT without the caller's value, and for a value that would be a pattern."""
    path = []
    for token in text.split("/")[1:]:
        if token == "*":
            path.append(ANY)
            continue
        literal = "".join((caller.value(part[2:-1]) or "\0") if part.startswith("${") else part for part in VARIABLE.split(token))
        if "\0" in literal or literal == "*":
            return ABSENT
        path.append(literal.replace("~1", "/").replace("~0", "~"))
    return tuple(path)


class Mask:
    """The values at paths, with everything in them."""

    def __init__(self, paths):
        self.paths = [path for path in set(paths) if not any(path != other and covers(other, path) for other in paths)]
        self.is_all = () in paths

    def grants(self, path):
        return any(covers(own, path) for own in self.paths)

    def meets(self, path):
        return any(meet(own, path) is not ABSENT for own in self.paths)

    def within(self, paths):
        """The part within requested paths, and true if a part of these is left out."""
        requested = paths or [()]
        if all(map(self.grants, requested)):
            return Mask(requested), False
        return Mask([both for own in self.paths for path in requested if (both := meet(own, path)) is not ABSENT]), True

    def leaves(self, value, path=()):
        """The visible leaves of a value; an element of a keyed collection keeps its id."""
        return [(place, leaf) for place, leaf in leaves(value, path) if self.shows(place)]

    def shows(self, place):
        return self.grants(place.path) or (place.is_id and self.meets(place.path[:-1]))


def covers(outer, path):
    return len(outer) <= len(path) and all(own is ANY or own == token for own, token in zip(outer, path))


def meet(left, right):
    """The path that is within both; ABSENT if there is none."""
    if any(a is not ANY and b is not ANY and a != b for a, b in zip(left, right)):
        return ABSENT
    longer = left if len(left) > len(right) else right
    return tuple(b if a is ANY else a for a, b in zip(left, right)) + longer[min(len(left), len(right)):]


class Place(tuple):
    """The path of a leaf. `is_id` is true for the id of an element of a keyed collection."""

    def __new__(cls, path, is_id=False):
        place = super().__new__(cls, path)
        place.path, place.is_id = tuple(path), is_id
        return place


def leaves(value, path=(), is_element=False):
    """The texts, numbers, flags and nulls of a value, each with its path. Empty objects and arrays have none."""
    if isinstance(value, dict):
        for name, member in value.items():
            if is_element and name == "id":
                yield Place((*path, name), True), member
            else:
                yield from leaves(member, (*path, name))
    elif isinstance(value, list):
        is_keyed = all(isinstance(element, dict) and "id" in element for element in value)
        for index, element in enumerate(value):
            yield from leaves(element, (*path, element["id"] if is_keyed else str(index)), is_keyed)
    else:
        yield Place(path), value


def trimmed(found):
    """The leaves without the ids of elements that show nothing else: such an element may be left out."""
    kept = {place.path[:-1] for place, _ in found if not place.is_id}
    return [(place, leaf) for place, leaf in found if not place.is_id or any(path[: len(place.path) - 1] == place.path[:-1] for path in kept)]


class Access:
    """The permissions in one session: the union of grants."""

    def __init__(self, grants):
        self.actions = set().union(*(grant.actions for grant in grants))
        self.events = union(grant.events for grant in grants if "dispatch" in grant.actions)
        self.views = union(grant.views for grant in grants if "read" in grant.actions)
        self.reads = Mask(sum((grant.paths for grant in grants if "read" in grant.actions), []))
        self.history = Mask(sum((grant.paths for grant in grants if "history" in grant.actions), []))

    def has(self, action):
        return action in self.actions


def union(all_names):
    all_names = list(all_names)
    return ALL if any(names is ALL for names in all_names) else sum(map(list, all_names), [])

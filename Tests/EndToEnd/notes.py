# The app `notes` as its clients see it: the store, the values, the secret, and their streams.
"""Clients of the stores, values and secrets that all sessions of the app `notes` share."""

import urllib.parse

from harness import Stream

APP = "/v1/apps/notes"
STORE = APP + "/stores/notes"
#: Identifiers that a URL, a file or a database could take for something else.
IDS = [
    "a b", "a/b", "50%", "%2F", "a?b#c", "a+b", "é", "e\u0301", "日本", "🗒", '"', "\\", "\u0001", "\n", " ", "~", "...", "*", "null",
    "../x", "../../etc/passwd", "/", "EVENTS", "x" * 300,
]  # fmt: skip
SECRET = APP + "/secrets/apiToken"


def note(identifier, text="text"):
    """An item of the store."""
    return {"id": identifier, "text": text, "created": "2026-01-02T03:04:05Z"}


class Shared:
    """A shared resource by its path."""

    def __init__(self, server, path):
        self.server = server
        self.path = path

    def request(self, method, target="", body=None, **headers):
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.request(method, self.path + target, body, fields)

    def get(self, target="", **headers):
        return self.request("GET", target, **headers)

    def put(self, body, target="", **headers):
        return self.request("PUT", target, body, **headers)

    def post(self, body=None, target="", **headers):
        return self.request("POST", target, body, **headers)

    def delete(self, target="", **headers):
        return self.request("DELETE", target, **headers)

    @property
    def value(self):
        answer = self.get()
        assert answer.status == 200, answer
        return answer.json

    def changes(self, **options):
        return Changes(self, (), **{"cursor": None, "last_event_id": None} | options)


class Store(Shared):
    """The store. Methods that return no `Answer` require that the request is accepted."""

    def __init__(self, server):
        super().__init__(server, STORE)

    def insert(self, *items):
        """Inserts items, and returns the outcome."""
        answer = self.post(list(items))
        assert answer.status == 200, answer
        return answer.json

    def operate(self, *operations, **headers):
        return self.post({"operations": list(operations)}, "/operations", **headers)

    def read(self, identifier, **headers):
        return self.get("/" + urllib.parse.quote(identifier, safe=""), **headers)

    def page(self, **query):
        answer = self.get("?" + urllib.parse.urlencode(query) if query else "")
        assert answer.status == 200, answer
        return answer.json

    def pages(self, limit):
        """All pages, from the first to the last."""
        pages = [self.page(limit=limit)]
        while "next" in pages[-1]:
            pages.append(self.page(limit=limit, after=pages[-1]["next"]))
        return pages

    def items(self):
        return [item for page in self.pages(1000) for item in page["items"]]

    def ids(self):
        return [item["id"] for item in self.items()]

    @property
    def cursor(self):
        return self.get("?limit=1").headers["etag"].strip('"')

    def events(self, cursor=None, last_event_id=None, receive_buffer=None):
        return Events(self, (), cursor, last_event_id, receive_buffer)


class Changes(Stream):
    """The stream of a value."""

    resource = "/changes"


class Events(Stream):
    """The stream of a store."""

    resource = "/events"

    def follow(self, items, until):
        """Applies events to a dictionary of items until an event brings the item `until`, and returns the number of events."""
        count = 0
        while until not in items:
            event = self.next()
            apply(event, items)
            count += 1
        return count


def apply(event, items):
    """Applies an event to the items by identifier."""
    match event.name:
        case "initialized":
            assert event.data["items"] == []
        case "loaded" | "reset":
            assert "next" not in event.data, "only the first page is here"
            items.clear()
            items.update((item["id"], item["text"]) for item in event.data["items"])
        case "insert":
            if event.data.get("removedAll"):
                items.clear()
            for item in event.data.get("removed", []):
                items.pop(item["id"], None)
            items.update((item["id"], item["text"]) for item in event.data["items"])
        case "remove":
            for item in event.data["items"]:
                items.pop(item["id"], None)
        case _:
            raise AssertionError(event)

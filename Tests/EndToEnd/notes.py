# The app `notes` as its clients see it: the store, the values, the secret, and the streams of them.
"""Clients of what all sessions of the app `notes` share."""

import urllib.parse

from harness import Stream

APP = "/v1/apps/notes"
STORE = APP + "/stores/notes"
SECRET = APP + "/secrets/apiToken"


def note(identifier, text="text"):
    """An item of the store."""
    return {"id": identifier, "text": text, "created": "2026-01-02T03:04:05Z"}


class Shared:
    """Something that all sessions share, by its path."""

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
    """The store. What answers no `Answer` asks for something that has to be accepted."""

    def __init__(self, server):
        super().__init__(server, STORE)

    def insert(self, *items):
        """Inserts several; answers what became of them."""
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
        """Applies events to a dictionary of items, until one of them brings the item `until`; answers how many there were."""
        count = 0
        while until not in items:
            event = self.next()
            apply(event, items)
            count += 1
        return count


def apply(event, items):
    """What an event makes of the items that one has, by identifier."""
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


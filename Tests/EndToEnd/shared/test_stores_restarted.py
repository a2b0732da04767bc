# Stores after a restart, and with two workers.

import itertools

import pytest

from harness import threads
from notes import IDS, Store, note


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_items_with_order_and_tags_are_the_same_after_a_restart(serve, data, end):
    store = Store(serve(data))
    store.insert(*map(note, IDS))
    store.put(note("a b", "new"), "/a%20b")
    store.delete("/null")
    store.operate({"remove": ["~"]}, {"insert": [note("last"), note("~", "back")]})
    items, tags = store.items(), {name: store.read(name).headers["etag"] for name in store.ids()}
    assert [item["id"] for item in items] == [name for name in IDS if name not in ("null", "~")] + ["last", "~"]
    page = store.page(limit=3)
    getattr(store.server, end)()

    store = Store(serve(data))
    assert store.items() == items
    assert store.page(limit=3, after=page["next"])["items"] == items[3:6], "the next page begins after the last item"
    for name, tag in tags.items():
        assert store.read(name, If_None_Match=tag).status == 304, name
    assert store.put(note("a b", "newer"), "/a%20b", If_Match=tags["a b"]).status == 200
    assert store.put(note("~", "lost"), "/~", If_Match='"other"').status == 412
    store.insert(note("very last"))
    assert store.ids() == [item["id"] for item in items] + ["very last"]


def test_a_tag_of_the_list_is_not_valid_after_a_restart(serve, data):
    store = Store(serve(data))
    store.insert(note("a"))
    tag = store.get().headers["etag"]
    store.server.stop()
    store = Store(serve(data))
    assert store.get(If_None_Match=tag).status == 200
    assert store.delete(If_Match=tag).problem["status"] == 412
    assert store.ids() == ["a"]


def test_two_workers_serve_one_store(serve, data):
    store = Store(serve(data, arguments=["--workers", "2"]))
    numbers = itertools.count()

    def insert(i):
        for _ in range(10):
            name = f"{next(numbers)}"
            assert store.post(note(name)).status == 201
            assert store.read(name).status == 200, "a read after the answer has the new item"

    with threads(8, insert):
        pass
    assert len(set(store.ids())) == 80

# The streams of stores, by <Documentation/HTTP.md#stores-values-and-secrets>: the latest event, then each later one
# once and in order, or a reset.

import itertools
import json
import random
import re

import pytest

from harness import Connection, message, threads
from notes import APP, STORE, Store, apply, note


def texts(store):
    """The texts of the store by identifier, in the form that `apply` builds from events."""
    return {item["id"]: item["text"] for item in store.items()}


def loading(stream):
    """The `loaded` event of a server that has just started. `initialized` comes first if the stream opened before the items were read."""
    event = stream.next()
    if event.name == "initialized":
        assert (event.cursor, event.data) == (None, {"version": 0, "operation": "initialized", "items": []})
        event = stream.next()
    assert event.name == "loaded", event
    return event


# The beginning


def test_the_head_and_the_first_bytes_come_at_once(store):
    with store.events() as stream:
        assert stream.status == 200
        assert stream.headers["content-type"].split(";")[0] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-store, no-transform"
        assert stream.headers["x-accel-buffering"] == "no" and stream.headers["x-content-type-options"] == "nosniff"
        stream.next()
        assert stream.comments >= 1


def test_a_stream_that_resumes_while_the_store_loads_waits_and_gets_a_reset_with_the_reason(serve, data):
    store = Store(serve(data))
    for start in range(0, 20_000, 1_000):
        store.insert(*(note(f"n{i}", "") for i in range(start, start + 1_000)))
    cursor = store.cursor
    store.server.stop()
    store = Store(serve(data))
    with store.events(last_event_id=cursor) as stream:
        reset = stream.expect("reset")
        assert reset.data["reason"] == "epoch-changed" and len(reset.data["items"]) > 1_000


def test_a_copy_made_from_events_equals_the_store_also_after_chains(store):
    store.insert(*(note(name) for name in "abcd"))
    copy = texts(store)
    cursor = store.cursor
    assert store.operate({"remove": ["a", "b", "x"]}, {"insert": [note("e"), note("a", "again")]}).status == 200
    with store.events(cursor=cursor) as stream:
        apply(stream.expect("insert"), copy)
        assert copy == texts(store) and list(copy) == store.ids() == ["c", "d", "e", "a"]
        assert store.operate({"removeAll": {}}, {"insert": [note("f")]}).status == 200
        event = stream.expect("insert")
        assert event.data["removedAll"] is True
        apply(event, copy)
        assert copy == texts(store) == {"f": "text"}


def test_after_a_start_a_stream_begins_with_all_items_and_then_with_the_latest_event(serve, data):
    store = Store(serve(data))
    with store.events() as stream:
        empty = loading(stream)
        assert empty.data == {"version": 0, "operation": "loaded", "items": []}
    store.insert(note("a"), note("b"))
    store.server.stop()

    store = Store(serve(data))
    with store.events() as stream:
        loaded = loading(stream)
        assert loaded.data == {"version": 0, "operation": "loaded", "items": [note("a"), note("b")]}
        assert loaded.cursor == store.cursor
        assert loaded.cursor.split(".")[0] != empty.cursor.split(".")[0], "versions begin again at 0, and the cursor has another epoch"
        store.post(note("c"))
        assert stream.expect("insert").data == {"version": 1, "operation": "insert", "items": [note("c")]}
    with store.events() as stream:
        assert stream.expect("insert").data["items"] == [note("c")]
        store.delete("/a")
        assert stream.expect("remove").data == {"version": 2, "operation": "remove", "items": [note("a")]}
    with store.events() as stream:
        assert stream.expect("remove").data["items"] == [note("a")]


def test_each_change_is_one_event_whose_id_is_the_cursor_of_its_answer(store):
    with store.events() as stream:
        start = stream.next().data["version"]
        expected = []
        for items in ([note("a"), note("b"), note("a", "last")], [note("b", "new")], []):
            expected.append(("insert", store.insert(*items)["cursor"], list({item["id"]: item for item in items}.values())))
        store.put(note("c"), "/c")
        expected.append(("insert", store.cursor, [note("c")]))
        store.delete("/c")
        expected.append(("remove", store.cursor, [note("c")]))
        store.delete()
        expected.append(("remove", store.cursor, [note("a", "last"), note("b", "new")]))
        store.delete()
        expected.append(("remove", store.cursor, []))
        received = [stream.next() for _ in expected]
    assert [(event.name, event.cursor, event.data["items"]) for event in received] == expected
    assert [event.data["version"] for event in received] == list(range(start + 1, start + 1 + len(expected)))
    assert all(event.name == event.data["operation"] for event in received)


def test_a_request_that_changes_nothing_sends_no_event(store):
    store.insert(note("a"))
    with store.events() as stream:
        start = stream.expect("insert").data["version"]
        for refused in (
            store.delete("/never"), store.post({"id": "x"}), store.put(note("b"), "/a"), store.put(note("a"), "/a", If_Match='"x"'),
            store.delete(If_Match='"zzzzzzzz.1"'), store.operate({"insert": [note("x")]}, {"insert": [{}]}),
        ):  # fmt: skip
            assert refused.status in (404, 412, 422)
        assert store.operate({"remove": ["never"]}).json["removed"] == 0
        assert store.operate().status == 200
        store.post(note("b"))
        assert stream.expect("insert").data == {"version": start + 1, "operation": "insert", "items": [note("b")]}


def test_a_removal_of_a_list_or_of_all_and_the_insert_after_it_are_one_event(store):
    store.insert(note("a"), note("b"))
    with store.events() as stream:
        stream.next()
        store.operate({"remove": ["a"]}, {"insert": [note("a", "new")]})
        assert stream.expect("insert").data["items"] == [note("a", "new")]
        store.operate({"removeAll": {}}, {"insert": [note("c")]})
        assert stream.expect("insert").data["items"] == [note("c")]
        store.operate({"remove": "c"}, {"insert": [note("d")]})
        assert stream.expect("remove").data["items"] == [note("c")]
        assert stream.expect("insert").data["items"] == [note("d")]
        store.operate({"remove": ["d"]}, {"remove": ["never"]}, {"insert": [note("e")]})
        assert stream.expect("remove").data["items"] == [note("d")]
        assert stream.expect("insert").data["items"] == [note("e")]
    assert store.ids() == ["e"]


def test_a_block_is_plain_lines_and_json_on_one(store):
    with store.events() as stream:
        stream.next()
        store.post(note("a\nb", 'a\nb\r"ü\u2028'))
        raw = stream.expect("insert").raw
    match = re.fullmatch(rb"event: insert\nid: ([a-z0-9]{8}\.[0-9]+)\ndata: (\{.*\})\n\n", raw)
    assert match, raw
    assert json.loads(match[2])["items"][0] == note("a\nb", 'a\nb\r"ü\u2028')


def test_a_note_that_a_session_publishes_is_sent_to_all_streams(store):
    session = store.server.session("publisher", app="notes")
    session.dispatch({"saveDraft": {"id": "draft", "text": "hello"}})
    with store.events() as stream, session.stream("/p/drafts") as drafts:
        stream.next(), drafts.expect("snapshot")
        session.dispatch({"publish": "draft"})
        [item] = stream.expect("insert").data["items"]
        assert (item["id"], item["text"]) == ("draft", "hello")
        assert [change["op"] for change in drafts.expect("change").data["changes"]] == ["remove"]
    assert store.read("draft").json == item


# Resuming


@pytest.mark.parametrize("how", ["cursor", "last_event_id"])
def test_resume_sends_each_missed_event(store, how):
    cursor = store.insert(note("a"))["cursor"]
    store.insert(note("b")), store.delete("/a"), store.operate({"remove": "b"}, {"insert": [note("c")]})
    with store.events(**{how: cursor}) as stream:
        received = [stream.next() for _ in range(4)]
        store.post(note("d"))
        received.append(stream.next())
    assert [event.name for event in received] == ["insert", "remove", "remove", "insert", "insert"]
    assert [[item["id"] for item in event.data["items"]] for event in received] == [["b"], ["a"], ["b"], ["c"], ["d"]]
    version = int(cursor.split(".")[1])
    assert [event.data["version"] for event in received] == list(range(version + 1, version + 6))


def test_resume_with_nothing_to_catch_up_sends_no_event(store):
    cursor = store.insert(note("a"))["cursor"]
    with store.events(cursor=cursor) as stream:
        store.post(note("b"))
        assert stream.expect("insert").data["items"] == [note("b")]


def test_the_header_wins_over_the_query(store):
    old, new = store.insert(note("a"))["cursor"], store.insert(note("b"))["cursor"]
    with store.events(cursor=old, last_event_id=new) as stream:
        store.post(note("c"))
        assert stream.expect("insert").data["items"] == [note("c")]


@pytest.mark.parametrize("cursor", ["nonsense", "", "x" * 200, "abcdefgh", "abcdefgh.01", "abcdefgh.1.b2-0", "abcdefgh.-1"])
def test_an_invalid_cursor_gets_a_reset_with_all_items(store, cursor):
    store.insert(note("a"), note("b"))
    with store.events(cursor=cursor) as stream:
        reset = stream.expect("reset")
        assert (reset.data["reason"], reset.data["items"]) == ("unknown-cursor", [note("a"), note("b")])
        assert reset.cursor == store.cursor and str(reset.data["version"]) == reset.cursor.split(".")[1]
        store.post(note("c"))
        assert stream.expect("insert").data["version"] == reset.data["version"] + 1


def test_a_cursor_from_the_future_gets_a_reset(store):
    epoch, version = store.insert(note("a"))["cursor"].split(".")
    for later in (int(version) + 1, 2**64 - 1):
        with store.events(cursor=f"{epoch}.{later}") as stream:
            assert stream.expect("reset").data["reason"] == "unknown-cursor"


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_cursor_from_before_a_restart_gets_a_reset(serve, data, end):
    store = Store(serve(data))
    cursor = store.insert(note("a"))["cursor"]
    store.insert(note("b"))
    getattr(store.server, end)()
    store = Store(serve(data))
    with store.events(last_event_id=cursor) as stream:
        reset = stream.expect("reset")
        assert (reset.data["reason"], reset.data["items"]) == ("epoch-changed", [note("a"), note("b")])
        store.post(note("c"))
        assert stream.expect("insert").data["items"] == [note("c")]


def test_a_cursor_before_the_kept_events_gets_a_reset(store):
    cursor = store.insert(note("a"))["cursor"]
    chain = [{"insert": [note("b", f"{number}")]} for number in range(1000)]
    for _ in range(2):
        assert store.operate(*chain).status == 200
    with store.events(cursor=cursor) as stream:
        reset = stream.expect("reset")
        assert (reset.data["reason"], reset.data["items"]) == ("history-gone", [note("a"), note("b", "999")])
    epoch, version = reset.cursor.split(".")
    assert int(version) == int(cursor.split(".")[1]) + 2000
    with store.events(cursor=f"{epoch}.{int(version) - 500}") as stream:
        assert [stream.expect("insert").data["items"][0]["text"] for _ in range(500)] == [f"{n}" for n in range(500, 1000)]


# Under load


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def busy(request, serve, data):
    """A store of a separate server."""
    store = Store(serve(data, arguments=["--workers", request.param]))
    store.insert(note("start"))
    return store


def write(store, writer, count):
    """Inserts, replaces and removes notes over one connection."""
    chance = random.Random(writer)
    with Connection(store.server) as connection:
        for n in range(count):
            name = f"n{chance.randrange(12)}"
            match chance.randrange(4):
                case 0 | 1:
                    answer = connection.request("POST", STORE, note(name, f"{writer}-{n}"))
                case 2:
                    answer = connection.request("DELETE", f"{STORE}/{name}")
                case _:
                    steps = [{"remove": [name, "n0"]}, {"insert": [note(name, f"{writer}-{n}"), note(f"w{writer}", f"{n}")]}]
                    answer = connection.request("POST", STORE + "/operations", {"operations": steps})
            assert answer.status in (200, 201, 204, 404), answer


def test_streams_have_each_event_once_and_in_order_while_eight_clients_write(busy):
    streams = [busy.events() for _ in range(6)]
    starts = [stream.expect("insert").data["version"] for stream in streams]
    assert starts == [1] * 6
    received = [[] for _ in streams]

    def read(i):
        while (event := streams[i].next()).data["items"][:1] != [note("end")]:
            received[i].append(event)

    with threads(len(streams), read):
        with threads(8, lambda i: write(busy, i, 25)):
            pass
        busy.insert(note("end"))
    for events in received:
        assert [event.data["version"] for event in events] == list(range(2, 2 + len(events)))
        assert [event.raw for event in events] == [event.raw for event in received[0]], "all see the same"
    assert busy.page()["version"] == len(received[0]) + 2
    for stream in streams:
        stream.close()


def test_disconnected_readers_resume_without_a_gap_or_a_repetition(busy):
    def insert(i):
        with Connection(busy.server) as connection:
            for n in range(30):
                assert connection.request("POST", STORE, note(f"{i}-{n}")).status == 201

    def come_and_go(i):
        chance, cursor, version, seen = random.Random(i), busy.cursor, None, {}
        while "end" not in seen:
            with busy.events(last_event_id=cursor) as stream:
                for _ in range(chance.randint(1, 8)):
                    event = stream.next()
                    assert event.name == "insert", "the history still has the missed events"
                    assert version is None or event.data["version"] == version + 1, "a gap or a repetition"
                    cursor, version = event.cursor, event.data["version"]
                    apply(event, seen)
                    if "end" in seen:
                        break
        assert version == 1 + 8 * 30 + 1

    with threads(6, come_and_go):
        with threads(8, insert):
            pass
        busy.insert(note("end"))
    assert len(busy.ids()) == 8 * 30 + 2


def test_a_stream_that_joins_during_writes_has_the_same_items_in_the_end(busy):
    """A reset and the later events give the store. A list and the events after its cursor give it, too."""

    def join(i):
        items = {}
        if i % 2:
            page = busy.get("?limit=1000")
            items = {item["id"]: item["text"] for item in page.json["items"]}
            stream = busy.events(cursor=page.headers["etag"].strip('"'))
        else:
            stream = busy.events(cursor="none")
        with stream:
            stream.follow(items, until="end")
        assert items == texts(busy)

    def insert_and_remove(i):
        with Connection(busy.server) as connection:
            for n in range(20):
                assert connection.request("PUT", f"{STORE}/{i}-{n % 7}", note(f"{i}-{n % 7}", f"{n}")).status in (200, 201)
                if n % 3 == 0:
                    assert connection.request("DELETE", f"{STORE}/{i}-{n % 7}").status == 204

    with threads(8, join):
        with threads(4, insert_and_remove):
            pass
        busy.insert(note("end"))


# Slow readers and large events


def test_a_slow_reader_gets_the_rest_or_a_reset_and_misses_nothing(busy):
    slow = [busy.events(receive_buffer=4096) for _ in range(4)]
    names = itertools.count()
    for _ in range(4):
        chain = [{"insert": [note(f"n{next(names) % 50}", f"{number}" + "x" * 700)]} for number in range(1000)]
        assert busy.operate(*chain).status == 200
    busy.insert(note("end"))
    for stream in slow:
        items, version = {}, 0
        while "end" not in items:
            event = stream.next()
            assert event.data["version"] > version and (event.name != "insert" or event.data["version"] <= version + 1 or version == 0)
            version = event.data["version"]
            apply(event, items)
        assert items == texts(busy)
        busy.post(note("after", f"{version}"))
        assert stream.expect("insert").data["items"] == [note("after", f"{version}")]
        stream.close()


def test_slow_readers_and_the_history_of_a_store_stay_within_their_limits(serve, data):
    store = Store(serve(data, arguments=["--workers", "1"]))
    large = "x" * 900_000
    assert store.post(note("a", large)).status == 201
    slow = [store.events(receive_buffer=4096) for _ in range(4)]
    assert store.put(note("a", "000" + large), "/a").status == 200
    before = store.server.memory()
    for number in range(1, 41):
        assert store.put(note("a", f"{number:03}" + large), "/a").status == 200
    # 36 MB were sent. The store's history and each reader's queue are bounded in bytes.
    assert store.server.memory() - before < 24 << 20
    for stream in slow:
        text, version = "", -1
        while not text.startswith("040"):
            event = stream.next()
            assert event.data["version"] > version
            text, version = event.data["items"][0]["text"], event.data["version"]
        stream.close()


def test_a_too_large_event_is_sent_as_a_reset_with_the_link_to_the_next_items(serve, data):
    store = Store(serve(data))
    names = [f"n{number}" for number in range(8)]
    for name in names:
        assert store.post(note(name, "x" * 400_000)).status == 201

    def whole(event):
        """The identifiers of an event's items, and of the items on the following pages."""
        assert len(event.raw) < 2 << 20
        page, ids = event.data, [item["id"] for item in event.data["items"]]
        while "next" in page:
            page = store.page(after=page["next"], limit=1000)
            ids += [item["id"] for item in page["items"]]
        return ids

    with store.events() as stream:
        stream.expect("insert")
        assert store.operate({"remove": names[:4]}).status == 200
        reset = stream.expect("reset")
        assert reset.data["reason"] == "history-gone" and reset.data["next"] == "n6"
        assert whole(reset) == names[4:]
        store.put(note("n4", "small"), "/n4")
        assert stream.expect("insert").data == {"version": reset.data["version"] + 1, "operation": "insert", "items": [note("n4", "small")]}
        store.put(note("n4", "x" * 400_000), "/n4")
    store.server.stop()

    store = Store(serve(data))
    with store.events() as stream:
        loaded = loading(stream)
        assert loaded.data["next"] == "n6" and whole(loaded) == names[4:]
        store.delete()
        reset = stream.expect("reset")
        assert reset.data["items"] == [] and "next" not in reset.data
    with store.events() as stream:
        assert stream.next().data["items"] == []


# Refusals and the end


@pytest.mark.parametrize(
    ("target", "accept", "status"),
    [
        (STORE + "/events?path=/a", "text/event-stream", 400), (STORE + "/events?cursor=a&cursor=b", "text/event-stream", 400),
        (APP + "/stores/never/events", "text/event-stream", 404), ("/v1/apps/counter/stores/notes/events", "text/event-stream", 404),
        ("/v1/apps/never/stores/notes/events", "text/event-stream", 404), (STORE + "/events", "application/json", 406),
    ],
)  # fmt: skip
def test_an_invalid_stream_request_is_refused(shared, target, accept, status):
    assert shared.get(target, accept=accept).problem["status"] == status


def test_readers_that_leave_are_forgotten(store):
    for _ in range(50):
        with store.events() as stream:
            stream.next()
    store.insert(note("a"))
    with store.events() as stream:
        assert stream.expect("insert").data["items"] == [note("a")]


def test_many_requests_on_the_connection_before_a_stream_are_answered_first(store):
    with Connection(store.server) as connection:
        connection.send(message("POST", STORE, note("a")) + message("GET", STORE + "/events", headers={"Accept": "text/event-stream"}))
        assert connection.answer("POST").status == 201
        status, _ = connection.stream_head()
        assert status == 200
        connection.until(b'"operation":"insert","items":[{"id":"a"')


def test_a_stopping_server_says_bye_and_when_to_come_back(busy):
    streams = [busy.events() for _ in range(4)]
    for stream in streams:
        stream.next()
    busy.server.process.terminate()
    for stream in streams:
        bye = stream.expect("bye")
        assert bye.data["reason"] == "draining" and bye.data["reconnect"] is True and bye.data["after"] >= 0
        assert stream.ended()
        stream.close()
    assert busy.server.wait() == 0

# Acknowledged changes of stores, values, secrets and sessions together survive kill -9, a full disk and a damaged
# record.

import itertools
import random
import subprocess
import threading
import time

import pytest

from damage import edited
from harness import Connection, Server, threads
from notes import APP, SECRET, STORE, Shared, Store, apply, note

#: Errors that a client sees if the server is killed during its request.
CUT = (OSError, EOFError)
VALUES = APP + "/values"


class Ledger:
    """The clients' record of a server's shared resources, kept over kills."""

    def __init__(self):
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        #: The acknowledged notes in the order of their versions: the notes from before the last kill, and the later
        #: notes with their versions.
        self.order = []
        self.life = []
        #: The possible texts of each note. The note must have one of them; None means that it does not exist.
        self.notes = {}
        #: The possible values of each value, and of the secret: true if it is set.
        self.values = {"theme": ["light"], "recent": [[]], "secret": [False]}
        #: The version and text of the session's last acknowledged event, and the texts without an answer.
        self.session = (0, None, set())
        self.acked = 0

    def check(self, server):
        """Compares the ledger with the data of a restarted server. The ledger then has that data only."""
        items = {item["id"]: item["text"] for item in Store(server).items()}
        for name, texts in self.notes.items():
            assert items.get(name) in texts, f"note {name} is {items.get(name)!r}, which is none of {texts}"
        assert set(items) <= set(self.notes), "a note that was never sent"
        self.order += [name for _, name in sorted(self.life)]
        self.life = []
        standing = {name: place for place, name in enumerate(items)}
        places = [standing[name] for name in self.order if name in standing]
        assert places == sorted(places), "the notes are not in the order of their insertion"
        self.notes = {name: [text] for name, text in items.items()}
        for name, known in self.values.items():
            found = Shared(server, SECRET).value["set"] if name == "secret" else Shared(server, f"{VALUES}/{name}").value
            assert found in known, f"{name} is {found!r}, which is none of {known}"
            self.values[name] = [found]
        version, text, unanswered = self.session
        session = server.session("ledger", app="notes")
        if version or unanswered:
            info = server.get(session.path)
            durable = info.json["version"] if info.status == 200 else 0
            assert version <= durable <= version + len(unanswered), "a version is lost, or no dispatch explains it"
            found = session.state("/p/selected") if durable else None
            assert found == text if durable == version else found in unanswered
            self.session = (durable, found, set())


def repeat(server, write):
    """Calls `write` over one connection until the server is gone."""
    try:
        with Connection(server) as connection:
            while True:
                write(connection)
    except CUT:
        pass


def write_new_notes(ledger, connection):
    """Inserts a note, or three of them at once."""
    with ledger.lock:
        names = [f"new{next(ledger.numbers)}" for _ in range(random.choice([1, 3]))]
        ledger.notes |= {name: [None, name] for name in names}
    answer = connection.request("POST", STORE, [note(name, name) for name in names])
    assert answer.status == 200, answer
    with ledger.lock:
        ledger.acked += 1
        for place, name in enumerate(names):
            ledger.notes[name] = [name]
            ledger.life.append(((answer.json["version"], place), name))


def writer_of_a_note(ledger, name):
    """Returns a function that writes or removes one note again and again: alone, or with another note in one transaction."""

    def write(connection):
        text = f"{next(ledger.numbers)}"
        kind = random.choice(["put", "delete", "both"])
        twin = name + "-twin"
        with ledger.lock:
            before = {key: ledger.notes.get(key, [None]) for key in (name, twin)}
            after = {"put": {name: text}, "delete": {name: None}, "both": {name: text, twin: text}}[kind]
            for key, new in after.items():
                ledger.notes[key] = before[key] + [new]
        match kind:
            case "put":
                answer = connection.request("PUT", f"{STORE}/{name}", note(name, text))
            case "delete":
                answer = connection.request("DELETE", f"{STORE}/{name}")
            case _:
                steps = [{"remove": [name, twin]}, {"insert": [note(name, text), note(twin, text)]}]
                answer = connection.request("POST", STORE + "/operations", {"operations": steps})
        assert answer.status in (200, 201, 204, 404), answer
        with ledger.lock:
            ledger.acked += 1
            ledger.notes |= {key: [new] for key, new in after.items()}

    return write


def writer_of_a_value(ledger, name):
    def write(connection):
        text = f"{next(ledger.numbers)}"
        new = text if name == "theme" else [text]
        with ledger.lock:
            ledger.values[name] = ledger.values[name] + [new]
        answer = connection.request("PUT", f"{VALUES}/{name}", new)
        assert answer.status == 200, answer
        with ledger.lock:
            ledger.acked += 1
            ledger.values[name] = [new]

    return write


def write_the_secret(ledger, connection):
    is_set = random.random() < 0.5
    with ledger.lock:
        ledger.values["secret"] = ledger.values["secret"] + [is_set]
    answer = connection.request("PUT" if is_set else "DELETE", SECRET, "a token" if is_set else None)
    assert answer.status == 204, answer
    with ledger.lock:
        ledger.acked += 1
        ledger.values["secret"] = [is_set]


def write_the_session(ledger, connection):
    text = f"{next(ledger.numbers)}"
    with ledger.lock:
        ledger.session[2].add(text)
    answer = connection.request("POST", APP + "/sessions/ledger/events", {"select": text})
    assert answer.status == 200 and answer.json["durable"], answer
    with ledger.lock:
        ledger.acked += 1
        ledger.session = (answer.json["version"], text, set())


def watch(server, shown):
    """Follows the store until the server is gone. The notes that the stream had must be durable."""
    try:
        with Store(server).events(cursor="none") as stream:
            items = {}
            while True:
                apply(stream.next(), items)
                # The names are always new, and no client removes them.
                shown |= {name for name in items if name.startswith("new")}
    except CUT:
        pass


def test_acknowledged_changes_of_all_kinds_survive_kill_9_in_order(data):
    rounds, ledger, shown = 12, Ledger(), set()
    chance = random.Random(12)
    for _ in range(rounds):
        with Server(data, arguments=["--workers", "2"]) as server:
            ledger.check(server)
            assert shown <= set(ledger.notes), "a stream showed a note that was not durable"
            writers = [lambda connection: write_new_notes(ledger, connection)] * 3
            writers += [writer_of_a_note(ledger, f"note{n}") for n in range(3)]
            writers += [writer_of_a_value(ledger, "theme"), writer_of_a_value(ledger, "recent")]
            writers += [lambda connection: write_the_secret(ledger, connection), lambda connection: write_the_session(ledger, connection)]
            jobs = [lambda write=write: repeat(server, write) for write in writers] + [lambda: watch(server, shown)]
            with threads(len(jobs), lambda i: jobs[i]()):
                time.sleep(chance.uniform(0.02, 0.6))  # The moment of the kill is the test's subject.
                server.kill()
    with Server(data) as server:
        ledger.check(server)
        assert shown <= set(ledger.notes)
        assert ledger.acked > rounds * len(jobs) and shown, "the load never got through"
        assert server.stop() == 0


def test_a_hundred_inserts_of_twenty_connections_all_exist_after_kill_9(serve, data):
    store = Store(serve(data))

    def insert(i):
        with Connection(store.server) as connection:
            for n in range(5):
                assert connection.request("POST", STORE, note(f"{i}-{n}")).status == 201

    with threads(20, insert):
        pass
    ids = store.ids()
    store.server.kill()
    store = Store(serve(data))
    assert store.ids() == ids and len(set(ids)) == 100


def test_a_stop_under_load_keeps_acknowledged_changes(serve, data):
    server, acked = serve(data), []

    def insert(i):
        try:
            with Connection(server) as connection:
                for n in itertools.count():
                    answer = connection.request("POST", STORE, note(f"{i}-{n}"))
                    if answer.status == 503:
                        return
                    assert answer.status == 201, answer
                    acked.append(f"{i}-{n}")
        except CUT:
            pass

    with threads(6, insert):
        time.sleep(0.2)  # The clients get time to begin.
        assert server.stop() == 0
    assert acked and set(acked) <= set(Store(serve(data)).ids())


def test_memory_keeps_nothing(serve):
    server = serve(None)
    Store(server).insert(note("a"))
    Shared(server, VALUES + "/theme").put("dark")
    Shared(server, SECRET).put("token")
    assert server.stop() == 0
    server = serve(None)
    assert Store(server).ids() == []
    assert (Shared(server, VALUES + "/theme").value, Shared(server, SECRET).value) == ("light", {"set": False})


# A disk that fails


@pytest.fixture
def small_disk(tmp_path):
    """A separate disk of 600 KiB. Returns its folder and a function that makes the disk larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this machine does not permit the mount of a separate disk")
    try:
        yield folder, lambda: subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_507_changes_nothing_and_sends_no_event(small_disk):
    folder, enlarge = small_disk
    with Server(folder / "data") as server:
        store, theme, secret = Store(server), Shared(server, VALUES + "/theme"), Shared(server, SECRET)
        theme.put("dark")
        with store.events() as events, theme.changes() as changes:
            assert changes.expect("change").data["value"] == "dark"
            acked = []
            for number in range(60):
                answer = store.put(note(f"n{number}", "x" * 20_000), f"/n{number}")
                if answer.status != 201:
                    break
                acked.append(f"n{number}")
            assert answer.status == 507 and "free some space" in answer.problem["detail"], answer
            assert acked
            refused = [
                store.post([note("big", "x" * 60_000)]), store.operate({"removeAll": {}}, {"insert": [note("big", "x" * 60_000)]}),
                theme.put("y" * 60_000), secret.put("z" * 60_000),
            ]  # fmt: skip
            assert [answer.problem["status"] for answer in refused] == [507] * 4
            assert store.ids() == acked and theme.value == "dark" and secret.value == {"set": False}
            enlarge()
            assert store.put(note("after"), "/after").status == 201
            assert theme.put("light").status == 200 and secret.put("token").status == 204
            seen = {}
            events.follow(seen, until="after")
            assert list(seen) == [*acked, "after"]
            assert changes.expect("change").data["value"] == "light"
        server.kill()
    with Server(folder / "data") as server:
        assert Store(server).ids() == [*acked, "after"]
        assert Shared(server, VALUES + "/theme").value == "light" and Shared(server, SECRET).value == {"set": True}
        server.stop()


def damage(data, key):
    """Flips one bit of the stored value of a key, as a failing disk would."""
    with edited(data) as database:
        [(place, document)] = database.execute("SELECT place, document FROM item WHERE key = ?", [key]).fetchall()
        broken = bytearray(document)
        broken[len(broken) // 2] ^= 1
        database.execute("UPDATE item SET document = ? WHERE place = ?", (bytes(broken), place))


@pytest.mark.parametrize("mend", ["put", "delete", "delete all", "operations"])
def test_a_damaged_item_is_reported_hides_no_other_and_can_be_replaced_or_removed(serve, data, mend):
    store = Store(serve(data))
    store.insert(note("a"), note("b"), note("c"))
    store.server.stop()
    damage(data, "b")
    store = Store(serve(data))
    assert store.ids() == ["a", "c"] and store.page()["damaged"] == 1
    problem = store.read("b").problem
    assert problem["status"] == 500 and '"b"' in problem["detail"]
    assert store.read("a").status == 200 and store.server.get("/readyz").status == 200
    [line] = [line for line in store.server.log_text().splitlines() if "items cannot be read" in line]
    assert " error " in line and "count=1" in line and '"b"' not in line and "store=notes.notes" in line and "rivulet check" in line
    match mend:
        case "put":
            assert store.put(note("b", "new"), "/b").status == 201
            expected = ["a", "c", "b"]
        case "delete":
            assert store.delete("/b").status == 204 and store.read("b").status == 404
            expected = ["a", "c"]
        case "delete all":
            assert store.delete().status == 204
            expected = []
        case "operations":
            assert store.operate({"remove": ["b", "a"]}, {"insert": [note("b", "new")]}).status == 200
            expected = ["c", "b"]
    assert store.ids() == expected and "damaged" not in store.page()
    store.server.kill()
    store = Store(serve(data))
    assert store.ids() == expected and "damaged" not in store.page()


def test_a_damaged_value_is_reported_at_the_start_and_to_its_readers_until_it_is_set(serve, data):
    theme = Shared(serve(data), VALUES + "/theme")
    theme.put("dark")
    Shared(theme.server, VALUES + "/recent").put(["a"])
    theme.server.stop()
    damage(data, "theme")
    theme = Shared(serve(data), VALUES + "/theme")
    assert theme.get().problem["status"] == 500
    assert theme.post(target="/toggle").status == 404
    errors = [line for line in theme.server.log_text().splitlines() if " error " in line]
    [line] = [line for line in errors if "key=theme" in line]
    assert "cannot be read" in line and len(errors) == 2, "the other error belongs to the answer"
    assert Shared(theme.server, VALUES + "/recent").value == ["a"]
    theme.put("new")
    theme.server.kill()
    assert Shared(serve(data), VALUES + "/theme").value == "new"

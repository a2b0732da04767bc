# Secrets can be written but never read: they are not in HTTP answers, streams, the log or on the disk. Their keys can
# be replaced.

import base64
import json
import zlib

import pytest

from damage import edited
from harness import Connection, all_bytes, message
from notes import APP, SECRET, Shared, Store, note

#: Plain characters, between characters that JSON escapes or that UTF-8 encodes with several bytes.
TOKEN = 'tök"en\\8f2c-nobody-may-see-4b7a/é'
OTHER = "an0ther-t0ken-9e1d-that-replaces-it"
#: The plain parts of the two secrets. They stay readable if JSON or a URL encodes the rest.
CORES = ["8f2c-nobody-may-see-4b7a", "t0ken-9e1d-that-replaces-it"]
KEYS = {"old": "the-old-key-" * 4, "new": "the-new-key-" * 4}


def spellings(text):
    """The byte sequences that reveal a text."""
    plain = text.encode()
    yield from (plain, json.dumps(text)[1:-1].encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode())
    yield from (plain.hex().encode(), plain.hex().upper().encode(), text.encode("utf-16-le"), text.encode("utf-16-be"))
    yield "".join(f"%{byte:02X}" for byte in plain).encode()
    yield plain[::-1]
    for shift in range(3):
        # Base64 of a text inside another text. Characters that also encode neighbouring bytes are cut off.
        encoded = base64.b64encode(b"." * shift + plain)
        middle = encoded[4 if shift else 0 : -4]
        yield from (middle, middle.replace(b"+", b"-").replace(b"/", b"_"))


def check_hidden(places):
    """Searches for the secrets, and for the keys that seal them, in all bytes of each place."""
    for place, found in places.items():
        assert found, f"nothing of {place} was looked at"
        for text in [TOKEN, OTHER, *CORES, *KEYS.values()]:
            for spelling in spellings(text):
                assert spelling not in found, f"{spelling} is in {place}"


def test_the_search_finds_what_it_looks_for():
    for hidden in (
        CORES[0].encode(), json.dumps({"value": TOKEN}).encode(), TOKEN.encode("utf-16-le"), TOKEN.encode().hex().encode(),
        *(base64.b64encode(b"x" * shift + b'{"value":"' + OTHER.encode() + b'"}') for shift in range(3)),
    ):  # fmt: skip
        with pytest.raises(AssertionError):
            check_hidden({"here": b"before " + hidden + b" after"})


@pytest.fixture
def start(serve, data, monkeypatch):
    """Starts a server with keys, and returns the client of its secret."""

    def start(key="old", older=None, arguments=()):
        settings = {"RIVULET_SECRET_KEY": KEYS[key]} if key else {}
        settings |= {"RIVULET_OLDER_SECRET_KEY": KEYS[older]} if older else {}
        monkeypatch.setattr("harness.environment", lambda: settings)
        return Shared(serve(data, arguments=arguments), SECRET)

    return start


# Over HTTP


def test_a_secret_is_set_and_removed_and_answers_only_show_if_it_exists(start):
    secret = start()
    assert secret.value == {"set": False}
    for token in (TOKEN, OTHER, OTHER, ""):
        answer = secret.put(token)
        assert (answer.status, answer.body) == (204, b"") and "etag" not in answer.headers
        assert secret.value == {"set": True}
    for _ in range(2):
        assert secret.delete().status == 204, "the deletion of a secret that does not exist succeeds"
        assert secret.value == {"set": False}


def test_an_invalid_secret_is_refused_and_the_existing_one_stays(start):
    secret = start()
    for is_set in (False, True):
        for body, status in [(b"5", 422), (b"null", 422), (b'["a"]', 422), (b'{"value":"a"}', 422), (b'"a', 400), (b"", 400), (b'"a" 1', 400)]:
            problem = secret.put(body, Content_Type="application/json").problem
            assert problem["status"] == status and problem["errors"][0]["pointer"] == "", problem
        assert secret.put(b'"a"').problem["status"] == 415
        assert secret.put("a" * (1 << 20)).problem["status"] == 413
        assert secret.put("a", "?a=1").problem["status"] == 400
        for method in ("POST", "PATCH"):
            refused = secret.request(method, body="a")
            assert refused.problem["status"] == 405 and refused.headers["allow"] == "GET, HEAD, PUT, DELETE, OPTIONS"
        assert secret.value == {"set": is_set}
        secret.put(TOKEN)


@pytest.mark.parametrize("path", ["/secrets/never", "/secrets", "/secrets/apiToken/changes", "/secrets/apiToken/toggle", "/secrets/apiToken/value",
                                  "/values/apiToken", "/values/apiToken/changes", "/stores/apiToken", "/stores/secrets", "/stores/notes.secrets"])
def test_no_other_path_has_a_secret(shared, path):
    assert shared.get(APP + path).problem["status"] == 404


def test_the_documents_name_the_secret_and_say_that_it_is_written_only(start):
    secret = start()
    before = [secret.server.get(path).body for path in ("/openapi.json", APP, APP + "/types.d.ts")]
    secret.put(TOKEN)
    assert [secret.server.get(path).body for path in ("/openapi.json", APP, APP + "/types.d.ts")] == before
    [described] = secret.server.get(APP).json["secrets"]
    assert described["name"] == "apiToken" and described["schema"]["writeOnly"] is True
    operations = secret.server.get("/openapi.json").json["paths"][SECRET]
    assert set(operations) >= {"get", "put", "delete"}
    answer = operations["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/SecretPresence"}


# Nowhere else


def bodies():
    """Requests that contain the secret, each with a different error, and the status of its answer."""
    token = json.dumps(TOKEN).encode()
    for body, status in [
        (token[:-1], 400), (token + token, 400), (b"{" + token, 400), (b"{" + token + b":1," + token + b":2}", 400), (b"[" * 200 + token, 400),
        (b'{"value":' + token + b"}", 422), (b"[" + token + b"]", 422), (b"{" + token + b":" + token + b"}", 422), (TOKEN.encode(), 400),
        (token.replace(b"\\\\", b"\\x"), 400), (b'"' + TOKEN.encode("utf-16") + b'"', 400), (b"\xff" + token, 400),
    ]:  # fmt: skip
        yield "PUT", SECRET, body, {"Content-Type": "application/json"}, status
    yield "PUT", SECRET, token, {"Content-Type": "text/plain"}, 415
    yield "PUT", SECRET, token, {}, 415
    yield "PUT", SECRET, json.dumps(TOKEN * 40_000).encode(), {"Content-Type": "application/json"}, 413
    yield "PUT", SECRET + "?a=1", token, {"Content-Type": "application/json"}, 400
    yield "POST", SECRET, token, {"Content-Type": "application/json"}, 405
    yield "PUT", SECRET + "Wrong", token, {"Content-Type": "application/json"}, 404
    yield "PUT", SECRET, token, {"Content-Type": "application/json", "Expect": "the-unexpected"}, 417
    yield "PUT", SECRET, zlib.compress(token), {"Content-Type": "application/json", "Content-Encoding": "deflate"}, 415


def broken(server):
    """Answers to messages in which the server does not treat the secret as a body."""
    for data in (
        message("PUT", SECRET, b"", {"Content-Type": "application/json"}) + json.dumps(TOKEN).encode() + b"\r\n\r\n",
        f"PUT {SECRET} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n{CORES[0]}\r\n".encode(),
    ):
        with Connection(server) as connection:
            connection.send(data)
            connection.ended()
            yield connection.buffer


@pytest.mark.parametrize("workers", [1, 2])
def test_a_secret_is_in_no_answer_no_stream_no_log_and_no_file(start, data, workers):
    arguments = ["--log-level", "trace", "--workers", workers]
    answers, seen, logs, folders = [], [], [], []

    def use(secret, end):
        server, theme = secret.server, Shared(secret.server, APP + "/values/theme")
        store, session = Store(server), server.session("s", app="notes")
        store.insert(note("a"))
        with store.events() as events, theme.changes() as changes, session.stream() as states:
            streams = [events, changes, states]
            seen.extend(stream.next().raw for stream in streams)
            for token in (TOKEN, OTHER, TOKEN):
                answers.append(secret.put(token, Idempotency_Key="one", Prefer="return=minimal"))
                assert answers[-1].status == 204
            for method, target, body, headers, status in bodies():
                answers.append(server.request(method, target, body, headers))
                assert answers[-1].status == status, (body[:80], headers, answers[-1])
            seen.extend(broken(server))
            reads = [SECRET, APP, "/v1/apps", "/openapi.json", APP + "/types.d.ts", APP + "/stores/notes", APP + "/values/theme", session.path + "/state"]
            answers.extend(server.get(path) for path in reads)
            answers.append(server.request("HEAD", SECRET))
            store.post(note("a")), theme.put("dark"), session.dispatch({"select": f"{len(answers)}"})
            # The next event of each stream shows that no event came before it.
            names = [stream.next() for stream in streams]
            assert [event.name for event in names] == ["insert", "change", "change"]
            seen.extend(event.raw for event in names)
            folders.append(all_bytes(data))
            end(server)
            folders.append(all_bytes(data))
            seen.extend(stream.connection.buffer for stream in streams)
        logs.append(server.log_text().encode())

    use(start(arguments=arguments), lambda server: server.kill())
    use(start(arguments=arguments), lambda server: server.stop())
    use(start("new", older="old", arguments=arguments), lambda server: server.kill())
    secret = start("new", arguments=arguments)
    assert secret.value == {"set": True}
    secret.delete()
    use(secret, lambda server: server.stop())
    check_hidden({
        "an answer": b"".join(answer.body for answer in answers),
        "a header": repr([answer.headers for answer in answers]).encode(),
        "a stream": b"".join(seen),
        "the log": b"".join(logs),
        "the data folder": b"".join(folders),
    })


def test_a_secret_of_memory_is_in_no_file_either(serve, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = Shared(serve(None, arguments=["--log-level", "trace"]), SECRET)
    assert secret.put(TOKEN).status == 204 and secret.value == {"set": True}
    assert secret.server.stop() == 0
    check_hidden({"the log": secret.server.log_text().encode()})
    assert list(tmp_path.iterdir()) == []


# Its keys


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_secret_outlives_a_restart_with_the_key_in_the_data_folder(start, data, end):
    secret = start(None)
    secret.put(TOKEN)
    getattr(secret.server, end)()
    assert (data / "secret.key").stat().st_mode & 0o777 == 0o600
    secret = start(None)
    assert secret.value == {"set": True}
    secret.delete()
    getattr(secret.server, end)()
    assert start(None).value == {"set": False}


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_secret_of_an_older_key_is_sealed_again_and_the_older_key_is_no_longer_needed(start, data, end):
    secret = start("old")
    secret.put(TOKEN)
    getattr(secret.server, end)()
    secret = start("new", older="old")
    assert secret.value == {"set": True}
    assert "a secret was sealed anew, with the current key" in secret.server.log_text()
    getattr(secret.server, end)()
    secret = start("new", older="old")
    assert secret.value == {"set": True}
    assert "sealed anew, with the current key" not in secret.server.log_text(), "once is enough"
    getattr(secret.server, end)()
    secret = start("new")
    assert secret.value == {"set": True}
    assert " error " not in secret.server.log_text()
    getattr(secret.server, end)()
    assert start("old").value == {"set": True, "readable": False}, "the old key opens nothing any more"


def test_the_older_key_can_be_in_a_file_too(serve, data, monkeypatch):
    secret = Shared(serve(data), SECRET)
    secret.put(TOKEN)
    secret.server.kill()
    monkeypatch.setattr(
        "harness.environment",
        lambda: {"RIVULET_SECRET_KEY": KEYS["new"], "RIVULET_OLDER_SECRET_KEY_FILE": str(data / "secret.key")},
    )
    assert Shared(serve(data), SECRET).value == {"set": True}


@pytest.mark.parametrize("mend", ["put", "delete", "key"])
def test_without_its_key_a_secret_is_unreadable_and_reported_in_the_log(start, mend):
    secret = start("old")
    secret.put(TOKEN)
    Shared(secret.server, APP + "/values/theme").put("dark")
    secret.server.kill()

    secret = start("new")
    assert secret.value == {"set": True, "readable": False}
    assert secret.request("HEAD").status == 200
    [line] = [line for line in secret.server.log_text().splitlines() if " error " in line and "[RivuletServer]" in line]
    assert "app=notes" in line and "secret=apiToken" in line and "as an older key" in line
    assert Shared(secret.server, APP + "/values/theme").value == "dark", "nothing else is lost"
    assert secret.server.get("/readyz").status == 200
    match mend:
        case "put":
            assert secret.put(OTHER).status == 204 and secret.value == {"set": True}
            secret.server.kill()
            assert start("new").value == {"set": True}
        case "delete":
            assert secret.delete().status == 204 and secret.value == {"set": False}
            secret.server.kill()
            assert start("old").value == {"set": False}
        case "key":
            secret.server.kill()
            assert start("old").value == {"set": True}, "the unreadable secret was left alone"


def test_a_secret_that_was_moved_or_damaged_on_disk_does_not_open(start, data):
    secret = start()
    secret.put(TOKEN)
    assert secret.server.stop() == 0
    with edited(data) as database:
        [(place, document)] = database.execute("SELECT place, document FROM item WHERE key LIKE '%apiToken%'").fetchall()
        broken = bytearray(document)
        broken[-1] ^= 1
        database.execute("UPDATE item SET document = ? WHERE place = ?", (bytes(broken), place))
    secret = start()
    assert secret.value == {"set": True, "readable": False}
    assert "apiToken" in secret.server.log_text()
    assert secret.put(OTHER).status == 204 and secret.value == {"set": True}

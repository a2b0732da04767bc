# Stored values as resources, and their streams: Documentation/HTTP.md, "Stores, values and secrets".

import itertools
import json

import pytest

from harness import Connection, threads
from notes import APP, Shared

VALUES = APP + "/values"
#: Each value, its default, and other values that it can have.
KINDS = {
    "theme": ("light", ["dark", "", 'ü"\n\u2028']),
    "hapticsEnabled": (False, [True, False]),
    "recent": ([], [["a"], ["a", "b", "a"], [""]]),
}


@pytest.fixture
def value(shared):
    """A function that resets the value with a name to its default, and returns the value's client."""

    def reset(name):
        value = Shared(shared, f"{VALUES}/{name}")
        assert value.delete().status == 200
        return value

    return reset


# Reading and writing


@pytest.mark.parametrize("name", KINDS)
def test_a_value_is_its_default_until_it_is_set(serve, name):
    default, others = KINDS[name]
    value = Shared(serve(None), f"{VALUES}/{name}")
    answer = value.get()
    assert (answer.status, answer.json, answer.headers["rivulet-version"]) == (200, default, "0")
    for version, other in enumerate(others, 1):
        answer = value.put(other)
        assert (answer.status, answer.json, answer.headers["rivulet-version"]) == (200, other, str(version))
        assert answer.headers["etag"].strip('"').split(".")[1] == str(version)
        assert value.value == other
    answer = value.delete()
    assert (answer.status, answer.json) == (200, default)
    assert value.value == default


def test_values_are_independent(value):
    value("theme"), value("hapticsEnabled"), value("recent")
    value("theme").put("dark")
    assert value("hapticsEnabled").value is False and value("recent").value == []


def test_a_value_is_304_until_it_is_set_again(value):
    theme = value("theme")
    tag = theme.get().headers["etag"]
    assert theme.get(If_None_Match=tag).status == 304
    assert theme.get(If_None_Match=f'"other", W/{tag}').status == 304
    assert theme.put("light").headers["etag"] != tag, "an equal value is set too"
    assert theme.get(If_None_Match=tag).status == 200


def test_a_conditional_change_of_a_value_requires_its_current_tag(value):
    theme = value("theme")
    old = theme.get().headers["etag"]
    new = theme.put("dark", If_Match=old)
    assert new.status == 200
    for refused in (theme.put("lost", If_Match=old), theme.delete(If_Match=old), theme.put("lost", If_Match='"zzzzzzzz.1"')):
        problem = refused.problem
        assert (refused.status, problem["value"], f'"{problem["cursor"]}"') == (412, "dark", new.headers["etag"])
        assert refused.headers["etag"] == new.headers["etag"]
    assert theme.put("any", If_Match="*").status == 200
    assert theme.put("x", If_Match="no tag").problem["status"] == 400
    haptics = value("hapticsEnabled")
    old = haptics.get().headers["etag"]
    assert haptics.post(target="/toggle", If_Match=old).json is True
    assert haptics.post(target="/toggle", If_Match=old).problem["value"] is True
    assert haptics.value is True


def test_toggle_changes_a_boolean_and_no_other_value(value):
    haptics = value("hapticsEnabled")
    assert [haptics.post(target="/toggle").json for _ in range(3)] == [True, False, True]
    for name in ("theme", "recent"):
        assert value(name).post(target="/toggle").problem["status"] == 404


def test_two_hundred_simultaneous_toggles_have_the_right_result(value):
    haptics, answers = value("hapticsEnabled"), []
    start = int(haptics.get().headers["rivulet-version"])

    def toggle(_):
        with Connection(haptics.server) as connection:
            for _ in range(10):
                answer = connection.request("POST", haptics.path + "/toggle")
                assert answer.status == 200
                answers.append((int(answer.headers["rivulet-version"]), answer.json))

    with threads(20, toggle):
        pass
    assert haptics.value is False
    assert sorted(answers) == [(start + n, n % 2 == 1) for n in range(1, 201)]


def test_twenty_clients_that_append_by_tags_lose_no_element(value):
    recent = value("recent")

    def add(i):
        with Connection(recent.server) as connection:
            status = None
            while status != 200:
                found = connection.request("GET", recent.path)
                status = connection.request("PUT", recent.path, found.json + [f"{i}"], {"If-Match": found.headers["etag"]}).status
                assert status in (200, 412)

    with threads(20, add):
        pass
    assert sorted(recent.value, key=int) == [f"{i}" for i in range(20)]


def test_a_client_that_wants_little_gets_no_body(value):
    theme = value("theme")
    for answer in (theme.put("dark", Prefer="return=minimal"), theme.delete(Prefer="return=minimal")):
        assert (answer.status, answer.body, answer.headers["preference-applied"]) == (204, b"", "return=minimal")
        assert answer.headers["etag"] and answer.headers["rivulet-version"]
    assert value("hapticsEnabled").post(target="/toggle", Prefer="return=minimal").status == 204


def test_head_is_get_without_the_body(value):
    theme = value("theme")
    head, get = theme.request("HEAD"), theme.get()
    for name in ("etag", "content-type", "content-length", "rivulet-version"):
        assert head.headers[name] == get.headers[name], name


# Refusals


@pytest.mark.parametrize(
    ("name", "body", "status", "pointer"),
    [
        ("theme", b"5", 422, ""), ("theme", b"null", 422, ""), ("theme", b'["light"]', 422, ""), ("theme", b'{"value":"dark"}', 422, ""),
        ("hapticsEnabled", b"1", 422, ""), ("hapticsEnabled", b'"true"', 422, ""), ("recent", b'"a"', 422, ""),
        ("recent", b'["a",5]', 422, "/1"), ("recent", b"{}", 422, ""), ("theme", b'"a', 400, ""), ("theme", b'"a" "b"', 400, ""),
        ("theme", b"", 400, ""), ("recent", b'["a",]', 400, "/1"), ("theme", b'"\xff"', 400, ""), ("recent", b"[" * 600, 400, None),
    ],
)  # fmt: skip
def test_a_body_of_another_type_is_refused_and_changes_nothing(value, name, body, status, pointer):
    value = value(name)
    before = value.get()
    problem = value.put(body, Content_Type="application/json").problem
    assert problem["status"] == status and "byte " in problem["detail"], problem
    assert pointer is None or [error["pointer"] for error in problem["errors"]] == [pointer], problem
    after = value.get()
    assert (after.body, after.headers["etag"]) == (before.body, before.headers["etag"])


def test_types_sizes_methods_and_queries_are_refused_as_elsewhere(value):
    theme = value("theme")
    assert theme.put(b'"dark"').problem["status"] == 415
    assert theme.put(b'"dark"', Content_Type="text/plain").problem["status"] == 415
    assert theme.put("x" * (1 << 20)).problem["status"] == 413
    for method, target in [("GET", "?a=1"), ("PUT", "?a=1"), ("DELETE", "?a=1"), ("POST", "/toggle?a=1"), ("GET", "/changes?path=/a")]:
        problem = value("hapticsEnabled").request(method, target, True if method == "PUT" else None).problem
        assert problem["status"] == 400, (method, target)
    for method, target, allowed in [
        ("POST", "", "GET, HEAD, PUT, DELETE"), ("PATCH", "", "GET, HEAD, PUT, DELETE"), ("GET", "/toggle", "POST"),
        ("PUT", "/toggle", "POST"), ("PUT", "/changes", "GET"),
    ]:  # fmt: skip
        refused = theme.request(method, target, "dark")
        assert refused.problem["status"] == 405 and refused.headers["allow"] == allowed + ", OPTIONS"
    assert theme.value == "light"


@pytest.mark.parametrize("path", ["notes/values/never", "notes/values/never/changes", "counter/values/theme", "never/values/theme", "notes/values",
                                  "notes/values/theme/more", "notes/values/..%2Ftheme", "notes/values/apiToken", "notes/secrets/theme"])
def test_what_is_not_there_is_404(shared, path):
    assert shared.get("/v1/apps/" + path).problem["status"] == 404


# After a restart


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_values_are_the_same_after_a_restart(serve, data, end):
    server = serve(data)
    for name, (_, others) in KINDS.items():
        assert Shared(server, f"{VALUES}/{name}").put(others[-1]).status == 200
    haptics = Shared(server, VALUES + "/hapticsEnabled")
    assert haptics.post(target="/toggle").json is True
    tag = haptics.get().headers["etag"]
    getattr(server, end)()

    server = serve(data)
    for name, (_, others) in KINDS.items():
        assert Shared(server, f"{VALUES}/{name}").value == (True if name == "hapticsEnabled" else others[-1])
    haptics = Shared(server, VALUES + "/hapticsEnabled")
    assert haptics.get(If_None_Match=tag).status == 200 and haptics.put(False, If_Match=tag).problem["value"] is True
    assert haptics.delete().json is False
    getattr(server, end)()
    assert Shared(serve(data), VALUES + "/hapticsEnabled").value is False, "a reset is stored too"


# Streams


def test_a_stream_has_the_value_and_each_later_write_even_of_an_equal_value(value):
    theme = value("theme")
    with theme.changes() as stream:
        assert stream.status == 200 and stream.headers["content-type"].split(";")[0] == "text/event-stream"
        first = stream.expect("change")
        assert first.data["value"] == "light" and f'"{first.cursor}"' == theme.get().headers["etag"]
        expected = []
        for body in ("dark", "dark", 'ü"\n\u2028'):
            answer = theme.put(body)
            expected.append((answer.headers["etag"], {"version": int(answer.headers["rivulet-version"]), "value": body}))
        answer = theme.delete()
        expected.append((answer.headers["etag"], {"version": int(answer.headers["rivulet-version"]), "value": "light"}))
        for refused in (theme.put(5), theme.put("x", If_Match='"zzzzzzzz.1"')):
            assert refused.status in (412, 422)
        theme.put("last")
        received = [stream.expect("change") for _ in expected]
        assert [(f'"{event.cursor}"', event.data) for event in received] == expected
        assert stream.expect("change").data["value"] == "last", "a refused request sends no event"


@pytest.mark.parametrize("how", ["cursor", "last_event_id"])
def test_resume_sends_the_value_only_if_it_was_set_again(value, how):
    theme = value("theme")
    with theme.changes() as stream:
        cursor = stream.expect("change").cursor
    with theme.changes(**{how: cursor}) as stream:
        theme.put("a"), theme.put("b")
        assert [stream.expect("change").data["value"] for _ in range(2)] == ["a", "b"]
    with theme.changes(**{how: cursor}) as stream:
        latest = stream.expect("change")
        assert latest.data["value"] == "b"
        theme.put("c")
        assert stream.expect("change").data == {"version": latest.data["version"] + 1, "value": "c"}


@pytest.mark.parametrize("cursor", ["", "nonsense", "zzzzzzzz.0", "x" * 200])
def test_an_unknown_cursor_gets_the_value(value, cursor):
    theme = value("theme")
    with theme.changes(cursor=cursor) as stream:
        assert stream.expect("change").data["value"] == "light"


def test_a_cursor_from_before_a_restart_gets_the_value(serve, data):
    theme = Shared(serve(data), VALUES + "/theme")
    theme.put("dark")
    with theme.changes() as stream:
        cursor = stream.expect("change").cursor
    theme.server.stop()
    theme = Shared(serve(data), VALUES + "/theme")
    with theme.changes(last_event_id=cursor) as stream:
        assert stream.expect("change").data == {"version": 0, "value": "dark"}


@pytest.mark.parametrize("workers", [1, 2])
def test_streams_have_each_value_once_and_in_order_while_eight_clients_write(serve, data, workers):
    theme = Shared(serve(data, arguments=["--workers", workers]), VALUES + "/theme")
    streams, received, answers = [theme.changes() for _ in range(5)], [[] for _ in range(5)], []
    for stream in streams:
        assert stream.expect("change").data == {"version": 0, "value": "light"}
    numbers = itertools.count()

    def write(_):
        with Connection(theme.server) as connection:
            for _ in range(25):
                text = f"{next(numbers)}"
                answer = connection.request("PUT", theme.path, text)
                answers.append({"version": int(answer.headers["rivulet-version"]), "value": text})

    def read(i):
        while not received[i] or received[i][-1]["version"] < 200:
            received[i].append(streams[i].expect("change").data)

    with threads(5, read):
        with threads(8, write):
            pass
    answers.sort(key=lambda answer: answer["version"])
    assert [answer["version"] for answer in answers] == list(range(1, 201))
    assert received == [answers] * 5
    assert theme.value == answers[-1]["value"]


def test_a_slow_reader_costs_no_more_than_its_limit_and_has_the_last_value(serve, data):
    theme = Shared(serve(data, arguments=["--workers", "1"]), VALUES + "/theme")
    theme.put("start" + "x" * 900_000)
    slow = [theme.changes(receive_buffer=4096) for _ in range(4)]
    theme.put("000" + "x" * 900_000)
    before = theme.server.memory()
    for number in range(1, 31):
        assert theme.put(f"{number:03}" + "x" * 900_000, Prefer="return=minimal").status == 204
    assert theme.server.memory() - before < 24 << 20
    for stream in slow:
        text, version = "", -1
        while not text.startswith("030"):
            event = stream.expect("change")
            assert event.data["version"] > version
            text, version = event.data["value"], event.data["version"]
        stream.close()


def test_a_stopping_server_says_bye_and_when_to_come_back(serve, data):
    server = serve(data)
    streams = [Shared(server, f"{VALUES}/{name}").changes() for name in KINDS]
    for stream in streams:
        stream.expect("change")
    server.process.terminate()
    for stream in streams:
        bye = stream.expect("bye")
        assert bye.data["reason"] == "draining" and bye.data["reconnect"] is True and bye.data["after"] >= 0
        assert stream.ended()
        stream.close()
    assert server.wait() == 0


def test_the_description_lists_the_values_and_their_defaults(shared):
    described = json.dumps(shared.get(APP).json)
    for name, (default, _) in KINDS.items():
        assert f'"{name}"' in described, (name, default)

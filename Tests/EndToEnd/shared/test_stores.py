# Stores as resources: items, pages, conditions, operations, refusals.
# Documentation/HTTP.md, "Stores, values and secrets".

import json
import re
import urllib.parse

import pytest

from harness import Connection, message, threads
from notes import IDS, STORE, Store, note


# Items


@pytest.mark.parametrize("identifier", IDS)
def test_the_location_of_a_new_item_names_it_whatever_its_identifier_is(store, identifier):
    item = note(identifier)
    made = store.post(item)
    assert made.status == 201 and made.json == item
    location = made.headers["location"]
    assert location == f"{STORE}/{urllib.parse.quote(identifier, safe='')}"
    found = store.server.get(location)
    assert (found.status, found.json, found.headers["etag"]) == (200, item, made.headers["etag"])
    assert store.server.request("PUT", location, note(identifier, "other")).status == 200
    assert store.server.request("DELETE", location).status == 204
    assert store.server.get(location).problem["status"] == 404
    assert store.ids() == []


def test_identifiers_are_equal_only_with_the_same_bytes(store):
    store.insert(note("é", "one code point"), note("e\u0301", "two"))
    assert [item["text"] for item in store.items()] == ["one code point", "two"]
    assert store.read("é").json["text"] == "one code point"


def test_an_existing_item_is_replaced_at_its_position(store):
    store.insert(note("a"), note("b"), note("c"))
    replaced = store.post(note("b", "new"))
    assert replaced.status == 200 and "location" not in replaced.headers
    assert replaced.json == note("b", "new")
    put = store.put(note("a", "newer"), "/a")
    assert put.status == 200 and "location" not in put.headers
    assert store.items() == [note("a", "newer"), note("b", "new"), note("c")]


def test_put_creates_an_item_and_then_replaces_it(store):
    made = store.put(note("a"), "/a")
    assert made.status == 201 and made.headers["location"] == STORE + "/a"
    again = store.put(note("a", "b"), "/a")
    assert again.status == 200 and again.json == note("a", "b")
    assert int(again.headers["rivulet-version"]) == int(made.headers["rivulet-version"]) + 1


def test_put_of_an_item_of_another_path_is_422_and_changes_nothing(store):
    problem = store.put(note("b"), "/a").problem
    assert problem["status"] == 422 and '"a"' in problem["detail"] and '"b"' in problem["detail"]
    assert store.ids() == []


def test_many_items_are_inserted_at_once_and_the_last_one_with_an_identifier_is_stored(store):
    before = store.page()["version"]
    outcome = store.insert(note("a"), note("b"), note("a", "last"), note("c"))
    assert (outcome["inserted"], outcome["replaced"], outcome["removed"]) == (3, 0, 0)
    assert outcome["version"] == before + 1
    assert store.items() == [note("a", "last"), note("b"), note("c")]
    outcome = store.insert(note("d"), note("b", "new"))
    assert (outcome["inserted"], outcome["replaced"]) == (1, 1)
    assert store.ids() == ["a", "b", "c", "d"]


def test_an_array_of_one_is_an_array_and_of_none_changes_no_item(store):
    assert store.insert(note("a"))["inserted"] == 1
    outcome = store.insert()
    assert (outcome["inserted"], outcome["replaced"], outcome["removed"]) == (0, 0, 0)
    assert store.ids() == ["a"]


def test_delete_is_204_and_then_404(store):
    store.insert(note("a"), note("b"))
    gone = store.delete("/a")
    assert gone.status == 204 and gone.body == b""
    assert store.delete("/a").problem["status"] == 404
    assert store.read("a").problem["status"] == 404
    assert store.ids() == ["b"]


def test_delete_of_the_store_removes_all_items_and_an_item_that_is_inserted_again_is_last(store):
    store.insert(note("a"), note("b"))
    store.delete("/a")
    store.insert(note("a"))
    assert store.ids() == ["b", "a"]
    answer = store.delete()
    assert answer.status == 204 and answer.headers["etag"] == f'"{store.cursor}"'
    assert store.page()["items"] == []


# Pages


def test_pages_have_all_items_once_and_in_order_and_the_last_one_has_no_next(store):
    names = [f"n{number}" for number in range(25)]
    store.insert(*map(note, names))
    pages = store.pages(10)
    assert [len(page["items"]) for page in pages] == [10, 10, 5]
    assert [item["id"] for page in pages for item in page["items"]] == names
    assert [page.get("next") for page in pages] == ["n9", "n19", None]
    assert [len(page["items"]) for page in store.pages(5)] == [5] * 5, "no empty page at the end"
    assert len(store.page()["items"]) == 25 and "next" not in store.page()


def test_a_page_has_a_hundred_items_and_a_thousand_at_most(store):
    store.insert(*(note(f"n{number}", "") for number in range(1001)))
    assert len(store.page()["items"]) == 100
    page = store.page(limit=1000)
    assert len(page["items"]) == 1000 and page["next"] == "n999"
    assert store.page(after="n999") == {"version": page["version"], "items": [note("n1000", "")]}


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=-1", "limit=x", "limit=", "limit=1&limit=2", "more=1", "after=a&after=b"])
def test_a_query_that_is_not_known_is_400(store, query):
    assert store.get("?" + query).problem["status"] == 400


def test_a_page_after_a_removed_item_is_410(store):
    store.insert(note("a"), note("b"), note("c"))
    after = store.page(limit=2)["next"]
    store.delete("/" + after)
    answer = store.get(f"?after={after}")
    assert answer.problem["status"] == 410 and f'"{after}"' in answer.problem["detail"]
    assert store.get("?after=never").problem["status"] == 410


def test_a_page_after_an_identifier_with_any_characters_begins_after_its_item(store):
    store.insert(*map(note, IDS))
    assert [item["id"] for page in store.pages(1) for item in page["items"]] == IDS


def test_a_page_of_large_items_ends_where_it_has_a_mebibyte(store):
    names = [f"n{number}" for number in range(5)]
    for name in names:
        assert store.post(note(name, "x" * 400_000)).status == 201
    pages = store.pages(1000)
    assert [item["id"] for page in pages for item in page["items"]] == names
    assert [len(page["items"]) for page in pages] == [3, 2] and pages[0]["next"] == "n2"


def test_a_page_has_the_version_and_is_304_until_something_changes(store):
    store.insert(note("a"))
    page = store.get()
    tag, version = page.headers["etag"], page.json["version"]
    assert tag.strip('"').split(".")[1] == page.headers["rivulet-version"] == str(version)
    unchanged = store.get(If_None_Match=tag)
    assert unchanged.status == 304 and unchanged.headers["etag"] == tag
    assert store.get(If_None_Match=f'"other", W/{tag}').status == 304
    store.put(note("a", "new"), "/a")
    changed = store.get(If_None_Match=tag)
    assert changed.status == 200 and changed.json["version"] == version + 1


def test_a_conditional_change_of_a_store_requires_its_current_version(store):
    store.insert(note("a"))
    here = f'"{store.cursor}"'
    assert store.post(note("b"), If_Match=here).status == 201
    for refused in (
        store.post(note("c"), If_Match=here), store.post([note("c")], If_Match=here), store.delete(If_Match=here),
        store.operate({"removeAll": {}}, If_Match=here), store.delete(If_Match='"zzzzzzzz.1"'),
    ):  # fmt: skip
        problem = refused.problem
        assert (refused.status, problem["cursor"]) == (412, store.cursor)
        assert refused.headers["etag"] == f'"{store.cursor}"'
    assert store.ids() == ["a", "b"]
    assert store.delete(If_Match=f'"nothing", "{store.cursor}"').status == 204
    assert store.post(note("c"), If_Match="*").status == 201


# Tags and conditions


def test_the_tag_of_an_item_depends_on_its_content(store):
    first = store.put(note("a"), "/a").headers["etag"]
    assert store.read("a").headers["etag"] == first
    assert store.read("a", If_None_Match=first).status == 304
    other = store.put(note("a", "other"), "/a").headers["etag"]
    assert other != first and store.read("a", If_None_Match=first).status == 200
    assert store.put(note("a"), "/a").headers["etag"] == first, "the same item has the same tag"


def test_a_conditional_change_of_an_item_requires_its_current_tag(store):
    old = store.put(note("a"), "/a").headers["etag"]
    new = store.put(note("a", "new"), "/a", If_Match=old)
    assert new.status == 200
    for refused in (store.put(note("a", "lost"), "/a", If_Match=old), store.delete("/a", If_Match=old)):
        assert (refused.status, refused.problem["value"]) == (412, note("a", "new"))
        assert refused.headers["etag"] == new.headers["etag"]
    assert store.put(note("a", "weak"), "/a", If_Match="W/" + new.headers["etag"]).status == 412
    assert store.read("a").json == note("a", "new")
    assert store.delete("/a", If_Match=f'{old}, {new.headers["etag"]}').status == 204


def test_a_conditional_creation_requires_that_no_item_exists(store):
    assert store.put(note("a"), "/a", If_None_Match="*").status == 201
    again = store.put(note("a", "lost"), "/a", If_None_Match="*")
    assert (again.status, again.problem["value"]) == (412, note("a"))
    for refused in (store.put(note("b"), "/b", If_Match="*"), store.delete("/b", If_Match="*")):
        assert refused.status == 412 and "value" not in refused.problem and "etag" not in refused.headers
    assert store.put(note("a", "new"), "/a", If_Match="*").status == 200
    assert store.items() == [note("a", "new")]


@pytest.mark.parametrize("name", ["If-Match", "If-None-Match"])
@pytest.mark.parametrize("field", ["a", '"a', "", "*, *"])
def test_a_malformed_condition_is_400(store, name, field):
    assert store.put(note("a"), "/a", **{name: field}).problem["status"] == 400
    assert store.ids() == []


def test_of_twenty_conditional_changes_with_one_tag_exactly_one_is_accepted(store):
    tag, statuses = store.put(note("a"), "/a").headers["etag"], []

    def change(i):
        answer = store.put(note("a", f"{i}"), "/a", If_Match=tag)
        statuses.append((answer.status, i))

    with threads(20, change):
        pass
    won = [i for status, i in statuses if status == 200]
    assert len(won) == 1 and sorted(status for status, _ in statuses) == [200] + [412] * 19
    assert store.read("a").json == note("a", f"{won[0]}")


def test_of_twenty_conditional_creations_exactly_one_is_accepted(store):
    statuses = []
    with threads(20, lambda i: statuses.append(store.put(note("a", f"{i}"), "/a", If_None_Match="*").status)):
        pass
    assert sorted(statuses) == [201] + [412] * 19


def test_twenty_clients_that_increment_by_tags_lose_no_increment(store):
    store.put(note("a", "0"), "/a")

    def count(_):
        with Connection(store.server) as connection:
            status = None
            while status != 200:
                found = connection.request("GET", STORE + "/a")
                more = note("a", str(int(found.json["text"]) + 1))
                status = connection.request("PUT", STORE + "/a", more, {"If-Match": found.headers["etag"]}).status
                assert status in (200, 412)

    with threads(20, count):
        pass
    assert store.read("a").json["text"] == "20"


def test_a_hundred_inserts_over_twenty_connections_are_all_stored(store):
    def insert(i):
        with Connection(store.server) as connection:
            for n in range(5):
                assert connection.request("POST", STORE, note(f"{i}-{n}")).status == 201

    before = store.page()["version"]
    with threads(20, insert):
        pass
    ids = store.ids()
    assert len(ids) == 100 and set(ids) == {f"{i}-{n}" for i in range(20) for n in range(5)}
    assert store.page()["version"] == before + 100
    for i in range(20):
        assert [name for name in ids if name.startswith(f"{i}-")] == [f"{i}-{n}" for n in range(5)]


# Operations


def test_operations_are_one_transaction_in_their_order(store):
    store.insert(note("a"), note("b"), note("c"))
    answer = store.operate({"remove": ["a", "never"]}, {"insert": [note("d"), note("b", "new")]}, {"remove": "c"}, {"insert": note("a")})
    assert answer.status == 200
    outcome = answer.json
    assert (outcome["inserted"], outcome["replaced"], outcome["removed"]) == (2, 1, 2)
    assert answer.headers["etag"] == f'"{outcome["cursor"]}"' == f'"{store.cursor}"'
    assert store.items() == [note("b", "new"), note("d"), note("a")]


def test_an_insert_after_the_removal_of_all_leaves_only_its_items(store):
    store.insert(note("a"), note("b"))
    assert store.operate({"removeAll": {}}, {"insert": [note("b", "new"), note("c")]}).status == 200
    assert store.items() == [note("b", "new"), note("c")]
    assert store.operate({"insert": [note("d")]}, "removeAll").json["removed"] == 3
    assert store.ids() == []


@pytest.mark.parametrize(
    ("operations", "pointer"),
    [
        ([{"removeAll": {}}, {"insert": [note("x"), {"id": "y"}]}], "/operations/1/insert/1"),
        ([{"insert": [note("x")]}, {"insert": [note("")]}], "/operations/1/insert/0"),
        ([{"insert": [note("x")]}, {"insert": [{**note("x"), "created": "yesterday"}]}], "/operations/1/insert/0/created"),
        ([{"remove": ["a"]}, {"vanish": ["b"]}], "/operations/1/vanish"),
        ([{"remove": ["a"]}, {"remove": [5]}], "/operations/1/remove/0"),
        ([{"remove": ["a"], "insert": [note("x")]}], "/operations/0"),
        ([{}], "/operations/0"),
        (["vanish"], "/operations/0"),
        ([{"removeAll": {}}] * 1001, "/operations/1000"),
        ({"removeAll": {}}, "/operations"),
    ],
)
def test_operations_with_an_error_change_nothing(store, operations, pointer):
    store.insert(note("a"), note("b"))
    before = store.page()
    problem = store.post({"operations": operations}, "/operations").problem
    assert problem["status"] == 422
    assert [error["pointer"] for error in problem["errors"]] == [pointer]
    assert store.page() == before


# Answers


def test_a_client_that_wants_little_gets_no_body(store):
    wish = {"Prefer": "return=minimal"}
    for answer in (
        store.post(note("a"), **wish), store.post([note("b")], **wish), store.put(note("a", "b"), "/a", **wish),
        store.operate({"insert": [note("c")]}, **wish),
    ):  # fmt: skip
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["preference-applied"] == "return=minimal"
        assert answer.headers["etag"] and answer.headers["rivulet-version"]
    assert store.put(note("d"), "/d", **wish).headers["location"] == STORE + "/d"
    assert store.ids() == ["a", "b", "c", "d"]


def test_head_is_get_without_the_body(store):
    store.insert(note("a"))
    for target in ("", "/a"):
        head, get = store.request("HEAD", target), store.get(target)
        for name in ("etag", "content-type", "content-length", "rivulet-version"):
            assert head.headers.get(name) == get.headers.get(name), name
    assert store.request("HEAD", "/b").status == 404


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("PUT", "", "GET, HEAD, POST, DELETE"), ("PATCH", "", "GET, HEAD, POST, DELETE"),
        ("POST", "/a", "GET, HEAD, PUT, DELETE"), ("PATCH", "/a", "GET, HEAD, PUT, DELETE"),
        ("GET", "/operations", "POST"), ("PUT", "/operations", "POST"), ("DELETE", "/operations", "POST"),
        ("PUT", "/events", "GET"), ("DELETE", "/events", "GET"),
    ],
)  # fmt: skip
def test_an_unsupported_method_is_405_with_the_supported_ones(store, method, target, allowed):
    answer = store.request(method, target, note("a"))
    assert answer.problem["status"] == 405 and answer.headers["allow"] == allowed + ", OPTIONS"


@pytest.mark.parametrize("path", ["stores/never", "stores/never/a", "stores/never/events", "stores/never/operations", "stores/notes/a/b", "stores"])
def test_what_is_not_there_is_404(store, path):
    method = "POST" if path.endswith("operations") else "GET"
    assert store.server.request(method, "/v1/apps/notes/" + path, {} if method == "POST" else None).problem["status"] == 404
    assert store.server.get("/v1/apps/counter/stores/notes").problem["status"] == 404
    assert store.server.get("/v1/apps/never/stores/notes").problem["status"] == 404


SENDING = [("POST", ""), ("PUT", "/a"), ("POST", "/operations")]


@pytest.mark.parametrize(("method", "target"), SENDING)
@pytest.mark.parametrize("kind", ["text/plain", "application/x-ndjson", None])
def test_a_body_that_is_no_json_by_its_type_is_415(store, method, target, kind):
    fields = {} if kind is None else {"Content-Type": kind}
    body = json.dumps(note("a")).encode()
    assert store.request(method, target, body, **fields).problem["status"] == 415
    assert store.ids() == []


@pytest.mark.parametrize(("method", "target"), SENDING)
def test_a_body_that_is_too_large_is_413(store, method, target):
    assert store.request(method, target, note("a", "x" * (1 << 20))).problem["status"] == 413
    assert store.ids() == []


@pytest.mark.parametrize(("method", "target"), SENDING)
@pytest.mark.parametrize(
    ("body", "offset"),
    [
        (b"", 0), (b"{", 1), (b'{"id":"a",}', 10), (b'{"id":"a","id":"b"}', 10), (b'{"id":"a"} x', 11), (b'{"id":"\xff"}', 7),
        (b"[" * 600, 128), (b'{"operations":[], "operations":[]}', 18), (b"nul", 3),
    ],
)  # fmt: skip
def test_malformed_json_is_400_with_the_offset_in_the_detail(store, method, target, body, offset):
    problem = store.request(method, target, body, Content_Type="application/json").problem
    assert problem["status"] == 400 and re.search(rf"\bbyte {offset}\b", problem["detail"]), problem
    assert store.ids() == []


@pytest.mark.parametrize(
    ("item", "pointer"),
    [
        ({"id": "a"}, ""), ({}, ""), (5, ""), (None, ""), ("a", ""), ([[]], "/0"), ([note("b"), 5], "/1"),
        ({**note("a"), "more": 1}, "/more"), ({**note("a"), "text": 5}, "/text"), ({**note("a"), "text": None}, "/text"),
        ({**note("a"), "created": "yesterday"}, "/created"), ([note("a"), {**note("b"), "created": 5}], "/1/created"),
    ],
)  # fmt: skip
def test_json_that_is_no_item_is_422_with_a_pointer(store, item, pointer):
    body = json.dumps(item).encode()
    problem = store.post(body, Content_Type="application/json").problem
    assert problem["status"] == 422
    assert [error["pointer"] for error in problem["errors"]] == [pointer], problem
    assert store.ids() == []


@pytest.mark.parametrize("identifier", ["", ".", "..", "events", "operations"])
def test_an_identifier_that_cannot_be_in_a_url_is_422(store, identifier):
    for body in (note(identifier), [note("a"), note(identifier)]):
        assert store.post(body).problem["status"] == 422
    assert store.operate({"insert": [note(identifier)]}).problem["status"] == 422
    assert store.put(note(identifier), "/a").problem["status"] == 422
    assert store.ids() == []


def test_an_unknown_query_is_400_for_every_method(store):
    for method, target in [*SENDING, ("DELETE", ""), ("GET", "/a"), ("DELETE", "/a")]:
        body = note("a") if method in ("POST", "PUT") else None
        assert store.request(method, target + "?force=1", body).problem["status"] == 400, (method, target)


def files(folder):
    """The files of a folder without the disk reserve, which the server allocates when it is idle."""
    return sorted(path for path in folder.rglob("*") if path.name != "rivulet.db.reserve")


@pytest.mark.parametrize("raw", ["/..", "/%2e%2e", "/..%2f..%2fsecret.key", "/../../../../secret.key", "/%2e%2e/%2e%2e/x", "//a", "/a%00b", "/%"])
def test_a_path_that_climbs_names_nothing_and_touches_no_file(serve, data, raw):
    server = serve(data)
    store = Store(server)
    secret = (data / "secret.key").read_bytes()
    before = files(data.parent)
    for method in ("GET", "PUT", "DELETE"):
        body = note(urllib.parse.unquote(raw[1:])) if method == "PUT" else None
        with Connection(server) as connection:
            connection.send(message(method, STORE + raw, body))
            answer = connection.answer(method)
        assert secret.strip() not in answer.body
        assert answer.status in (400, 404, 405, 422) or (method, answer.status) in {("PUT", 201), ("DELETE", 204)}, (method, answer)
    assert files(data.parent) == before and (data / "secret.key").read_bytes() == secret
    assert store.ids() == []

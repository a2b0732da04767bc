# Health, apps, sessions and state, by <Documentation/HTTP.md#resources>.

import re

import pytest

from notes import note


def test_health_and_readiness(shared):
    assert shared.get("/healthz").status == 200
    assert shared.get("/readyz").status == 200


def test_apps_are_listed_and_described(shared):
    assert "counter" in [app["name"] for app in shared.get("/v1/apps").json["apps"]]
    description = shared.get("/v1/apps/counter")
    assert description.status == 200
    assert b"note" in description.body or description.json["name"] == "counter"


def test_put_creates_once_and_then_changes_nothing(shared, session):
    assert shared.get(session.path).status == 404
    first = shared.request("PUT", session.path)
    again = shared.request("PUT", session.path)
    assert (first.status, again.status) == (201, 200)
    assert first.json["epoch"] == again.json["epoch"]
    assert again.json["version"] == 0


def test_post_creates_with_a_fresh_unguessable_id(shared):
    answers = [shared.request("POST", "/v1/apps/counter/sessions") for _ in range(2)]
    assert [answer.status for answer in answers] == [201, 201]
    ids = {answer.json["id"] for answer in answers}
    assert len(ids) == 2 and all(re.fullmatch(r"[A-Za-z0-9_-]{16,128}", name) for name in ids)
    for answer in answers:
        assert answer.headers["location"] == f"/v1/apps/counter/sessions/{answer.json['id']}"
        assert shared.get(answer.headers["location"]).status == 200


def test_info_has_epoch_version_and_streams(shared, session):
    session.dispatch("increment")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        info = session.info()
    assert info["app"] == "counter" and session.path.endswith(info["id"])
    assert re.fullmatch(r"[a-z0-9]{8}", info["epoch"])
    assert (info["version"], info["streams"]) == (1, 1)
    assert info["retained"]["to"] == 1


def test_sessions_are_listed_in_pages_ordered_by_id(serve, data):
    server = serve(data)
    names = [f"s{i:02}" for i in range(7)]
    for name in reversed(names):
        server.session(name).dispatch("increment")
    found, after = [], ""
    while after is not None:
        page = server.get(f"/v1/apps/counter/sessions?limit=3&after={after}").json
        assert len(page["sessions"]) <= 3
        found += page["sessions"]
        after = page.get("next")
    assert [entry["id"] for entry in found] == names
    assert {entry["version"] for entry in found} == {1}


@pytest.mark.parametrize("limit", ["0", "1001", "x"])
def test_a_page_with_an_invalid_size_is_refused(shared, limit):
    assert shared.get(f"/v1/apps/counter/sessions?limit={limit}").problem["status"] == 400


def test_delete_removes_state_and_epoch(shared, session):
    session.dispatch({"setCount": 9})
    epoch = session.info()["epoch"]
    assert shared.request("DELETE", session.path).status == 204
    assert shared.request("DELETE", session.path).status == 404
    assert shared.get(session.path).status == 404
    assert session.state("/p/count") == 0
    session.dispatch("increment")
    assert (session.state("/p/count"), session.info()["version"]) == (1, 1)
    assert session.info()["epoch"] != epoch


def test_a_session_that_does_not_exist_serves_the_defaults_and_stores_nothing(shared, session):
    state = session.state()
    assert state["p"]["count"] == 0 and state["p"]["step"] == 1 and state["p"]["title"] == "Counter"
    assert state["p"]["limits"] == {"warnAt": 80, "label": "near the top"}
    assert state["p"]["history"] == []
    with session.stream() as stream:
        stream.expect("snapshot")
    assert shared.get(session.path).status == 404


def test_state_has_an_etag_that_answers_304_until_something_changes(session):
    session.dispatch("increment")
    first = session.read("/p/count")
    assert first.json == 1 and first.headers["rivulet-version"] == "1"
    tag = first.headers["etag"]
    assert re.fullmatch(r'"[a-z0-9]{8}\.1\.[A-Za-z0-9._-]+"', tag)
    unchanged = session.read("/p/count", If_None_Match=tag)
    assert (unchanged.status, unchanged.body, unchanged.headers["etag"]) == (304, b"", tag)
    session.dispatch("increment")
    assert session.read("/p/count", If_None_Match=tag).json == 2


def test_state_is_read_by_key_path_at_any_depth(session):
    session.dispatch({"setLimits": {"warnAt": 3, "label": "a/b ~ ü"}})
    assert session.state("/p/limits") == {"warnAt": 3, "label": "a/b ~ ü"}
    assert session.state("/p/limits/label") == "a/b ~ ü"
    assert session.state("/t/lastEvent") == "setLimits"


@pytest.mark.parametrize("pointer", ["/p/nothing", "/q", "/p/count/deeper", "/p/note"])
def test_a_key_path_that_the_state_cannot_have_is_refused(session, pointer):
    answer = session.read(pointer)
    assert answer.status in (400, 404) and answer.problem["detail"]


@pytest.mark.parametrize(
    ("method", "target", "query"),
    [
        ("PUT", "{session}", "strict=1&strict=0"),
        ("POST", "{session}/events", "strict=1&strict=1"),
        ("GET", "{session}/changes", "cursor=a&path=/p&path=/t&cursor=b"),
        ("POST", "/v1/apps/counter/sessions", "strict=0&strict=1"),
        ("GET", "/v1/apps/counter/sessions", "after=a&limit=1&after="),
        ("GET", "/v1/apps/counter/sessions", "limit=1&limit=1"),
    ],
)
def test_a_repeated_query_parameter_is_refused(shared, session, method, target, query):
    body = "increment" if "events" in target else None
    problem = shared.request(method, target.format(session=session.path) + "?" + query, body).problem
    assert problem["status"] == 400
    assert f'"{query.split("=")[0]}" occurs twice' in problem["detail"]


def test_unknown_app_session_and_resource_are_404(shared, session):
    for target in ("/v1/apps/nope", "/v1/apps/nope/sessions/x/state", session.path, session.path + "/nope", "/v1/nope", "/nope"):
        assert shared.get(target).problem["status"] == 404, target


@pytest.mark.parametrize("name", ["a%20b", "a.b", "x" * 129, "%C3%BC"])
def test_an_invalid_session_id_is_refused(shared, name):
    assert shared.get(f"/v1/apps/counter/sessions/{name}/state").status in (400, 404)


@pytest.mark.parametrize("name", ["", "a.b", "x" * 129])
def test_an_event_for_an_invalid_session_id_is_refused(shared, name):
    problem = shared.request("POST", f"/v1/apps/counter/sessions/{name}/events", "increment").problem
    assert problem["status"] == 400 and "a session id is 1 to 128 letters" in problem["detail"]


@pytest.mark.parametrize(
    ("method", "target", "allowed"),
    [
        ("DELETE", "/healthz", "GET"),
        ("POST", "/v1/apps", "GET"),
        ("DELETE", "/v1/apps/counter/sessions", "POST"),
        ("PATCH", "/v1/apps/counter/sessions/x", "PUT"),
        ("DELETE", "/v1/apps/counter/sessions/x/events", "POST"),
        ("POST", "/v1/apps/counter/sessions/x/changes", "GET"),
    ],
)
def test_a_wrong_method_is_405_with_the_right_ones(shared, method, target, allowed):
    answer = shared.request(method, target)
    assert answer.problem["status"] == 405
    assert allowed in answer.headers["allow"].replace(" ", "").split(",")


def test_head_answers_like_get_without_a_body(shared, session):
    session.dispatch("increment")
    for target in ("/healthz", "/", session.path + "/state"):
        full, head = shared.get(target), shared.request("HEAD", target)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == full.headers["content-length"]


def test_a_leap_second_is_refused_and_a_date_keeps_its_microseconds(store):
    assert store.post(note("leap") | {"created": "2016-12-31T23:59:60Z"}).status == 422
    assert store.ids() == []
    for fraction in (".123456", ".999999", ".000001"):
        date = f"2026-01-02T03:04:05{fraction}Z"
        assert store.put(note("a") | {"created": date}, "/a").json["created"] == date

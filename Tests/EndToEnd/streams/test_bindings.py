# PUT S/state/{key path}: a written value becomes the event that the app binds to the path.

import pytest


def put(session, pointer, value, query="", headers=None):
    return session.server.request("PUT", f"{session.path}/state{pointer}{query}", value, headers)


@pytest.mark.parametrize(
    "pointer, value, event",
    [
        ("/p/count", 42, "setCount"),
        ("/p/step", 3, "setStep"),
        ("/p/title", "Clicks", "rename"),
        ("/p/limits/warnAt", 60, "setWarnAt"),
    ],
)
def test_a_value_is_written_by_its_event(session, pointer, value, event):
    answer = put(session, pointer, value)
    assert answer.status == 200 and answer.json["version"] == 1
    assert answer.headers["etag"] == f'"{answer.json["cursor"]}"'
    assert {"op": "replace", "path": pointer, "value": value} in answer.json["changes"]
    assert session.state(pointer) == value and session.state("/t/lastEvent") == event


def test_the_apps_list_their_bindings(shared):
    bindings = shared.get("/v1/apps/counter").json["bindings"]
    assert [(binding["path"], binding["event"]) for binding in bindings] == [
        ("/p/count", "setCount"),
        ("/p/step", "setStep"),
        ("/p/title", "rename"),
        ("/p/limits/warnAt", "setWarnAt"),
    ]
    assert [binding["schema"]["type"] for binding in bindings] == ["integer", "integer", "string", "integer"]
    paths = [binding["path"] for binding in shared.get("/v1/apps/todos").json["bindings"]]
    assert paths == ["/p/todos/*/title", "/p/filter", "/t/editing"]


def test_a_clamped_value_is_in_the_answer(session):
    answer = put(session, "/p/count", 250)
    assert answer.json["coerced"] == [{"path": "/p/count", "from": 250, "to": 100}]
    assert put(session, "/p/count", 250, "?strict=1").problem["status"] == 422


def test_a_rejected_value_changes_nothing(session):
    answer = put(session, "/p/title", "")
    assert answer.problem["status"] == 422 and answer.json["detail"] == "title must not be empty"
    assert session.server.get(session.path).status == 404


@pytest.mark.parametrize("value, status", [(b'"5"', 422), (b"5.5", 422), (b"null", 422), (b"{", 400), (b"", 400), (b"5 5", 400)])
def test_a_value_of_another_type_is_refused_with_a_pointer(session, value, status):
    answer = put(session, "/p/count", value, headers={"Content-Type": "application/json"})
    assert answer.problem["status"] == status and answer.json["errors"][0]["pointer"] == ""


@pytest.mark.parametrize("pointer", ["", "/p", "/p/history", "/t/lastEvent", "/p/limits", "/p/limits/label"])
def test_a_path_without_a_binding_cannot_be_written(session, pointer):
    answer = put(session, pointer, 5)
    assert answer.problem["status"] == 405 and answer.headers["allow"] == "GET, HEAD, OPTIONS"
    assert answer.json["detail"] == (
        f'no binding is declared for the key path "{pointer}", so it is changed by events only; '
        'app "counter" binds /p/count, /p/step, /p/title, /p/limits/warnAt'
    )


def test_a_path_that_the_state_cannot_have_cannot_be_written_either(session):
    answer = put(session, "/p/nothing", 5)
    assert answer.problem["status"] == 400 and "/p/nothing" in answer.json["detail"]


def test_a_bound_path_has_put_among_its_methods(session):
    answer = session.server.request("DELETE", session.path + "/state/p/count")
    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD, PUT, OPTIONS"


def test_conditions_and_preferences_hold_as_for_events(session):
    tag = put(session, "/p/count", 1).headers["etag"]
    written = put(session, "/p/count", 2, headers={"If-Match": tag, "Prefer": "respond-async, return=minimal"})
    assert written.status == 204 and written.headers["preference-applied"] == "return=minimal"
    refused = put(session, "/p/count", 3, headers={"If-Match": tag})
    assert refused.problem["status"] == 412 and refused.json["value"]["p"]["count"] == 2
    short = '"' + ".".join(written.headers["etag"].strip('"').split(".")[:2]) + '"'
    assert put(session, "/p/count", 3, headers={"If-Match": short}).status == 200
    assert put(session, "/p/count", 4, headers={"Content-Type": "text/plain"}).problem["status"] == 415
    assert put(session, "/p/count", 4, "?stirct=1").problem["status"] == 400


def test_an_element_s_field_is_written_by_its_id(todos):
    for name in ("a/b", "é", "*"):
        todos.dispatch({"add": {"id": name, "title": "x"}})
    for name in ("a~1b", "%C3%A9", "*"):
        answer = put(todos, f"/p/todos/{name}/title", "new")
        assert answer.status == 200, answer
    assert [todo["title"] for todo in todos.state("/p/todos")] == ["new"] * 3
    assert put(todos, "/p/todos/nobody/title", "new").problem["status"] == 422
    assert put(todos, "/p/todos/a~1b/done", True).problem["status"] == 405


def test_other_todos_fields(todos):
    assert put(todos, "/p/filter", "open").status == 200 and todos.state("/p/filter") == "open"
    assert put(todos, "/p/filter", "nonsense").problem["status"] == 422
    todos.dispatch({"add": {"id": "a", "title": "x"}})
    answer = put(todos, "/t/editing", "a")
    assert answer.status == 200 and answer.json["durable"] is False and answer.json["version"] == 2
    nothing = put(todos, "/t/editing", b"null", headers={"Content-Type": "application/json"})
    assert nothing.json["changes"] == [{"op": "replace", "path": "/t/editing", "value": None}]


def test_a_written_value_is_streamed_and_survives(data, serve):
    server = serve(data)
    session = server.session("s")
    with session.stream("/p/count") as stream:
        stream.expect("snapshot")
        answer = put(session, "/p/count", 7).json
        assert stream.expect("change").cursor == answer["cursor"]
    server.kill()
    assert serve(data).session("s").state("/p/count") == 7


def test_an_unknown_app_is_404(shared):
    assert shared.request("PUT", "/v1/apps/nothing/sessions/s/state/p/count", 5).problem["status"] == 404

# Events of the app `counter`, and the answers of dispatches, by <Documentation/HTTP.md#dispatch>.

import json
import re

import pytest


def changed(answer):
    return {change["path"]: change.get("value") for change in answer["changes"]}


def test_the_answer_has_version_cursor_durability_and_changes(session):
    answer = session.post("increment")
    assert answer.status == 200
    body = answer.json
    assert (body["version"], body["durable"]) == (1, True)
    assert answer.headers["etag"] == f'"{body["cursor"]}"' and answer.headers["rivulet-version"] == "1"
    assert changed(body) == {"/p/count": 1, "/p/history": [1], "/t/lastEvent": "increment"}
    assert len(body["changes"]) == len(changed(body))
    assert "coerced" not in body
    assert session.read().headers["etag"] == answer.headers["etag"]


def test_a_value_that_a_wrapper_changed_is_in_the_answer(session):
    body = session.dispatch({"setCount": 250})
    assert body["coerced"] == [{"path": "/p/count", "from": 250, "to": 100}]
    assert changed(body)["/p/count"] == 100


def test_an_initial_state_is_coerced_like_an_event(shared, session):
    wish = {"state": {"p": {"count": 250, "step": 3}}}
    for flag in ["1", "true"]:
        refused = shared.request("PUT", f"{session.path}?strict={flag}", wish)
        assert refused.status == 422
        assert [fault["pointer"] for fault in refused.json["errors"]] == ["/state/p/count"]
        assert shared.get(session.path).status == 404
    created = shared.request("PUT", session.path, wish)
    assert created.status == 201
    assert created.json["coerced"] == [{"path": "/p/count", "from": 250, "to": 100}]
    assert session.state("/p/count") == 100
    again = shared.request("PUT", f"{session.path}?strict=1", wish)
    assert again.status == 200 and "coerced" not in again.json


def test_a_session_with_a_fresh_id_is_coerced_too(shared):
    sessions = "/v1/apps/counter/sessions"
    assert shared.request("POST", f"{sessions}?strict=1", {"state": {"p": {"step": 0}}}).status == 422
    created = shared.request("POST", sessions, {"state": {"p": {"step": 0}}})
    assert created.json["coerced"] == [{"path": "/p/step", "from": 0, "to": 1}]
    strict = shared.request("POST", f"{sessions}?strict=1", {"state": {"p": {"step": 2}}})
    assert strict.status == 201 and "coerced" not in strict.json


@pytest.mark.parametrize(
    "event", ["increment", {"increment": {}}, '"increment"'], ids=["name", "empty object", "bytes"]
)
def test_a_case_without_values_is_its_name_or_an_empty_object(session, event):
    body = event.encode() if isinstance(event, str) and event.startswith('"') else event
    headers = {"Content-Type": "application/json"}
    assert session.post(body, headers).json["version"] == 1


@pytest.mark.parametrize("event", [{"setCount": 5}, {"setCount": {"_0": 5}}])
def test_a_case_with_one_value_accepts_the_bare_value_or_swifts_form(session, event):
    assert changed(session.dispatch(event))["/p/count"] == 5


def test_every_event_of_the_counter_has_its_effect(session):
    session.dispatch({"setStep": 7})
    session.dispatch("increment")
    session.dispatch("decrement")
    session.dispatch({"rename": "Apples"})
    session.dispatch({"setLimits": {"warnAt": 5, "label": "enough"}})
    session.dispatch({"setWarnAt": 6})
    state = session.state()
    assert state["p"]["count"] == 0 and state["p"]["step"] == 7 and state["p"]["title"] == "Apples"
    assert state["p"]["history"] == [7, 0] and state["p"]["limits"] == {"warnAt": 6, "label": "enough"}
    assert state["t"]["lastEvent"] == "setWarnAt"


def test_a_warning_appears_when_the_count_rises_to_the_limit_and_is_dismissed(session):
    session.dispatch({"setCount": 79})
    assert session.state("/t")["warning"] is None
    presented = session.dispatch({"setCount": 81})
    assert any(path.startswith("/t/warning") for path in changed(presented))
    assert session.state("/t/warning/text")
    assert "/t/warning" not in changed(session.dispatch({"setCount": 85}))
    session.dispatch("dismissWarning")
    assert session.state("/t")["warning"] is None


def test_history_keeps_the_last_ten_counts(session):
    for count in range(1, 13):
        session.dispatch({"setCount": count})
    assert session.state("/p/history") == list(range(3, 13))


def test_a_transient_event_changes_no_version_but_the_cursor(session):
    before = session.dispatch("increment")
    touched = session.dispatch("touch")
    assert (touched["version"], touched["durable"]) == (1, False)
    assert changed(touched) == {"/t/lastEvent": "touch"}
    assert touched["cursor"] != before["cursor"]
    assert touched["cursor"].split(".")[:2] == before["cursor"].split(".")[:2]


def test_an_event_that_changes_nothing_answers_the_same_version_and_no_changes(session):
    before = session.dispatch({"setCount": 5})
    for event in ("noop", {"setCount": 5}):
        answer = session.dispatch(event)
        assert (answer["version"], answer["changes"]) == (1, []), event
        assert answer["cursor"] == before["cursor"]


def test_reset_sets_both_halves_to_their_defaults(session):
    session.dispatch({"setCount": 90})
    session.dispatch("reset")
    state = session.state()
    assert state["p"]["count"] == 0 and state["p"]["history"] == [] and state["t"]["warning"] is None


def test_an_effect_dispatches_an_event_that_waits_in_the_queue(session):
    with session.stream("/p/title", "/p/count") as stream:
        stream.expect("snapshot")
        session.dispatch({"setCount": 99})
        stream.expect("change")
        assert session.dispatch("increment")["version"] == 2
        assert stream.expect("change").changed == {"/p/count": 100}
        assert stream.expect("change").changed == {"/p/title": "Full"}
    assert session.info()["version"] == 3


def test_a_rejection_is_422_with_the_reducers_message_and_changes_nothing(session):
    session.dispatch("increment")
    before = session.read().headers["etag"]
    answer = session.post({"rename": ""})
    assert answer.problem["status"] == 422
    assert "title must not be empty" in answer.problem["detail"]
    assert session.read().headers["etag"] == before


@pytest.mark.parametrize(
    "event",
    ["explode", {"explode": 1}, {"setCount": "5"}, {"setCount": 1.5}, {"setCount": None}, {"setLimits": {"warnAt": 1}}, 5, {}],
    ids=repr,
)
def test_an_event_that_does_not_decode_is_422(session, event):
    assert session.post(event).problem["status"] == 422


def test_the_problem_has_a_pointer_to_the_error(session):
    problem = session.post({"setCount": "5"}).problem
    assert problem["errors"][0]["pointer"].startswith("/setCount")
    assert problem["errors"][0]["detail"]


@pytest.mark.parametrize(
    ("event", "pointer", "detail"),
    [
        ({"setCount": {"_0": "5"}}, "/setCount/_0", "integer"),
        ({"setLimits": {"warnAt": "1", "label": ""}}, "/setLimits/warnAt", "integer"),
        ({"setLimits": {"warnAt": 1}}, "/setLimits", '"label"'),
        ({"setLimits": {"warnAt": 1, "label": "", "lable": ""}}, "/setLimits/lable", "not known"),
        ({"increment": {"by": 2}}, "/increment", "no values"),
        ("explode", "", "use one of increment"),
        (["increment", "increment", {"setLimits": {"warnAt": [], "label": ""}}], "/2/setLimits/warnAt", "integer"),
        (["increment", {"explode": {}}], "/1", "use one of increment"),
        ([], "", "at least one"),
    ],
    ids=repr,
)
def test_the_pointer_is_relative_to_the_whole_body(session, event, pointer, detail):
    problem = session.post(event).problem
    assert problem["status"] == 422
    assert [fault["pointer"] for fault in problem["errors"]] == [pointer]
    assert detail in problem["errors"][0]["detail"]


def test_the_offset_counts_from_the_start_of_the_body(session):
    body = b'["increment", {"setLimits": {"warnAt": "1", "label": ""}}]'
    offset = body.index(b'"1"')
    problem = session.post(body, {"Content-Type": "application/json"}).problem
    assert f"(byte {offset})" in problem["detail"]


@pytest.mark.parametrize(
    ("body", "fault", "pointer"),
    [
        (b'{"state": {"p": {"cuont": 7}}}', b"7", "/state/p/cuont"),
        (b'{"state": {"p": {"limits": {"warnAt": "1", "label": ""}}}}', b'"1"', "/state/p/limits/warnAt"),
        (b'{"state": [1]}', b"[", "/state"),
        (b'{"id": 5}', b"5", "/id"),
        (b'{"ids": 5}', b"5", "/ids"),
        (b"[]", b"[", ""),
    ],
)
def test_the_offset_counts_from_the_start_of_the_body_of_a_creation(shared, session, body, fault, pointer):
    for method, path in (("PUT", session.path), ("POST", "/v1/apps/counter/sessions")):
        problem = shared.request(method, path, body, {"Content-Type": "application/json"}).problem
        assert problem["status"] == 422
        assert [fault["pointer"] for fault in problem["errors"]] == [pointer]
        assert re.search(rf"\bbyte {body.index(fault)}\b", problem["detail"]), problem


@pytest.mark.parametrize(
    ("body", "offset"),
    [(b'{"setCount": 5', None), (b'{"setCount": 5,}', "15"), (b"nope", None), (b"", None), (b'"increment" x', "12")],
)
def test_malformed_json_is_400_with_the_offset(session, body, offset):
    detail = session.post(body, {"Content-Type": "application/json"}).problem
    assert detail["status"] == 400
    assert "byte" in detail["detail"]
    assert offset is None or offset in detail["detail"], detail


@pytest.mark.parametrize(
    ("body", "offset"),
    [
        (b"nonsense", 1), (b"falsy", 4), (b'["a"] x', 6), (b'{"id": 5, "state": nope}', 20), (b'{"ids": 5,}', 10),
        (b'{"state": {"p": 5}} x', 20), (b'{"state": {"p": {"cuont": 5}}, "state": {}}', 31), (b"[" * 200, 128),
    ],
)
def test_malformed_json_of_a_creation_is_400_with_the_offset(shared, session, body, offset):
    for method, path in (("PUT", session.path), ("POST", "/v1/apps/counter/sessions")):
        problem = shared.request(method, path, body, {"Content-Type": "application/json"}).problem
        assert problem["status"] == 400, problem
        assert re.search(rf"\bbyte {offset}\b", problem["detail"]), problem
    assert shared.get(session.path).status == 404


@pytest.mark.parametrize(
    "body",
    [b'{"setCount": 1, "setCount": 2}', b'"\\ud800"', b'"\xff"', b"[" * 200 + b"]" * 200, b"\xef\xbb\xbf\"increment\""],
    ids=["duplicate key", "lone surrogate", "not UTF-8", "too deep", "byte order mark"],
)
def test_json_that_means_different_things_to_different_readers_is_400(session, body):
    assert session.post(body, {"Content-Type": "application/json"}).problem["status"] == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_another_content_type_is_415_and_names_the_remedy(session, kind):
    answer = session.post(b'"increment"', {"Content-Type": kind} if kind else {})
    assert answer.problem["status"] == 415
    assert "curl --json" in answer.problem["detail"] and "increment" not in answer.problem["detail"]


def test_content_type_may_carry_a_charset(session):
    assert session.post(b'"increment"', {"Content-Type": "Application/JSON; charset=utf-8"}).status == 200


def test_integers_are_exact(session):
    big = 2**63 - 1
    assert session.dispatch({"setLimits": {"warnAt": big, "label": ""}})["version"] == 1
    assert f'"warnAt":{big}' in session.read("/p/limits").body.decode().replace(" ", "")
    assert session.post(json.dumps({"setWarnAt": big + 1}).encode(), {"Content-Type": "application/json"}).status == 422

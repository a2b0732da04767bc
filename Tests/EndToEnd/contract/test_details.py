# The details of problems name the cause and a fix that works.

import pytest

from notes import Shared, note


@pytest.mark.parametrize("part", ["reset", "restore?version=0"])
def test_a_resource_without_a_body_recommends_none(shared, session, part):
    session.dispatch("increment")
    path = f"{session.path}/{part}"
    refused = shared.request("POST", path, b"x=1", {"Content-Type": "application/x-www-form-urlencoded"})
    assert refused.status == 415
    assert refused.problem["detail"] == (
        "This resource takes no application/x-www-form-urlencoded. Send no body and no Content-Type, as curl -X POST does. Nothing has changed."
    )
    assert shared.request("POST", path).status == 200


def test_a_resource_with_an_optional_body_recommends_json_or_none(shared):
    path = "/v1/apps/counter/sessions"
    refused = shared.request("POST", path, b"x=1", {"Content-Type": "text/plain"})
    assert refused.status == 415 and "Send JSON with Content-Type: application/json, or no body" in refused.problem["detail"]
    assert [shared.request("POST", path, body).status for body in ({}, None)] == [201, 201]


def test_a_412_of_a_session_names_its_cause(session):
    first = session.dispatch("increment")["cursor"]
    session.dispatch("increment")
    epoch = first.split(".")[0]
    for tag, cause in [
        ("x", "no tag of the condition is a cursor"),
        (f"{epoch}.99", "the session does not have this version yet"),
        (first, "the session has moved on"),
        ("aaaaaaaa.1", "the cursor is from another history"),
    ]:
        refused = session.post("increment", {"If-Match": f'"{tag}"'})
        assert refused.status == 412 and refused.problem["detail"].startswith(cause), tag


def test_a_412_of_a_store_or_a_value_does_not_claim_a_change_that_did_not_happen(shared, store):
    tag = store.put(note("a"), "/a").headers["etag"]
    for condition in [{"If_Match": '"no"'}, {"If_None_Match": "*"}]:
        refused = store.put(note("a"), "/a", **condition)
        assert refused.status == 412
        assert refused.problem["detail"] == f"the condition does not allow the item's tag {tag}; nothing has changed"
    value = Shared(shared, "/v1/apps/notes/values/theme")
    for refused in [store.delete(If_Match='"no"'), value.put("dark", If_Match='"no"')]:
        assert refused.status == 412
        assert refused.problem["detail"].startswith("no tag of the condition is the current tag; nothing has changed. The resource stands at ")


@pytest.mark.parametrize(
    "identifier, cause",
    [
        ("", "an item's identifier cannot be empty"),
        ("a\0", "an item's identifier cannot have a NUL"),
        ("events", "as it names something else in a URL"),
        ("..", "as it names something else in a URL"),
    ],
)
def test_a_422_of_an_identifier_names_its_cause(store, identifier, cause):
    refused = store.post(note(identifier))
    assert refused.status == 422 and cause in refused.problem["detail"]


def test_the_refusal_of_a_flag_lists_its_values(shared, session):
    refused = shared.request("POST", f"{session.path}/events?strict=2", "noop")
    assert refused.problem["detail"] == 'the query parameter "strict" is 1, true, 0 or false; found "2"'


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/apps/counter/nothing"])
def test_a_404_names_the_path(shared, path):
    assert shared.get(path).problem["detail"] == f'there is no resource "{path}"'

# An app's description of itself, checked by independent tools: PyPI's jsonschema for the schemas, the TypeScript
# compiler for the types.

import subprocess

import pytest
from jsonschema import Draft202012Validator

from harness import PATIENCE

#: Forms of <Documentation/HTTP.md#dispatch> that the server accepts.
ACCEPTED = [
    "increment",
    {"increment": {}},
    {"setCount": 5},
    {"setCount": {"_0": 5}},
    {"setCount": -(2**63)},
    {"rename": "x"},
    {"setNote": "n"},
    {"setNote": None},
    {"setNote": {"_0": None}},
    {"setNote": {}},
    "setNote",
    {"setLimits": {"warnAt": 1, "label": "x"}},
]
#: Forms that the server answers with 422.
REFUSED = [
    {"setLimits": {"label": "x", "more": 1, "warnAt": 1}},
    "gone",
    "setCount",
    "",
    5,
    {},
    {"gone": 1},
    {"increment": {}, "decrement": {}},
    {"increment": 1},
    {"increment": None},
    {"increment": {"a": 1}},
    {"setCount": "x"},
    {"setCount": 1.5},
    {"setCount": None},
    {"setCount": {}},
    {"setCount": {"_0": 5, "_1": 6}},
    {"setCount": {"_0": "x"}},
    {"setNote": 5},
    {"setLimits": {"warnAt": 1}},
    {"setLimits": {"warnAt": "x", "label": "y"}},
    {"setLimits": [1, "x"]},
    {"setLimits": None},
]
#: Uses of the types of `counter` that must compile.
RIGHT = """
const events: Event[] = ["increment", { setCount: 5 }, { setNote: null }, { setLimits: { warnAt: 1, label: "x" } }];
const paths: KeyPath[] = ["", "/p/count", "/p/limits/label", "/p/history/0", "/t/warning/text"];
export function total(state: State): Int64 { return state.p.count + state.p.limits.warnAt; }
export const text = events.length + paths.join();
export function warning(state: State): string { return state.t.warning === null ? "" : state.t.warning.text; }
"""
#: Uses of the types of `counter` that must not compile, each tried alone.
WRONG = [
    'export const event: Event = "gone";',
    'export const event: Event = { setCount: "5" };',
    "export const event: Event = { setLimits: { warnAt: 1 } };",
    'export const event: Event = { increment: 5 };',
    'export const path: KeyPath = "/p/gone";',
    'export const path: KeyPath = "/p/history/x";',
    "export function text(state: State): string { return state.t.warning.text; }",
    "export function note(state: State): unknown { return state.p.note; }",
    "export function count(state: State): string { return state.p.count; }",
]


@pytest.fixture
def description(shared):
    """The schema answer of `counter`."""
    return shared.get("/v1/apps/counter").json


@pytest.fixture
def apps(shared):
    """The names of all apps."""
    return [app["name"] for app in shared.get("/v1/apps").json["apps"]]


def test_the_schemas_of_every_app_are_valid(shared, apps):
    for app in apps:
        description = shared.get(f"/v1/apps/{app}").json
        for schema in (description["state"], description["event"], *(event["schema"] for event in description["events"])):
            assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
            Draft202012Validator.check_schema(schema)


def test_the_first_state_of_every_app_is_valid(shared, apps):
    for app in apps:
        state = shared.get(f"/v1/apps/{app}/sessions/schema/state")
        if state.status == 200:
            Draft202012Validator(shared.get(f"/v1/apps/{app}").json["state"]).validate(state.json)


def test_states_are_valid_before_and_after_every_kind_of_event(shared, session):
    validator = Draft202012Validator(shared.get("/v1/apps/counter").json["state"])
    validator.validate(session.state())
    for event in ACCEPTED:
        session.dispatch(event)
        validator.validate(session.state())


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("p", "count"), 101), (("p", "count"), -1), (("p", "count"), "1"), (("p", "step"), 0), (("p", "title"), None),
        (("p", "history"), [1.5]), (("p", "limits"), {"warnAt": 1}), (("t", "warning"), {}), (("t", "warning"), {"text": 1}),
    ],
)
def test_an_impossible_state_is_not_valid(shared, session, place, value):
    validator = Draft202012Validator(shared.get("/v1/apps/counter").json["state"])
    state = session.state()
    half, field = place
    assert not validator.is_valid(state | {half: state[half] | {field: value}})
    assert not validator.is_valid(state | {half: {name: rest for name, rest in state[half].items() if name != field}})


def test_defaults_are_valid_and_are_what_a_new_session_has(shared, session, description):
    """The default state: every default of the schema at the position of its field."""
    state = session.state()
    for field in description["fields"]:
        if field["omitted"]:
            assert "default" not in field
        elif "default" in field:
            assert session.state(field["path"]) == field["default"], field
    for half in ("p", "t"):
        definition = description["state"]["$defs"][description["state"]["properties"][half]["$ref"].rpartition("/")[2]]
        defaults = {name: member["default"] for name, member in definition["properties"].items()}
        assert defaults == state[half]
    Draft202012Validator(description["state"]).validate(state)


def test_wrapper_facts_are_in_the_schema(description):
    counter = description["state"]["$defs"]["Counter"]["properties"]
    assert (counter["count"]["minimum"], counter["count"]["maximum"]) == (0, 100)
    assert (counter["step"]["minimum"], counter["step"]["maximum"]) == (1, 10)
    assert description["state"]["readOnly"] is True
    assert description["state"]["properties"]["t"]["x-rivulet-transient"] is True


def test_an_omitted_field_is_in_no_schema_and_no_type(shared, description):
    assert "note" not in description["state"]["$defs"]["Counter"]["properties"]
    assert b"note" not in shared.get("/v1/apps/counter/types.d.ts").body


@pytest.mark.parametrize("event", ACCEPTED, ids=repr)
def test_an_event_that_the_server_accepts_is_valid(shared, session, event):
    assert session.post(event).status == 200
    Draft202012Validator(shared.get("/v1/apps/counter").json["event"]).validate(event)


@pytest.mark.parametrize("event", REFUSED, ids=repr)
def test_an_event_that_the_server_refuses_is_not_valid(shared, session, event):
    assert session.post(event).problem["status"] == 422
    assert not Draft202012Validator(shared.get("/v1/apps/counter").json["event"]).is_valid(event)


def test_each_event_has_a_schema_of_its_own(description):
    schemas = {event["name"]: Draft202012Validator(event["schema"]) for event in description["events"]}
    assert schemas["increment"].is_valid("increment") and schemas["setCount"].is_valid({"setCount": 5})
    assert not schemas["increment"].is_valid("decrement") and not schemas["setCount"].is_valid("increment")
    assert [event["name"] for event in description["events"] if event["sensitive"]] == ["setNote"]


def test_the_types_compile_and_refuse_what_is_wrong(shared, apps, tmp_path):
    """Runs the compiler once for all apps, because it takes seconds to start. Its messages begin with the file's name."""
    for app in apps:
        (tmp_path / f"{app}.d.ts").write_bytes(shared.get(f"/v1/apps/{app}/types.d.ts").body)
    opening = 'import type { Event, Int64, KeyPath, State } from "./counter";\n'
    programs = {f"wrong{i}.ts": program for i, program in enumerate(WRONG)} | {"right.ts": RIGHT}
    for name, program in programs.items():
        (tmp_path / name).write_text(opening + program)
    options = ["--noEmit", "--strict", "--target", "es2020", "--module", "es2020", "--pretty", "false"]
    command = ["tsc", *options, *programs, *(f"{app}.d.ts" for app in apps)]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=3 * PATIENCE)
    faulty = {line.partition("(")[0] for line in run.stdout.splitlines() if "error TS" in line}
    assert faulty == {f"wrong{i}.ts" for i in range(len(WRONG))}, run.stdout


def test_types_and_description_answer_304_until_another_server_runs(shared):
    for target, kind in (("/v1/apps/counter", "application/json"), ("/v1/apps/counter/types.d.ts", "text/plain; charset=utf-8")):
        first = shared.get(target)
        assert (first.status, first.headers["content-type"]) == (200, kind)
        again = shared.get(target, If_None_Match=first.headers["etag"])
        assert (again.status, again.body) == (304, b"")
        head = shared.request("HEAD", target)
        assert (head.status, head.body, head.headers["etag"]) == (200, b"", first.headers["etag"])
        compressed = shared.get(target, Accept_Encoding="gzip")
        assert compressed.headers["content-encoding"] == "gzip" and compressed.headers["etag"] != first.headers["etag"]


def test_types_of_an_unknown_app_are_404_and_cannot_be_written(shared):
    assert shared.get("/v1/apps/nope/types.d.ts").problem["status"] == 404
    refused = shared.request("PUT", "/v1/apps/counter/types.d.ts", {})
    assert refused.problem["status"] == 405 and refused.headers["allow"] == "GET, HEAD, OPTIONS"

# /openapi.json, checked by independent tools: a validator of OpenAPI, one of JSON Schema, and schemathesis, which sends
# the requests that the document allows.

import re
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from harness import ROOT, environment, run
from notes import APP, SECRET, STORE, Shared, note

#: The operations that schemathesis skips: streams, because they do not end.
STREAMS = r"/changes$|/stores/[^/]+/events$"
#: The checks of each answer.
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
SECONDS = 20
#: The paths of shared stores, values and secrets. They have a separate run, because the many other operations would
#: leave no time for them.
SHARED = r"/(stores|values|secrets)/"


@pytest.fixture(scope="module")
def document(shared):
    answer = shared.get("/openapi.json")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    return answer.json


def operations(document):
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def schema_validator(document, schema):
    """A validator of one of the document's schemas. The schema's references point into the document."""
    return Draft202012Validator(schema | {"components": document["components"]})


def resolved(document, value):
    if "$ref" not in value:
        return value
    for name in value["$ref"].removeprefix("#/").split("/"):
        document = document[name]
    return document


def test_the_document_is_valid_and_of_this_program(document):
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": "/"}]
    assert document["info"]["version"] == run("--version").stdout.strip()


def test_it_is_cached_and_compressed(shared):
    plain = shared.get("/openapi.json")
    assert shared.get("/openapi.json", If_None_Match=plain.headers["etag"]).status == 304
    compressed = shared.get("/openapi.json", Accept_Encoding="gzip")
    assert compressed.headers["content-encoding"] == "gzip"
    assert len(compressed.body) < len(plain.body) / 4
    assert shared.request("HEAD", "/openapi.json").headers["content-length"] == str(len(plain.body))


def test_every_schema_is_valid_and_every_example_satisfies_it(document):
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    seen = 0
    for path, method, operation in operations(document):
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for body in (resolved(document, body) for body in bodies):
            for media in body.get("content", {}).values():
                examples = [example["value"] for example in media.get("examples", {}).values()]
                examples += [media["example"]] if "example" in media else []
                for example in examples:
                    errors = list(schema_validator(document, media["schema"]).iter_errors(example))
                    assert not errors, (path, method, example, errors)
                seen += len(examples)
    assert seen > 50


def test_the_example_of_each_event_decodes(document, shared):
    """The reducer may reject the event. An event that does not decode is an error of the document."""
    for app in ("counter", "todos", "notes"):
        path = f"/v1/apps/{app}/sessions/{{session}}/events"
        media = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        for name, example in media["examples"].items():
            answer = shared.request("POST", path.replace("{session}", "openapi-events"), example["value"])
            assert answer.status == 200 or "errors" not in answer.problem, (name, answer)


def test_an_answer_satisfies_its_schema(document, session):
    def check(answer, path, method, status):
        assert answer.status == status, answer
        response = resolved(document, document["paths"][path][method]["responses"][str(status)])
        [(content_type, media)] = [
            (name, media) for name, media in response["content"].items() if name != "application/x-ndjson"
        ]
        assert answer.headers["content-type"] == content_type
        schema_validator(document, media["schema"]).validate(answer.json)

    base = "/v1/apps/counter/sessions/{session}"
    check(session.post({"setCount": 250}), base + "/events", "post", 200)
    check(session.post("gone"), base + "/events", "post", 422)
    check(session.post("increment", {"If-Match": '"aaaaaaaa.0"'}), base + "/events", "post", 412)
    check(session.read(), base + "/state", "get", 200)
    check(session.read("/p/history"), base + "/state/p/history", "get", 200)
    check(session.server.get(session.path), base, "get", 200)
    check(session.server.get("/v1/apps/counter/sessions"), "/v1/apps/counter/sessions", "get", 200)


def test_the_data_of_stream_events_satisfies_the_schemas(document, session):
    operation = document["paths"]["/v1/apps/counter/sessions/{session}/changes"]["get"]
    events = operation["responses"]["200"]["content"]["text/event-stream"]["x-rivulet-events"]
    assert set(events) == {"snapshot", "change", "reset", "auth", "bye"}
    stream = session.stream("/p/count", last_event_id="nonsense")
    received = [stream.expect("reset")]
    session.dispatch("increment")
    received.append(stream.expect("change"))
    session.server.request("DELETE", session.path)
    received.append(stream.expect("bye"))
    received.append(session.stream("/p/count").expect("snapshot"))
    for event in received:
        schema_validator(document, events[event.name]).validate(event.data)


def test_every_field_and_every_binding_has_a_path(document, shared):
    for app in ("counter", "todos", "notes"):
        description = shared.get(f"/v1/apps/{app}").json
        base = f"/v1/apps/{app}/sessions/{{session}}/state"

        def item(path):
            tokens = path.split("/*")
            template = base + "".join(
                part + (f"/{{element{index}}}" if index < len(tokens) else "") for index, part in enumerate(tokens, 1)
            )
            return document["paths"].get(template)

        for field in description["fields"]:
            assert (item(field["path"]) is None) == field["omitted"], field
        for binding in description["bindings"]:
            assert "put" in item(binding["path"]), binding


def test_answers_and_events_of_shared_data_satisfy_their_schemas(document, store):
    def check(answer, path, method, status):
        assert answer.status == status, answer
        response = resolved(document, document["paths"][path][method]["responses"][str(status)])
        for name in response.get("headers", {}):
            assert name.lower() in answer.headers or name == "Preference-Applied", (path, method, name)
        for content_type, media in response.get("content", {}).items():
            assert answer.headers["content-type"] == content_type
            schema_validator(document, media["schema"]).validate(answer.json)

    def check_event(event, path):
        events = document["paths"][path]["get"]["responses"]["200"]["content"]["text/event-stream"]["x-rivulet-events"]
        schema_validator(document, events[event.name]).validate(event.data)

    item = STORE + "/{item}"
    with store.events(cursor="none") as stream:
        check(store.post(note("a")), STORE, "post", 201)
        check(store.post(note("a", "b")), STORE, "post", 200)
        check(store.post([note("b")]), STORE, "post", 200)
        check(store.get("?limit=1"), STORE, "get", 200)
        check(store.get("?after=never"), STORE, "get", 410)
        check(store.put(note("c"), "/c"), item, "put", 201)
        check(store.put(note("c"), "/c", If_None_Match="*"), item, "put", 412)
        check(store.read("c"), item, "get", 200)
        check(store.delete("/c"), item, "delete", 204)
        check(store.operate({"removeAll": {}}, If_Match='"zzzzzzzz.1"'), STORE + "/operations", "post", 412)
        check(store.operate({"removeAll": {}}), STORE + "/operations", "post", 200)
        check(store.delete(), STORE, "delete", 204)
        received = [stream.next() for _ in range(8)]
    assert {event.name for event in received} == {"reset", "insert", "remove"}
    for event in received:
        check_event(event, STORE + "/events")
    haptics = Shared(store.server, APP + "/values/hapticsEnabled")
    with haptics.changes() as stream:
        check(haptics.put(True), haptics.path, "put", 200)
        check(haptics.post(target="/toggle"), haptics.path + "/toggle", "post", 200)
        check(haptics.put(True, If_Match='"zzzzzzzz.1"'), haptics.path, "put", 412)
        check(haptics.delete(), haptics.path, "delete", 200)
        for _ in range(4):
            check_event(stream.next(), haptics.path + "/changes")
    secret = Shared(store.server, SECRET)
    check(secret.put("token"), SECRET, "put", 204)
    check(secret.get(), SECRET, "get", 200)
    check(secret.put(5), SECRET, "put", 422)
    check(secret.delete(), SECRET, "delete", 204)


@pytest.mark.parametrize(
    ("chosen", "seconds", "operations"), [(["--exclude-path-regex", f"{STREAMS}|{SHARED}"], SECONDS, 20),
                                          (["--include-path-regex", SHARED, "--exclude-path-regex", STREAMS], SECONDS // 2, 19)],
    ids=["sessions", "stores, values, secrets"],
)  # fmt: skip
def test_schemathesis_finds_no_error_and_no_undocumented_answer(serve, tmp_path, chosen, seconds, operations):
    server = serve(None)
    done = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "run", server.url + "/openapi.json",
            *chosen, "--checks", CHECKS, "--phases", "coverage,fuzzing",
            "--mode", "all", "--max-examples", "20", "--seed", "1", "--generation-database", "none",
            "--request-timeout", "10", "--max-time", str(seconds), "--continue-on-failure", "--no-color",
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS * 3,
        cwd=tmp_path,
        env=environment() | {"SCHEMATHESIS_HOOKS": "schemathesis_hooks", "PYTHONPATH": str(ROOT / "Tests" / "EndToEnd")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested and int(tested[1]) > operations, done.stdout
    assert server.stop() == 0

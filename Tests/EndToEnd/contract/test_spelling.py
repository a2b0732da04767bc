# Ids and keys are the same if they have the same bytes, over HTTP as in stores.

COMPOSED, DECOMPOSED = "\u00e9", "e\u0301"


def path(identifier):
    return f"/p/todos/{identifier}"


def test_two_spellings_of_an_id_are_two_elements(todos):
    todos.dispatch({"add": {"id": DECOMPOSED, "title": "D"}})
    assert todos.read(path(COMPOSED)).status == 404
    assert todos.post({"rename": {"id": COMPOSED, "title": "x"}}).status == 422
    todos.dispatch({"add": {"id": COMPOSED, "title": "C"}})
    assert [element["id"] for element in todos.state("/p/todos")] == [DECOMPOSED, COMPOSED]
    assert todos.read(path(DECOMPOSED)).json["title"] == "D"
    assert todos.read(path(COMPOSED)).json["title"] == "C"
    todos.dispatch({"rename": {"id": COMPOSED, "title": "c"}})
    assert [element["title"] for element in todos.state("/p/todos")] == ["D", "c"]
    todos.dispatch({"remove": DECOMPOSED})
    assert [element["id"] for element in todos.state("/p/todos")] == [COMPOSED]


def test_a_stream_of_one_spelling_gets_its_changes(todos):
    todos.dispatch([{"add": {"id": DECOMPOSED, "title": "D"}}, {"add": {"id": COMPOSED, "title": "C"}}])
    with todos.stream(f"/p/todos/{DECOMPOSED}/title") as stream:
        assert stream.expect("snapshot").data["values"] == {f"/p/todos/{DECOMPOSED}/title": "D"}
        todos.dispatch({"rename": {"id": COMPOSED, "title": "c"}})
        todos.dispatch({"rename": {"id": DECOMPOSED, "title": "d"}})
        assert stream.expect("change").changed == {f"/p/todos/{DECOMPOSED}/title": "d"}


def test_two_spellings_of_a_key_are_no_duplicate_members(todos):
    body = b'{"add":{"id":"a","title":"A","\\u00e9":1,"e\\u0301":2}}'
    answer = todos.post(body, {"Content-Type": "application/json"})
    assert answer.status == 422
    assert "twice" not in answer.problem["detail"]


def test_an_id_with_a_nul_is_refused(todos):
    todos.dispatch({"add": {"id": "a", "title": "A"}})
    answer = todos.post({"add": {"id": "a\0b", "title": "A"}})
    assert answer.status == 422
    assert "NUL" in str(answer.problem)
    assert todos.info()["version"] == 1
    assert [element["id"] for element in todos.state("/p/todos")] == ["a"]

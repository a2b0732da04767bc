# Documentation/HTTP.md, the HTTP contract: its resources are the server's, its examples run, and each guarantee has its
# test.

import re

import pytest

from examples import Examples, blocks
from harness import ROOT

PAGE = ROOT / "Documentation" / "HTTP.md"
TEXT = PAGE.read_text()
#: The sections that other pages link to.
SECTIONS = ["Words", "Resources", "Dispatch", "Cursors", "Change streams", "Stores, values and secrets", "Errors", "Guarantees"]
#: The variables of addresses in the examples.
ADDRESSES = {
    "H": "", "S": "/v1/apps/counter/sessions/demo", "T": "/v1/apps/todos/sessions/home", "N": "/v1/apps/notes"
}  # fmt: skip
#: The abbreviations of the table of resources.
ABBREVIATIONS = {"A": "/v1/apps/{app}", "S": "/v1/apps/{app}/sessions/{session}"}
#: The collections of an app. Each of their members has a separate path in the OpenAPI document.
MEMBERS = r"/(stores|values|secrets)/[^/{]+"


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", TEXT, re.S | re.M)[1]


def template(path):
    """The path with the same empty braces for every name."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def rows_of_the_page():
    for method, path in re.findall(r"^\| ([A-Z]+) \| `([^`]+)` \|", section("Resources"), re.M):
        head, slash, rest = path.partition("/")
        yield method, ABBREVIATIONS.get(head, head) + slash + rest


def resources_of_the_document(document):
    for path, item in document["paths"].items():
        path = re.sub(r"^/v1/apps/[^/]+", "/v1/apps/{app}", path)
        path = re.sub(MEMBERS, r"/\1/{}", path)
        # Each field of a state has a separate path.
        path = re.sub(r"(/sessions/\{session\}/state)/.+", r"\1/{}", path)
        for method in item.keys() - {"parameters"}:
            yield method.upper(), template(path)


def test_the_page_has_the_sections_that_others_link_to():
    assert [title for title in re.findall(r"^## (.*)$", TEXT, re.M) if title in SECTIONS] == SECTIONS


def test_the_resources_of_the_page_are_those_of_the_openapi_document(shared):
    rows = [(method, template(path)) for method, path in rows_of_the_page()]
    assert len(rows) == len(set(rows)), "a resource has two rows"
    served = set(resources_of_the_document(shared.get("/openapi.json").json))
    assert len(served) > 40
    assert set(rows) <= served, "the page has resources that the server's OpenAPI document does not have"
    assert served <= set(rows), "the page has not all resources of the server's OpenAPI document"


def test_every_path_of_the_page_has_the_methods_of_its_rows(shared):
    """OPTIONS names the methods, with HEAD where there is GET. Streams have no HEAD."""
    # Only the app and, for a binding, the key path must exist.
    names = {"{app}": "counter", "{key path}": "p/count", "{problem}": "not-found", "{stream}": "0-0-0-0"}
    methods = {}
    for method, path in rows_of_the_page():
        methods.setdefault(path, set()).add(method)
    for path, named in methods.items():
        target = re.sub(r"\{[^}]*\}", lambda name: names.get(name[0], "some"), path)
        answer = shared.request("OPTIONS", target)
        assert answer.status == 204, (target, answer)
        allowed = set(answer.headers["allow"].split(", ")) - {"OPTIONS", "HEAD"}
        assert allowed == named, target


def test_every_example_prints_the_output_on_the_page(serve, data):
    examples = Examples(serve(data), **ADDRESSES)
    shown = [example for block in blocks(TEXT) for example in block]
    assert len(shown) > 30
    for example in shown:
        examples.check(example)


def test_the_examples_use_the_addresses_that_the_page_names():
    [block] = re.findall(r"^```sh\n(.*?)^```", TEXT, re.S | re.M)
    named = dict(line.split("=", 1) for line in block.splitlines())
    assert named.pop("H") == "http://127.0.0.1:8080"
    assert named == {name: "$H" + path for name, path in ADDRESSES.items() if name != "H"}


def test_the_types_of_problems_are_those_that_the_server_lists(shared):
    listed = re.findall(r'<td>(\d+)<td><a href="/problems/([a-z-]+)">', shared.get("/problems").body.decode())
    rows = re.findall(r"^\| (\d+) \| (.*?) \|", section("Errors"), re.M)
    assert len(listed) > 40
    assert sorted((status, name) for status, names in rows for name in re.findall(r"`([a-z-]+)`", names)) == sorted(listed)


GUARANTEES = dict(re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", section("Guarantees"), re.S | re.M))


def test_the_guarantees_are_ten():
    assert list(GUARANTEES) == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("number", GUARANTEES)
def test_every_guarantee_links_to_its_tests(number):
    links = re.findall(r"\[`(\w+)`\]\(([^)#]+)\)", GUARANTEES[number])
    assert links, f"guarantee {number} has no test"
    for name, path in links:
        assert name.startswith(f"test_guarantee_{number}_"), name
        source = (PAGE.parent / path).resolve()
        assert source.is_relative_to(ROOT / "Tests") and source.is_file(), path
        assert re.search(rf"^ *def {name}\(", source.read_text(), re.M), f"{path} has no {name}"


def test_the_glossary_is_in_order_and_has_a_line_for_each_term():
    lines = (PAGE.parent / "Glossary.md").read_text().split("\n\n", 2)[2].splitlines()
    terms = [re.fullmatch(r"- \*\*([^*]+)\*\*: .*\.", line)[1].lower() for line in lines]
    assert terms == sorted(set(terms)) and len(terms) > 50

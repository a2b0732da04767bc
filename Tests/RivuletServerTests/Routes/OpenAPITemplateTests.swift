// Checks that the names of the template and those of the sources are the same. A wrong name would only leave a part
// out.

import RivuletJSON
import Testing

@testable import RivuletServer

@Suite struct OpenAPITemplateTests {
    private let root: JSONValue

    init() throws {
        root = try JSONValue(parsing: PackageResources.openapi_json)
    }

    @Test func `every inserted name is a value or a part, and every value and part is inserted`() throws {
        let parts = try #require(root["parts"]?.members).map(\.name) + OpenAPIDocument.problems.map(\.name)
        let known = OpenAPITemplate.Value.allCases.map(\.rawValue) + parts
        #expect(Set(known).count == known.count, "a value and a part have one name")
        let inserted = OpenAPITemplate.insertions(in: root)
        #expect(inserted.subtracting(known).sorted() == [])
        #expect(Set(known).subtracting(inserted).sorted() == [])
    }

    @Test func `every path of the template is that of a resource, and every resource has one`() throws {
        let paths = try #require(root["paths"]?.members).map(\.name)
        #expect(paths.sorted() == Resource.allCases.map(\.path).sorted())
    }

    @Test func `an error names each inserted name that is unknown`() {
        let template = #"""
            {"tags": {"$insert": "tag"}, "paths": {"/": [{"$insert": "apps"}, {"$insert": "part"}, {"a": {"$insert": "aps"}}]},
            "parts": {"part": {"$insert": 7}}}
            """#
        let error = #expect(throws: ServerError.self) { try OpenAPITemplate(Array(template.utf8), parts: []) }
        #expect(
            error?.description == #"openapi.json inserts "7", "aps", "tag", which is no value and no part; "#
                + "correct the name, or add it to OpenAPITemplate.Value or to `parts`"
        )
    }

    @Test func `an error names the position at which a template is not JSON`() {
        let error = #expect(throws: ServerError.self) { try OpenAPITemplate(Array(#"{"a": }"#.utf8), parts: []) }
        #expect(error?.description.hasPrefix("openapi.json is no JSON: ") == true)
    }

    @Test func `a missing value is left out, and a part may insert another part`() throws {
        let text = #"""
            {"a": {"$insert": "example"}, "b": {"$insert": "one"}, "c": {"$insert": "given"},
            "parts": {"one": {"two": {"$insert": "apps"}}}}
            """#
        var template = try OpenAPITemplate(Array(text.utf8), parts: [JSONValue.Member(name: "given", value: 1)])
        template.values[.apps] = ["x"]
        let document = template.document(paths: [], schemas: [])
        #expect(document == ["b": ["two": ["x"]], "c": 1])
    }
}

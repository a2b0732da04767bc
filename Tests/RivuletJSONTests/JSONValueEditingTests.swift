// Checks edits of JSON values by pointers.

import RivuletJSON
import Testing

@Suite struct JSONValueEditingTests {
    private let document = #"{"a":{"b":[1,{"c":2}]},"d":null}"#

    private func edited(_ body: (inout JSONValue) throws -> Void) throws -> String {
        var value = try JSONValue(parsing: document)
        try body(&value)
        return "\(value)"
    }

    @Test(arguments: [
        ("/d", #"{"a":{"b":[1,{"c":2}]},"d":9}"#),
        ("/a/b/1/c", #"{"a":{"b":[1,{"c":9}]},"d":null}"#),
        ("/a/b/0", #"{"a":{"b":[9,{"c":2}]},"d":null}"#),
        ("/new/deep", #"{"a":{"b":[1,{"c":2}]},"d":null,"new":{"deep":9}}"#),
        ("", "9"),
    ])
    func `a write replaces the value, and creates missing objects`(path: String, expected: String) throws {
        #expect(try edited { try $0.set(path, to: .number("9")) } == expected)
    }

    @Test(arguments: ["/a/b/2", "/a/b/x", "/d/e", "/a/b/0/c", "no pointer"])
    func `an impossible write throws and changes nothing`(path: String) throws {
        let result = try edited { value in
            #expect(throws: JSONError.self) { try value.set(path, to: .null) }
        }
        #expect(result == document)
    }

    @Test(arguments: [
        ("/d", #"{"a":{"b":[1,{"c":2}]}}"#, "null"),
        ("/a/b/0", #"{"a":{"b":[{"c":2}]},"d":null}"#, "1"),
        ("/a/b/1/c", #"{"a":{"b":[1,{}]},"d":null}"#, "2"),
        ("/x/y", #"{"a":{"b":[1,{"c":2}]},"d":null}"#, nil),
    ])
    func `a removal returns the removed value`(path: String, expected: String, removed: String?) throws {
        let result = try edited { value in
            let found = try value.remove(path)
            #expect(found.map { "\($0)" } == removed)
        }
        #expect(result == expected)
    }

    @Test func `a value moves, also below its own path, and a missing value does not move`() throws {
        #expect(try edited { try $0.move("/a/b", to: "/d") } == #"{"a":{},"d":[1,{"c":2}]}"#)
        #expect(try edited { try $0.move("/a", to: "/a/old") } == #"{"d":null,"a":{"old":{"b":[1,{"c":2}]}}}"#)
        #expect(try edited { try $0.move("/x", to: "/d") } == document)
    }

    @Test func `a value or each element is changed in place, and a failed change changes nothing`() throws {
        #expect(try edited { try $0.update("/a/b/0") { $0 = .bool(true) } } == #"{"a":{"b":[true,{"c":2}]},"d":null}"#)
        #expect(
            try edited { try $0.updateEach("/a/b") { $0 = .array([$0]) } } == #"{"a":{"b":[[1],[{"c":2}]]},"d":null}"#
        )
        #expect(try edited { try $0.updateEach("/a") { $0 = .bool(true) } } == #"{"a":{"b":true},"d":null}"#)
        #expect(try edited { try $0.updateEach("/d") { $0 = .null } } == document)
        let result = try edited { value in
            #expect(throws: JSONError.self) {
                try value.updateEach("/a/b") { try $0.set("/c", to: .null) }
            }
        }
        #expect(result == document)
    }
}

// Tests the reading of objects with exactly one member.

import Testing

@testable import RivuletJSON

@Suite struct SingleMemberTests {
    @Test(arguments: [
        (#"{"a":1}"#, "a", "1"), (#" { "é\n" : {"b":[1,2]} } "#, "é\n", #"{"b":[1,2]}"#), (#"{"":null}"#, "", "null"),
    ])
    func `an object with one member gives its key and its value`(text: String, key: String, value: String) throws {
        var reader = JSONReader(Array(text.utf8))
        let member = try #require(try reader.singleMember())
        try reader.finish()
        var inner = member.value
        #expect(member.key == key)
        #expect(try inner.capture() == Array(value.utf8))
        try inner.finish()
    }

    @Test(arguments: ["{}", #"{"a":1,"b":2}"#, "[1]", #""a""#, #"{"a" 1}"#, #"{"a":1]"#, "{1:2}", "{"])
    func `other values are left unread`(text: String) throws {
        var reader = JSONReader(Array(text.utf8))
        #expect(try reader.singleMember() == nil)
        #expect(reader.offset == 0)
        #expect(reader.pointer.isEmpty)
    }

    @Test func `an error in the value has the member's pointer, and so has the reader of the value`() throws {
        var reader = JSONReader(Array(#"{"a~b":[1,x]}"#.utf8), pointer: "/7")
        let error = #expect(throws: JSONError.self) { try reader.singleMember() }
        #expect(error?.pointer == "/7/a~0b/1")
        var other = JSONReader(Array(#"{"a~b":true}"#.utf8), pointer: "/7")
        #expect(try other.singleMember()?.value.pointer == "/7/a~0b")
    }

    @Test func `an object in an array has the pointer of its index`() throws {
        var reader = JSONReader(Array(#"[{"a":1},{"b":2}]"#.utf8))
        var places: [String] = []
        try reader.array { _, reader throws(JSONError) in
            if let member = try reader.singleMember() { places.append(member.value.pointer) }
        }
        try reader.finish()
        #expect(places == ["/0/a", "/1/b"])
    }

    @Test(arguments: [("{}", true), (" { } ", true), (#"{"a":1}"#, false), ("[]", false), ("1", false)])
    func `an object without members is recognised`(text: String, isEmpty: Bool) {
        #expect(JSONReader(Array(text.utf8)).isEmptyObject == isEmpty)
    }
}

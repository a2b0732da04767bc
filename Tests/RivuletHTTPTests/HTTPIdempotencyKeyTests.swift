// Checks the reading of `Idempotency-Key`.

import RivuletHTTP
import Testing

@Suite struct HTTPIdempotencyKeyTests {
    @Test(
        arguments: [
            ("\"8e03978e-40d5\"", "8e03978e-40d5"), ("8e03978e-40d5", "8e03978e-40d5"), ("\"a b,c\"", "a b,c"),
            (#""a\"b\\c""#, #"a"b\c"#), ("order:7/3", "order:7/3"), ("\"a\";v=1", "a"), ("a;v=1", "a"), ("*", "*"),
        ]
    )
    func `a quoted string and a bare token are keys`(_ field: String, _ key: String) {
        #expect(HTTPIdempotencyKey(field)?.text == key)
    }

    @Test(
        arguments: [
            "", "\"\"", "\"a", "a\"", "\"a\"b", "\"a\", \"b\"", "a, b", "a b", #""a\b""#, "\"é\"", "\"a\tb\"", ";",
            "\"a\\",
        ]
    )
    func `other text is no key`(_ field: String) {
        #expect(HTTPIdempotencyKey(field) == nil)
    }

    @Test func `a key has a length limit`() {
        let longest = String(repeating: "k", count: HTTPIdempotencyKey.bytesMax)
        #expect(HTTPIdempotencyKey("\"\(longest)\"")?.text == longest)
        #expect(HTTPIdempotencyKey("\"\(longest)k\"") == nil)
        #expect(HTTPIdempotencyKey(longest + "k") == nil)
    }
}

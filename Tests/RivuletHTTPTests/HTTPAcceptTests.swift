// Owns the tests of acceptance of types and codings.

import RivuletHTTP
import Testing

@Suite struct HTTPAcceptTests {
    @Test(
        arguments: [
            (nil, true), ("", true), ("*/*", true), ("text/*", true), ("TEXT/Event-Stream", true), ("text/html", false),
            ("text/event-stream;q=0", false), ("text/event-stream;q=0, */*", false), ("*/*;q=0.001", true),
            ("text/html, text/event-stream; q=0.5", true), ("text/event-stream;q=2", false),
            ("text/event-stream;q=x", false),
        ] as [(String?, Bool)]
    )
    func `the most specific range decides whether a type is acceptable`(field: String?, isAcceptable: Bool) {
        #expect(HTTPAccept.accepts(type: "text/event-stream", in: field) == isAcceptable)
    }

    @Test(
        arguments: [
            (nil, false), ("", false), ("gzip", true), ("GZIP", true), ("br, gzip;q=0.5", true), ("gzip;q=0", false),
            ("*", true), ("*;q=0", false), ("gzip;q=0, *", false), ("br", false), ("gzip;q=0.2, identity;q=0.8", false),
            ("identity, gzip", true), ("gzip;q=1.000", true), ("gzip;q=0.0001", false),
        ] as [(String?, Bool)]
    )
    func `a coding is wanted if its weight is above zero and not below that of identity`(field: String?, isWanted: Bool)
    {
        #expect(HTTPAccept.accepts(encoding: "gzip", in: field) == isWanted)
    }

    @Test(
        arguments: [
            (nil, "a/x"), ("b/y", "b/y"), ("a/x;q=0.5, b/y", "b/y"), ("*/*", "a/x"), ("b/*, a/x;q=0.9", "b/y"),
            ("c/z", nil),
        ] as [(String?, String?)]
    )
    func `the type with the highest weight is chosen, and the server's order breaks ties`(field: String?, type: String?)
    {
        #expect(HTTPAccept.preferredType(of: ["a/x", "b/y"], in: field) == type)
    }
}

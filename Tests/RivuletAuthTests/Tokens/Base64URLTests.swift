import RivuletAuth
import Testing

@Suite struct Base64URLTests {
    @Test(
        arguments: [
            ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]),
            ("-_-_", [0xFB, 0xFF, 0xBF]),
            ("AA", [0]), ("AAA", [0, 0]),
        ] as [(String, [UInt8])]
    )
    func `bytes and texts convert both ways`(_ text: String, _ bytes: [UInt8]) {
        #expect(Base64URL.decode(text.utf8) == bytes)
        #expect(Base64URL.encode(bytes) == text)
    }

    @Test func `all bytes come back`() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37 + count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }

    @Test(arguments: [
        "A", "AAAAA", "Zg==", "Zm8=", "Zm9v=", "Z", "Zh", "Zm9", "+/+/", "Zm 9v", "Zm9v\n", "Zm\u{E9}v", "Zm9v\0",
        "????",
    ])
    func `another text of the same bytes is refused`(_ text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}

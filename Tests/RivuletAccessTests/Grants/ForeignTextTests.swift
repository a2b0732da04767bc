import RivuletAccess
import Testing

@Suite struct ForeignTextTests {
    @Test(arguments: [
        ("plain caf\u{E9} \u{1F600}", "\"plain caf\u{E9} \u{1F600}\""), ("a\"b\\", #""a\"b\\""#),
        ("a\nb\u{7F}", #""a\nb\u007f""#), ("\u{85}\u{9B}", #""\u0085\u009b""#),
        ("\u{202E}x\u{2066}", #""\u202ex\u2066""#),
        ("\u{2028}\u{2029}", #""\u2028\u2029""#), ("\u{E0041}", #""\udb40\udc41""#),
        ("e\u{301}\u{200D}", "\"e\u{301}\\u200d\""),
    ])
    func `a quoted text is one line in one direction`(_ text: String, _ quoted: String) {
        #expect(ForeignText.quoted(text) == quoted)
    }

    @Test func `long texts are cut`() {
        let long = String(repeating: "\u{E9}", count: 600)
        #expect(ForeignText.quoted(long) == "\"" + String(repeating: "\u{E9}", count: 100) + "…\"")
        #expect(ForeignText.line(long).count == ForeignText.lineCharactersMax + 1)
        #expect(ForeignText.line("a \"b\"\n") == "a \"b\"\\u000a")
        #expect(ForeignText.quoted(String(long.prefix(100))).count == 102)
    }
}

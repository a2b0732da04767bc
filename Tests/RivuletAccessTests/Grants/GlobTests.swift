import RivuletAccess
import Testing

@Suite struct GlobTests {
    /// The pattern of a text in which `*` stands for a run, and `#` for a star of the name.
    private static func glob(_ text: String) -> Glob? {
        Glob(
            texts: text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
                .map { $0.map { $0 == UInt8(ascii: "#") ? UInt8(ascii: "*") : $0 } }
        )
    }

    @Test(arguments: [
        ("home", ["home"], ["", "hom", "homes", "Home", "*"]),
        ("*", ["", "a", "a-b", "*", "\u{E9}"], []),
        ("al-*", ["al-", "al-1", "al-ice-1"], ["al", "bal-1", "al1"]),
        ("*-al", ["-al", "x-al"], ["al", "x-al-"]),
        ("a*b*c", ["abc", "axbxc", "abcbc", "aabbcc"], ["ab", "acb", "abcd", "xabc", "ac"]),
        ("a**b", ["ab", "axb"], ["a", "b"]),
        ("aba*aba", ["abaaba", "abaxaba"], ["aba", "ababa"]),
        ("*ab*ab*", ["abab", "xabxabx"], ["ab", "aab", "aba"]),
        ("caf\u{E9}", ["caf\u{E9}"], ["cafe\u{301}", "cafe"]),
        ("a.c", ["a.c"], ["abc"]),
        ("[ab]", ["[ab]"], ["a", "b"]),
        ("a?", ["a?"], ["ab"]),
        ("#", ["*"], ["", "a", "**"]),
        ("a#*", ["a*", "a*b"], ["a", "ab"]),
    ])
    func `a pattern matches whole names by their bytes`(_ text: String, _ matching: [String], _ others: [String]) throws
    {
        let glob = try #require(Self.glob(text))
        for name in matching { #expect(glob.matches(name), "\(text) \(name)") }
        for name in others { #expect(!glob.matches(name), "\(text) \(name)") }
    }

    @Test func `the pattern of every name is known`() {
        #expect(Glob.any.isAny)
        #expect(Self.glob("***")?.isAny == true)
        for text in ["", "a*", "*a", "#"] { #expect(Self.glob(text)?.isAny == false) }
        #expect(Glob(texts: []) == nil)
    }

    @Test func `the worst pattern is quick`() throws {
        let worst = try #require(Self.glob(String(repeating: "a*", count: 63) + "b"))
        #expect(!worst.matches(String(repeating: "a", count: 4_096)))
    }
}

import RivuletAuth
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("home", ["home"], ["", "hom", "homes", "Home", "*"]),
        ("*", ["", "a", "a-b", "*", "\u{E9}"], []),
        ("al-*", ["al-", "al-1", "al-ice-1"], ["al", "bal-1", "al1"]),
        ("*-al", ["-al", "x-al"], ["al", "x-al-"]),
        ("a*b*c", ["abc", "axbxc", "abcbc", "aabbcc"], ["ab", "acb", "abcd", "xabc"]),
        ("a**b", ["ab", "axb"], ["a", "b"]),
        ("caf\u{E9}", ["caf\u{E9}"], ["cafe\u{301}", "cafe"]),
        ("a.c", ["a.c"], ["abc"]),
        ("[ab]", ["[ab]"], ["a", "b"]),
        ("a?", ["a?"], ["ab"]),
    ])
    func `a pattern matches whole names by their bytes`(_ text: String, _ matching: [String], _ others: [String]) throws
    {
        let glob = try #require(Glob(text))
        for name in matching { #expect(glob.matches(name), "\(text) \(name)") }
        for name in others { #expect(!glob.matches(name), "\(text) \(name)") }
    }

    @Test func `patterns have limits, and the worst one is quick`() throws {
        #expect(Glob("") == nil)
        #expect(Glob(String(repeating: "a", count: 129)) == nil)
        let worst = try #require(Glob(String(repeating: "a*", count: 63) + "b"))
        #expect(!worst.matches(String(repeating: "a", count: 4_096)))
    }
}

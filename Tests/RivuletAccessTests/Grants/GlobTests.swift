import RivuletAccess
import SeededRandom
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

    /// Tries every run for the first star.
    private static func isMatch(_ pattern: Substring, _ name: Substring) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        guard first == "*" else { return name.first == first && isMatch(pattern.dropFirst(), name.dropFirst()) }
        return isMatch(pattern.dropFirst(), name) || (!name.isEmpty && isMatch(pattern, name.dropFirst()))
    }

    @Test func `random patterns match as a search of all runs does`() throws {
        var random = SeededGenerator(seed: 1)
        func text(_ letters: String, _ most: Int) -> String {
            let count = Int.random(in: 0...most, using: &random)
            return String((0..<count).compactMap { _ in letters.randomElement(using: &random) })
        }
        var matches = 0
        for _ in 0..<5_000 {
            let (pattern, name) = (text("ab*", 6), text("ab", 7))
            let isMatch = Self.isMatch(pattern[...], name[...])
            #expect(try #require(Self.glob(pattern)).matches(name) == isMatch, "\(pattern) \(name)")
            matches += isMatch ? 1 : 0
        }
        #expect(matches > 500)
    }
}

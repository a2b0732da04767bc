import Testing

@testable import RivuletServer

@Suite struct SessionListTests {
    @Test(arguments: ["a", "team-", "0", "z", "\u{1}", "\0", "a\0", "\0\0", "é"])
    func `a list begins before all ids with the prefix, and after all other ids`(_ prefix: String) {
        let start = Array(SessionList.predecessor(of: prefix).utf8)
        let bytes = Array(prefix.utf8)
        #expect(start.lexicographicallyPrecedes(bytes))
        // The ids before the prefix: the texts that end earlier, and those with a smaller last byte.
        for count in 1..<max(bytes.count, 1) { #expect(!start.lexicographicallyPrecedes(bytes.prefix(count))) }
        if let last = bytes.last, last > 0 {
            #expect(!start.lexicographicallyPrecedes(bytes.dropLast() + [last - 1] + Array("zzz".utf8)))
        }
    }
}

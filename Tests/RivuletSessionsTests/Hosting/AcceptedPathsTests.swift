// Checks that key paths which a schema has are remembered after their first look-up.

import RivuletJSON
import Testing

@testable import RivuletSessions

@Suite struct AcceptedPathsTests {
    @Test func `a path that was found is looked up once, an unknown path each time`() {
        let paths = AcceptedPaths()
        var looks = 0
        func contains(_ token: String, _ answer: Bool, view: String? = nil, wildcards: Bool = false) -> Bool {
            paths.contains(JSONPointer(tokens: [token]), view: view, wildcards: wildcards) {
                looks += 1
                return answer
            }
        }
        #expect(contains("count", true))
        #expect(contains("count", false))
        #expect(looks == 1)
        #expect(!contains("other", false))
        #expect(!contains("other", false))
        #expect(looks == 3)
        // A path of a view, or a path with wildcards, is another entry.
        #expect(!contains("count", false, view: "summary"))
        #expect(!contains("count", false, wildcards: true))
    }

    @Test func `few paths are remembered, however many clients name, and all answers are right`() {
        let paths = AcceptedPaths()
        for number in 0..<10_000 {
            let isThere = number % 2 == 0
            let pointer = JSONPointer(tokens: ["\(number)"])
            #expect(paths.contains(pointer, view: nil, wildcards: false) { isThere } == isThere)
        }
        var looks = 0
        for number in stride(from: 0, to: 10_000, by: 2) {
            _ = paths.contains(JSONPointer(tokens: ["\(number)"]), view: nil, wildcards: false) {
                looks += 1
                return true
            }
        }
        #expect(looks > 0)
    }
}

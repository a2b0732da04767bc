// Tests texts that are the same in every process.

import Testing

@testable import RivuletJSON

/// References that form a cycle.
private final class Ring: Codable {
    var others: [Ring] = []
    var tags: Set<String> = ["a", "b"]

    private enum CodingKeys: CodingKey { case tags }
}

@Suite struct CanonicalTextTests {
    @Test func `a value with a cycle of references has no text`() {
        let ring = Ring()
        ring.others = (0..<10).map { _ in
            let other = Ring()
            other.others = [ring]
            return other
        }
        #expect(CanonicalText.text(of: ring) == nil)
    }
}

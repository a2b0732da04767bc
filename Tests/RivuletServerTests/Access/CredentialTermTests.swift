// Checks the times of a credential: its end, and the one notice before it.

import SeededRandom
import Testing

@testable import RivuletServer

@Suite struct CredentialTermTests {
    private static func term(_ remaining: UInt64?, at now: UInt64 = 5_000, seed: UInt64 = 1) -> CredentialTerm {
        var random = SeededGenerator(seed: seed)
        return CredentialTerm(remaining: remaining, now: now, using: &random)
    }

    @Test func `a credential without an end has no times`() {
        var term = Self.term(nil)
        let notice = term.takeNotice(at: .max)
        #expect(term.end == nil && term.due == .max && notice == nil && !term.hasEnded(at: .max))
    }

    @Test(
        arguments: [
            (3_600_000, 54_000...66_000), (120_000, 54_000...66_000), (100_000, 45_000...55_000),
            (4_000, 1_800...2_200), (2_000, 900...1_100),
        ] as [(UInt64, ClosedRange<UInt64>)]
    )
    func `the notice comes a minute before the end, or after half of a short time`(
        remaining: UInt64,
        range: ClosedRange<UInt64>
    ) throws {
        var leads: Set<UInt64> = []
        for seed in 0..<200 {
            let term = Self.term(remaining, seed: UInt64(seed))
            let notice = try #require(term.notice)
            #expect(term.end == 5_000 + remaining && term.due == notice)
            #expect(range.contains(5_000 + remaining - notice))
            leads.insert(5_000 + remaining - notice)
        }
        #expect(leads.count > 50)
    }

    @Test(arguments: [0, 1, 1_999] as [UInt64])
    func `a credential that ends at once has no notice`(remaining: UInt64) {
        let term = Self.term(remaining)
        #expect(term.notice == nil && term.due == 5_000 + remaining)
        #expect(term.hasEnded(at: 5_000 + remaining))
        #expect(remaining == 0 || !term.hasEnded(at: 5_000 + remaining - 1))
    }

    @Test func `there is one notice, with the time that is left when it is taken`() throws {
        var term = Self.term(100_000)
        let due = try #require(term.notice)
        var taken = [term.takeNotice(at: due - 1), term.takeNotice(at: due + 300), term.takeNotice(at: due + 301)]
        #expect(taken == [nil, 105_000 - due - 300, nil])
        #expect(term.due == 105_000)
        term = Self.term(100_000)
        term.delayNotice(until: due + 1_000)
        taken = [term.takeNotice(at: due + 999), term.takeNotice(at: due + 1_000)]
        #expect(taken == [nil, 105_000 - due - 1_000])
        // An earlier time changes nothing, and after the end there is nothing to tell.
        term = Self.term(100_000)
        term.delayNotice(until: 1)
        #expect(term.notice == due)
        let late = term.takeNotice(at: 105_000)
        #expect(late == nil && term.hasEnded(at: 105_000))
    }
}

// Checks that a reload makes the identity of many streams once, and that steps with large identities have few streams.

import Crypto
import RivuletAccess
import RivuletAuth
import Testing

@testable import RivuletServer

@Suite struct RenewedIdentitiesTests {
    private static func authenticator(_ number: UInt64, patterns: Int = 1) throws -> Authenticator {
        let sessions = (0..<patterns).map { #""${me}-\#($0)""# }.joined(separator: ",")
        let grant = #"{"actions":["read"],"app":"a","sessions":[\#(sessions)]}"#
        let grants = Array(repeating: grant, count: patterns).joined(separator: ",")
        return try Authenticator(
            issuers: [],
            policy: AccessPolicy(parsing: Array(#"{"anonymous":[\#(grants)]}"#.utf8)),
            secret: SymmetricKey(data: Array(repeating: 1, count: 32)),
            number: number
        )
    }

    @Test func `streams of one identity get one identity, and other streams another one`() throws {
        let (first, second) = (try Self.authenticator(1), try Self.authenticator(2))
        let (one, other) = (first.anonymous(me: "one"), first.anonymous(me: "other"))
        var identities = RenewedIdentities()
        let found = [one, other, one].map { identities.identity(again: $0, by: second) }
        #expect(found[0] === found[2] && found[0] !== found[1])
        #expect(found.map { $0?.caller.me } == ["one", "other", "one"] && found.allSatisfy { $0?.authenticator == 2 })
        // Newer rules during the pass make it again.
        let again = identities.identity(again: one, by: try Self.authenticator(3))
        #expect(again !== found[0] && again?.authenticator == 3)
    }

    @Test func `a limited number of identities is remembered`() throws {
        let (first, second) = (try Self.authenticator(1), try Self.authenticator(2))
        let former = (0...RenewedIdentities.countMax).map { first.anonymous(me: "\($0)") }
        var identities = RenewedIdentities()
        let found = former.map { identities.identity(again: $0, by: second) }
        #expect(identities.identity(again: former[0], by: second) !== found[0])
        let last = RenewedIdentities.countMax
        #expect(identities.identity(again: former[last], by: second) === found[last])
    }

    @Test func `a step has twice as many streams as the one before, and half as many after large identities`() throws {
        let (first, second) = (try Self.authenticator(1), try Self.authenticator(2, patterns: 64))
        var identities = RenewedIdentities()
        var steps: [Int] = []
        for _ in 0..<6 {
            identities.endStep()
            steps.append(identities.streamsPerStep)
        }
        #expect(steps == [16, 32, 64, 128, 256, 256])
        // Each has over 400 KiB of patterns.
        for number in 0..<3 { _ = identities.identity(again: first.anonymous(me: "\(number)"), by: second) }
        identities.endStep()
        #expect(identities.streamsPerStep == 128)
    }
}

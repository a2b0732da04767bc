// Checks the fingerprints that are stored of requests with idempotency keys, and that they identify a repeated request.

import RivuletHTTP
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite struct RequestFingerprintsTests {
    private static let action = "events strict=false"
    private let body = Array(#"{"pay":{"card":"4111111111111111"}}"#.utf8)

    private func fingerprints(_ letter: Character = "a") throws -> RequestFingerprints {
        RequestFingerprints(try SecretKey(String(repeating: letter, count: 32)))
    }

    /// The SHA-256 of the action, a zero and the body, computed with another tool.
    private let plain: [UInt8] = [
        0x42, 0xB9, 0x18, 0x41, 0xBD, 0x66, 0x8D, 0xBA, 0x90, 0x5B, 0x5A, 0x00, 0xEE, 0x33, 0x72, 0x6E,
        0xCD, 0x63, 0x8F, 0x1A, 0x6A, 0x8B, 0xB0, 0xCC, 0x11, 0xBA, 0x82, 0x04, 0x98, 0x96, 0x0C, 0x7A,
    ]

    @Test func `a fingerprint is the same after a restart, and cannot be made without the secret`() throws {
        let kept = try fingerprints().fingerprint(of: Self.action, body)
        #expect(try kept == fingerprints().fingerprint(of: Self.action, body))
        #expect(kept.count == 40)
        #expect(kept.suffix(32) != plain[...])
        #expect(try kept.suffix(32) != fingerprints("b").fingerprint(of: Self.action, body).suffix(32))
    }

    @Test func `another body or another action has another fingerprint`() throws {
        let fingerprints = try fingerprints()
        let kept = fingerprints.fingerprint(of: Self.action, body)
        #expect(fingerprints.mayBe(kept, of: Self.action, body))
        #expect(!fingerprints.mayBe(kept, of: Self.action, body + [0x20]))
        #expect(!fingerprints.mayBe(kept, of: "events strict=true", body))
    }

    @Test func `a plain hash of an earlier version is recognised, for its own request only`() throws {
        let fingerprints = try fingerprints()
        #expect(fingerprints.mayBe(plain, of: Self.action, body))
        #expect(!fingerprints.mayBe(plain, of: Self.action, []))
    }

    @Test func `a fingerprint under the older secret is recognised, for its own request only`() throws {
        let (old, new) = (
            try SecretKey(String(repeating: "b", count: 32)), try SecretKey(String(repeating: "a", count: 32))
        )
        let kept = RequestFingerprints(old).fingerprint(of: Self.action, body)
        let rotated = RequestFingerprints(new, older: old)
        #expect(rotated.mayBe(kept, of: Self.action, body))
        #expect(!rotated.mayBe(kept, of: Self.action, []))
        #expect(try rotated.fingerprint(of: Self.action, body) == fingerprints().fingerprint(of: Self.action, body))
    }

    @Test func `a fingerprint under an unknown secret is accepted as the same request`() throws {
        let kept = try fingerprints("b").fingerprint(of: Self.action, body)
        #expect(try fingerprints().mayBe(kept, of: Self.action, body))
        #expect(try fingerprints().mayBe(kept, of: Self.action, []))
    }
}

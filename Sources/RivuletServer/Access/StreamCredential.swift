import RivuletAuth
import RivuletSessions

/// The credential under which a stream is open, and the paths for which its client asked.
///
/// A renewal replaces the identity and the term.
final class StreamCredential {
    private(set) var identity: Identity
    var term: CredentialTerm
    /// The topic for which the client asked; nil if the stream has all of it.
    var asked: StreamTopic?

    /// Takes the caller of a stream that opens; `now` is in milliseconds of the loop's clock.
    init(_ identity: Identity, asked: StreamTopic?, now: UInt64) {
        (self.identity, self.asked) = (identity, asked)
        term = Self.term(of: identity, now)
    }

    /// Replaces the credential by a newer one of the same caller.
    func renew(_ identity: Identity, now: UInt64) {
        self.identity = identity
        term = Self.term(of: identity, now)
    }

    /// Replaces the identity by that of the same credential under newer rules.
    func decide(as identity: Identity, now: UInt64) {
        let isSameTerm = identity.principal?.expires == self.identity.principal?.expires
        self.identity = identity
        if !isSameTerm { term = Self.term(of: identity, now) }
    }

    private static func term(of identity: Identity, _ now: UInt64) -> CredentialTerm {
        var random = SystemRandomNumberGenerator()
        return CredentialTerm(remaining: identity.remainingMilliseconds, now: now, using: &random)
    }
}

/// The time that is left to the credential of a stream, and the notice before its end.
///
/// All times are in milliseconds of the loop's clock.
struct CredentialTerm: Hashable, Sendable {
    /// The time between the notice and the end, up to a tenth longer or shorter.
    ///
    /// Clients of streams that began at the same moment thus do not all renew at the same moment.
    static let noticeMilliseconds: UInt64 = 60_000
    /// The least time before the end for which a notice is worth while.
    static let noticeMillisecondsMin: UInt64 = 1_000

    /// The end of the credential; nil if it has none.
    let end: UInt64?
    /// The time of the notice; nil if there is none, or none any more.
    private(set) var notice: UInt64?

    /// Begins a term; `remaining` is nil for a credential without an end.
    ///
    /// A credential that ends in less than two minutes has its notice after half of that time, so that a client that
    /// gets such tokens does not renew all the time.
    init(remaining: UInt64?, now: UInt64, using random: inout some RandomNumberGenerator) {
        end = remaining.map { now + $0 }
        guard let end, let remaining, remaining >= 2 * Self.noticeMillisecondsMin else { return }
        let lead = min(Self.noticeMilliseconds, remaining / 2)
        notice = end - UInt64.random(in: lead - lead / 10...lead + lead / 10, using: &random)
    }

    /// The time at which something has to be done; the latest possible time if there is nothing.
    var due: UInt64 { min(end ?? .max, notice ?? .max) }

    /// Returns true if the credential has ended.
    func hasEnded(at now: UInt64) -> Bool { end.map { $0 <= now } == true }

    /// Returns the time until the end if the notice is due; there is no further notice.
    mutating func takeNotice(at now: UInt64) -> UInt64? {
        guard let notice, notice <= now, let end, now < end else { return nil }
        self.notice = nil
        return end - now
    }

    /// Moves a notice that is due, because the stream takes no bytes now.
    mutating func delayNotice(until time: UInt64) {
        if let notice { self.notice = max(notice, time) }
    }
}

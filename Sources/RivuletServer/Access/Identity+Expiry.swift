import RivuletAuth
import RivuletStores

extension Identity {
    /// The time at which the credential expires, as RFC 3339 writes it; nil if it does not expire.
    var expires: String? {
        principal?.expires.map { Timestamp.text(milliseconds: Int64($0) * 1_000) }
    }

    /// The milliseconds until the credential expires, without leeway; 0 if it has expired, nil if it does not expire.
    ///
    /// A stream's timer may fire a millisecond early, so the last millisecond is 0 already.
    var remainingMilliseconds: UInt64? {
        guard let expires = principal?.expires else { return nil }
        let rest = Int64(expires) * 1_000 - WallClock.milliseconds()
        return rest > 1 ? UInt64(rest) : 0
    }
}

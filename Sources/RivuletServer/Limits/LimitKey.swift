import RivuletAccess
import RivuletAuth
import RivuletEventLoop

/// A caller or an address in the tables of limits: a hash that no client can predict.
struct LimitKey: Hashable, Sendable {
    let hash: UInt64
    /// True for a subject, false for an address.
    let isSubject: Bool
    /// True if the caller's limits allow it to create a session, for a caller that another node counts; nil for all
    /// others.
    private(set) var peerAllows: Bool?

    init(hash: UInt64, isSubject: Bool) { (self.hash, self.isSubject) = (hash, isSubject) }

    /// The key of a caller that another node counts.
    static func ofPeer(mayCreate: Bool) -> LimitKey {
        var key = LimitKey(hash: 0, isSubject: false)
        key.peerAllows = mayCreate
        return key
    }
}

/// The random secret of a server's limit keys.
struct LimitKeyMaker: Sendable {
    private let secret = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    /// The key of a caller: its issuer and subject, or its address if it has no credential.
    func key(of identity: Identity?, at address: PeerAddress.IP) -> LimitKey {
        guard let caller = identity?.caller, !caller.isAnonymous, let me = caller.me else { return key(of: address) }
        return LimitKey(hash: hash(me), isSubject: true)
    }

    /// The key of an IPv4 address, or of the /64 network of an IPv6 address.
    func key(of address: PeerAddress.IP) -> LimitKey { LimitKey(hash: hash(address.limitKey), isSubject: false) }

    /// The hash of a credential.
    func hash(of credential: [UInt8]) -> UInt64 { hash(credential) }

    /// The secret comes first, and `Hasher` is SipHash.
    private func hash(_ value: some Hashable) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(secret.0)
        hasher.combine(secret.1)
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

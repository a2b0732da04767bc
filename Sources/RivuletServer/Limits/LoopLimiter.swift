import RivuletAccess
import RivuletAuth
import RivuletEventLoop
import RivuletHTTP

/// Applies the limits to the requests of one loop.
///
/// A server without limits has none.
final class LoopLimiter {
    private let shared: SharedLimits
    private let loop: EventLoop
    private let counters: LoopCounters
    private var tables: LimitTables
    private var generation: UInt64
    /// The caller that was limited last, and its key, because a client often sends several requests.
    private var last: (identity: Identity, key: LimitKey)?

    init(_ shared: SharedLimits, _ loop: EventLoop, _ counters: LoopCounters) {
        (self.shared, self.loop, self.counters) = (shared, loop, counters)
        (tables, generation) = shared.snapshot
    }

    // MARK: - Keys

    /// The key of a caller: its issuer and subject, or its address if it has no credential.
    func key(of identity: Identity?, at address: PeerAddress.IP) -> LimitKey {
        guard let identity, !identity.caller.isAnonymous else { return shared.keys.key(of: address) }
        if let last, last.identity === identity { return last.key }
        let key = shared.keys.key(of: identity, at: address)
        last = (identity, key)
        return key
    }

    /// The present limits.
    var rules: LimitRules {
        refresh()
        return tables.rules
    }

    // MARK: - Rates

    /// Counts a cost, at most the burst.
    ///
    /// - Returns: The position after it; nil if the class has no limit.
    /// - Throws: 429, and counts nothing.
    @discardableResult
    func take(_ name: LimitClass, _ cost: Int = 1, of key: LimitKey) throws(Problem) -> LimitStanding? {
        refresh()
        guard let standing = tables.take(name, cost, of: key, at: now) else { return nil }
        guard standing.isRefused else { return standing }
        counters.rateLimited(name)
        if !key.isSubject { shared.explainOnce(name) }
        throw .limited(standing)
    }

    /// Counts a cost of the request under way; its answer says so if the quota is nearly used.
    ///
    /// - Throws: 429, and counts nothing.
    func charge(_ name: LimitClass, _ cost: Int = 1, of key: LimitKey, on connection: ClientConnection) throws(Problem)
    {
        guard let standing = try take(name, cost, of: key), standing.isScarce else { return }
        connection.amendRequest { $0.fields += standing.fields }
    }

    /// Counts a request of a caller.
    ///
    /// - Throws: 429, and counts nothing.
    func chargeRequest(
        of identity: Identity?,
        at address: PeerAddress.IP,
        _ connection: ClientConnection
    ) throws(Problem) {
        let key = key(of: identity, at: address)
        try charge(key.isSubject ? .requests : .anonymousRequests, of: key, on: connection)
    }

    /// Counts the bytes of a body; they are taken back if the request is refused.
    ///
    /// - Throws: 429, and counts nothing.
    func charge(bytes: Int, of key: LimitKey, on connection: ClientConnection) throws(Problem) {
        guard rules.rate(of: .bytesWritten) != nil else { return }
        try charge(.bytesWritten, bytes, of: key, on: connection)
        connection.amendRequest { $0.bodyCharge = LimitCharge(name: .bytesWritten, cost: bytes, key: key) }
    }

    /// Takes back a cost that was counted.
    func giveBack(_ charge: LimitCharge) { giveBack(charge.name, charge.cost, of: charge.key) }

    /// Takes back a cost that was counted.
    func giveBack(_ name: LimitClass, _ cost: Int = 1, of key: LimitKey) {
        tables.giveBack(name, cost, of: key, at: now)
    }

    // MARK: - Credentials

    /// Counts a credential as failed before it is verified, because a signature costs more than most requests.
    ///
    /// - Returns: The attempt; nil for a credential that a loop has verified before.
    /// - Throws: 429 if too many credentials of the address were refused.
    func attempt(_ credential: [UInt8], from address: PeerAddress.IP) throws(Problem) -> CredentialAttempt? {
        let hash = shared.keys.hash(of: credential)
        guard !shared.knownCredentials.contains(hash) else { return nil }
        let key = shared.keys.key(of: address)
        try take(.failedCredentials, of: key)
        return CredentialAttempt(hash: hash, key: key)
    }

    /// Takes back the count of a credential that is valid, and remembers the credential.
    func didVerify(_ attempt: CredentialAttempt) {
        giveBack(.failedCredentials, of: attempt.key)
        shared.knownCredentials.record(attempt.hash, at: now)
    }

    // MARK: - Open things

    /// Counts a connection; false if its address has as many as it may.
    func open(_ address: PeerAddress.IP) -> Bool {
        refresh()
        let isOpen = shared.connections.enter(shared.keys.key(of: address), max: tables.rules.count(of: .connections))
        if !isOpen { refuse(.connections) }
        return isOpen
    }

    /// Counts the end of a connection.
    func close(_ address: PeerAddress.IP) { shared.connections.leave(shared.keys.key(of: address)) }

    /// Takes a place for a stream.
    ///
    /// It is refused if the caller or the address has as many streams as it may.
    func seat(of identity: Identity?, at address: PeerAddress.IP) -> StreamSeatOutcome {
        refresh()
        guard let max = tables.rules.count(of: .streams) else { return .taken(nil) }
        let keys = Set([shared.keys.key(of: address), key(of: identity, at: address)])
        if let seat = StreamSeat(in: shared.streams, Array(keys), max: max) { return .taken(seat) }
        refuse(.streams)
        return .refused
    }

    private func refuse(_ name: LimitClass) {
        counters.rateLimited(name)
        shared.explainOnce(name)
    }

    /// The loop's time, in microseconds.
    private var now: UInt64 { loop.nowMilliseconds * 1_000 }

    /// Takes new tables after the file was read again.
    private func refresh() {
        guard shared.generation != generation else { return }
        (tables, generation) = shared.snapshot
    }
}

/// A credential that is counted as failed until it is verified.
struct CredentialAttempt: Hashable, Sendable {
    fileprivate let hash: UInt64
    fileprivate let key: LimitKey
}

/// A cost that was counted, and that may be taken back.
struct LimitCharge: Hashable, Sendable {
    let name: LimitClass
    let cost: Int
    let key: LimitKey
}

/// The outcome of asking for a stream's place.
enum StreamSeatOutcome {
    /// The place; nil without a limit.
    case taken(StreamSeat?)
    case refused
}

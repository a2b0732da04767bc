import RivuletAccess
import RivuletAuth
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// Finds the callers of one loop's requests by their credentials.
///
/// A credential is verified once. Two tables of fixed size keep the callers: one by the connection's slot, which
/// compares the header's bytes, and one by the hash of the credential.
final class CallerFinder {
    private let core: LoopCore
    /// The limits; nil for a server without limits, and for requests that another node has counted.
    private let limiter: LoopLimiter?
    private let authentication: Authentication
    private var authenticator: Authenticator
    private let revocations: RevocationList
    /// The generation under which callers are found, and which the two tables include.
    private(set) var generation: CallerGeneration
    private var cache = PrincipalCache()
    /// The last credentials, by the slots of their connections.
    private var memos: [CredentialMemo?] {
        _read { yield unsafe storedMemos }
        _modify { yield unsafe &storedMemos }
    }
    // SAFETY: one loop has the finder, and no access to the table calls code that has the finder, so accesses never
    // overlap. Each request of a caller uses the table; a check would cost as much as the comparison of the header.
    @exclusivity(unchecked) private var storedMemos: [CredentialMemo?] = Array(repeating: nil, count: memosMax)
    /// The permission that a dispatch needs; nil if it needs more than an action on its session.
    private let dispatching: Access.Action?

    /// The most credentials that a loop keeps by slots.
    private static let memosMax = 1_024

    /// Makes the finder of a loop; nil if the server asks for no credentials.
    init?(_ core: LoopCore, _ limiter: LoopLimiter?) {
        guard let authentication = core.context.authentication, let revocations = core.context.revocations else {
            return nil
        }
        (self.core, self.limiter) = (core, limiter)
        self.authentication = authentication
        self.revocations = revocations
        dispatching =
            if case .session(let action, or: nil) = Resource.events.requirement(for: .post) { action } else { nil }
        let snapshot = authentication.snapshot
        authenticator = snapshot.authenticator
        generation = CallerGeneration(keys: snapshot.generation, revocations: revocations.generation)
    }

    /// The generation of the present keys, rules and revocations.
    var presentGeneration: CallerGeneration {
        CallerGeneration(keys: authentication.generation, revocations: revocations.generation)
    }

    /// Returns the caller of a request.
    ///
    /// `readsCookie` is false for resources that a page needs to get a new cookie, and for pages without cookies. No
    /// cookie names the caller then, neither one with a token nor the session cookie.
    ///
    /// - Throws: 401 for a credential that is not valid, 400 for two of them or one in the URL. 429 if too many
    ///   credentials of its address were refused: for a credential that the server does not know, and for a refused
    ///   one that comes again.
    func caller(
        of request: HTTPRequest,
        on connection: ClientConnection,
        readsCookie: Bool
    ) throws(Problem) -> Identity {
        refresh()
        let slot = Int(connection.id.slot) % Self.memosMax
        if let memo = memos[slot], memo.isOf(request), !memo.identity.isExpired(at: Self.now) {
            didVerify(on: connection)
            return memo.identity
        }
        let header = try Credentials.header(of: request)
        let found =
            if header == .none, readsCookie {
                Credentials.cookie(
                    of: request,
                    isLoopback: core.context.doors.clientAddress(of: request, on: connection).isLoopback
                )
            } else {
                header
            }
        switch found {
        case .none:
            core.counters.authenticated(.anonymous)
            guard readsCookie, request.headers.contains("cookie"),
                let me = core.context.sessionCookies.sessionID(in: request.headers.values(of: "cookie"))
            else { return authenticator.anonymous }
            return authenticator.anonymous(me: me)
        case .malformed: throw refusal(of: request, .malformedField, on: connection)
        case .token(let token):
            if header == .none, APIKey.isBeginning(of: token) {
                throw refusal(of: request, .apiKeyInCookie, on: connection)
            }
            let identity = try identity(of: token, request, on: connection)
            if header != .none { memos[slot] = CredentialMemo(request, identity) }
            didVerify(on: connection)
            return identity
        }
    }

    private var context: ServerContext { core.context }

    /// Returns the permissions of a dispatch that repeats the credential and the session of its connection's last one.
    ///
    /// Nil for any other request, and for one that is refused: `caller` and `Permit.decide` decide about it, with the
    /// same result. Most dispatches repeat the last one, so this is their whole cost of a credential.
    func repeatedPermit(
        of request: borrowing HTTPRequest,
        to key: borrowing SessionKey,
        on connection: ClientConnection
    ) -> CallerPermit? {
        refresh()
        guard request.method == .post, let action = dispatching,
            let memo = memos[Int(connection.id.slot) % Self.memosMax], let permit = memo.permit(of: request, to: key),
            permit.access.allows(action), !permit.identity.isExpired(at: Self.now)
        else { return nil }
        didVerify(on: connection)
        return permit
    }

    /// Returns the permissions of a caller in a session.
    ///
    /// Those of a connection's last request are kept. The rule of an app is asked each time, because it may decide by
    /// other things than the caller and the session.
    func permit(of identity: Identity, to key: SessionKey, on connection: ClientConnection) -> CallerPermit {
        let slot = Int(connection.id.slot) % Self.memosMax
        if let memo = memos[slot], memo.identity === identity, let permit = memo.permit, memo.key == key {
            return permit
        }
        let permit = CallerPermit(identity, access: context.access(of: identity, to: key))
        if memos[slot]?.identity === identity, context.apps[key.app]?.hasAccessRule == false {
            memos[slot]?.keep(permit, to: key)
        }
        return permit
    }

    /// Returns the caller that made a ticket.
    ///
    /// The ticket is spent then. The generation of the keys is that of its making, so its caller would be found today.
    ///
    /// - Throws: 401 for a ticket that does not open this target.
    func caller(
        of ticket: String,
        for target: TicketTarget,
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) -> Identity {
        refresh()
        do throws(CredentialError) {
            let opening = try authentication.tickets.open(TicketID(ticket), for: target, generation: generation.keys)
            if let principal = opening.identity.principal, revocations.covers(principal) { throw .revoked }
            connection.amendRequest { $0.opening = opening }
            didVerify(on: connection)
            return opening.identity
        } catch {
            throw refusal(of: request, error, on: connection)
        }
    }

    /// Returns the caller of a ticket that another node has opened.
    ///
    /// - Throws: 401 for a ticket that did not open, and for a caller that these keys do not know.
    func caller(
        opening opened: Result<PeerOpening, CredentialError>,
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) -> Identity {
        refresh()
        do throws(CredentialError) {
            let opened = try opened.get()
            guard let identity = authenticator.identify(described: opened.caller) else { throw .keysReplaced }
            if let principal = identity.principal, revocations.covers(principal) { throw .revoked }
            if let error = identity.expiry(at: Self.now) { throw error }
            connection.amendRequest { $0.opening = TicketOpening(id: opened.id, identity: identity, node: opened.node) }
            didVerify(on: connection)
            return identity
        } catch {
            throw refusal(of: request, error, on: connection)
        }
    }

    /// Returns the caller without a credential that has the session `me` of a cookie.
    func anonymous(me: String) -> Identity { authenticator.anonymous(me: me) }

    private func identity(
        of token: [UInt8],
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) -> Identity {
        let now = Self.now
        switch cache.find(token, at: now) {
        case .identity(let identity): return identity
        case .refused(let error) where !error.isOfUnknownKey: throw refusal(of: request, error, on: connection)
        case .refused, .unknown: break
        }
        let attempt = try attempt(token, from: context.doors.clientAddress(of: request, on: connection))
        do throws(CredentialError) {
            let identity = try verified(token, at: now)
            cache.insert(identity, of: token)
            if let attempt { limiter?.didVerify(attempt) }
            return identity
        } catch {
            cache.insert(error, of: token, found: cache.generation, at: now)
            throw refuse(error)
        }
    }

    /// Returns the answer to a credential that is refused without being verified.
    ///
    /// Such a request costs as little as one without a credential, and is counted as one. It does not count as failed,
    /// because a client that repeats its expired token would keep the other clients of its address from signing in.
    private func refusal(
        of request: HTTPRequest,
        _ error: CredentialError,
        on connection: ClientConnection
    ) -> Problem {
        guard let limiter else { return refuse(error) }
        do throws(Problem) {
            let address = context.doors.clientAddress(of: request, on: connection)
            try limiter.chargeRequest(of: nil, at: address, connection)
            return refuse(error)
        } catch let problem {
            core.counters.authenticated(.limited)
            return problem
        }
    }

    /// Counts a token as failed until it is verified; nil without limits, and for a token that was verified before.
    ///
    /// - Throws: 429 if too many credentials of the address were refused.
    private func attempt(_ token: [UInt8], from address: PeerAddress.IP) throws(Problem) -> CredentialAttempt? {
        do throws(Problem) {
            return try limiter?.attempt(token, from: address)
        } catch {
            core.counters.authenticated(.limited)
            throw error
        }
    }

    /// Verifies a token; a token with an unknown key causes a look at the files, which may have the key by now.
    private func verified(_ token: [UInt8], at now: Int) throws(CredentialError) -> Identity {
        do throws(CredentialError) {
            return try authenticator.identify(token, at: now, isRevoked: revocations.covers)
        } catch {
            guard error.isOfUnknownKey, authentication.lookForChanges(isUrgent: true, keySet: error.keySet) else {
                throw error
            }
            refresh()
            return try authenticator.identify(token, at: now, isRevoked: revocations.covers)
        }
    }

    /// Counts a request with a valid credential.
    private func didVerify(on connection: ClientConnection) {
        connection.didVerifyCredential()
        core.counters.authenticated(.ok)
    }

    private func refuse(_ error: CredentialError) -> Problem { core.refuse(error) }

    /// Takes new keys, rules and revocations, and forgets the callers that they concern.
    private func refresh() {
        let present = presentGeneration
        guard present != generation else { return }
        if present.keys != generation.keys {
            (authenticator, generation.keys) = authentication.snapshot
            forgetAll()
        }
        guard present.revocations != generation.revocations else { return }
        let (changes, number) = revocations.changes(since: generation.revocations)
        generation.revocations = number
        guard let changes else { return forgetAll() }
        for change in changes {
            switch change {
            case .added(let revocation): forget(revocation)
            case .takenBack: forgetAll()
            }
        }
    }

    private func forgetAll() {
        cache.removeAll()
        for slot in memos.indices { memos[slot] = nil }
    }

    private func forget(_ revocation: Revocation) {
        cache.drop(revocation)
        for slot in memos.indices where memos[slot]?.identity.principal.map(revocation.covers) == true {
            memos[slot] = nil
        }
    }

    /// The wall clock, in seconds since 1970.
    private static var now: Int { Int(WallClock.milliseconds() / 1_000) }
}

/// The keys, rules and revocations under which a caller is found: another value after each change of them.
struct CallerGeneration: Equatable, Sendable {
    /// The generation of the keys and rules.
    var keys: UInt64 = 0
    /// The number of the changes of the revocations.
    var revocations: UInt64 = 0
}

/// The last header of a connection with a valid credential, and its caller.
///
/// It is an object, because each request takes it out of the table.
private final class CredentialMemo {
    /// The most bytes of a header that is kept; a longer one is found by its hash.
    static let bytesMax = 1_024
    /// The most bytes of an identity's own grants that is kept, because this table does not count its memory.
    static let grantBytesMax = 65_536

    /// The most bytes of permissions that are kept, for the same reason.
    static let accessBytesMax = 4_096

    private let header: [UInt8]
    let identity: Identity
    /// The permissions of the caller in the session of the last request; nil for large ones.
    private(set) var permit: CallerPermit?
    private(set) var key: SessionKey?

    /// Keeps the header of a request; nil for a longer one, and for a large identity, which the cache alone keeps.
    init?(_ request: HTTPRequest, _ identity: Identity) {
        guard let header = request.headers.bytes(of: "authorization"), header.count <= Self.bytesMax,
            identity.grantBytes <= Self.grantBytesMax
        else { return nil }
        (self.header, self.identity) = (Array(header), identity)
    }

    func keep(_ permit: CallerPermit, to key: SessionKey) {
        guard permit.access.bytes <= Self.accessBytesMax else { return }
        (self.permit, self.key) = (permit, key)
    }

    /// The permissions of a request with this header, in the session of the last request; nil for another one.
    func permit(of request: borrowing HTTPRequest, to key: borrowing SessionKey) -> CallerPermit? {
        guard let permit, let last = self.key, last.id == key.id, last.app == key.app, isOf(request) else { return nil }
        return permit
    }

    /// True if the request has this header once, and none else of its name; no query with a credential is looked for.
    func isOf(_ request: borrowing HTTPRequest) -> Bool {
        request.query == nil && request.headers.isOnly("authorization", header)
    }
}

extension CredentialError {
    /// True if a newer file may have the key.
    fileprivate var isOfUnknownKey: Bool {
        switch self {
        case .keyID, .apiKeyID: true
        default: false
        }
    }

    /// The URL of the key set that does not have the key of a token; nil for a file, and for another refusal.
    fileprivate var keySet: String? {
        guard case .keyID(_, let url) = self else { return nil }
        return url
    }
}

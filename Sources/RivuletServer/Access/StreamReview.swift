import RivuletAuth
import RivuletBase
import RivuletEventLoop
import RivuletSessions

/// Keeps the streams of one loop within the permissions of their callers.
///
/// A stream is decided when it opens, when its credential is renewed, and after a revocation or a reload; never for an
/// event.
final class StreamReview {
    private let core: LoopCore
    private let connections: ConnectionDriver
    private let streams: StreamDriver
    /// The search for streams of revoked credentials.
    private var pass = StreamPass()
    /// The pass over all streams after a reload.
    private var reloadPass = StreamPass()
    /// The generation of the keys and rules under which all streams are decided, or an earlier one.
    private var generation: UInt64
    /// The streams with credentials that the present keys have not verified.
    private var unverified: [ConnectionID] = []
    /// The identities that the pass has replaced.
    private var renewedIdentities = RenewedIdentities()

    init(_ core: LoopCore, _ connections: ConnectionDriver, _ streams: StreamDriver) {
        (self.core, self.connections, self.streams) = (core, connections, streams)
        generation = core.context.authentication?.generation ?? 0
    }

    // MARK: - Revocations

    /// Ends the streams of revoked credentials, a few at a time; called after each revocation.
    func endRevoked() {
        if pass.change() { continuePass() }
    }

    private func continuePass() {
        let ids = pass.next { streams.ids }
        for id in ids {
            guard let connection = connections[id], let credential = connection.stream?.facts.credential,
                core.context.isRevoked(credential.identity)
            else { continue }
            streams.close(connection, because: .revoked)
        }
        guard !ids.isEmpty || pass.isDue else { return }
        core.loop.schedule(after: .milliseconds(1)) { [self] in continuePass() }
    }

    // MARK: - Renewals

    /// Gives a stream a newer credential of its caller, and the paths that this credential grants.
    ///
    /// A revocation or a reload may have come since the caller of the request was found, and has reviewed the stream
    /// under its former credential.
    ///
    /// - Throws: 401 for a credential that is not valid any more, and changes nothing. 403 if it grants nothing of the
    ///   stream, which ends then.
    func renew(_ connection: ClientConnection, with identity: Identity) throws(Problem) {
        guard let stream = connection.stream, let credential = stream.facts.credential else { return }
        let identity = try core.identify(again: identity)
        let problem = decide(stream, of: credential, as: identity, on: connection) {
            credential.renew(identity, now: core.loop.nowMilliseconds)
        }
        if let problem { throw problem }
    }

    // MARK: - Reloads

    /// Decides about all streams again if the keys and rules were read again; called once a second.
    func decideAfterReload() {
        guard let authentication = core.context.authentication, authentication.generation != generation else { return }
        generation = authentication.generation
        if reloadPass.change() { continueReloadPass(authentication) }
    }

    private func continueReloadPass(_ authentication: Authentication) {
        let ids = reloadPass.next(atMost: renewedIdentities.streamsPerStep) { streams.ids }
        let (authenticator, _) = authentication.snapshot
        for id in ids {
            guard let connection = connections[id], let stream = connection.stream,
                let credential = stream.facts.credential, credential.identity.authenticator != authenticator.number
            else { continue }
            guard let identity = renewedIdentities.identity(again: credential.identity, by: authenticator) else {
                unverified.append(id)
                continue
            }
            _ = decide(stream, of: credential, as: identity, on: connection) {
                credential.decide(as: identity, now: core.loop.nowMilliseconds)
            }
        }
        renewedIdentities.endStep()
        guard ids.isEmpty, !reloadPass.isDue else {
            core.loop.schedule(after: .milliseconds(1)) { [self] in continueReloadPass(authentication) }
            return
        }
        renewedIdentities = RenewedIdentities()
        // Their clients come back and send their credentials again.
        streams.endInTurn(exchange(&unverified, with: []), because: .expired)
    }

    /// Decides about a stream again, and gives it the identity and other paths, or ends it.
    ///
    /// - Returns: The reason for which the stream has ended; nil if it goes on.
    private func decide(
        _ stream: OpenStream,
        of credential: StreamCredential,
        as identity: Identity,
        on connection: ClientConnection,
        adopt: () -> Void
    ) -> Problem? {
        let source = stream.group.source
        let permission = core.context.permission(of: identity, for: source, asked: credential.asked)
        if case .nothing(let problem) = permission {
            streams.close(connection, because: .unauthorized)
            return problem
        }
        adopt()
        if case .other(let topic, let isMasked) = permission, case .session(let key, let former) = source {
            credential.asked = isMasked ? credential.asked ?? former : nil
            streams.watch(topic, of: key, on: connection, because: .permissionsChanged)
        }
        streams.didRenew(connection)
        return nil
    }
}

extension ServerContext {
    /// True if the credential of a caller is revoked.
    func isRevoked(_ identity: Identity) -> Bool {
        guard let principal = identity.principal, let revocations else { return false }
        return revocations.covers(principal)
    }
}

import DequeModule
import Logging
import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletStores

/// The resident sessions of one shard.
///
/// The shard is used on its executor's thread only; every reply comes there too.
package final class SessionShard {
    package typealias Found = (Result<Session, SessionError>) -> Void

    let environment: SessionEnvironment
    private var entries: [SessionKey: Entry] = [:]
    /// The passivated sessions.
    var passivated = PassivatedSessions() {
        didSet { environment.memory.countPassivated(passivated.bytes) }
    }
    /// The order in which the resident sessions leave memory.
    var order = EvictionOrder()
    /// The eviction round under way asks sessions to leave that were last used at this time or earlier; nil if there is
    /// no round.
    var roundLimit: Duration?
    /// The number of sessions that were put aside and are still to be asked again in this round.
    var recallsLeft = 0
    /// The number of sessions that may still store a snapshot in this round.
    var compactionsLeft = 0
    /// The start of the round that makes room; nil if there is none.
    var roomRound: Duration?
    /// The time before which no such round begins, because no session could leave.
    var roomPause = Duration.zero
    /// The epochs of histories that were deleted here recently, so that the server can stop their streams from
    /// reconnecting.
    private var deletedEpochs: Set<String> = []
    private var deletedOrder: Deque<String> = []
    /// The session that is being passed to the requests that waited for it; it stays in memory meanwhile.
    private var handedOut: Session?
    private let epochSalt = RandomToken.make(count: 16)
    /// The number of sessions that were deleted here or retired after an error; each of them changes the epochs of
    /// later histories.
    private var retirements: UInt64 = 0
    /// The number of sessions that left memory since the last `takeEvictions()`, with separate counts of idle and
    /// watched sessions.
    var evictions = (idle: 0, watched: 0)
    private(set) var isDraining = false
    /// The requests that wait until sessions may be handed out.
    var held = HeldRequests()

    /// The most requests to which a session is passed in one turn.
    private static let givenPerTurnMax = 256

    /// The most deleted epochs that are remembered.
    private static let deletedEpochsMax = 4_096

    private enum Entry {
        /// Storage is reading the session; the requests wait for it.
        case loading([Found])
        case resident(Session)
    }

    package init(environment: SessionEnvironment) {
        self.environment = environment
        environment.memory.onWant { [weak self] in self?.wantRoom() }
    }

    /// The number of sessions that are in memory or being loaded.
    package var residentCount: Int { entries.count }

    /// The number of passivated sessions.
    package var passivatedCount: Int { passivated.count }

    /// Returns true if the cursor belongs to a history that was deleted here recently.
    package func isDeleted(_ cursor: String?) -> Bool {
        guard let cursor, let epoch = Cursor(cursor)?.epoch else { return false }
        return deletedEpochs.contains(epoch)
    }

    /// Finds the session, and loads it if it is not in memory.
    ///
    /// A session that storage does not have is found too, with its defaults. It stays in memory only while something
    /// holds it there.
    package func find(_ key: SessionKey, of app: any HostedApp, _ found: @escaping Found) {
        guard !isDraining else { return found(.failure(.draining)) }
        guard mayHandOut else { return hold(key, of: app, found) }
        switch entries[key] {
        case .resident(let session):
            hand(session) { found(.success($0)) }
        case .loading(var waiters):
            guard waiters.count < environment.limits.loadWaitersMax else {
                return found(.failure(.overloaded("requests waiting for session \(key.id) to load")))
            }
            waiters.append(found)
            entries[key] = .loading(waiters)
        case nil:
            load(key, of: app, found)
        }
    }

    /// Calls the body with the session if it is in memory; returns false if the session has to be found.
    ///
    /// Nearly every request takes this path, which makes no closures for a load.
    package func use(_ key: SessionKey, _ body: (Session) -> Void) -> Bool {
        guard !isDraining, mayHandOut, let session = resident(key) else { return false }
        hand(session, to: body)
        return true
    }

    private func hand(_ session: Session, to body: (Session) -> Void) {
        body(session)
        forgetIfEmpty(session)
    }

    private func load(_ key: SessionKey, of app: any HostedApp, _ found: @escaping Found) {
        passivated.beginLoad(key)
        if isFull { makeRoom() }
        guard !isFull else {
            passivated.loadDidFail(key, now: environment.uptime())
            return found(.failure(.overloaded("resident sessions (residentSessionsMax or residentBytesMax)")))
        }
        entries[key] = .loading([found])
        environment.storage.log.load(
            key,
            reply: environment.executor.reply(to: self) { $0.loadDidFinish(key, app: app, $1) }
        )
    }

    private func loadDidFinish(_ key: SessionKey, app: any HostedApp, _ result: Result<StoredSession?, StorageError>) {
        switch result {
        case .success(let stored):
            let transients = passivated[key]?.transients
            let job = app.loading(key, stored: stored, besides: transients)
            let bytes = (stored?.byteCount ?? 0) + (transients?.bytes ?? 0)
            environment.run(bytes: bytes, job) { self.make(key, of: app, stored, $0) }
        case .failure(let error): loadDidFail(key, .storage(error))
        }
    }

    private func make(_ key: SessionKey, of app: any HostedApp, _ stored: StoredSession?, _ maker: SessionMaker) {
        guard case .loading(let waiters) = entries[key] else { return }
        do throws(SessionError) {
            if isDraining { throw .draining }
            let session: Session
            switch try maker(newEpoch(of: key), passivated[key], environment) {
            case .made(let made): session = made
            case .lacking(let paths): return search(for: paths, of: key, app: app, stored)
            }
            if let earlier = passivated.remove(key), !session.goesOn(as: earlier) { end(earlier, of: key) }
            entries[key] = .resident(session)
            session.didEnterMemory { [weak self] session, deletedEpoch in
                self?.retire(session, deletedEpoch: deletedEpoch)
            } onJobEnd: { [weak self] session in
                self?.forgetIfEmpty(session)
            }
            give(session, to: waiters, of: app)
            forgetIfEmpty(session)
            if resident(key) === session { recordEntry(session) }
        } catch {
            loadDidFail(key, error)
        }
    }

    private func loadDidFail(_ key: SessionKey, _ error: SessionError) {
        guard case .loading(let waiters) = entries[key] else { return }
        entries[key] = nil
        passivated.loadDidFail(key, now: environment.uptime())
        environment.logger.error(
            "a session cannot be loaded",
            metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"]
        )
        for found in waiters { found(.failure(error)) }
    }

    /// Passes a session to all requests that waited for it, and keeps it in memory meanwhile.
    ///
    /// The first answer may bring the next request of its connection. After that request, a session that is not stored
    /// would be removed.
    private func give(_ session: Session, to waiters: [Found], of app: any HostedApp) {
        // The time for which sessions may be handed out may have ended during the load.
        guard mayHandOut else {
            for found in waiters { hold(session.key, of: app, found) }
            return
        }
        handedOut = session
        defer { handedOut = nil }
        for found in waiters.prefix(Self.givenPerTurnMax) {
            if resident(session.key) === session { found(.success(session)) } else { find(session.key, of: app, found) }
        }
        giveLater(session.key, to: waiters.dropFirst(Self.givenPerTurnMax), of: app)
    }

    /// Passes a session to the remaining requests in the next turns, as if they arrived then.
    private func giveLater(_ key: SessionKey, to waiters: ArraySlice<Found>, of app: any HostedApp) {
        guard !waiters.isEmpty else { return }
        environment.schedule(.milliseconds(1)) { [self] in
            for found in waiters.prefix(Self.givenPerTurnMax) { find(key, of: app, found) }
            giveLater(key, to: waiters.dropFirst(Self.givenPerTurnMax), of: app)
        }
    }

    /// Searches other sessions for the paths that the session lacks, and then makes the session; until then, the
    /// session is being loaded.
    private func search(
        for paths: Set<MigrationPath>,
        of key: SessionKey,
        app: any HostedApp,
        _ stored: StoredSession?
    ) {
        app.search(
            for: paths,
            environment: environment,
            reply: environment.executor.reply(to: self) { shard, result in
                shard.loadDidFinish(key, app: app, result.map { stored })
            }
        )
    }

    /// Ends the streams of a passivated session that was loaded with another state, so that they reconnect to the
    /// loaded one.
    private func end(_ passivated: PassivatedSession, of key: SessionKey) {
        environment.logger.error(
            "a passivated session was loaded with another state; its streams reconnect",
            metadata: ["app": "\(key.app)"]
        )
        passivated.end(because: .draining, sink: environment.sink)
    }

    /// Returns the epoch with which a session without a stored history begins.
    ///
    /// The epoch stays the same until any session of this shard is deleted or retired. So a cursor that a client has
    /// read before the first write is valid for that write.
    private func newEpoch(of key: SessionKey) -> String {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(epochSalt)
        hasher.combine(retirements)
        return RandomToken.token(of: UInt64(bitPattern: Int64(hasher.finalize())), count: 8)
    }

    /// Deletes a session that cannot be loaded.
    package func deleteUnreadable(_ key: SessionKey, reply: @escaping SessionReply<Void>) {
        retirements += 1
        environment.storage.log.delete(
            key,
            reply: environment.executor.reply(to: self) { shard, result in
                if case .success = result { shard.endPassivated(key) }
                reply(result.map { _ in }.mapError(SessionError.storage))
            }
        )
    }

    /// Ends the streams of a session that was deleted without being loaded.
    private func endPassivated(_ key: SessionKey) {
        guard let passivated = passivated.remove(key) else { return }
        passivated.end(because: .deleted, sink: environment.sink)
        recordDeleted(passivated.visibleEpoch)
    }

    /// Returns the session if it is in memory.
    package func resident(_ key: SessionKey) -> Session? {
        guard case .resident(let session) = entries[key] else { return nil }
        return session
    }

    /// Removes one stream of an event loop from a group.
    package func leave(_ key: SessionKey, group: GroupID, loop: Int) {
        guard let session = resident(key) else {
            return passivated.leave(key, group: group, loop: loop, now: environment.uptime())
        }
        session.leave(group, loop: loop)
        forgetIfEmpty(session)
    }

    /// Removes all streams of these loops from their groups, because their node is gone.
    ///
    /// A stream that waits for its events may still be added later; its sink then removes it.
    package func dropLoops(_ isDropped: (_ loop: Int) -> Bool) {
        passivated.dropLoops(now: environment.uptime(), isDropped)
        for case .resident(let session) in entries.values {
            session.dropLoops(isDropped)
            forgetIfEmpty(session)
        }
    }

    /// Removes a session that is not stored and not in use: reads of made-up ids must not fill memory.
    private func forgetIfEmpty(_ session: Session) {
        guard !session.isStored, session.isIdle, session !== handedOut else { return }
        remove(session)
    }

    private func retire(_ session: Session, deletedEpoch: String?) {
        remove(session)
        // A session that is retired because storage is in doubt may have been deleted, so it is counted too: one epoch
        // must not name two histories.
        retirements += 1
        if let deletedEpoch { recordDeleted(deletedEpoch) }
    }

    private func recordDeleted(_ epoch: String) {
        guard deletedEpochs.insert(epoch).inserted else { return }
        deletedOrder.append(epoch)
        if deletedOrder.count > Self.deletedEpochsMax, let oldest = deletedOrder.popFirst() {
            deletedEpochs.remove(oldest)
        }
    }

    private func remove(_ session: Session) {
        guard let resident = resident(session.key), resident === session else { return }
        entries[session.key] = nil
        session.evict()
    }

    /// Removes the entry of a session that is no longer in memory.
    func forget(_ key: SessionKey) {
        entries[key] = nil
    }

    /// Refuses new work and new streams, and ends all effects.
    ///
    /// Accepted events still become durable, and open streams get the changes until the event loops end the streams.
    package func drain() {
        isDraining = true
        for case .resident(let session) in entries.values {
            session.drain()
        }
    }

    /// True if every session is loaded and idle, so that all accepted requests have been answered.
    package var isQuiet: Bool {
        held.requests.isEmpty
            && entries.values.allSatisfy { entry in
                if case .resident(let session) = entry { session.isIdle } else { false }
            }
    }
}

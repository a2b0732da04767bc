import DequeModule
import Logging
import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletStores

/// The resident sessions of one shard.
///
/// Lives on its executor's thread; every reply comes there too.
package final class SessionShard {
    package typealias Found = (Result<Session, SessionError>) -> Void

    let environment: SessionEnvironment
    private var entries: [SessionKey: Entry] = [:]
    /// What is kept of watched sessions that left memory.
    var parked = ParkedSessions() {
        didSet { environment.memory.countParked(parked.bytes) }
    }
    /// Which of the resident sessions leaves memory first.
    var order = EvictionOrder()
    /// The last use of those that leave memory in the round that is under way; nil: there is none.
    var roundLimit: Duration?
    /// How many sessions that were put aside still have their turn in this round.
    var recallsLeft = 0
    /// How many sessions may still store a snapshot in this round.
    var compactionsLeft = 0
    /// When the round began in which room is made; nil: there is none.
    var roomRound: Duration?
    /// Until when none begins, because nobody could leave.
    var roomPause = Duration.zero
    /// Epochs that were deleted here lately, so that their streams are told not to come back.
    private var deletedEpochs: Set<String> = []
    private var deletedOrder: Deque<String> = []
    /// The session that is being handed to those that waited for it; it stays, whatever leaves it meanwhile.
    private var handedOut: Session?
    private let epochSalt = RandomToken.make(count: 16)
    /// How many sessions were deleted here or put out by a fault, so that their names may stand for another history.
    private var retirements: UInt64 = 0
    /// How many sessions have left memory since it was asked last, those that streams follow apart.
    var evictions = (idle: 0, watched: 0)
    private var isDraining = false

    /// The most deleted epochs that are remembered.
    private static let deletedEpochsMax = 4_096

    private enum Entry {
        /// Storage is reading it; these wait.
        case loading([Found])
        case resident(Session)
    }

    package init(environment: SessionEnvironment) {
        self.environment = environment
        environment.memory.onWant { [weak self] in self?.wantRoom() }
    }

    /// How many sessions are in memory.
    package var residentCount: Int { entries.count }

    /// How many sessions are watched and not in memory.
    package var parkedCount: Int { parked.count }

    /// Whether the cursor belongs to a history that was deleted here.
    package func isDeleted(_ cursor: String?) -> Bool {
        guard let cursor, let epoch = Cursor(cursor)?.epoch else { return false }
        return deletedEpochs.contains(epoch)
    }

    /// Finds the session, loading it when it is not in memory.
    ///
    /// A session that storage does not know is found too, with its defaults;
    /// it stays in memory only while something holds it there.
    package func find(_ key: SessionKey, of app: any HostedApp, _ found: @escaping Found) {
        guard !isDraining else { return found(.failure(.draining)) }
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

    /// Hands the session to the body when it is in memory; false: it has to be found.
    ///
    /// Nearly every request's way, without the closures of a load.
    package func use(_ key: SessionKey, _ body: (Session) -> Void) -> Bool {
        guard !isDraining, let session = resident(key) else { return false }
        hand(session, to: body)
        return true
    }

    private func hand(_ session: Session, to body: (Session) -> Void) {
        body(session)
        forgetIfEmpty(session)
    }

    private func load(_ key: SessionKey, of app: any HostedApp, _ found: @escaping Found) {
        parked.beginLoad(key)
        if isFull { makeRoom() }
        guard !isFull else {
            parked.loadDidFail(key, now: environment.uptime())
            return found(.failure(.overloaded("resident sessions (residentSessionsMax or residentBytesMax)")))
        }
        entries[key] = .loading([found])
        environment.storage.log.load(
            key,
            reply: environment.executor.reply(to: self) { $0.loadDidFinish(key, app: app, $1) }
        )
    }

    private func loadDidFinish(_ key: SessionKey, app: any HostedApp, _ result: Result<StoredSession?, StorageError>) {
        guard case .loading(let waiters) = entries[key] else { return }
        do throws(SessionError) {
            let stored: StoredSession?
            switch result {
            case .success(let value): stored = value
            case .failure(let error): throw .storage(error)
            }
            if isDraining { throw .draining }
            let session: Session
            switch try app.makeSession(
                key,
                stored: stored,
                newEpoch: newEpoch(of: key),
                earlier: parked[key],
                environment: environment
            ) {
            case .made(let made): session = made
            case .lacking(let paths): return search(for: paths, of: key, app: app, stored)
            }
            if let earlier = parked.remove(key), !session.goesOn(as: earlier) { end(earlier, of: key) }
            entries[key] = .resident(session)
            session.didEnterMemory { [weak self] session, deletedEpoch in
                self?.retire(session, deletedEpoch: deletedEpoch)
            }
            give(session, to: waiters, of: app)
            forgetIfEmpty(session)
            if resident(key) === session { noteEntry(session) }
        } catch {
            entries[key] = nil
            parked.loadDidFail(key, now: environment.uptime())
            environment.logger.error(
                "a session cannot be loaded",
                metadata: ["app": "\(key.app)", "error": "\(LogText.of(error))"]
            )
            for found in waiters { found(.failure(error)) }
        }
    }

    /// Hands a session to all that waited for it, and keeps it for them: the first may bring the next request of its connection, which
    /// leaves a session that is not stored.
    private func give(_ session: Session, to waiters: [Found], of app: any HostedApp) {
        handedOut = session
        defer { handedOut = nil }
        for found in waiters {
            if resident(session.key) === session { found(.success(session)) } else { find(session.key, of: app, found) }
        }
    }

    /// Makes the session once it is known whether others have the paths that it lacks; it is loading until then.
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

    /// Tells parked streams that have seen another state than the one that was loaded to come back for this one.
    private func end(_ parked: ParkedSession, of key: SessionKey) {
        environment.logger.error(
            "a session came back otherwise than it left; its streams begin anew",
            metadata: ["app": "\(key.app)"]
        )
        parked.end(because: .draining, sink: environment.sink)
    }

    /// The name of the history that a session without one would begin: the same until something is deleted here, or may have been,
    /// so that a cursor of a session that nobody has written to yet is good for the first write.
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
                if case .success = result { shard.endParked(key) }
                reply(result.map { _ in }.mapError(SessionError.storage))
            }
        )
    }

    /// Ends the streams of a session that was deleted without being loaded.
    private func endParked(_ key: SessionKey) {
        guard let parked = parked.remove(key) else { return }
        parked.end(because: .deleted, sink: environment.sink)
        noteDeleted(parked.visibleEpoch)
    }

    /// The session, when it is in memory.
    package func resident(_ key: SessionKey) -> Session? {
        guard case .resident(let session) = entries[key] else { return nil }
        return session
    }

    /// Takes back a stream's membership.
    package func leave(_ key: SessionKey, group: GroupID, loop: Int) {
        guard let session = resident(key) else {
            return parked.leave(key, group: group, loop: loop, now: environment.uptime())
        }
        session.leave(group, loop: loop)
        forgetIfEmpty(session)
    }

    /// A session that nobody stored and nobody watches takes no memory: reads of made-up ids must not fill it.
    private func forgetIfEmpty(_ session: Session) {
        guard !session.isStored, session.isIdle, session !== handedOut else { return }
        remove(session)
    }

    private func retire(_ session: Session, deletedEpoch: String?) {
        remove(session)
        // Also when storage is in doubt: the deletion may have been done, and a name must not stand for two histories.
        retirements += 1
        if let deletedEpoch { noteDeleted(deletedEpoch) }
    }

    private func noteDeleted(_ epoch: String) {
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

    /// Says that a session is no longer in memory.
    func forget(_ key: SessionKey) {
        entries[key] = nil
    }

    /// Refuses new work and new streams, and ends all effects; what was accepted before still becomes durable, and streams are told of it
    /// until their loops end them.
    package func drain() {
        isDraining = true
        for case .resident(let session) in entries.values {
            session.drain()
        }
    }

    /// Whether everything that was accepted has been answered.
    package var isQuiet: Bool {
        entries.values.allSatisfy { entry in
            if case .resident(let session) = entry { session.isIdle } else { false }
        }
    }
}

package import Logging
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletNATS
import RivuletSQLite
package import RivuletServer
package import RivuletSessions
package import RivuletStores
import Synchronization

/// The node of a cluster in this process: its copy of the data, its connection to NATS, and the storage of its server.
///
/// `begin()` comes before the server's `run`, and `end()` after it.
package final class ClusterProcess: Sendable {
    /// The most seconds for which a start waits for the checks of a cluster that can be reached.
    private static let checkSecondsMax = 45

    private let options: ClusterOptions
    private let folder: String
    private let logger: Logger
    private let replica: SQLiteStorageEngine
    private let replicated: ReplicatedStorageEngine<SQLiteStorageEngine>
    private let items: OwnerItems
    private let seat: ClusterSeat
    private let nats: NATSLoop
    private let start = NodeStart()
    private let state = Mutex(State())

    private struct State {
        var driver: LoopBound<NodeDriver>?
        var thread: LoopThread?
        var schemas: [String: UInt32] = [:]
    }

    /// Makes the node of a data folder; nothing is opened before `begin()`.
    ///
    /// - Throws: a `ServerError` if the system has no descriptors for a loop.
    package init(_ options: ClusterOptions, folder: String, logger: Logger) throws(ServerError) {
        (self.options, self.folder, self.logger) = (options, folder, logger)
        do throws(LoopError) { nats = try NATSLoop(index: 0) } catch {
            throw ServerError("the loop of the cluster cannot be made: \(error)")
        }
        replica = SQLiteStorageEngine(replicaIn: folder)
        seat = ClusterSeat(node: options.node, incarnation: .random(in: 1 ... .max), executor: nats.loop)
        // A node without the check of the servers' disks, or without the operator's word for them, does not start.
        replicated = ReplicatedStorageEngine(local: replica, writer: seat, survivesPowerLoss: true)
        items = OwnerItems(replicated, of: options.node)
    }

    /// The storage of the server.
    package var storage: any StorageEngine { replicated }

    /// The storage of what the sessions of an app share, and of apps' values.
    package var sharedStorage: any ItemStorage { items }

    /// Locks the folder, and begins to join the cluster.
    ///
    /// It returns when the checks have passed, or when NATS cannot be reached now.
    ///
    /// - Throws: a `StorageError` if the folder cannot be used, and a `ServerError` with the remedy if the node must
    ///   not join.
    package func begin() throws {
        // The lock comes first, because it proves that the earlier runs on this folder have ended.
        try replica.start()
        var file = NodeFile(of: options.node, in: folder)
        let endedRuns = Set(file.runs)
        file.begin(seat.incarnation)
        try file.write(in: folder)
        let link = ClusterLink(options.link, name: "rivulet \(options.node)", on: nats, logger: logger)
        let driver = NodeDriver(
            options,
            link,
            replica,
            seat,
            start,
            endedRuns: endedRuns,
            schemas: { [weak self] in self?.state.withLock { $0.schemas } ?? [:] },
            logger: logger
        )
        let bound = LoopBound(driver, to: nats.loop)
        let items = items
        seat.onReports { OwnerReports($0, items) }
        seat.onAttach { bound.postReply { $0.didAttach() } }
        bound.post { $0.start() }
        ClusterValues.ofProcess.withLock { $0 = ClusterValues(items) }
        let thread = try nats.start()
        state.withLock { ($0.driver, $0.thread) = (bound, thread) }
        guard case .refused(let reason) = start.wait(seconds: Self.checkSecondsMax) else { return }
        throw ServerError(reason)
    }

    /// Makes the server of the options a node; after `begin()`.
    package func apply(to options: inout ServerOptions) { options.cluster = seat }

    /// Takes the schema versions of a server that has all its apps, before its `run`.
    package func take(appsOf server: StateServer) { state.withLock { $0.schemas = server.schemaVersions } }

    /// Ends the connection and its thread, and closes the copy; after the server's `run`, or in its place.
    package func end() {
        let (driver, thread) = state.withLock { state in
            defer { (state.driver, state.thread) = (nil, nil) }
            return (state.driver, state.thread)
        }
        driver?.postReply { $0.stop() }
        thread?.join()
        ClusterValues.ofProcess.withLock { $0 = nil }
        items.close()
        replica.close()
    }

    /// Records that the process begins again, because the node was deposed; false if it has done so too often.
    ///
    /// - Throws: a `ServerError` if the record cannot be written.
    package func beginsAgain(at time: Int) throws(ServerError) -> Bool {
        var file = NodeFile(of: options.node, in: folder)
        guard file.restart(at: time) else { return false }
        try file.write(in: folder)
        return true
    }

    /// The reason to end a process that has begun again too often.
    package var restartsText: String {
        "the node \(options.node) lost the partition \(NodeFile.restartsMax) times within \(NodeFile.restartSeconds) s: "
            + "give it a longer --lease, or more CPU and a faster network to NATS"
    }
}

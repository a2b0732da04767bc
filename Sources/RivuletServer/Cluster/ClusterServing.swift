// Owns the part of a server's life that depends on its cluster: what only the owner opens, and the end.

import Logging
import RivuletBase
import RivuletCluster
import RivuletEngine
import RivuletEventLoop
import RivuletSessions
import RivuletStores
import Synchronization

/// The process of a deposed node has to begin again: its sessions belong to another node now.
package struct DeposedError: Error, CustomStringConvertible {
    package let description = "another node has taken the partition; start the process again, as a standby"
}

/// The reason that a server in a cluster has ended by itself; nil while it has none.
final class ClusterEnding: Sendable {
    private let reason = Mutex<(any Error)?>(nil)

    /// Records the first reason.
    func record(_ error: any Error) { reason.withLock { $0 = $0 ?? error } }

    /// Throws the reason, if there is one.
    func check() throws {
        if let error = reason.withLock({ $0 }) { throw error }
    }
}

extension StateServer {
    /// Opens what a server opens before its first request: everything if it is alone, and in a cluster only what each
    /// node reads.
    ///
    /// - Throws: a `ServerError` if a storage cannot be opened or read.
    func openAtStart(_ context: ServerContext) throws(ServerError) {
        guard context.cluster != nil else {
            try openShared(Array(context.apps.values))
            return try loadCallers(of: context)
        }
        try context.revocations?.follow()
        if let names = callerNames(in: context) { context.authentication?.nameCallers(by: try names.kept()) }
    }

    /// Passes the reports of the membership to the loops, from now on.
    ///
    /// The ending has the reason when the server ends by itself. `stopListening` closes the listeners then.
    func attachCluster(
        of context: ServerContext,
        _ loops: [LoopBound<ServerLoop>],
        _ ending: ClusterEnding,
        stopListening: @escaping @Sendable () -> Void = {}
    ) {
        guard let cluster = context.cluster, let first = loops.first else { return }
        let end: @Sendable (any Error) -> Void = { error in
            ending.record(error)
            stopListening()
            for loop in loops { loop.postReply { $0.drainAndStop() } }
        }
        let server = ClusterGateway.Server(
            open: { [self] in first.postReply { self.openAsOwner(on: $0, end) } },
            end: { end(DeposedError()) },
            follow: { [self, weak context] names in if let context { follow(names, in: context, loops) } },
            answer: { [weak context] message, sender in context?.answer(message, from: sender) }
        )
        context.relay?.attach(loops, context)
        cluster.attach(loops, relay: context.relay, server: server)
        cluster.member.attach(cluster)
    }

    /// Opens what only the owner opens, on a work thread, because it waits for the storage.
    private func openAsOwner(on server: ServerLoop, _ end: @escaping @Sendable (any Error) -> Void) {
        let context = server.context
        let ending = ClusterEnding()
        server.core.loop.work { [self] in
            do throws(ServerError) {
                try openShared(Array(context.apps.values))
                try context.revocations?.follow()
                context.revocations?.removeExpired(at: Int(WallClock.milliseconds() / 1_000))
                if let names = callerNames(in: context) { context.authentication?.renameCallers(by: try names.load()) }
            } catch {
                ending.record(error)
            }
        } done: { [logger] in
            do {
                try ending.check()
                context.cluster?.didOpen()
            } catch {
                logger.critical("this node cannot serve the partition: \(error)")
                end(error)
            }
        }
    }

    /// Reads what this node needs of collections that another node has changed.
    private func follow(_ collections: Set<String>, in context: ServerContext, _ loops: [LoopBound<ServerLoop>]) {
        if collections.contains(RevocationList.collection) {
            context.revocations?.followSoon {
                for loop in loops { loop.postReply { $0.review.endRevoked() } }
            }
        }
        if collections.contains(CallerNames.collection), let names = callerNames(in: context) {
            names.keptSoon { [weak context] in context?.authentication?.renameCallers(by: $0) }
        }
    }
}

extension ServerLoop {
    /// Gives the partition up, if the server is in a cluster, and then calls `left`; call it once, on the first loop.
    ///
    /// It waits for another node at most as long as a drain may take. Requests go to the new owner meanwhile.
    func leaveCluster(_ left: @escaping @Sendable () -> Void) {
        guard let cluster = context.cluster, !cluster.isDraining else { return left() }
        let end = LoopBound(SingleCall(left), to: core.loop)
        cluster.drain { end.postReply { $0.call() } }
        core.loop.schedule(after: context.options.limits.drainTimeMax) { end.onExecutor.call() }
    }
}

/// A function that is called once, by the first of several callers.
private final class SingleCall {
    private var function: (() -> Void)?

    init(_ function: @escaping () -> Void) { self.function = function }

    func call() { function.take()?() }
}

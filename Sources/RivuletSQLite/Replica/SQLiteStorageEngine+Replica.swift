// A node's copy of a cluster's data, which changes by frames of the cluster's log alone.

package import RivuletCluster
package import RivuletSessions

extension SQLiteStorageEngine: Replica {
    /// Makes an engine for a node's copy in `folder`, which `start()` opens or creates.
    ///
    /// Reads work as in any engine. The writes of the other roles are refused. A commit is not synced by itself: a
    /// power cut may take the copy back to an earlier position, from which the node applies the log again.
    package convenience init(replicaIn folder: String, limits: SQLiteStorageLimits = SQLiteStorageLimits()) {
        var limits = limits
        // On a full disk, a replica does not write at all.
        limits.reserveBytes = 0
        self.init(folder: folder, filename: DataFolder.serverFilename, limits: limits, use: .replica, clock: nil)
    }

    /// Reads the position after all earlier applies.
    package func position(of partition: Partition, reply: @escaping StorageReply<ReplicaPosition>) {
        let reply = naming(reply)
        guard allows(partition, reply) else { return }
        submit(nil, byteCount: 0, purpose: .position, reply) { statements throws(SQLiteError) in
            try statements.position()
        }
    }

    /// Applies frames in one transaction; waiting calls share a transaction.
    ///
    /// The errors:
    /// - `.full`: the disk is full. Free space, and open the copy again.
    /// - `.corrupt`: a row is damaged, or the copy has diverged from the owner's. The text has the remedy.
    /// - `.incompatible`: the frames do not follow the copy's position, or have operations that are not for a log.
    /// - `.unavailable`: an earlier call failed, another program holds a lock, or too many calls wait.
    /// - `.indeterminate`: the disk failed. The copy has one of both positions when it is opened again.
    package func apply(
        _ frames: [PositionedFrame],
        of partition: Partition,
        reply: @escaping StorageReply<[OperationOutcome]>
    ) {
        let reply = naming(reply)
        guard allows(partition, reply) else { return }
        guard frames.allSatisfy({ $0.frame.partition == partition }) else {
            return reply(.failure(.incompatible(detail: "a frame is of another partition")))
        }
        submitInOrder(ApplyRequest(frames, reply))
    }

    /// Copies the content into frames' operations, all of which are in memory.
    package func export(
        _ partition: Partition,
        frameBytesMax: Int,
        reply: @escaping StorageReply<ReplicaExport>
    ) {
        let batches = GatheredBatches()
        export(partition, frameBytesMax: frameBytesMax) {
            batches.add($0)
        } reply: { result in
            reply(result.map { ReplicaExport(position: $0, operations: batches.all) })
        }
    }

    /// Copies the content batch by batch, in one view; replies with the position after the last batch.
    ///
    /// Only one batch is in memory. `pass` is called on a thread for copies, and may block it. An error of `pass` ends
    /// the copy, and is the reply. An operation with one snapshot, one entry or one item may be larger than a frame.
    package func export(
        _ partition: Partition,
        frameBytesMax: Int,
        _ pass: @escaping @Sendable ([BaseOperation]) throws(StorageError) -> Void,
        reply: @escaping StorageReply<ReplicaPosition>
    ) {
        let reply = naming(reply)
        guard allows(partition, reply) else { return }
        copy(reply) { (path, isCancelled) throws(StorageError) in
            try ReplicaContent.export(
                ofDatabaseAt: path,
                frameBytesMax: frameBytesMax,
                isCancelled: isCancelled,
                pass
            )
        }
    }

    /// Replaces the content by a base in memory.
    package func load(_ export: ReplicaExport, of partition: Partition, reply: @escaping StorageReply<Void>) {
        load(to: export.position, of: partition, reply: reply) {
            var batches = export.operations[...]
            return { batches.popFirst() }
        }
    }

    /// Replaces the content by a base that comes batch by batch, in one transaction.
    ///
    /// `makeBatches` returns a closure for the batches in order, and nil at their end. It is called again if the
    /// transaction is repeated. The closure is called on the writer's thread, which it may block. The data folder needs
    /// space for the old content and for twice the new content.
    package func load(
        to position: ReplicaPosition,
        of partition: Partition,
        reply: @escaping StorageReply<Void>,
        batches makeBatches: @escaping @Sendable () throws(StorageError) -> () throws(StorageError) -> [BaseOperation]?
    ) {
        let reply = naming(reply)
        guard allows(partition, reply) else { return }
        // With this size, the load has a commit of its own.
        let byteCount = limits.batchBytesMax
        let request = Write(nil, in: nil, byteCount: byteCount, purpose: .apply, reply) {
            (statements) throws(SQLiteError) in
            let batches: BaseBatches
            do throws(StorageError) { batches = try makeBatches() } catch { throw .refused(error) }
            try statements.load(position, batches)
        }
        submitInOrder(request)
    }

    /// Makes a hash over the logical content: see `ReplicaContent`.
    package func contentHash(of partition: Partition, reply: @escaping StorageReply<ContentHash>) {
        let reply = naming(reply)
        guard allows(partition, reply) else { return }
        copy(reply) { (path, isCancelled) throws(StorageError) in
            try ReplicaContent.hash(ofDatabaseAt: path, isCancelled: isCancelled)
        }
    }

    // MARK: - Parts

    /// Refuses a call for another partition, or on an engine that is not a replica.
    private func allows<Value>(_ partition: Partition, _ reply: StorageReply<Value>) -> Bool {
        guard use == .replica else {
            reply(.failure(.incompatible(detail: "the storage in \(location) is not a copy of a cluster's data")))
            return false
        }
        guard partition == .first else {
            let detail = "this version has one partition, and no partition \(partition.rawValue)"
            reply(.failure(.incompatible(detail: detail)))
            return false
        }
        return true
    }

    /// Returns a reply that adds the remedy to damage.
    private func naming<Value>(_ reply: @escaping StorageReply<Value>) -> StorageReply<Value> {
        let path = DataFolder.databasePath(in: location, filename: filename)
        return { reply($0.mapError { ReplicaFolder.error($0, of: path) }) }
    }
}

/// The batches of an export in memory; used by one thread at a time.
private final class GatheredBatches: @unchecked Sendable {
    // SAFETY: the thread for copies adds the batches, and then calls the reply, which takes them.
    private(set) var all: [[BaseOperation]] = []

    func add(_ batch: [BaseOperation]) { all.append(batch) }
}

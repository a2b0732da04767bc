// The operations of a cluster's log, applied inside a transaction that the caller owns.

import RivuletBase
internal import RivuletCluster
internal import RivuletSessions

extension WriteStatements {
    /// Applies frames in order; returns the outcomes of their operations.
    ///
    /// An outcome depends on the content and the operation alone: not on rows' numbers, the time, the limits of this
    /// engine, or the rows of deleted sessions. Every other failure is thrown, and the caller rolls all frames back.
    mutating func apply(_ frames: [PositionedFrame]) throws(SQLiteError) -> [OperationOutcome] {
        var position = try position()
        var outcomes: [OperationOutcome] = []
        for positioned in frames {
            let frame = positioned.frame
            try check(positioned, follows: position)
            var hash = OutcomeHash(position.outcomes)
            var ownership = position.ownership
            for operation in frame.operations {
                let outcome = try outcome(of: operation, after: hash.value)
                hash.add(outcome)
                outcomes.append(outcome)
                ownership.apply(operation)
            }
            position = ReplicaPosition(
                cluster: frame.cluster,
                position: positioned.position,
                link: FrameLink(number: frame.number, term: frame.term, hash: positioned.hash),
                outcomes: hash.value,
                ownership: ownership
            )
        }
        if !frames.isEmpty { try replica?.set(position) }
        return outcomes
    }

    /// Returns the position of the replica.
    mutating func position() throws(SQLiteError) -> ReplicaPosition {
        guard let position = try replica?.position() else {
            throw .refused(.incompatible(detail: "this storage is no copy of a cluster's data"))
        }
        return position
    }

    /// Refuses a frame that would skip or repeat a part of the log.
    ///
    /// Numbers may have gaps, because an operation in parts comes as one frame.
    private func check(_ positioned: PositionedFrame, follows position: ReplicaPosition) throws(SQLiteError) {
        let frame = positioned.frame
        func refuse(_ reason: String) throws(SQLiteError) {
            throw .refused(.incompatible(detail: "frame \(frame.number) cannot be applied: \(reason)"))
        }
        if !position.cluster.isEmpty, frame.cluster != position.cluster {
            try refuse("it is of the cluster \"\(frame.cluster)\", and this copy of \"\(position.cluster)\"")
        }
        if frame.number <= position.link.number || positioned.position <= position.position {
            try refuse(
                "this copy is at frame \(position.link.number) and position \(position.position.rawValue), "
                    + "which is not before position \(positioned.position.rawValue)"
            )
        }
        if frame.term < position.link.term { try refuse("its term is before the term \(position.link.term)") }
        if frame.part != nil { try refuse("it has a part of an operation only") }
    }

    private mutating func outcome(
        of operation: Operation,
        after outcomes: UInt64
    ) throws(SQLiteError) -> OperationOutcome {
        do throws(SQLiteError) {
            return try apply(operation, after: outcomes)
        } catch {
            // A write that exceeds a quota has changed nothing.
            guard case .refused(.quota(let excess)) = error else { throw error }
            return .refused(excess)
        }
    }

    private mutating func apply(
        _ operation: Operation,
        after outcomes: UInt64
    ) throws(SQLiteError) -> OperationOutcome {
        switch operation {
        case .create(let key, let epoch, let time, let snapshot, let owner, let quota):
            counters?.quotaOfOperation = quota
            return .created(try create(key, epoch: epoch, time: time, snapshot: snapshot, owner: owner))
        case .append(let key, let point, let entries, let answers, let quota):
            counters?.quotaOfOperation = quota
            guard let point = try self.point(point, of: key) else { return .appended(.conflict) }
            return .appended(try append(key, at: point, entries, keeping: answers))
        case .compact(let key, let epoch, let version, let snapshot, let keeping):
            guard let sid = try sid(of: key) else { return .compacted(.conflict) }
            let head = SessionHead(epoch: epoch, version: version, token: UInt64(bitPattern: sid))
            return .compacted(try compact(key, at: head, snapshot: snapshot, keeping: keeping))
        case .delete(let key):
            replica?.forget(key)
            return .deleted(try delete(key))
        case .items(let collection, let changes, let time, let itemsMax):
            // The reader may have read the keys already.
            _ = try items.isReady(ByteText(collection))
            switch try items.commit(changes, to: collection, time: time, itemsMax: itemsMax) {
            case .success: return .items(nil)
            case .failure(let error): return .items(error)
            }
        case .claim, .release: return .none
        case .checkpoint(let stated):
            guard stated == outcomes else { throw divergence() }
            return .none
        case .base:
            throw .refused(
                .incompatible(detail: "an operation of a base is in a frame of the log, where it has no meaning")
            )
        }
    }

    private mutating func point(_ point: OperationPoint, of key: SessionKey) throws(SQLiteError) -> AppendPoint? {
        switch point {
        case .creating(let epoch, let time, let snapshot, let owner):
            return .creating(epoch: epoch, time: time, snapshot: snapshot, owner: owner)
        case .after(let epoch, let version):
            return try sid(of: key).map {
                .after(SessionHead(epoch: epoch, version: version, token: UInt64(bitPattern: $0)))
            }
        }
    }

    private func divergence() -> SQLiteError {
        let detail =
            "\(replica?.connection.path ?? ""): the outcomes of this copy differ from the outcomes of the log's owner"
        return .refused(.corrupt(nil, detail: detail))
    }

    /// Returns the number of a session; nil if there is no such session.
    private mutating func sid(of key: SessionKey) throws(SQLiteError) -> Int64? {
        if let sid = replica?.sid(of: key) { return sid }
        guard let sid = try finder.sid(of: key) else { return nil }
        replica?.remember(sid, of: key)
        return sid
    }
}

internal import RivuletBase
internal import RivuletSessions
internal import RivuletStores

/// The hash over all outcomes of a partition, which a `checkpoint` states: equal on all copies, in every process.
///
/// Tokens of heads are left out, because each copy has its own. The outcome `.none` leaves the hash as it is.
package struct OutcomeHash: Hashable, Sendable {
    package private(set) var value: UInt64

    /// Continues with a hash, as `ReplicaPosition.outcomes` keeps it; 0 is the hash before the first outcome.
    package init(_ value: UInt64 = 0) { self.value = value }

    package mutating func add(_ outcome: OperationOutcome) {
        if case .none = outcome { return }
        var writer = FrameWriter(reserving: 64)
        writer.add(fixed: value)
        writer.add(outcome)
        var hash = StableHash()
        hash.add(writer.bytes)
        value = hash.value
    }

    package mutating func add(_ outcomes: some Sequence<OperationOutcome>) {
        for outcome in outcomes { add(outcome) }
    }
}

extension FrameSink {
    fileprivate mutating func add(_ outcome: OperationOutcome) {
        switch outcome {
        case .none: add(byte: 0)
        case .created(.created(let head)): add(head, as: 1)
        case .created(.exists(let head)): add(head, as: 2)
        case .appended(.committed(let head)): add(head, as: 3)
        case .appended(.conflict): add(byte: 4)
        case .compacted(.compacted(let head, let retained)):
            add(head, as: 5)
            add(retained.from)
            add(optional: retained.since) { $0.add(signed: $1) }
            add(optional: retained.bytes) { $0.add(signed: Int64($1)) }
        case .compacted(.conflict): add(byte: 6)
        case .deleted(let wasThere):
            add(byte: 7)
            add(wasThere)
        case .items(let error):
            add(byte: 8)
            add(optional: error) { $0.add($1) }
        case .refused(let excess):
            add(byte: 9)
            add(excess.app)
            add(excess.scope.rawValue)
            add(excess.measure.rawValue)
            add(signed: Int64(excess.limit))
        }
    }

    private mutating func add(_ head: SessionHead, as kind: UInt8) {
        add(byte: kind)
        add(head.epoch)
        add(head.version)
    }

    /// Adds an error without its text, which names places on one machine.
    private mutating func add(_ error: ItemStorageError) {
        switch error {
        case .tooMany(let limit):
            add(byte: 0)
            add(signed: Int64(limit))
        case .tooLarge(let limitBytes):
            add(byte: 1)
            add(signed: Int64(limitBytes))
        case .unavailable: add(byte: 2)
        case .indeterminate: add(byte: 3)
        case .full: add(byte: 4)
        case .corrupt: add(byte: 5)
        case .incompatible: add(byte: 6)
        case .closed: add(byte: 7)
        }
    }
}

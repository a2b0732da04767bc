// An operation alone: a byte for its kind, and its fields.

import RivuletSessions

extension Operation {
    /// The most bytes of an operation.
    package static let bytesMax = 512 << 20

    /// The number of bytes that the operation has when it is written.
    package var byteCount: Int {
        var counter = FrameCounter()
        OperationCodec.write(self, into: &counter)
        return counter.byteCount
    }
}

enum OperationCodec {
    static func encode(_ operation: Operation) -> [UInt8] {
        var writer = FrameWriter(reserving: operation.byteCount)
        write(operation, into: &writer)
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8]) throws(FrameError) -> Operation {
        var reader = FrameReader(bytes)
        let operation = try read(from: &reader)
        try reader.finish()
        return operation
    }

    static func write(_ operation: Operation, into sink: inout some FrameSink) {
        switch operation {
        case .create(let key, let epoch, let time, let snapshot, let owner, let quota):
            sink.add(.create)
            sink.add(key)
            sink.add(epoch)
            sink.add(signed: time)
            sink.add(optional: snapshot)
            sink.add(optional: owner)
            sink.add(quota)
        case .append(let key, let point, let entries, let answers, let quota):
            sink.add(.append)
            sink.add(key)
            sink.add(point)
            sink.add(entries)
            sink.add(answers)
            sink.add(quota)
        case .compact(let key, let epoch, let version, let snapshot, let keeping):
            sink.add(.compact)
            sink.add(key)
            sink.add(epoch)
            sink.add(version)
            sink.add(snapshot)
            sink.add(keeping.from)
            sink.add(signed: keeping.since)
            sink.add(optional: keeping.bytes) { $0.add(signed: Int64($1)) }
        case .delete(let key):
            sink.add(.delete)
            sink.add(key)
        case .items(let collection, let changes, let time, let itemsMax):
            sink.add(.items)
            sink.add(collection)
            sink.add(changes)
            sink.add(signed: time)
            sink.add(signed: Int64(itemsMax))
        case .claim(let claim):
            sink.add(.claim)
            sink.add(claim)
        case .release(let node):
            sink.add(.release)
            sink.add(node)
        case .checkpoint(let outcomes):
            sink.add(.checkpoint)
            sink.add(fixed: outcomes)
        case .base(let operation): write(operation, into: &sink)
        }
    }

    private static func write(_ operation: BaseOperation, into sink: inout some FrameSink) {
        switch operation {
        case .session(let key, let epoch, let created, let owner):
            sink.add(.baseSession)
            sink.add(key)
            sink.add(epoch)
            sink.add(signed: created)
            sink.add(optional: owner)
        case .snapshot(let key, let snapshot, let time):
            sink.add(.baseSnapshot)
            sink.add(key)
            sink.add(snapshot)
            sink.add(signed: time)
        case .entries(let key, let entries):
            sink.add(.baseEntries)
            sink.add(key)
            sink.add(entries)
        case .answer(let key, let answer):
            sink.add(.baseAnswer)
            sink.add(key)
            sink.add(answer)
        case .items(let collection, let items):
            sink.add(.baseItems)
            sink.add(collection)
            sink.add(items)
        }
    }

    static func read(from reader: inout FrameReader) throws(FrameError) -> Operation {
        let number = try reader.byte()
        guard let kind = OperationKind(rawValue: number) else {
            throw .newer("it has an operation of \(description(ofUnknownKind: number))")
        }
        return switch kind {
        case .create:
            .create(
                try reader.key(),
                epoch: try reader.text(),
                time: try reader.signed(),
                snapshot: try reader.optionalSnapshot(),
                owner: try reader.optionalText(),
                quota: try reader.quota()
            )
        case .append:
            .append(
                try reader.key(),
                at: try reader.point(),
                entries: try reader.entries(),
                answers: try reader.answers(),
                quota: try reader.quota()
            )
        case .compact:
            .compact(
                try reader.key(),
                epoch: try reader.text(),
                version: try reader.number(),
                snapshot: try reader.snapshot(),
                keeping: LogKeeping(
                    from: try reader.number(),
                    since: try reader.signed(),
                    bytes: try reader.optional { reader throws(FrameError) in try reader.signedInt() }
                )
            )
        case .delete: .delete(try reader.key())
        case .items:
            .items(
                collection: try reader.text(),
                changes: try reader.changes(),
                time: try reader.signed(),
                itemsMax: try reader.signedInt()
            )
        case .claim: .claim(try reader.claim())
        case .release: .release(to: try reader.text())
        case .checkpoint: .checkpoint(outcomes: try reader.fixed())
        case .baseSession, .baseSnapshot, .baseEntries, .baseAnswer, .baseItems:
            .base(try base(kind, from: &reader))
        }
    }

    private static func base(
        _ kind: OperationKind,
        from reader: inout FrameReader
    ) throws(FrameError) -> BaseOperation {
        switch kind {
        case .baseSession:
            .session(
                try reader.key(),
                epoch: try reader.text(),
                created: try reader.signed(),
                owner: try reader.optionalText()
            )
        case .baseSnapshot: .snapshot(try reader.key(), try reader.snapshot(), time: try reader.signed())
        case .baseEntries: .entries(try reader.key(), try reader.entries())
        case .baseAnswer: .answer(try reader.key(), try reader.answer())
        case .baseItems: .items(collection: try reader.text(), try reader.items())
        case .create, .append, .compact, .delete, .items, .claim, .release, .checkpoint:
            throw .damaged("the operation of kind \(kind.rawValue) is no part of a base")
        }
    }

    private static func description(ofUnknownKind number: UInt8) -> String {
        switch number {
        case OperationKind.reservedForClientSequences: "kind \(number), for sequences of clients"
        case OperationKind.reservedForScheduledEvents: "kind \(number), for scheduled events"
        default: "the unknown kind \(number)"
        }
    }
}

extension FrameSink {
    fileprivate mutating func add(_ kind: OperationKind) { add(byte: kind.rawValue) }

    fileprivate mutating func add(_ point: OperationPoint) {
        switch point {
        case .after(let epoch, let version):
            add(byte: 0)
            add(epoch)
            add(version)
        case .creating(let epoch, let time, let snapshot, let owner):
            add(byte: 1)
            add(epoch)
            add(signed: time)
            add(optional: snapshot)
            add(optional: owner)
        }
    }

    fileprivate mutating func add(_ claim: Claim) {
        add(claim.node)
        add(fixed: claim.incarnation)
        add(claim.build)
        add(count: claim.schemas.count)
        for (app, schema) in claim.schemas.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            add(app)
            add(UInt64(schema))
        }
    }
}

extension FrameReader {
    fileprivate mutating func point() throws(FrameError) -> OperationPoint {
        switch try byte() {
        case 0: .after(epoch: try text(), version: try number())
        case 1:
            .creating(
                epoch: try text(),
                time: try signed(),
                snapshot: try optionalSnapshot(),
                owner: try optionalText()
            )
        case let kind: throw .newer("it has an append at a point of the unknown kind \(kind)")
        }
    }

    fileprivate mutating func claim() throws(FrameError) -> Claim {
        let (node, incarnation, build) = (try text(), try fixed(), try text())
        var schemas: [String: UInt32] = [:]
        var last: String?
        for _ in 0..<(try count()) {
            let app = try text()
            if let last, !last.utf8.lexicographicallyPrecedes(app.utf8) {
                throw .damaged("the schemas before byte \(offset) are not in the order of their apps")
            }
            guard schemas.updateValue(try number(UInt32.self), forKey: app) == nil else {
                throw .damaged("two schemas before byte \(offset) have one app")
            }
            last = app
        }
        return Claim(node: node, incarnation: incarnation, build: build, schemas: schemas)
    }
}

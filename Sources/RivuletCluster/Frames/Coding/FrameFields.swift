// The parts that several kinds of operations have.

import RivuletBase
import RivuletSessions
import RivuletStores

extension FrameSink {
    mutating func add(_ key: SessionKey) {
        add(key.app)
        add(key.id)
    }

    mutating func add(_ snapshot: StateSnapshot) {
        add(snapshot.version)
        add(UInt64(snapshot.schema))
        add(snapshot.state)
    }

    mutating func add(optional snapshot: StateSnapshot?) { add(optional: snapshot) { $0.add($1) } }

    mutating func add(_ entries: [LogEntry]) {
        add(count: entries.count)
        for entry in entries {
            add(entry.version)
            add(signed: entry.time)
            add(optional: entry.commandID)
            add(optional: entry.by)
            add(entry.event)
            add(entry.changes)
        }
    }

    mutating func add(_ answer: IdempotencyRecord) {
        add(answer.id)
        add(signed: answer.time)
        add(answer.fingerprint)
        add(answer.body)
    }

    mutating func add(_ answers: IdempotencyRecords) {
        add(count: answers.answers.count)
        for answer in answers.answers { add(answer) }
        add(signed: answers.droppingBefore)
    }

    mutating func add(_ quota: StorageQuota) {
        for limit in [quota.sessionsMax, quota.bytesMax, quota.ownerSessionsMax, quota.ownerBytesMax] {
            add(optional: limit) { $0.add(signed: Int64($1)) }
        }
    }

    mutating func add(_ changes: [ItemChange]) {
        add(count: changes.count)
        for change in changes {
            switch change {
            case .put(let key, let document):
                add(byte: 0)
                add(key)
                add(document)
            case .remove(let key):
                add(byte: 1)
                add(key)
            case .removeAll: add(byte: 2)
            }
        }
    }

    mutating func add(_ items: [StoredItem]) {
        add(count: items.count)
        for item in items {
            add(item.key)
            add(item.document)
            add(signed: item.created)
            add(signed: item.updated)
        }
    }
}

extension FrameReader {
    mutating func key() throws(FrameError) -> SessionKey { SessionKey(app: try text(), id: try text()) }

    mutating func snapshot() throws(FrameError) -> StateSnapshot {
        StateSnapshot(version: try number(), schema: try number(UInt32.self), state: try bytes())
    }

    mutating func optionalSnapshot() throws(FrameError) -> StateSnapshot? {
        try optional { reader throws(FrameError) in try reader.snapshot() }
    }

    mutating func entries() throws(FrameError) -> [LogEntry] {
        try list { reader throws(FrameError) in
            LogEntry(
                version: try reader.number(),
                time: try reader.signed(),
                commandID: try reader.optionalText(),
                by: try reader.optionalText(),
                event: try reader.bytes(),
                changes: try reader.bytes()
            )
        }
    }

    mutating func answer() throws(FrameError) -> IdempotencyRecord {
        IdempotencyRecord(id: try text(), time: try signed(), fingerprint: try bytes(), body: try bytes())
    }

    mutating func answers() throws(FrameError) -> IdempotencyRecords {
        let answers = try list { reader throws(FrameError) in try reader.answer() }
        return IdempotencyRecords(answers, droppingBefore: try signed())
    }

    mutating func quota() throws(FrameError) -> StorageQuota {
        let limit = { (reader: inout FrameReader) throws(FrameError) in try reader.signedInt() }
        return StorageQuota(
            sessionsMax: try optional(limit),
            bytesMax: try optional(limit),
            ownerSessionsMax: try optional(limit),
            ownerBytesMax: try optional(limit)
        )
    }

    mutating func changes() throws(FrameError) -> [ItemChange] {
        try list { reader throws(FrameError) in
            switch try reader.byte() {
            case 0: .put(key: try reader.text(), document: try reader.bytes())
            case 1: .remove(key: try reader.text())
            case 2: .removeAll
            case let kind: throw .newer("it has a change of items of the unknown kind \(kind)")
            }
        }
    }

    mutating func items() throws(FrameError) -> [StoredItem] {
        try list { reader throws(FrameError) in
            StoredItem(
                key: try reader.text(),
                document: try reader.bytes(),
                created: try reader.signed(),
                updated: try reader.signed()
            )
        }
    }
}

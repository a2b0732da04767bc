// The rules about idempotency records: an append stores them and drops old records, and a read finds them by id.

import RivuletSessions
import Testing

extension StorageConformance {
    static let answers: [StorageConformance] = [
        StorageConformance("an idempotency record is found by its id, and only in its session and epoch") {
            engine async throws in
            let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created)
            let answers = [Sample.answer("a"), Sample.answer("b", seconds: 1), Sample.answer("")]
            let kept = IdempotencyRecords(answers, droppingBefore: .min)
            _ = try await engine.append(Sample.key, at: point, [Sample.entry(1)], keeping: kept)
            let other = SessionKey(app: "counter", id: "two")
            _ = try await engine.append(other, at: point, [], keeping: Sample.kept(Sample.answer("c")))
            func answer(_ id: String, epoch: String = Sample.epoch) async throws -> IdempotencyRecord? {
                try await engine.idempotencyRecord(Sample.key, epoch: epoch, id: id)
            }
            #expect(try await answer("a") == answers[0])
            #expect(try await answer("b") == answers[1])
            #expect(try await answer("") == answers[2])
            #expect(try await answer("c") == nil)
            #expect(try await answer("a", epoch: "zzzzzzzz") == nil)
        },
        StorageConformance("records are found by the bytes of their ids, and read exactly as stored") {
            engine async throws in
            let head = try await engine.fill(upTo: 0)
            let answers = ["\u{E9}", "e\u{301}", "a\nb", "\u{0}𝄞"].map { id in
                IdempotencyRecord(id: id, time: .max, fingerprint: [0, 255], body: [0, 10, 255, 0])
            }
            let kept = IdempotencyRecords(answers, droppingBefore: .min)
            _ = try await engine.append(Sample.key, at: .after(head), [], keeping: kept)
            for answer in answers {
                #expect(try await engine.idempotencyRecord(Sample.key, epoch: Sample.epoch, id: answer.id) == answer)
            }
        },
        StorageConformance("an append may store records without an entry, and the head stays") { engine async throws in
            let head = try await engine.fill(upTo: 2)
            let kept = Sample.kept(Sample.answer("a"))
            #expect(try await engine.append(Sample.key, at: .after(head), [], keeping: kept) == .committed(head))
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "a") == Sample.answer("a"))
            #expect(try await engine.load(Sample.key)?.head == head)
        },
        StorageConformance("an append that is a conflict stores no record") { engine async throws in
            let head = try await engine.fill(upTo: 2)
            let stale = SessionHead(epoch: head.epoch, version: 1, token: head.token)
            let kept = Sample.kept(Sample.answer("a"))
            #expect(
                try await engine.append(Sample.key, at: .after(stale), [Sample.entry(2)], keeping: kept) == .conflict
            )
            #expect(
                try await engine.append(Sample.key, at: .after(head), [Sample.entry(9)], keeping: kept) == .conflict
            )
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "a") == nil)
        },
        StorageConformance("a too large record is refused with the limit, and nothing of its append is stored") {
            engine async throws in
            let head = try await engine.fill(upTo: 1)
            let limit = engine.capabilities.entryBytesMax
            let large = IdempotencyRecord(id: "a", time: 0, fingerprint: [], body: Array(repeating: 0, count: limit))
            await #expect(throws: StorageError.tooLarge(limitBytes: limit)) {
                let kept = Sample.kept(large)
                _ = try await engine.append(Sample.key, at: .after(head), [Sample.entry(2)], keeping: kept)
            }
            #expect(try await engine.load(Sample.key)?.head == head)
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "a") == nil)
        },
        StorageConformance("a later record replaces the record with the same id") { engine async throws in
            let head = try await engine.fill(upTo: 0)
            for seconds: Int64 in [0, 5] {
                let kept = Sample.kept(Sample.answer("a", seconds: seconds))
                _ = try await engine.append(Sample.key, at: .after(head), [], keeping: kept)
            }
            let found = try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "a")
            #expect(found == Sample.answer("a", seconds: 5))
            let usage = try await engine.idempotencyRecords(Sample.key, epoch: head.epoch, since: .min)
            #expect(usage.count == 1)
        },
        StorageConformance("an append drops the records before its droppingBefore, and no others") {
            engine async throws in
            let head = try await engine.fill(upTo: 0)
            let old = (0..<8).map { Sample.answer("old \($0)", seconds: Int64($0)) }
            let kept = IdempotencyRecords(old, droppingBefore: .min)
            _ = try await engine.append(Sample.key, at: .after(head), [], keeping: kept)
            // An old record that was stored again is not old.
            let fresh = Sample.answer("old 0", seconds: 100)
            _ = try await engine.append(Sample.key, at: .after(head), [], keeping: Sample.kept(fresh))
            let next = Sample.kept(Sample.answer("new", seconds: 101), droppingBefore: old[4].time)
            _ = try await engine.append(Sample.key, at: .after(head), [], keeping: next)
            for (index, answer) in old.enumerated() {
                let found = try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: answer.id)
                #expect(found == (index == 0 ? fresh : index < 4 ? nil : answer))
            }
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "new") != nil)
        },
        StorageConformance("the number and the bytes of the records since a time are reported") { engine async throws in
            let head = try await engine.fill(upTo: 0)
            let none = IdempotencyUsage(count: 0, byteCount: 0, oldest: nil)
            #expect(try await engine.idempotencyRecords(Sample.key, epoch: head.epoch, since: .min) == none)
            let answers = (0..<4).map { Sample.answer("é\($0)", seconds: Int64($0)) }
            let kept = IdempotencyRecords(answers, droppingBefore: .min)
            _ = try await engine.append(Sample.key, at: .after(head), [], keeping: kept)
            let usage = try await engine.idempotencyRecords(Sample.key, epoch: head.epoch, since: answers[1].time)
            #expect(usage.count == 3)
            #expect(usage.byteCount == answers[1...].reduce(0) { $0 + $1.byteCount })
            #expect(usage.oldest == answers[1].time)
            #expect(try await engine.idempotencyRecords(Sample.key, epoch: "zzzzzzzz", since: .min) == none)
            let other = SessionKey(app: "counter", id: "two")
            #expect(try await engine.idempotencyRecords(other, epoch: head.epoch, since: .min) == none)
        },
        StorageConformance("records stay when the log is compacted, and are deleted with their session") {
            engine async throws in
            let point = AppendPoint.creating(epoch: Sample.epoch, time: Sample.created)
            let kept = Sample.kept(Sample.answer("a"))
            let head = try await engine.append(Sample.key, at: point, Sample.entries(1...3), keeping: kept).head()
            _ = try await engine.compact(Sample.key, at: head, snapshot: Sample.snapshot(3), keepingFrom: 4)
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: head.epoch, id: "a") == Sample.answer("a"))
            _ = try await engine.delete(Sample.key)
            _ = try await engine.create(Sample.key, epoch: Sample.epoch, time: Sample.created)
            #expect(try await engine.idempotencyRecord(Sample.key, epoch: Sample.epoch, id: "a") == nil)
            let usage = try await engine.idempotencyRecords(Sample.key, epoch: Sample.epoch, since: .min)
            #expect(usage.count == 0)
        },
    ]
}

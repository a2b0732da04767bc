// The rules about replies: each request has its reply, in order, and a closed engine refuses all requests.

import RivuletSessions
import Synchronization
import Testing

extension StorageConformance {
    static let closings: [StorageConformance] = [
        StorageConformance("a probe commits") { engine async throws in
            try await engine.probe()
            try await engine.probe()
        },
        StorageConformance("a second start changes nothing") { engine async throws in
            _ = try await engine.fill(upTo: 1)
            try engine.lifecycle.start()
            #expect(try await engine.load(Sample.key)?.head.version == 1)
        },
        StorageConformance("writes are answered in the order in which they were requested") { engine async throws in
            let order = Mutex<[Int]>([])
            await withCheckedContinuation { continuation in
                for index in 0..<100 {
                    let key = SessionKey(app: "counter", id: "\(index)")
                    engine.log.create(key, epoch: Sample.epoch, time: 0, snapshot: nil) { _ in
                        order.withLock { $0.append(index) }
                        if index == 99 { continuation.resume() }
                    }
                }
            }
            #expect(order.withLock { $0 } == Array(0..<100))
        },
        StorageConformance("closing waits until every accepted request has been answered") { engine async throws in
            let answered = Mutex(0)
            for index in 0..<50 {
                let key = SessionKey(app: "counter", id: "\(index)")
                let point = AppendPoint.creating(epoch: Sample.epoch, time: 0)
                engine.log.append(key, at: point, [Sample.entry(1)]) { result in
                    if case .success(.committed) = result { answered.withLock { $0 += 1 } }
                }
                engine.log.load(key) { result in
                    if case .success = result { answered.withLock { $0 += 1 } }
                }
            }
            engine.lifecycle.close()
            #expect(answered.withLock { $0 } == 100)
        },
        StorageConformance("after the end every request and a start fail with the error closed") {
            engine async throws in
            let head = try await engine.fill(upTo: 1)
            engine.lifecycle.close()
            engine.lifecycle.close()
            #expect(throws: StorageError.closed) { try engine.lifecycle.start() }
            await #expect(throws: StorageError.closed) { _ = try await engine.load(Sample.key) }
            await #expect(throws: StorageError.closed) {
                _ = try await engine.create(Sample.key, epoch: Sample.epoch, time: 0)
            }
            await #expect(throws: StorageError.closed) {
                _ = try await engine.append(Sample.key, at: .after(head), [Sample.entry(2)])
            }
            await #expect(throws: StorageError.closed) { _ = try await engine.delete(Sample.key) }
            await #expect(throws: StorageError.closed) { _ = try await engine.sessions(app: "counter", limit: 1) }
            await #expect(throws: StorageError.closed) { try await engine.probe() }
        },
    ]
}

// Tests dispatches with idempotency keys: retries, restarts, errors, limits.

import CounterFixture
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionOnceTests {
    @Test func `a retry gets the first answer byte for byte, and nothing happens again`() throws {
        let harness = try SessionHarness()
        let first = try harness.once(#"{"add":5}"#, key: "k")
        try harness.dispatch(#"{"add":1}"#)
        let second = try harness.once(#"{"add":5}"#, key: "k")
        #expect(first.isReplay == false)
        #expect(second.isReplay)
        #expect(second.body == first.body)
        #expect(try harness.value("/p/count") == "6")
        #expect(try harness.session().info().version == 2)
    }

    @Test func `a retry leaves the session's memory when it is answered`() throws {
        let harness = try SessionHarness()
        let body = #"{"rename":"\#(String(repeating: "x", count: 10_000))"}"#
        _ = try harness.once(body, key: "k")
        harness.storage.holdReads()
        let retry = harness.sendOnce(body, key: "k")
        // The dispatch updates the number of resident bytes, which includes the waiting retry.
        try harness.dispatch(#"{"add":1}"#)
        let waiting = harness.shard.residentBytes
        harness.storage.releaseReadsBackwards()
        #expect(try harness.wait { retry.result }.get().isReplay)
        harness.executor.runPosted()
        #expect(harness.shard.residentBytes == waiting - body.utf8.count)
    }

    @Test func `a retry after a restart gets the first answer`() throws {
        let harness = try SessionHarness()
        let first = try harness.once(#"{"add":5}"#, key: "k")
        harness.restart()
        let second = try harness.once(#"{"add":5}"#, key: "k")
        #expect(second.isReplay)
        #expect(second.body == first.body)
        #expect(try harness.value("/p/count") == "5")
    }

    @Test(arguments: [#""nothing""#, #""peek""#, #"{"quietAdd":3}"#])
    func `dispatches without a log entry keep their answers, too`(_ event: String) throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        let first = try harness.once(event, key: "k")
        harness.restart()
        let second = try harness.once(event, key: "k")
        #expect(second.isReplay)
        #expect(second.body == first.body)
        #expect(try harness.value("/p/count") == "1")
    }

    @Test func `the answer to the first dispatch of a session is stored with its creation`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#""nothing""#, key: "k")
        #expect(try harness.session().isStored)
        harness.restart()
        #expect(try harness.once(#""nothing""#, key: "k").isReplay)
    }

    @Test func `a key belongs to one request only`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"add":5}"#, key: "k")
        for isRestarted in [false, true] {
            if isRestarted { harness.restart() }
            guard case .failure(.keyReused("k")) = try harness.tryOnce(#"{"add":6}"#, key: "k") else {
                Issue.record("a used key was accepted")
                return
            }
        }
        #expect(try harness.value("/p/count") == "5")
    }

    @Test func `a retry of an unanswered request is refused, and gets the answer later`() throws {
        let harness = try SessionHarness()
        harness.storage.hold()
        let first = harness.sendOnce(#"{"add":5}"#, key: "k")
        #expect(harness.executor.run { harness.storage.appends == 1 })
        guard case .failure(.keyUnderWay("k")) = try harness.tryOnce(#"{"add":5}"#, key: "k"),
            case .failure(.keyReused("k")) = try harness.tryOnce(#"{"add":6}"#, key: "k")
        else {
            Issue.record("a used key was accepted")
            return
        }
        #expect(try !harness.session().isIdle)
        harness.storage.release()
        #expect(try !harness.wait { first.result }.get().isReplay)
        #expect(try harness.once(#"{"add":5}"#, key: "k").isReplay)
        #expect(try harness.session().isIdle)
    }

    @Test func `a refused request may be sent again under the same key`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        guard case .failure(.rejected) = try harness.tryOnce(#"{"rename":""}"#, key: "k"),
            case .failure(.body) = try harness.tryOnce("{", key: "l")
        else {
            Issue.record("not refused")
            return
        }
        #expect(try !harness.once(#"{"rename":"x"}"#, key: "k").isReplay)
        #expect(try !harness.once(#"{"add":1}"#, key: "l").isReplay)
    }

    @Test func `a failed append stores no answer, and a retry is a first request`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"add":1}"#)
        harness.storage.failNext(.full(detail: "no space"))
        guard case .failure(.storage(.full)) = try harness.tryOnce(#"{"add":5}"#, key: "k") else {
            Issue.record("not failed")
            return
        }
        #expect(try !harness.once(#"{"add":5}"#, key: "k").isReplay)
        #expect(try harness.value("/p/count") == "6")
    }

    @Test func `after an append with an unknown outcome a retry gets the stored answer, or runs the event`()
        throws
    {
        for isWritten in [false, true] {
            let harness = try SessionHarness()
            try harness.dispatch(#"{"add":1}"#)
            harness.storage.doubtNext(isWritten: isWritten)
            guard case .failure(.storage(.indeterminate)) = try harness.tryOnce(#"{"add":5}"#, key: "k") else {
                Issue.record("the outcome is known")
                return
            }
            #expect(try harness.once(#"{"add":5}"#, key: "k").isReplay == isWritten)
            #expect(try harness.value("/p/count") == "6")
            #expect(try harness.session().info().version == 2)
        }
    }

    @Test func `an answer is kept for its lifetime, and then the key is new`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"add":5}"#, key: "k")
        harness.wallClock.advance(by: .seconds(86_400))
        #expect(try harness.once(#"{"add":5}"#, key: "k").isReplay)
        harness.wallClock.advance(by: .seconds(1))
        #expect(try !harness.once(#"{"add":5}"#, key: "k").isReplay)
        #expect(try harness.value("/p/count") == "10")
    }

    @Test func `a key beyond the limit is refused until the oldest answer expires`() throws {
        let harness = try SessionHarness(limits: SessionLimits(idempotencyRecordsMax: 2))
        for key in ["a", "b"] {
            _ = try harness.once(#"{"add":1}"#, key: key)
            harness.wallClock.advance(by: .seconds(10))
        }
        for isRestarted in [false, true] {
            if isRestarted { harness.restart() }
            guard case .failure(.keysFull(harness.key, seconds: 86_381)) = try harness.tryOnce(#"{"add":1}"#, key: "c")
            else {
                Issue.record("not refused")
                return
            }
            #expect(try harness.once(#"{"add":1}"#, key: "a").isReplay)
        }
        #expect(try harness.value("/p/count") == "2")
        harness.wallClock.advance(by: .seconds(86_381))
        #expect(try !harness.once(#"{"add":1}"#, key: "c").isReplay)
        guard case .failure(.keysFull) = try harness.tryOnce(#"{"add":1}"#, key: "d") else {
            Issue.record("not refused")
            return
        }
    }

    @Test func `a further key is refused when stored answers take too many bytes`() throws {
        let harness = try SessionHarness(limits: SessionLimits(idempotencyRecordBytesMax: 40))
        _ = try harness.once(#"{"add":1}"#, key: "a")
        guard case .failure(.keysFull) = try harness.tryOnce(#"{"add":1}"#, key: "b") else {
            Issue.record("not refused")
            return
        }
        try harness.dispatch(#"{"add":1}"#)
    }

    @Test func `a retry gets the first answer even if the condition no longer holds`() throws {
        let harness = try SessionHarness()
        let cursor = try harness.dispatch(#"{"add":1}"#).cursor
        #expect(try !harness.once(#"{"add":5}"#, key: "k", expected: [cursor]).isReplay)
        #expect(try harness.once(#"{"add":5}"#, key: "k", expected: [cursor]).isReplay)
        guard case .failure(.precondition) = try harness.tryOnce(#"{"add":5}"#, key: "l", expected: [cursor]) else {
            Issue.record("a false condition was accepted")
            return
        }
    }

    @Test func `dispatches with keys run in their order, whatever the order of storage's answers`() throws {
        let harness = try SessionHarness()
        try harness.dispatch(#"{"mark":0}"#)
        harness.storage.holdReads()
        let boxes = (1...5).map { harness.sendOnce(#"{"mark":\#($0)}"#, key: "k\($0)") }
        harness.storage.releaseReadsBackwards()
        for box in boxes { #expect(try !harness.wait { box.result }.get().isReplay) }
        #expect(try harness.value("/p/marks") == "[0,1,2,3,4,5]")
    }

    @Test func `a retry waits for earlier dispatches, and a refused dispatch delays none`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"mark":0}"#, key: "k")
        harness.storage.holdReads()
        let refused = harness.sendOnce(#"{"rename":""}"#, key: "a")
        let retry = harness.sendOnce(#"{"mark":0}"#, key: "k")
        let last = harness.sendOnce(#"{"mark":1}"#, key: "b")
        harness.storage.releaseReadsBackwards()
        guard case .failure(.rejected) = try harness.wait({ refused.result }) else {
            Issue.record("not refused")
            return
        }
        #expect(try harness.wait { retry.result }.get().isReplay)
        #expect(try !harness.wait { last.result }.get().isReplay)
        #expect(try harness.value("/p/marks") == "[0,1]")
        #expect(try harness.session().isIdle)
    }

    @Test func `effects of a retried event do not run again`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"chain":2}"#, key: "k")
        #expect(harness.executor.run { (try? harness.value("/p/marks")) == "[2,1,0]" })
        #expect(try harness.once(#"{"chain":2}"#, key: "k").isReplay)
        try harness.dispatch(#""nothing""#)
        #expect(try harness.value("/p/marks") == "[2,1,0]")
    }

    @Test func `a session that was deleted and created again has no keys`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"add":5}"#, key: "k")
        var isDeleted = false
        try harness.session().delete { _ in isDeleted = true }
        #expect(harness.executor.run { isDeleted })
        #expect(try !harness.once(#"{"add":5}"#, key: "k").isReplay)
    }

    @Test func `the log entry names the key`() throws {
        let harness = try SessionHarness()
        _ = try harness.once(#"{"add":5}"#, key: "k")
        try harness.dispatch(#"{"add":5}"#)
        let stored = try harness.ask { harness.storage.load(harness.key, reply: $0) }
        #expect(stored?.tail.map(\.commandID) == ["k", nil])
    }

    @Test func `a value written at a bound key path becomes the binding's event`() throws {
        let harness = try SessionHarness()
        let answer = try harness.write("250", to: "/p/count").get()
        #expect(try harness.value("/p/count") == "100")
        #expect(answer.coerced.map(\.path) == ["/p/count"])
        try harness.dispatch(#"{"insert":{"id":"a/b","at":0}}"#)
        _ = try harness.write(#""x""#, to: "/p/items/a~1b/title").get()
        #expect(try harness.value("/p/items/a~1b/title") == #""x""#)
        let stored = try harness.ask { harness.storage.load(harness.key, reply: $0) }
        #expect(
            stored?.tail.map { String(decoding: $0.event, as: UTF8.self) } == [
                #"{"set":250}"#, #"{"insert":{"id":"a/b","at":0}}"#, #"{"retitle":{"id":"a/b","title":"x"}}"#,
            ]
        )
    }

    @Test func `a value that does not decode or is rejected changes nothing`() throws {
        let harness = try SessionHarness()
        for (value, path) in [(#""5""#, "/p/count"), ("5 6", "/p/count"), ("{", "/p/count")] {
            guard case .failure(.body) = try harness.write(value, to: path) else {
                Issue.record("\(value) was accepted at \(path)")
                return
            }
        }
        guard case .failure(.noValue("/p/ratio")) = try harness.write("1", to: "/p/ratio") else {
            Issue.record("written without a binding")
            return
        }
        guard case .failure(.body) = try harness.write(#"{"low":1,"high":2,"hihg":3}"#, to: "/p/limits") else {
            Issue.record("an unknown key path was accepted")
            return
        }
        guard case .failure(.rejected("title must not be empty")) = try harness.write(#""""#, to: "/p/title") else {
            Issue.record("not rejected")
            return
        }
        #expect(try harness.session().info().version == 0)
    }
}

extension SessionHarness {
    final class OnceBox {
        var result: Result<OnceAnswer, SessionError>?
    }

    /// Sends events under a key.
    ///
    /// The box gets the answer when it comes.
    func sendOnce(_ body: String, key id: String, expected: [Cursor] = []) -> OnceBox {
        let box = OnceBox()
        let request = DispatchRequest(body: Array(body.utf8), expected: expected)
        let reservation = IdempotencyReservation(key: id, fingerprint: Array(body.utf8)) { answer in
            Array("\(answer.cursor) \(answer.isDurable) \(answer.changes.map(\.path))".utf8)
        }
        shard.find(key, of: app) { found in
            switch found {
            case .success(let session): session.dispatch(request, once: reservation) { box.result = $0 }
            case .failure(let error): box.result = .failure(error)
            }
        }
        return box
    }

    func tryOnce(_ body: String, key: String, expected: [Cursor] = []) throws -> Result<OnceAnswer, SessionError> {
        let box = sendOnce(body, key: key, expected: expected)
        return try wait { box.result }
    }

    func once(_ body: String, key: String, expected: [Cursor] = []) throws -> OnceAnswer {
        try tryOnce(body, key: key, expected: expected).get()
    }

    /// Writes a value at a bound key path.
    func write(_ value: String, to path: String) throws -> Result<DispatchAnswer, SessionError> {
        let request = DispatchRequest(body: Array(value.utf8), boundPath: try JSONPointer(parsing: path))
        let box = Box()
        shard.find(key, of: app) { found in
            switch found {
            case .success(let session): session.dispatch(request) { box.result = $0 }
            case .failure(let error): box.result = .failure(error)
            }
        }
        return try wait(for: box)
    }
}

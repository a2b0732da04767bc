// Part of Rivulet. See README.md for the architecture.
// Checks which sessions leave memory when it is full, and when their time is over.

import RivuletSessions
import Testing

@Suite struct SessionEvictionTests {
    private func key(_ number: Int) -> SessionKey { SessionKey(app: "tally", id: "n\(number)") }

    private func find(_ number: Int, in harness: SessionHarness) throws -> Result<any HostedSession, SessionError> {
        var found: Result<any HostedSession, SessionError>?
        harness.shard.find(key(number), of: harness.app) { found = $0 }
        return try harness.wait { found }
    }

    /// Stores the session and uses it, one second after whatever was used before.
    private func use(_ number: Int, in harness: SessionHarness) throws {
        harness.uptime.advance(by: .seconds(1))
        try send(#"{"mark":1}"#, to: number, in: harness)
    }

    private func send(_ body: String, to number: Int, in harness: SessionHarness) throws {
        var answer: Result<DispatchAnswer, SessionError>?
        harness.shard.find(key(number), of: harness.app) { found in
            switch found {
            case .success(let session): session.dispatch(DispatchRequest(body: Array(body.utf8))) { answer = $0 }
            case .failure(let error): answer = .failure(error)
            }
        }
        _ = try harness.wait { answer }.get()
    }

    private func resident(_ numbers: some Sequence<Int>, in harness: SessionHarness) -> [Int] {
        numbers.filter { harness.shard.resident(key($0)) != nil }
    }

    @Test func `a full memory puts the oldest out, and no more than makes some room`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 32))
        for number in 0..<32 { try use(number, in: harness) }
        try use(0, in: harness)
        try use(32, in: harness)
        #expect(resident(0...32, in: harness) == [0] + Array(3...32))
    }

    @Test func `sessions that cannot leave are not asked again before a second is over`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 1))
        try use(0, in: harness)
        // In memory only, so it cannot leave under its stream.
        try harness.hold(key(0))
        #expect(throws: SessionError.self) { try find(1, in: harness).get() }
        try harness.letGo(key(0))
        #expect(throws: SessionError.self) { try find(1, in: harness).get() }
        harness.uptime.advance(by: .seconds(1))
        #expect(try find(1, in: harness).get().key == key(1))
        #expect(harness.shard.resident(key(0)) == nil)
    }

    @Test func `what leaves when its time is over leaves in turns`() throws {
        let harness = try SessionHarness()
        for number in 0..<200 { try use(number, in: harness) }
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        // Between the turns the loop does its other work.
        #expect((1..<200).contains(harness.shard.residentCount))
        harness.executor.runPosted()
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a session in use stays when the others' time is over`() throws {
        let harness = try SessionHarness()
        for number in 0..<4 { try use(number, in: harness) }
        harness.uptime.advance(by: .seconds(299))
        try use(2, in: harness)
        harness.uptime.advance(by: .seconds(10))
        harness.shard.evict()
        #expect(resident(0..<4, in: harness) == [2])
    }

    @Test func `sessions that come and go at once leave nothing behind`() throws {
        let harness = try SessionHarness()
        for number in 0..<1_000 { _ = try find(number, in: harness) }
        #expect(harness.shard.residentCount == 0)
        #expect(harness.shard.residentBytes == 0)
        try use(0, in: harness)
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        #expect(harness.shard.residentCount == 0)
        #expect(harness.shard.residentBytes == 0)
    }

    @Test func `memory that a session took while it was there makes room wanting`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentBytesMax: 100_000, tailBytesMax: 0))
        harness.deploy(NotebookApp())
        try send(#"{"write":"\#(letters(100_000))"}"#, to: 0, in: harness)
        #expect(harness.shard.residentBytes > 100_000)
        #expect(try find(1, in: harness).get().key == key(1))
        #expect(harness.shard.resident(key(0)) == nil)
        #expect(harness.shard.residentBytes < 100_000)
    }
}

extension SessionHarness {
    /// Has a stream and a field that is in memory only keep the session there.
    fileprivate func hold(_ key: SessionKey) throws {
        let session = try #require(shard.resident(key))
        let topic = StreamTopic(paths: [.root])
        session.subscribe(StreamRequest(stream: StreamID(loop: 0, connection: 1), topic: topic, resume: nil))
        try send(#"{"note":"secret"}"#, to: session)
    }

    /// Takes the field back.
    fileprivate func letGo(_ key: SessionKey) throws {
        try send(#"{"note":null}"#, to: try #require(shard.resident(key)))
        try send(#"{"mark":2}"#, to: try #require(shard.resident(key)))
    }

    private func send(_ body: String, to session: any HostedSession) throws {
        var answer: Result<DispatchAnswer, SessionError>?
        session.dispatch(DispatchRequest(body: Array(body.utf8))) { answer = $0 }
        _ = try wait { answer }.get()
    }
}

// Checks the sessions that are evicted: if memory is full, and if they are idle.

import RivuletJSON
import RivuletSessions
import Testing

@Suite struct SessionEvictionTests {
    private func key(_ number: Int) -> SessionKey { SessionKey(app: "tally", id: "n\(number)") }

    private func find(_ number: Int, in harness: SessionHarness) throws -> Result<Session, SessionError> {
        var found: Result<Session, SessionError>?
        harness.shard.find(key(number), of: harness.app) { found = $0 }
        return try harness.wait { found }
    }

    /// Stores the session and uses it, one second after the last use of any session.
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

    @Test func `a full memory evicts the oldest sessions, and only as many as needed`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 32))
        for number in 0..<32 { try use(number, in: harness) }
        try use(0, in: harness)
        try use(32, in: harness)
        #expect(resident(0...32, in: harness) == [0] + Array(3...32))
    }

    @Test func `sessions that cannot be evicted are not checked again within a second`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 1))
        try use(0, in: harness)
        // The field is in memory only, so the session cannot be evicted under its stream.
        try harness.hold(key(0))
        #expect(throws: SessionError.self) { try find(1, in: harness).get() }
        try harness.letGo(key(0))
        #expect(throws: SessionError.self) { try find(1, in: harness).get() }
        harness.uptime.advance(by: .seconds(1))
        #expect(try find(1, in: harness).get().key == key(1))
        #expect(harness.shard.resident(key(0)) == nil)
    }

    @Test func `idle sessions are evicted in several turns`() throws {
        let harness = try SessionHarness()
        for number in 0..<200 { try use(number, in: harness) }
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        // Between the turns, the loop does its other work.
        #expect((1..<200).contains(harness.shard.residentCount))
        harness.executor.runPosted()
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a session in use stays when idle sessions are evicted`() throws {
        let harness = try SessionHarness()
        for number in 0..<4 { try use(number, in: harness) }
        harness.uptime.advance(by: .seconds(299))
        try use(2, in: harness)
        harness.uptime.advance(by: .seconds(10))
        harness.shard.evict()
        #expect(resident(0..<4, in: harness) == [2])
    }

    @Test func `sessions that are loaded and released at once leave nothing behind`() throws {
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

    @Test func `the growth of a resident session leads to evictions`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentBytesMax: 100_000, tailBytesMax: 0))
        harness.deploy(NotebookApp())
        try send(#"{"write":"\#(letters(100_000))"}"#, to: 0, in: harness)
        #expect(harness.shard.residentBytes > 100_000)
        #expect(try find(1, in: harness).get().key == key(1))
        #expect(harness.shard.resident(key(0)) == nil)
        #expect(harness.shard.residentBytes < 100_000)
    }

    @Test func `a growing session evicts others, also if no further session is loaded`() throws {
        let harness = try notebook(bytesMax: 450_000)
        for number in 0..<16 { try write(20_000, to: number, in: harness) }
        let growing = try find(15, in: harness).get()
        for size in stride(from: 30_000, through: 200_000, by: 10_000) {
            harness.uptime.advance(by: .milliseconds(1))
            try send(#"{"write":"\#(letters(size))"}"#, to: growing, in: harness).expectAccepted()
            // A session with a storage operation in progress is evicted after its answer.
            _ = try harness.wait { harness.shard.residentBytes <= 450_000 ? true : nil }
        }
        #expect(harness.shard.resident(key(15)) === growing)
        #expect(harness.shard.resident(key(0)) == nil)
    }

    @Test func `sessions that cannot be evicted may shrink, but not grow, while memory is full`() throws {
        let harness = try notebook(bytesMax: 300_000)
        let sessions = try (0..<8).map { number in
            try write(1_000, to: number, in: harness)
            let session = try find(number, in: harness).get()
            harness.watch(session)
            try send(#"{"hide":"secret"}"#, to: session, in: harness).expectAccepted()
            return session
        }
        var refused: Session?
        for size in stride(from: 10_000, through: 100_000, by: 10_000) {
            for session in sessions {
                let before = try session.read(.root).get()
                let result = try send(#"{"write":"\#(letters(size))"}"#, to: session, in: harness)
                harness.executor.runPosted()
                // One event over the limit is possible. Its change is stored beside the new state.
                #expect(harness.shard.residentBytes < 300_000 + 100_000)
                guard case .failure(.overloaded) = result else { continue }
                refused = session
                let after = try session.read(.root).get()
                #expect(after.cursor == before.cursor)
                #expect(after.value == before.value)
            }
        }
        #expect(harness.shard.residentCount == 8)
        let full = try #require(refused)
        try send(#"{"go":0}"#, to: full, in: harness).expectOverloaded()
        let text = try full.read(try JSONPointer(parsing: "/p/text")).get().value.count - 2
        let same = String(repeating: "b", count: text)
        try send(#"{"write":"\#(same)"}"#, to: full, in: harness).expectAccepted()
        for session in sessions { try send(#"{"write":""}"#, to: session, in: harness).expectAccepted() }
        try send(#"{"go":0}"#, to: full, in: harness).expectAccepted()
    }

    @Test func `a session that was refused for lack of memory gets memory when others can be evicted again`() throws {
        let harness = try notebook(bytesMax: 105_000)
        let sessions = try (0..<2).map { number in
            try write(1_000, to: number, in: harness)
            let session = try find(number, in: harness).get()
            harness.watch(session)
            try send(#"{"draft":"unlogged"}"#, to: session, in: harness).expectAccepted()
            return session
        }
        try send(#"{"draft":"\#(letters(100_000))"}"#, to: sessions[0], in: harness).expectAccepted()
        harness.executor.runPosted()
        try send(#"{"sketch":"b"}"#, to: sessions[1], in: harness).expectOverloaded()
        // After a durable event of the same size, the session could be evicted.
        try send(#"{"write":"\#(letters(100_000))"}"#, to: sessions[0], in: harness).expectAccepted()
        harness.executor.runPosted()
        #expect(harness.shard.residentCount == 2)
        harness.uptime.advance(by: .seconds(1))
        try send(#"{"sketch":"b"}"#, to: sessions[1], in: harness).expectOverloaded()
        harness.executor.runPosted()
        #expect(harness.shard.resident(key(0)) == nil)
        try send(#"{"sketch":"b"}"#, to: sessions[1], in: harness).expectAccepted()
    }

    @Test func `sessions that are known to be held do not prevent the eviction of others`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 201))
        for number in 0..<200 {
            try use(number, in: harness)
            let session = try find(number, in: harness).get()
            harness.watch(session)
            try send(#"{"quietAdd":1}"#, to: session, in: harness).expectAccepted()
        }
        try use(200, in: harness)
        #expect(try find(201, in: harness).get().key == key(201))
        #expect(resident(0...201, in: harness) == Array(0..<200))
    }

    @Test func `sessions that may be held are checked in several turns`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 201))
        for number in 0..<200 {
            try use(number, in: harness)
            try harness.hold(key(number))
        }
        try use(200, in: harness)
        #expect(throws: SessionError.self) { try find(201, in: harness).get() }
        harness.executor.runPosted()
        #expect(harness.shard.resident(key(200)) == nil)
        #expect(try find(201, in: harness).get().key == key(201))
    }

    @Test func `idle sessions are evicted even if the job of one turn was refused`() throws {
        let harness = try SessionHarness()
        for number in 0..<200 { try use(number, in: harness) }
        harness.uptime.advance(by: .seconds(600))
        harness.executor.refuseJobs(true)
        harness.shard.evict()
        harness.executor.refuseJobs(false)
        harness.executor.runPosted()
        #expect(harness.shard.residentCount > 0)
        harness.shard.evict()
        harness.executor.runPosted()
        #expect(harness.shard.residentCount == 0)
    }

    @Test func `a full memory is freed even if the job of one turn was refused`() throws {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 4))
        for number in 0..<4 { try use(number, in: harness) }
        harness.executor.refuseJobs(true)
        harness.shard.evict()
        harness.executor.refuseJobs(false)
        #expect(harness.shard.residentCount == 4)
        harness.shard.evict()
        harness.executor.runPosted()
        #expect(harness.shard.residentCount < 4)
    }

    /// A passivated session with a transient field and without subscribers, and another session that cannot be evicted.
    private func passivatedBesideHeld() throws -> SessionHarness {
        let harness = try SessionHarness(limits: SessionLimits(residentSessionsMax: 1))
        try park(in: harness)
        try use(0, in: harness)
        try harness.hold(key(0))
        return harness
    }

    private func park(in harness: SessionHarness) throws {
        try harness.dispatch(#"{"mark":1}"#)
        let joined = try harness.subscribe("/t")
        harness.uptime.advance(by: .seconds(600))
        harness.shard.evict()
        harness.shard.leave(harness.key, group: joined.group, loop: joined.stream.loop)
        #expect(harness.shard.passivatedCount == 1)
    }

    @Test func `a session that cannot be loaded for lack of memory keeps its transient state`() throws {
        let harness = try passivatedBesideHeld()
        #expect(throws: SessionError.self) { try harness.session() }
        #expect(harness.shard.passivatedCount == 1)
        try harness.letGo(key(0))
        harness.uptime.advance(by: .seconds(1))
        #expect(try harness.value("/t/lastEvent") == #""mark""#)
    }

    @Test(arguments: [true, false])
    func `repeated failed requests for a session schedule its removal once`(isFull: Bool) throws {
        let harness = try isFull ? passivatedBesideHeld() : SessionHarness()
        if !isFull { try park(in: harness) }
        for _ in 0..<200 {
            // A full memory checks the passivated sessions. A failed load does not.
            if !isFull { harness.storage.failNextLoad(.unavailable(detail: "for a test")) }
            harness.uptime.advance(by: .seconds(1))
            #expect(throws: SessionError.self) { try harness.session() }
        }
        harness.uptime.advance(by: .seconds(299))
        harness.shard.evict()
        #expect(harness.shard.passivatedCount == 1)
        harness.uptime.advance(by: .seconds(2))
        // The first turn is enough, because no outdated entry is before the session.
        harness.shard.evict()
        #expect(harness.shard.passivatedCount == 0)
    }

    private func notebook(bytesMax: Int) throws -> SessionHarness {
        let harness = try SessionHarness(limits: SessionLimits(residentBytesMax: bytesMax, tailBytesMax: 0))
        harness.deploy(NotebookApp())
        return harness
    }

    /// Writes a text of this length to the session, one second after the last use of any session.
    private func write(_ count: Int, to number: Int, in harness: SessionHarness) throws {
        harness.uptime.advance(by: .seconds(1))
        try send(#"{"write":"\#(letters(count))"}"#, to: number, in: harness)
    }

    @discardableResult
    private func send(
        _ body: String,
        to session: Session,
        in harness: SessionHarness
    ) throws -> Result<DispatchAnswer, SessionError> {
        var answer: Result<DispatchAnswer, SessionError>?
        session.dispatch(DispatchRequest(body: Array(body.utf8))) { answer = $0 }
        return try harness.wait { answer }
    }
}

extension Result<DispatchAnswer, SessionError> {
    fileprivate func expectAccepted() {
        if case .failure(let error) = self { Issue.record(error) }
    }

    fileprivate func expectOverloaded() {
        guard case .failure(.overloaded) = self else {
            Issue.record("expected overloaded, got \(self)")
            return
        }
    }
}

extension SessionHarness {
    /// Keeps the session in memory by a stream and a field that is in memory only.
    fileprivate func hold(_ key: SessionKey) throws {
        let session = try #require(shard.resident(key))
        watch(session)
        try send(#"{"note":"secret"}"#, to: session)
    }

    func watch(_ session: Session) {
        let topic = StreamTopic(paths: [.root])
        session.subscribe(StreamRequest(stream: StreamID(loop: 0, connection: 1), topic: topic, resume: nil))
    }

    /// Resets the field that keeps the session in memory.
    fileprivate func letGo(_ key: SessionKey) throws {
        try send(#"{"note":null}"#, to: try #require(shard.resident(key)))
        try send(#"{"mark":2}"#, to: try #require(shard.resident(key)))
    }

    private func send(_ body: String, to session: Session) throws {
        var answer: Result<DispatchAnswer, SessionError>?
        session.dispatch(DispatchRequest(body: Array(body.utf8))) { answer = $0 }
        _ = try wait { answer }.get()
    }
}

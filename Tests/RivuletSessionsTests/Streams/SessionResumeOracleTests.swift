// Checks with random programs that a reader that missed changes ends at the session's state.

import RivuletJSON
import RivuletSessions
import SeededRandom
import Testing

@Suite struct SessionResumeOracleTests {
    @Test(arguments: 0..<12)
    func `a reader that missed changes ends at the session's state`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        if seed % 2 == 0 { harness.storage.limitHistory(to: 2) }
        var readers = TallyProgram.watches.map(StreamReader.init)
        for index in readers.indices { try readers[index].take(try subscribe(readers[index], to: harness)) }
        var parkings = 0
        for step in 0..<40 {
            let delivered = harness.sink.delivered.count
            // In a third of the steps all events are transient. No log entry can then hide a lost transient change.
            let isQuiet = Int.random(in: 0..<3, using: &generator) == 0
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                try harness.dispatch(isQuiet ? TallyProgram.quietEvent(&generator) : TallyProgram.event(&generator))
            }
            if Int.random(in: 0..<3, using: &generator) == 0 { parkings += try park(harness) }
            let isRestarted = Int.random(in: 0..<6, using: &generator) == 0
            if isRestarted {
                harness.restart()
                // All streams are gone. A reader that resumes only after further events has a cursor of an earlier
                // incarnation.
                for index in readers.indices { readers[index].group = nil }
            }
            for index in readers.indices {
                if let group = readers[index].group, index % 2 == step / 10 % 2 {
                    // The stream was attached all the time.
                    for event in harness.sink.delivered[delivered...] where event.group == group {
                        try readers[index].take(event.event)
                        readers[index].cursor = "\(try #require(event.event.cursor))"
                    }
                    try expect(readers[index], at: harness, "seed \(seed), step \(step), attached")
                    continue
                }
                guard Int.random(in: 0..<3, using: &generator) > 0 || step % 10 == 9 else { continue }
                try readers[index].take(try subscribe(readers[index], to: harness))
                try expect(readers[index], at: harness, "seed \(seed), step \(step)")
            }
        }
        #expect(parkings > 0, "seed \(seed)")
    }

    /// Passivates the session if all its data is in storage.
    ///
    /// Returns 1 if it was passivated.
    private func park(_ harness: SessionHarness) throws -> Int {
        try harness.dispatch(#""forget""#)
        let incarnation = try harness.session().read(.root).get().cursor.incarnation
        harness.shard.evict(idleFor: .zero)
        guard harness.shard.passivatedCount == 1 else { return 0 }
        #expect(harness.shard.residentCount == 0)
        // It returns with the same incarnation id.
        #expect(try harness.session().read(.root).get().cursor.incarnation == incarnation)
        return 1
    }

    private func subscribe(_ reader: StreamReader, to harness: SessionHarness) throws -> RecordingSink.Joined {
        let paths = try reader.paths.map { try JSONPointer(parsing: $0) }
        return try harness.subscribe(paths, resume: reader.cursor.isEmpty ? nil : reader.cursor)
    }

    private func expect(_ reader: StreamReader, at harness: SessionHarness, _ place: Comment) throws {
        let state = try JSONValue(parsing: Array(try harness.value("").utf8))
        #expect(try reader.texts == StreamReader.texts(of: state, at: reader.paths), place)
    }
}

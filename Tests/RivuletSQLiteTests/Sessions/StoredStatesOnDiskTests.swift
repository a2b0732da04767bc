// Checks that in-process states survive the end of the process that wrote them.

import RivuletSQLite
import RivuletSessions
import Testing

@Suite struct StoredStatesOnDiskTests {
    @Test func `only the newest document exists after the database was opened again`() async throws {
        let folder = try TemporaryFolder()
        for round in 0..<3 {
            let engine = try folder.engine()
            let states = StoredStates(engine: engine) { 0 }
            #expect(try await states.load("a") == (round == 0 ? nil : [UInt8(round), 2]))
            for number in 0..<3 { try await states.save([UInt8(round + 1), UInt8(number)], under: "a") }
            engine.close()
        }
        #expect(try RawDatabase(folder.databasePath).text("SELECT count(*) FROM snapshot") == "1")
    }
}

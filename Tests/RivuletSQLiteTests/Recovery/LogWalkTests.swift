// Checks the walk over the frames of a write-ahead log.

import RivuletSQLite
import RivuletSessions
import StorageConformance
import Testing

@Suite struct LogWalkTests {
    /// The log of an engine after commits of one to three entries each.
    private func log(commits: Int = 12) async throws -> LogBytes {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        var head = try await engine.fill(upTo: 1)
        for number in 1..<commits {
            let entries = (1...UInt64(number % 3 + 1)).map { TestData.entry(head.version + $0, byteCount: 5_000) }
            head = try await engine.append(TestData.key(), at: .after(head), entries).head()
        }
        return try LogBytes(of: folder)
    }

    @Test func `an intact log is whole, in pieces of any size`() async throws {
        let log = try await log()
        for framesPerPiece in [1, 2, 7, .max] {
            let walk = log.walk(framesPerPiece: framesPerPiece)
            #expect(walk.verdict == .whole)
            #expect(walk.recoveredFrames == log.frameCount)
        }
    }

    @Test(arguments: [0, 4, 8, 12, 16, 20, 24, 2_000, 4_119])
    func `a flipped bit that two commit ends follow is damage, and loses no earlier commit`(
        offset: Int
    ) async throws {
        let log = try await log()
        let commits = log.commits
        for frame in 0..<log.frameCount {
            var damaged = log
            damaged.flip(frame: frame, at: offset)
            let walk = damaged.walk(framesPerPiece: 3)
            let before = commits.last { $0 < frame }.map { $0 + 1 } ?? 0
            #expect(walk.recoveredFrames == before)
            // A flip in a frame's mark, or in a salt or checksum beside the mark, hides the commit of that frame.
            let behind = commits.count { $0 > frame }
            // It also hides the commit of the next frame, if a sector ends within that frame's header.
            let hidden = commits.contains(frame + 1) && log.isMarkInSectorBefore(frame: frame + 1) ? 1 : 0
            switch walk.verdict {
            case .damaged(let frames, let lost):
                #expect(frames > 0 && (behind - hidden...behind + 1).contains(lost))
                #expect(behind >= 1)
            case .torn: #expect(behind <= 1 + hidden)
            case .whole: #expect(behind == 0)
            }
        }
    }

    @Test func `a cut log is whole at the end of a commit, and torn elsewhere`() async throws {
        let log = try await log()
        for count in stride(from: LogBytes.headerBytes, to: log.bytes.count, by: 515) {
            var cut = log
            cut.bytes.removeLast(log.bytes.count - count)
            let walk = cut.walk()
            let ends = log.commits.map { $0 + 1 }
            let recovered = ends.last { $0 <= cut.frameCount } ?? 0
            #expect(walk.recoveredFrames == recovered)
            #expect(walk.verdict == (recovered == cut.frameCount ? .whole : .torn(frames: cut.frameCount - recovered)))
        }
    }

    @Test(arguments: 0..<32)
    func `a flipped bit in the header is damage`(offset: Int) async throws {
        var log = try await log()
        log.bytes[offset] ^= 4
        let walk = log.walk()
        #expect(walk.recoveredFrames == 0)
        #expect(walk.verdict == .damaged(frames: log.frameCount, commits: log.commits.count))
    }

    @Test func `an old commit mark that remains after a power cut is not a commit`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        let head = try await engine.fill(upTo: 1)
        _ = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(2, byteCount: 300_000)]).head()
        var log = try LogBytes(of: folder)
        let last = try #require(log.commits.dropLast().last) + 1
        let straddling = try #require((last..<log.frameCount - 1).first { (log.offset(of: $0) + 8) % 512 == 0 })
        // The page number and the mark of that frame are in the previous sector.
        log.bytes.replaceSubrange(
            log.offset(of: straddling)..<log.offset(of: straddling) + 8,
            with: [0, 0, 0, 2, 0, 0, 0, 9]
        )
        #expect(log.walk().verdict == .torn(frames: log.frameCount - last))
    }

    @Test func `garbage after the last commit is ordinary`() async throws {
        var log = try await log()
        let frames = log.frameCount
        log.bytes += (0..<3 * LogBytes.frameBytes + 100).map { UInt8(truncatingIfNeeded: $0 &* 31 + 1) }
        #expect(log.walk().verdict == .whole)
        #expect(log.walk().recoveredFrames == frames)
    }

    @Test func `frames of an earlier round are ordinary`() async throws {
        let folder = try TemporaryFolder()
        let engine = try folder.engine()
        defer { engine.close() }
        var head = try await engine.fill(upTo: 9, byteCount: 9_000)
        let before = try LogBytes(of: folder).frameCount
        _ = try RawDatabase(folder.databasePath).text("PRAGMA wal_checkpoint(RESTART)")
        head = try await engine.append(TestData.key(), at: .after(head), [TestData.entry(10)]).head()
        var log = try LogBytes(of: folder)
        #expect(log.frameCount == before)
        let walk = log.walk()
        #expect(walk.verdict == .whole)
        #expect((1..<before).contains(walk.recoveredFrames))
        // A flip in a frame that SQLite does not read is harmless.
        log.flip(frame: before - 1, at: 100)
        #expect(log.walk().verdict == .whole)
    }
}

internal import RivuletSessions

/// The part of a write-ahead log that checkpoints have copied into its database.
///
/// A checkpoint copies the newest version of each page, in the order of the pages. So a complete checkpoint leaves the
/// database in the state of a commit. Source: <https://sqlite.org/fileformat2.html#checkpointing>
struct CopiedLog {
    /// The state of the database, compared with the frames that SQLite recovers.
    enum Extent: Equatable {
        /// No page is newer than the recovered frames.
        case recovered
        /// All pages are in the state of a later commit, which ends after this number of frames of the log.
        case commit(frames: Int)
        /// Some pages are newer, but the pages together match no later commit: a checkpoint was interrupted.
        case partly
    }

    private let walk: LogWalk
    private let log: ReadFile
    private let database: ReadFile
    /// The number of bytes of a page that are compared: all except the reserved bytes, which a checkpoint writes anew.
    private let comparedBytes: Int

    private static let checksumBytes = 8
    /// The bytes of a frame's header that its checksum covers.
    private static let coveredBytes = 8

    /// Opens both files; nil if one of them does not exist.
    init?(_ walk: LogWalk, of file: LogFile) throws(StorageError) {
        guard let log = try ReadFile(file.path), let database = try ReadFile(file.databasePath) else { return nil }
        (self.walk, self.log, self.database) = (walk, log, database)
        comparedBytes = max(0, walk.header.pageBytes - (try file.databaseLayout().reservedBytes))
    }

    /// Compares each page of the database with its versions in the log.
    func extent() throws(StorageError) -> Extent {
        let versions = try versions()
        let recovered = walk.recoveredFrames
        for (page, frames) in versions {
            guard let last = frames.last, last.index >= recovered else { continue }
            let stored = try storedBytes(of: page)
            let matches = try matches(of: stored, among: frames)
            // A blank page, or a page that was written again unchanged, may match by chance.
            guard let first = matches.first, first.index >= recovered, !isBlank(stored) else { continue }
            return try lastCommit(among: versions).map { .commit(frames: $0) } ?? .partly
        }
        return .recovered
    }

    /// Returns the number of frames up to the last commit that matches the whole database; nil if there is none.
    ///
    /// Only commits after the recovered frames are compared.
    private func lastCommit(among versions: [UInt32: [LogWalk.Frame]]) throws(StorageError) -> Int? {
        guard let last = walk.frames.last else { return nil }
        // The sum of `changes` up to an index is the number of pages that match the log after that number of frames.
        var changes = [Int](repeating: 0, count: last.index + 2)
        for (page, frames) in versions {
            let stored = try storedBytes(of: page)
            let matches = try matches(of: stored, among: frames)
            if matches.isEmpty {
                changes[0] += 1
                changes[frames[0].index + 1] -= 1
            } else if isBlank(stored) {
                changes[0] += 1
            } else {
                for match in matches {
                    changes[match.index + 1] += 1
                    if let next = frames.first(where: { $0.index > match.index }) { changes[next.index + 1] -= 1 }
                }
            }
        }
        let ends = Set(walk.frames.filter(\.isCommit).map { $0.index + 1 })
        var (pages, found) = (0, Int?.none)
        for (index, change) in changes.enumerated() {
            pages += change
            if pages == versions.count, index > walk.recoveredFrames, ends.contains(index) { found = index }
        }
        return found
    }

    /// The frames of each page.
    private func versions() throws(StorageError) -> [UInt32: [LogWalk.Frame]] {
        var versions: [UInt32: [LogWalk.Frame]] = [:]
        var isPreviousIntact = walk.header.isIntact
        for frame in walk.frames {
            // The search for a flipped bit uses the previous frame's checksum. If that checksum is damaged, a wrong
            // page number could match.
            let page = frame.isIntact || !isPreviousIntact ? frame.page : try writtenPage(of: frame)
            if page != 0 { versions[page, default: []].append(frame) }
            isPreviousIntact = frame.isIntact
        }
        return versions
    }

    /// Returns the page number of a bad frame.
    ///
    /// If one bit of the number was flipped, the result is the number as it was written.
    ///
    /// The number's highest bit and a bit elsewhere in the frame may have the same effect on the checksum. So the
    /// result must be a page that the database has.
    private func writtenPage(of frame: LogWalk.Frame) throws(StorageError) -> UInt32 {
        var bytes = try bytes(of: frame)
        let previous = try checksum(before: frame)
        for bit in 0..<UInt32.bitWidth {
            bytes[bit / 8] ^= 1 << (bit % 8)
            if checksum(of: bytes, after: previous) == storedChecksum(of: bytes) {
                let page = unsafe bytes.span.bytes.bigEndian(at: 0)
                if page > 0, try storedBytes(of: page).count == comparedBytes { return page }
            }
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
        return frame.page
    }

    /// Returns the frames with the version of a page that the database has.
    ///
    /// There are several if the page was written again unchanged.
    private func matches(
        of stored: [UInt8],
        among frames: [LogWalk.Frame]
    ) throws(StorageError) -> [LogWalk.Frame] {
        var matches: [LogWalk.Frame] = []
        for frame in frames where try isVersion(frame, stored) { matches.append(frame) }
        return matches
    }

    /// Returns true if a page is the version that a frame was written with.
    ///
    /// If the frame is damaged, the page's bytes must match the frame's checksum.
    private func isVersion(_ frame: LogWalk.Frame, _ stored: [UInt8]) throws(StorageError) -> Bool {
        guard stored.count == comparedBytes else { return false }
        var bytes = try bytes(of: frame)
        let compared = LogWalk.frameHeaderBytes..<LogWalk.frameHeaderBytes + comparedBytes
        if bytes[compared].elementsEqual(stored) { return true }
        guard !frame.isIntact else { return false }
        bytes.replaceSubrange(compared, with: stored)
        return checksum(of: bytes, after: try checksum(before: frame)) == storedChecksum(of: bytes)
    }

    // MARK: - Bytes

    private func bytes(of frame: LogWalk.Frame) throws(StorageError) -> [UInt8] {
        try log.bytes(walk.frameBytes, at: walk.offset(ofFrame: frame.index))
    }

    /// Returns the checksum that a frame's checksum continues: that of the previous frame or of the header.
    private func checksum(before frame: LogWalk.Frame) throws(StorageError) -> LogChecksum {
        let end =
            frame.index == 0
            ? LogHeader.byteCount : walk.offset(ofFrame: frame.index - 1) + LogWalk.frameHeaderBytes
        let bytes = try log.bytes(Self.checksumBytes, at: end - Self.checksumBytes)
        return unsafe LogChecksum(in: bytes.span.bytes, at: 0)
    }

    private func checksum(of frame: [UInt8], after previous: LogChecksum) -> LogChecksum {
        var checksum = previous
        let bytes = unsafe frame.span.bytes
        checksum.add(bytes.extracting(0..<Self.coveredBytes), isBigEndian: walk.header.isBigEndian)
        checksum.add(
            bytes.extracting(LogWalk.frameHeaderBytes..<bytes.byteCount),
            isBigEndian: walk.header.isBigEndian
        )
        return checksum
    }

    private func storedChecksum(of frame: [UInt8]) -> LogChecksum {
        unsafe LogChecksum(in: frame.span.bytes, at: LogWalk.frameHeaderBytes - Self.checksumBytes)
    }

    private func storedBytes(of page: UInt32) throws(StorageError) -> [UInt8] {
        try database.bytes(comparedBytes, at: (Int(page) - 1) * walk.header.pageBytes)
    }

    private func isBlank(_ stored: [UInt8]) -> Bool {
        stored.count == comparedBytes && !stored.contains { $0 != 0 }
    }
}

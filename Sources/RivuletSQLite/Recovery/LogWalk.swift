/// A walk over the frames of a write-ahead log, which is read in pieces.
///
/// SQLite recovers the frames from the start up to the last commit before the first bad frame. The walk also reads the
/// frames after that frame. Source: <https://sqlite.org/fileformat2.html#walformat>
package struct LogWalk {
    /// The state of the end of a log.
    package enum Verdict: Equatable {
        /// The log ends with a commit, or at the first frame of an earlier round.
        case whole
        /// Only frames of one commit follow the last complete commit.
        case torn(frames: Int)
        /// Frames of more than one commit follow a bad frame, or frames of a commit follow a broken header.
        case damaged(frames: Int, commits: Int)
    }

    /// A frame of this round of the log; a round begins when SQLite restarts the log.
    struct Frame {
        /// The index among all frames, from 0.
        let index: Int
        /// The number of the frame's page, as stored in the frame's header.
        let page: UInt32
        /// True if the frame has the salts of this round, and its checksum continues that of the previous frame.
        let isIntact: Bool
        /// True if the frame ends a commit.
        let isCommit: Bool
    }

    static let frameHeaderBytes = 24
    private static let saltsOffset = 8
    /// The smallest sector that a disk writes as a whole, in bytes.
    private static let sectorBytes = 512

    let header: LogHeader
    /// The number of frames that SQLite recovers.
    package private(set) var recoveredFrames = 0
    /// The frames of this round of the log.
    private(set) var frames: [Frame] = []
    /// The number of intact frames from the start of the log.
    private var intactFrames = 0
    private var framesBehind = 0
    private var commitsBehind = 0
    /// True if, after the bad frame, an intact frame follows a frame with a commit mark.
    ///
    /// Then that commit was synced.
    private var hasProvenCommitBehind = false
    private var isBehind: Bool
    /// True if the previous frame is of this round.
    private var isOfRound = true
    /// Both salts of this round; nil if the header is broken and no frame was read.
    private var salts: UInt64?
    private var count = 0
    private var previous: (checksum: LogChecksum, isCommit: Bool)?

    /// Begins after a header of `LogHeader.byteCount` bytes.
    package init(header bytes: RawSpan, databasePageBytes: Int) {
        header = LogHeader(bytes, databasePageBytes: databasePageBytes)
        isBehind = !header.isIntact
        salts = header.isIntact ? header.salts : nil
        previous = header.isIntact ? (header.checksum, false) : nil
    }

    var frameBytes: Int { Self.frameHeaderBytes + header.pageBytes }

    /// The number of bytes of the log that SQLite recovers, or 0.
    var recoveredBytes: Int { recoveredFrames == 0 ? 0 : offset(ofFrame: recoveredFrames) }

    func offset(ofFrame index: Int) -> Int { LogHeader.byteCount + index * frameBytes }

    /// Adds the frames of a piece, which must begin with a frame; a partial frame at the end is left out.
    package mutating func add(_ piece: RawSpan) {
        var start = 0
        while start + frameBytes <= piece.byteCount {
            add(frame: piece.extracting(start..<start + frameBytes))
            start += frameBytes
        }
    }

    private mutating func add(frame: RawSpan) {
        defer { count += 1 }
        let page = frame.bigEndian(at: 0)
        let mark = frame.bigEndian(at: 4)
        let stored = LogChecksum(in: frame, at: 16)
        if salts == nil { salts = frame.salts(at: Self.saltsOffset) }
        let hasSalts = frame.salts(at: Self.saltsOffset) == salts
        // If the salts differ, a frame is of this round only if its checksum continues that of the round's last frame.
        let isIntact = hasSalts && goesOn(frame, stored)
        let isCommit = mark != 0 && (isIntact || !isMarkInSectorBefore)
        defer { previous = (stored, isCommit) }
        guard hasSalts || isOfRound && goesOn(frame, stored) else {
            (isBehind, isOfRound) = (true, false)
            return
        }
        isOfRound = true
        frames.append(Frame(index: count, page: page, isIntact: isIntact, isCommit: isCommit))
        if isIntact, !isBehind {
            intactFrames += 1
            if isCommit { recoveredFrames = intactFrames }
        } else {
            isBehind = true
            framesBehind += 1
            if isCommit { commitsBehind += 1 }
            if isIntact, previous?.isCommit == true { hasProvenCommitBehind = true }
        }
    }

    /// True if a disk sector ends between the commit mark of the next frame and the frame's salts.
    ///
    /// If a power loss interrupts the write of the frame, the first sector may keep the mark of an earlier round.
    private var isMarkInSectorBefore: Bool { (offset(ofFrame: count) + Self.saltsOffset) % Self.sectorBytes == 0 }

    /// Returns true if the checksum of a frame continues that of the previous frame.
    private func goesOn(_ frame: RawSpan, _ stored: LogChecksum) -> Bool {
        guard var checksum = previous?.checksum else { return false }
        checksum.add(frame.extracting(0..<8), isBigEndian: header.isBigEndian)
        checksum.add(frame.extracting(Self.frameHeaderBytes..<frameBytes), isBigEndian: header.isBigEndian)
        return checksum == stored
    }

    /// The verdict on the part of the log that was read so far.
    ///
    /// A commit is synced before the next one is written. So two commits after a bad frame, or a commit and a further
    /// frame there, prove damage.
    package var verdict: Verdict {
        let lost = framesBehind + intactFrames - recoveredFrames
        let isDamaged =
            header.isIntact ? commitsBehind > 1 || hasProvenCommitBehind : commitsBehind > 0
        if isDamaged { return .damaged(frames: lost, commits: commitsBehind) }
        return lost > 0 ? .torn(frames: lost) : .whole
    }
}

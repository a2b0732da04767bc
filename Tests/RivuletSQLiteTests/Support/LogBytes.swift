// The bytes of a write-ahead log, which tests damage as a failing disk does.

import Foundation
import RivuletSQLite

/// A log in memory.
///
/// Its frames can be damaged.
struct LogBytes {
    static let headerBytes = 32
    static let frameBytes = 24 + 4_096

    var bytes: [UInt8]

    init(of folder: TemporaryFolder) throws {
        bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.databasePath + "-wal")))
    }

    var frameCount: Int { (bytes.count - Self.headerBytes) / Self.frameBytes }

    /// The frames that end a commit.
    var commits: [Int] {
        (0..<frameCount).filter { index in bytes[offset(of: index) + 4..<offset(of: index) + 8].contains { $0 != 0 } }
    }

    func offset(of frame: Int) -> Int { Self.headerBytes + frame * Self.frameBytes }

    /// True if a disk sector ends between the frame's commit mark and its salts.
    func isMarkInSectorBefore(frame: Int) -> Bool { (offset(of: frame) + 8) % 512 == 0 }

    mutating func flip(frame: Int, at offset: Int) { bytes[self.offset(of: frame) + offset] ^= 0x10 }

    func write(to folder: TemporaryFolder) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: folder.databasePath + "-wal"))
    }

    /// The walk over this log, in pieces of `framesPerPiece` frames.
    func walk(framesPerPiece: Int = .max) -> LogWalk {
        let header = Array(bytes[..<Self.headerBytes])
        var walk = unsafe LogWalk(header: header.span.bytes, databasePageBytes: 4_096)
        var rest = bytes[Self.headerBytes...]
        while !rest.isEmpty {
            let count = min(rest.count, framesPerPiece < rest.count ? framesPerPiece * Self.frameBytes : rest.count)
            unsafe walk.add(Array(rest.prefix(count)).span.bytes)
            rest = rest.dropFirst(count)
        }
        return walk
    }
}

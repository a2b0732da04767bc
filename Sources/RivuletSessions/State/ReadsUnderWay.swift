/// The reads of one session with a large state that wait until a work thread has written their value.
///
/// Reads of one key path share one writing if they ask at the same cursor. A read at another cursor waits for the next
/// writing, because it must see all changes that were acknowledged before it.
struct ReadsUnderWay {
    typealias Reply = SessionReply<StateAnswer>

    /// The most key paths with values that are being written at the same time.
    private static let pathsMax = 256
    /// The most key paths in `small`.
    private static let smallMax = 256

    /// The outcome of adding a read.
    enum Admission {
        /// The caller has to write the value.
        case first
        /// The read waits for a writing.
        case waiting
        /// Too many key paths are being read.
        case full
    }

    private struct Writing {
        let cursor: Cursor
        var replies: [Reply]
        /// The reads that came at another cursor.
        var next: [Reply] = []
    }

    private var writings: [PathText: Writing] = [:]
    /// The key paths with values that were small when they were last written.
    ///
    /// These values are written on the session's thread.
    private var small: Set<PathText> = []

    func isSmall(_ path: PathText) -> Bool { small.contains(path) }

    /// Records the size of the value at a path.
    mutating func record(_ path: PathText, bytes: Int) {
        guard bytes < SharedReads.bytesMin else {
            small.remove(path)
            return
        }
        if small.count >= Self.smallMax { small = [] }
        small.insert(path)
    }

    /// Adds a read of the state at a cursor.
    mutating func add(_ path: PathText, at cursor: Cursor, _ reply: @escaping Reply) -> Admission {
        guard let writing = writings[path] else {
            guard writings.count < Self.pathsMax else { return .full }
            writings[path] = Writing(cursor: cursor, replies: [reply])
            return .first
        }
        if writing.cursor == cursor {
            writings[path]?.replies.append(reply)
        } else {
            writings[path]?.next.append(reply)
        }
        return .waiting
    }

    /// Removes and returns the reads that waited for the written value, and the reads that wait for the next one.
    mutating func take(_ path: PathText) -> (replies: [Reply], next: [Reply]) {
        guard let writing = writings.removeValue(forKey: path) else { return ([], []) }
        return (writing.replies, writing.next)
    }
}

import RivuletJSON
import RivuletObservation

/// What one session takes of its shard's memory.
struct SessionMemory {
    /// What a session's own bookkeeping takes, roughly.
    static let bytesMin = 4_096
    /// What an event takes while it waits and is on its way, as far as a server must have room for one.
    static let eventRoomBytes = 4_096

    /// What the shard's account has of this session.
    private(set) var bytes = 0

    /// Tells the shard's account what the session takes now.
    mutating func account(_ bytes: Int, in memory: ResidentMemory) {
        memory.add(bytes - self.bytes)
        self.bytes = bytes
    }

    /// Takes the session out of the shard's account.
    mutating func close(in memory: ResidentMemory) { account(0, in: memory) }

    /// Counts what an event wrote in a state of that size.
    ///
    /// - Throws: The error, and the size as far as it was measured: `stateFull` when the state would grow beyond its limit, `overloaded`
    ///   when it would grow while memory is full.
    static func size(
        _ size: StateSize,
        after changes: [StateChange],
        limit: Int,
        memory: ResidentMemory,
        key: SessionKey,
        whole: () -> Int,
        value: (_ path: JSONPointer) -> (before: Int?, now: Int?)
    ) throws(SizeError) -> StateSize {
        guard !changes.isEmpty else { return size }
        var size = size
        let growth = memory.isFull ? changes.growthBytes(value) : 0
        if growth > 0 {
            memory.wantRoom()
            throw SizeError(
                size: size,
                error: .overloaded("memory of the resident sessions (residentBytesMax)")
            )
        }
        // Nearly every event is counted here; not one that gives back what is scarce.
        if growth == 0, size.countAtMost(changes.writtenBytes, limit: limit) { return size }
        guard size.count(limit: limit, whole: whole, growth: { changes.growthBytes(value) }) else {
            throw SizeError(size: size, error: .stateFull(key, limitBytes: limit))
        }
        return size
    }

    /// Why a state must not grow.
    struct SizeError: Error {
        /// The size before the event, measured perhaps.
        let size: StateSize
        let error: SessionError
    }
}

extension [StateChange] {
    /// What the punctuation of a member or an element takes at most.
    private static var punctuationBytes: Int { 4 }
    /// The bytes that a value's removal frees beside it at least: a comma.
    private static var freedBytes: Int { 1 }

    /// The bytes that they bring to a document at most.
    fileprivate var writtenBytes: Int {
        reduce(0) { $0 + $1.path.utf8.count + ($1.value?.count ?? 0) + Self.punctuationBytes }
    }

    /// The bytes by which a document grows with them at most; fewer than none when it shrinks.
    ///
    /// Each path is there at most once, and there is none below one that is added, replaced or removed. `value` gives the bytes of the
    /// value at a path before and now.
    fileprivate func growthBytes(_ value: (_ path: JSONPointer) -> (before: Int?, now: Int?)) -> Int {
        reduce(0) { bytes, change in
            guard change.operation != .move, let path = try? JSONPointer(parsing: change.path) else { return bytes }
            let (before, now) = value(path)
            guard let before else { return bytes + (now.map { $0 + Self.punctuationBytes } ?? 0) }
            return bytes + (now.map { $0 - before } ?? (-before - Self.freedBytes))
        }
    }
}

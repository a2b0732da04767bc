import RivuletJSON
import RivuletObservation

/// The memory of one session in the account of its shard.
struct SessionMemory {
    /// The approximate memory of a session's own bookkeeping, in bytes.
    static let bytesMin = 4_096
    /// The part of `residentBytesLeast` for one event that waits or is under way, in bytes.
    static let eventRoomBytes = 4_096

    /// The bytes of this session in the shard's account.
    private(set) var bytes = 0

    /// Updates the shard's account with the session's present memory.
    mutating func account(_ bytes: Int, in memory: ResidentMemory) {
        memory.add(bytes - self.bytes)
        self.bytes = bytes
    }

    /// Removes the session from the shard's account.
    mutating func close(in memory: ResidentMemory) { account(0, in: memory) }

    /// Returns the size of a state after an event's changes.
    ///
    /// - Throws: The error, and the size of the state before the event. The error is `stateFull` if the state would
    ///   grow beyond its limit, and `overloaded` if it would grow while memory is full.
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
        // This upper bound is enough for nearly every event. While memory is full, the size after an event that shrinks
        // the state is computed exactly below.
        if growth == 0, size.countAtMost(changes.writtenBytes, limit: limit) { return size }
        guard size.count(limit: limit, whole: whole, growth: { changes.growthBytes(value) }) else {
            throw SizeError(size: size, error: .stateFull(key, limitBytes: limit))
        }
        return size
    }

    /// Returns the size of a measured state that replaces another one.
    static func size(
        measured size: MeasuredSize,
        limit: Int,
        memory: ResidentMemory,
        key: SessionKey
    ) throws(SessionError) -> StateSize {
        guard size.bytes > size.before else { return StateSize(exactly: size.bytes) }
        guard !memory.isFull else {
            memory.wantRoom()
            throw .overloaded("memory of the resident sessions (residentBytesMax)")
        }
        guard size.bytes <= limit else { throw .stateFull(key, limitBytes: limit) }
        return StateSize(exactly: size.bytes)
    }

    /// The error for a state that must not grow.
    struct SizeError: Error {
        /// The size before the event; the check may have measured it.
        let size: StateSize
        let error: SessionError
    }
}

extension [StateChange] {
    /// The most bytes of punctuation of a member or an element.
    private static var punctuationBytes: Int { 4 }
    /// The least bytes that the removal of a value frees in addition to the value's own bytes: a comma.
    private static var freedBytes: Int { 1 }

    /// The most bytes that the changes add to a document.
    fileprivate var writtenBytes: Int {
        reduce(0) { $0 + $1.path.utf8.count + ($1.value?.count ?? 0) + Self.punctuationBytes }
    }

    /// Returns the most bytes by which a document grows with the changes; the number is negative if the document
    /// shrinks.
    ///
    /// Each path occurs at most once, and no path is below the path of an addition, a replacement or a removal. `value`
    /// returns the bytes of the value at a path before and now.
    fileprivate func growthBytes(_ value: (_ path: JSONPointer) -> (before: Int?, now: Int?)) -> Int {
        reduce(0) { bytes, change in
            guard change.operation != .move, let path = try? JSONPointer(parsing: change.path) else { return bytes }
            let (before, now) = value(path)
            guard let before else { return bytes + (now.map { $0 + Self.punctuationBytes } ?? 0) }
            return bytes + (now.map { $0 - before } ?? (-before - Self.freedBytes))
        }
    }
}

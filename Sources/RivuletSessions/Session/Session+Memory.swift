// Owns what a session takes of memory, and that its state does not grow without end.

import RivuletEngine
import RivuletJSON
import RivuletObservation

extension Session {
    /// What the session's own bookkeeping takes, roughly.
    static var bytesMin: Int { 4_096 }
    /// What a stream takes that waits for the next change of its group.
    private static var waitingStreamBytes: Int { 64 }
    /// What an event takes while it waits and is on its way, as far as a server must have room for one.
    static var eventRoomBytes: Int { 4_096 }

    /// The state as JSON, or a little more, with its transient fields; what waits for the next entry; the changes that are kept for streams
    /// of the state and of views; events that are queued, and what is not visible yet; the groups of streams and what they watch; the session's own bookkeeping.
    package var memoryBytes: Int {
        var bytes = Self.bytesMin + headSize.bytes + unlogged.memoryBytes + tail.bytes + index.bytes
        if hasViews { for view in views.values { bytes += view.bytes } }
        bytes += waitingBytes + pendingBytes + (initialDocument?.count ?? 0)
        bytes += waitingStreams * Self.waitingStreamBytes
        return bytes + groups.count * StreamGroup.memoryBytes + watches.memoryBytes
    }

    /// Keeps what is reduced and not visible yet.
    func keepPending(_ dispatch: Pending) {
        pending.append(dispatch)
        pendingBytes += dispatch.memoryBytes
    }

    /// Lets go of the first of them.
    func dropFirstPending() {
        if let first = pending.popFirst() { pendingBytes -= first.memoryBytes }
    }

    /// Takes all of them.
    func takeAllPending() -> [Pending] {
        pendingBytes = 0
        return pending.takeAll()
    }

    /// Tells the shard's account what the session takes now.
    func account() {
        guard !isRetired else { return }
        let bytes = memoryBytes
        environment.memory.add(bytes - accountedBytes)
        accountedBytes = bytes
        // One with work cannot leave yet, and what it takes may be less in a moment.
        if environment.memory.isCrowded, isQuiet { environment.memory.wantRoom() }
    }

    /// Takes the session out of the shard's account.
    func closeAccount() {
        environment.memory.add(-accountedBytes)
        accountedBytes = 0
    }

    // MARK: - The size of the state

    /// Counts what an event wrote in the state at the head.
    ///
    /// - Throws: `stateFull` when the state would grow beyond its limit, `overloaded` when it would grow while memory is full.
    func size(
        after changes: [StateChange],
        from before: State,
        to now: State
    ) throws(SessionError) -> StateSize {
        guard !changes.isEmpty else { return headSize }
        var size = headSize
        let limit = environment.limits.stateBytesMax
        let growth = environment.memory.isFull ? changes.growthBytes(from: before, to: now) : 0
        if growth > 0 {
            environment.memory.wantRoom()
            throw .overloaded("memory of the resident sessions (residentBytesMax)")
        }
        // Nearly every event is counted here; not one that gives back what is scarce.
        if growth == 0, size.countAtMost(changes.writtenBytes, limit: limit) { return size }
        let isCounted = size.count(limit: limit) {
            now.jsonBytes().count
        } growth: {
            changes.growthBytes(from: before, to: now)
        }
        guard isCounted else {
            // What was measured for this event is not measured again for the next one that is refused.
            headSize = size
            throw .stateFull(key, limitBytes: limit)
        }
        return size
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
    /// Each path is there at most once, and there is none below one that is added, replaced or removed.
    fileprivate func growthBytes<State: ObservableState>(from before: State, to now: State) -> Int {
        reduce(0) { bytes, change in
            guard change.operation != .move, let path = try? JSONPointer(parsing: change.path) else { return bytes }
            let old = before.json(at: path)?.count
            let new = now.json(at: path)?.count
            guard let old else { return bytes + (new.map { $0 + Self.punctuationBytes } ?? 0) }
            return bytes + (new.map { $0 - old } ?? (-old - Self.freedBytes))
        }
    }
}

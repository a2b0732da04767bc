/// The id of one scheduled job; an id is never used again after its job has run or was cancelled.
package struct TimerID: Hashable, Sendable {
    fileprivate let index: Int32
    fileprivate let generation: UInt32
}

/// Timers with millisecond deadlines; scheduling and cancelling take constant time for any number of timers.
///
/// A timer never fires early. A timer fires late by at most 1/31 of its delay. There are eight levels of 256 buckets,
/// each level eight times coarser than the previous one. A timer stays in its first bucket, so timers are never moved,
/// and timers of about the same time share one wake-up. Delays are at most six days; longer delays are cut to that.
/// Source: <https://github.com/torvalds/linux/blob/master/kernel/time/timer.c>, the timer wheel of the kernel.
package struct TimerWheel<Payload> {
    private struct Entry {
        var payload: Payload?
        /// The time at which it is due, in milliseconds, before the rounding to its bucket.
        var deadline: UInt64 = 0
        var sequence: UInt64 = 0
        /// The bucket that holds it; -1 if the entry is free or due.
        var bucket: Int32 = -1
        /// The count of this entry's uses.
        var generation: UInt32 = 0
        /// The neighbours in the bucket, -1 at its ends; `next` also links the free entries.
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private static var levelCount: Int { 8 }
    private static var bucketsPerLevel: Int { 256 }
    private static var levelShift: Int { 3 }
    /// The longest delay in units of a level's bucket width; two less than a full round, because both ends are rounded.
    private static var ticksMax: UInt64 { 254 }

    private var entries: [Entry] = []
    private var firstFree: Int32 = -1
    /// The first entry of each bucket, level by level.
    private var heads = [Int32](repeating: -1, count: levelCount * bucketsPerLevel)
    /// One bit per bucket, set if the bucket has entries.
    private var occupied = [UInt64](repeating: 0, count: levelCount * bucketsPerLevel / 64)
    /// The entries that were taken from their buckets, ordered so that the first due entry is last.
    private var due: [TimerID] = []
    private var nextSequence: UInt64 = 0
    private var time: UInt64

    /// The number of timers that are scheduled or due.
    package private(set) var count = 0

    /// Makes an empty wheel; `time` is in milliseconds of any clock that does not go back.
    package init(time: UInt64) { self.time = time }

    /// Schedules `payload` for `deadline`, at the earliest one millisecond after the last `advance`.
    package mutating func schedule(at deadline: UInt64, _ payload: Payload) -> TimerID {
        let delayMax = Self.ticksMax << UInt64(Self.levelShift * (Self.levelCount - 1))
        let delay = min(max(deadline, time + 1) - time, delayMax)
        var level = 0
        while delay > Self.ticksMax << UInt64(Self.levelShift * level) { level += 1 }
        let shift = UInt64(Self.levelShift * level)
        let tick = (time + delay + (1 << shift) - 1) >> shift
        let bucket = level * Self.bucketsPerLevel + Int(tick % UInt64(Self.bucketsPerLevel))
        let index = takeEntry()
        entries[Int(index)].payload = payload
        entries[Int(index)].deadline = time + delay
        entries[Int(index)].sequence = nextSequence
        nextSequence += 1
        link(index, into: bucket)
        count += 1
        return TimerID(index: index, generation: entries[Int(index)].generation)
    }

    /// Cancels a timer; returns false if it has run or was cancelled before.
    @discardableResult
    package mutating func cancel(_ id: TimerID) -> Bool {
        guard isLive(id) else { return false }
        if entries[Int(id.index)].bucket >= 0 { unlink(id.index) }
        release(id.index)
        return true
    }

    /// Moves the wheel to `now`; `popDue` returns the timers that are due.
    package mutating func advance(to now: UInt64) {
        guard now > time else { return }
        for level in 0..<Self.levelCount {
            let shift = UInt64(Self.levelShift * level)
            let from = time >> shift
            let to = now >> shift
            if from == to { break }
            let lastTick = min(to, from + UInt64(Self.bucketsPerLevel))
            if hasEntries(level) {
                for tick in from + 1...lastTick { collect(level, tick) }
            }
        }
        time = now
        guard due.count > 1 else { return }
        due.sort { [entries] in Self.isAfter(entries[Int($0.index)], entries[Int($1.index)]) }
    }

    /// Removes and returns the payload of the next due timer, by deadline and then in the order of scheduling; nil if
    /// none is due.
    package mutating func popDue() -> Payload? {
        while let id = due.popLast() {
            guard isLive(id) else { continue }
            let payload = entries[Int(id.index)].payload
            release(id.index)
            return payload
        }
        return nil
    }

    /// Returns the next time at which `advance` has work, in milliseconds; nil if no timer is scheduled.
    package func nextWake() -> UInt64? {
        var result: UInt64?
        for level in 0..<Self.levelCount {
            let shift = UInt64(Self.levelShift * level)
            guard let distance = distanceToEntry(level, after: time >> shift) else { continue }
            let wake = ((time >> shift) + distance) << shift
            result = min(result ?? wake, wake)
        }
        return result
    }

    private func isLive(_ id: TimerID) -> Bool {
        entries.indices.contains(Int(id.index)) && entries[Int(id.index)].generation == id.generation
            && entries[Int(id.index)].payload != nil
    }

    private static func isAfter(_ left: Entry, _ right: Entry) -> Bool {
        (left.deadline, left.sequence) > (right.deadline, right.sequence)
    }

    private mutating func collect(_ level: Int, _ tick: UInt64) {
        let bucket = level * Self.bucketsPerLevel + Int(tick % UInt64(Self.bucketsPerLevel))
        var index = heads[bucket]
        guard index >= 0 else { return }
        heads[bucket] = -1
        occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64))
        while index >= 0 {
            let entry = entries[Int(index)]
            due.append(TimerID(index: index, generation: entry.generation))
            entries[Int(index)].bucket = -1
            index = entry.next
        }
    }

    private func hasEntries(_ level: Int) -> Bool {
        let words = Self.bucketsPerLevel / 64
        return occupied[level * words..<(level + 1) * words].contains { $0 != 0 }
    }

    /// Returns the distance from `tick` to the next occupied bucket of `level` in ticks, 1 to 256; nil if there is
    /// none.
    private func distanceToEntry(_ level: Int, after tick: UInt64) -> UInt64? {
        guard hasEntries(level) else { return nil }
        let words = Self.bucketsPerLevel / 64
        let first = Int((tick + 1) % UInt64(Self.bucketsPerLevel))
        for step in 0...words {
            let word = (first / 64 + step) % words
            var bits = occupied[level * words + word]
            if step == 0 { bits &= ~0 << UInt64(first % 64) }
            if step == words { bits &= ~(~0 << UInt64(first % 64)) }
            guard bits != 0 else { continue }
            let bucket = word * 64 + bits.trailingZeroBitCount
            let distance = (bucket - first + Self.bucketsPerLevel) % Self.bucketsPerLevel + 1
            return UInt64(distance)
        }
        return nil
    }

    private mutating func takeEntry() -> Int32 {
        if firstFree >= 0 {
            let index = firstFree
            firstFree = entries[Int(index)].next
            return index
        }
        entries.append(Entry())
        return Int32(entries.count - 1)
    }

    private mutating func release(_ index: Int32) {
        entries[Int(index)].payload = nil
        entries[Int(index)].generation &+= 1
        entries[Int(index)].next = firstFree
        firstFree = index
        count -= 1
    }

    private mutating func link(_ index: Int32, into bucket: Int) {
        let head = heads[bucket]
        entries[Int(index)].bucket = Int32(bucket)
        entries[Int(index)].previous = -1
        entries[Int(index)].next = head
        if head >= 0 { entries[Int(head)].previous = index }
        heads[bucket] = index
        occupied[bucket / 64] |= 1 << UInt64(bucket % 64)
    }

    private mutating func unlink(_ index: Int32) {
        let entry = entries[Int(index)]
        let bucket = Int(entry.bucket)
        if entry.previous >= 0 {
            entries[Int(entry.previous)].next = entry.next
        } else {
            heads[bucket] = entry.next
            if entry.next < 0 { occupied[bucket / 64] &= ~(1 << UInt64(bucket % 64)) }
        }
        if entry.next >= 0 { entries[Int(entry.next)].previous = entry.previous }
        entries[Int(index)].bucket = -1
    }
}

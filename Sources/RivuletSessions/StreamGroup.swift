// Part of Rivulet. See README.md for the architecture.
// Owns the subscribers of one set of key paths, as their session counts them.

/// What a group watches, and how many members it has on each loop.
///
/// Who they are is the loops' business.
struct StreamGroup {
    let key: StreamGroupKey
    /// When its members are told; nil: at once.
    var pace: StreamPace?
    private var members: [Int: Int] = [:]

    /// What one takes of memory besides its paths, roughly.
    static let memoryBytes = 512

    init(_ key: StreamGroupKey) {
        self.key = key
        pace = key.interval.map(StreamPace.init)
    }

    /// Whether it has no member and nobody who will be one.
    var isEmpty: Bool { members.isEmpty && pace?.waiting.isEmpty != false }

    var count: Int { members.values.reduce(0, +) }

    /// The loops that have members.
    var loops: [Int] { Array(members.keys) }

    mutating func add(loop: Int) {
        members[loop, default: 0] += 1
    }

    mutating func remove(loop: Int) {
        guard let count = members[loop] else { return }
        members[loop] = count > 1 ? count - 1 : nil
    }
}

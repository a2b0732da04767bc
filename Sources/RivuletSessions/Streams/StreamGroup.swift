/// What a group watches, and how many members it has on each loop.
///
/// Who they are is the loops' business.
struct StreamGroup {
    let key: StreamGroupKey
    /// When its members are told; nil: at once.
    var pace: StreamPace?
    /// The loops that have members.
    private(set) var loops: [Int] = []
    /// How many members each of the loops has.
    private var counts: [Int] = []

    /// What one takes of memory besides its paths, roughly.
    static let memoryBytes = 512

    init(_ key: StreamGroupKey) {
        self.key = key
        pace = key.interval.map(StreamPace.init)
    }

    /// Whether it has no member and nobody who will be one.
    var isEmpty: Bool { loops.isEmpty && pace?.waiting.isEmpty != false }

    var count: Int { counts.reduce(0, +) }

    mutating func add(loop: Int) {
        if let index = loops.firstIndex(of: loop) {
            counts[index] += 1
        } else {
            loops.append(loop)
            counts.append(1)
        }
    }

    mutating func remove(loop: Int) {
        guard let index = loops.firstIndex(of: loop) else { return }
        counts[index] -= 1
        guard counts[index] == 0 else { return }
        loops.remove(at: index)
        counts.remove(at: index)
    }
}

/// What leads from one version of a collection to another: removals, then changed elements, then placements, in this order.
///
/// Versions that share their base are compared where their overlays say so, others id by id. Elements are matched by id; slots of
/// one stamp are equal without a look.
@usableFromInline
struct KeyedDifference<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    /// An element that is new or elsewhere.
    @usableFromInline
    struct Placement {
        /// Its final position.
        @usableFromInline let position: Int
        /// Where to insert it, once all with smaller positions are in place and it is taken out itself.
        @usableFromInline let index: Int
        @usableFromInline let isMove: Bool

        @inlinable
        init(position: Int, index: Int, isMove: Bool) {
            self.position = position
            self.index = index
            self.isMove = isMove
        }
    }

    /// More changes than this, and than half the elements, are reported as one replacement of the collection.
    @inlinable static var changesMax: Int { 256 }

    @usableFromInline let old: Keyed<Element>
    @usableFromInline let new: Keyed<Element>
    @usableFromInline var removed: [Int] = []
    /// Elements that may differ, by their positions.
    @usableFromInline var changed: [(old: Int, new: Int)] = []
    @usableFromInline var placed: [Placement] = []

    @inlinable
    init(from old: Keyed<Element>, to new: Keyed<Element>) {
        self.old = old
        self.new = new
        var start = 0
        if old.base === new.base {
            start = Swift.min(old.kept, new.kept)
            compareEdits(below: start)
        } else {
            while start < Swift.min(old.length, new.length), old.id(at: start) == new.id(at: start) {
                compare(start, start)
                start += 1
            }
        }
        var oldEnd = old.length
        var newEnd = new.length
        while oldEnd > start, newEnd > start, old.id(at: oldEnd - 1) == new.id(at: newEnd - 1) {
            oldEnd -= 1
            newEnd -= 1
            compare(oldEnd, newEnd)
        }
        arrange(start..<oldEnd, start..<newEnd)
    }

    /// Tells the collector; false, with nothing told, when there is too much to tell.
    @inlinable
    func report(serial: UInt64?, into collector: inout ChangeCollector) -> Bool {
        guard !Self.isTooMany(removed.count + placed.count, of: new.length) else { return false }
        let start = collector.checkpoint
        for position in removed.sorted() { collector.removal(of: old.element(at: position).id.keyPathToken) }
        for pair in changed.sorted(by: { $0.new < $1.new }) {
            let slot = old.slot(at: pair.old)
            let element = new.element(at: pair.new)
            let expected = serial.map { KeyedPlace.serial(of: slot.stamp, in: $0) }
            collector.element(element.id.keyPathToken, slot.value, element, serial: expected)
        }
        for placement in placed.sorted(by: { $0.position < $1.position }) {
            let element = new.element(at: placement.position)
            if placement.isMove {
                collector.move(of: element.id.keyPathToken, to: placement.index)
            } else {
                collector.addition(of: element, element.id.keyPathToken, at: placement.index)
            }
        }
        guard !Self.isTooMany(collector.checkpoint.changes - start.changes, of: new.length) else {
            collector.goBack(to: start)
            return false
        }
        return true
    }

    @inlinable
    static func isTooMany(_ changes: Int, of count: Int) -> Bool {
        changes > changesMax && changes > count / 2
    }

    // MARK: - Elements that stay where they are

    /// Compares what one of the overlays has at positions of the common base.
    @inlinable
    mutating func compareEdits(below end: Int) {
        for edit in new.overlay.edits.list where edit.position < end { compare(edit.position, edit.position) }
        for edit in old.overlay.edits.list where edit.position < end {
            if new.overlay.edits[edit.position] == nil { compare(edit.position, edit.position) }
        }
    }

    /// Compares two elements of equal ids that are in place.
    @inlinable
    mutating func compare(_ position: Int, _ newPosition: Int) {
        if isMatch(position, newPosition) {
            note(position, newPosition)
        } else {
            removed.append(position)
            placed.append(Placement(position: newPosition, index: newPosition, isMove: false))
        }
    }

    @inlinable
    mutating func note(_ position: Int, _ newPosition: Int) {
        guard old.stamp(at: position) != new.stamp(at: newPosition) else { return }
        changed.append((position, newPosition))
    }

    /// Whether two elements of equal ids are one for a client too, who sees how an id is spelled.
    @inlinable
    func isMatch(_ position: Int, _ newPosition: Int) -> Bool {
        guard old.stamp(at: position) != new.stamp(at: newPosition) else { return true }
        return new.element(at: newPosition).id.isSpelled(like: old.element(at: position).id)
    }

    // MARK: - Elements that come, go and move

    @inlinable
    mutating func arrange(_ oldRange: Range<Int>, _ newRange: Range<Int>) {
        var unmatched = Dictionary(uniqueKeysWithValues: oldRange.map { (old.id(at: $0), $0) })
        // The old position of each new element; nil for one that came.
        let sources = newRange.map { position -> Int? in
            let id = new.id(at: position)
            guard let source = unmatched[id], isMatch(source, position) else { return nil }
            unmatched[id] = nil
            note(source, position)
            return source
        }
        removed += unmatched.values
        place(sources, from: newRange.lowerBound)
    }

    /// Finds the fewest elements that have to move, and the index of each at its turn.
    @inlinable
    mutating func place(_ sources: [Int?], from start: Int) {
        let kept = sources.compactMap { $0 }
        let staying = Set(Self.longestIncreasing(kept))
        let movers = kept.filter { !staying.contains($0) }.sorted()
        let ranks = Dictionary(uniqueKeysWithValues: movers.enumerated().map { ($0.element, $0.offset) })
        var isPlaced = [Bool](repeating: false, count: movers.count)
        // The movers that stand before the last staying element passed, and how many of them are still there.
        var passed = 0
        var waiting = 0
        for (offset, source) in sources.enumerated() {
            let position = start + offset
            guard let source else {
                placed.append(Placement(position: position, index: position + waiting, isMove: false))
                continue
            }
            guard let rank = ranks[source] else {
                while passed < movers.count, movers[passed] < source {
                    if !isPlaced[passed] { waiting += 1 }
                    passed += 1
                }
                continue
            }
            isPlaced[rank] = true
            if rank < passed { waiting -= 1 }
            placed.append(Placement(position: position, index: position + waiting, isMove: true))
        }
    }

    /// The members of one of the longest increasing subsequences of different numbers.
    @inlinable
    static func longestIncreasing(_ numbers: [Int]) -> [Int] {
        // For each length, the index of the smallest number that ends such a subsequence.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous[index] = low > 0 ? ends[low - 1] : nil
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var members: [Int] = []
        var next = ends.last
        while let index = next {
            members.append(numbers[index])
            next = previous[index]
        }
        return members
    }
}

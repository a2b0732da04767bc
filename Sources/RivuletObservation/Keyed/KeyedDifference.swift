public import RivuletBase

/// The steps from one version of a collection to another: removals, then changed elements, then placements, in this
/// order.
///
/// If both versions share their base, only the positions in their overlays are compared. Otherwise, only the tree's
/// leaves that they do not share are compared. Elements are matched by id. Two slots with the same stamp are equal, so
/// their elements are not compared.
@usableFromInline
struct KeyedDifference<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    /// An element that is new or was moved.
    @usableFromInline
    struct Placement {
        /// Its final position.
        @usableFromInline let position: Int
        /// The index at which to insert the element, after all elements with smaller positions are in place and the
        /// element itself is taken out.
        @usableFromInline let index: Int
        @usableFromInline let isMove: Bool

        @inlinable
        init(position: Int, index: Int, isMove: Bool) {
            self.position = position
            self.index = index
            self.isMove = isMove
        }
    }

    /// The maximum number of changes that are always reported one by one.
    ///
    /// The collection is reported as one replacement if it has more changes than this, and more changes than half the
    /// number of its elements.
    @inlinable static var changesMax: Int { 256 }

    @usableFromInline var old: Keyed<Element>
    @usableFromInline var new: Keyed<Element>
    @usableFromInline var removed: [Int] = []
    /// Elements that may differ, by their positions.
    @usableFromInline var changed: [(old: Int, new: Int)] = []
    @usableFromInline var placed: [Placement] = []

    @inlinable
    init(from old: Keyed<Element>, to new: Keyed<Element>) {
        var gaps: [TreeGap]
        if old.base === new.base {
            (self.old, self.new) = (old, new)
            let start = Swift.min(old.kept, new.kept)
            gaps = [TreeGap(old: start..<old.length, new: start..<new.length)]
            compareEdits(below: start)
        } else {
            (self.old, self.new) = (old, new)
            self.old.own()
            self.new.own()
            gaps = self.new.base.tree.gaps(since: self.old.base.tree)
        }
        for index in gaps.indices { narrow(&gaps[index]) }
        arrange(gaps)
    }

    /// Shortens a gap at both ends, by the elements that have the same id in both versions.
    @inlinable
    mutating func narrow(_ gap: inout TreeGap) {
        var (start, newStart) = (gap.old.lowerBound, gap.new.lowerBound)
        var (end, newEnd) = (gap.old.upperBound, gap.new.upperBound)
        while start < end, newStart < newEnd, old.key(at: start) == new.key(at: newStart) {
            record(start, newStart)
            start += 1
            newStart += 1
        }
        while end > start, newEnd > newStart, old.key(at: end - 1) == new.key(at: newEnd - 1) {
            end -= 1
            newEnd -= 1
            record(end, newEnd)
        }
        gap = TreeGap(old: start..<end, new: newStart..<newEnd)
    }

    /// Reports to the collector; returns false, and reports nothing, if there are too many changes.
    @inlinable
    func report(serial: UInt64?, into collector: inout Generated.ChangeCollector) -> Bool {
        guard !Self.isTooMany(removed.count + placed.count, of: new.length) else { return false }
        let start = collector.checkpoint
        for position in removed.sorted() { collector.removal(of: old.element(at: position).id.keyPathToken) }
        for pair in changed.sorted(by: { $0.new < $1.new }) {
            let slot = old.slot(at: pair.old)
            let element = new.element(at: pair.new)
            let expected = serial.map { KeyedStamps.serial(of: slot.stamp, in: $0) }
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

    /// Compares the elements of the common base that at least one of the overlays has edited.
    @inlinable
    mutating func compareEdits(below end: Int) {
        for edit in new.overlay.edits.list where edit.position < end { record(edit.position, edit.position) }
        for edit in old.overlay.edits.list where edit.position < end {
            if new.overlay.edits[edit.position] == nil { record(edit.position, edit.position) }
        }
    }

    /// Records the positions of an element in both versions, unless its stamp is the same.
    @inlinable
    mutating func record(_ position: Int, _ newPosition: Int) {
        guard old.stamp(at: position) != new.stamp(at: newPosition) else { return }
        changed.append((position, newPosition))
    }

    // MARK: - Elements that come, go and move

    /// Matches the elements in the gaps by their ids; all others stay.
    @inlinable
    mutating func arrange(_ gaps: [TreeGap]) {
        var unmatched: [KeyedKey<Element.ID>: Int] = [:]
        for position in gaps.lazy.flatMap(\.old) { unmatched[old.key(at: position)] = position }
        // The old position of each new element; nil for an added element.
        let sources = gaps.map { gap in
            gap.new.map { position -> Int? in
                guard let source = unmatched.removeValue(forKey: new.key(at: position)) else { return nil }
                record(source, position)
                return source
            }
        }
        removed += unmatched.values
        place(sources, in: gaps)
    }

    /// Finds the fewest elements that have to move, and the index of each at the time of its move.
    ///
    /// An element that is now in another gap has passed elements that stay, so it is one of the moved elements.
    @inlinable
    mutating func place(_ sources: [[Int?]], in gaps: [TreeGap]) {
        let kept = sources.map { $0.compactMap { $0 } }
        var staying: Set<Int> = []
        for (gap, kept) in zip(gaps, kept) {
            staying.formUnion(Self.longestIncreasing(kept.filter { gap.old.contains($0) }))
        }
        let movers = kept.joined().filter { !staying.contains($0) }.sorted()
        let ranks = Dictionary(uniqueKeysWithValues: movers.enumerated().map { ($0.element, $0.offset) })
        var isPlaced = [Bool](repeating: false, count: movers.count)
        // `passed` is the number of movers with an old position before that of the last passed staying element.
        // `waiting` is the number of these movers that are not placed yet.
        var passed = 0
        var waiting = 0
        func pass(_ source: Int) {
            while passed < movers.count, movers[passed] < source {
                if !isPlaced[passed] { waiting += 1 }
                passed += 1
            }
        }
        for (gap, sources) in zip(gaps, sources) {
            // The elements before the gap stay.
            pass(gap.old.lowerBound)
            for (position, source) in zip(gap.new, sources) {
                guard let source else {
                    placed.append(Placement(position: position, index: position + waiting, isMove: false))
                    continue
                }
                guard let rank = ranks[source] else {
                    pass(source)
                    continue
                }
                isPlaced[rank] = true
                if rank < passed { waiting -= 1 }
                placed.append(Placement(position: position, index: position + waiting, isMove: true))
            }
        }
    }

    /// The members of one of the longest increasing subsequences of different numbers.
    @inlinable
    static func longestIncreasing(_ numbers: [Int]) -> [Int] {
        // For each length, the index of the smallest number that ends an increasing subsequence of this length.
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

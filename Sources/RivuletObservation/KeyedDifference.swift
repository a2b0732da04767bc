// Part of Rivulet. See README.md for the architecture.
// This file owns the comparison of two versions of a keyed collection.

import OrderedCollections
import RivuletJSON

/// What leads from one version of a collection to another: removals, then changed elements, then placements, in this order.
///
/// Versions that share their base are compared where their overlays say so, others id by id. Elements are matched by id; slots of
/// one stamp are equal without a look.
struct KeyedDifference<Element: StateNode & Identifiable> where Element.ID: KeyedID {
    /// An element that is new or elsewhere.
    private struct Placement {
        /// Its final position.
        let position: Int
        /// Where to insert it, once all with smaller positions are in place and it is taken out itself.
        let index: Int
        let isMove: Bool
    }

    /// More changes than this, and than half the elements, are reported as one replacement of the collection.
    private let changesMax = 256

    private let old: Keyed<Element>
    private let new: Keyed<Element>
    private var removed: [Int] = []
    /// Elements that may differ, by their positions.
    private var changed: [(old: Int, new: Int)] = []
    private var placed: [Placement] = []

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
    func report(serial: UInt64?, into collector: inout ChangeCollector) -> Bool {
        guard !isTooMany(removed.count + placed.count) else { return false }
        let start = collector.checkpoint
        for position in removed.sorted() { collector.removal(of: old.slot(at: position).value.id.keyPathToken) }
        for pair in changed.sorted(by: { $0.new < $1.new }) {
            let slot = old.slot(at: pair.old)
            let element = new.slot(at: pair.new).value
            let expected = serial.map { KeyedPlace.serial(of: slot.stamp, in: $0) }
            collector.element(element.id.keyPathToken, slot.value, element, serial: expected)
        }
        for placement in placed.sorted(by: { $0.position < $1.position }) {
            let element = new.slot(at: placement.position).value
            if placement.isMove {
                collector.move(of: element.id.keyPathToken, to: placement.index)
            } else {
                collector.addition(of: element, element.id.keyPathToken, at: placement.index)
            }
        }
        guard !isTooMany(collector.checkpoint.changes - start.changes) else {
            collector.goBack(to: start)
            return false
        }
        return true
    }

    private func isTooMany(_ changes: Int) -> Bool {
        changes > changesMax && changes > new.length / 2
    }

    // MARK: - Elements that stay where they are

    /// Compares what one of the overlays has at positions of the common base.
    private mutating func compareEdits(below end: Int) {
        for position in new.overlay?.edits.keys ?? [:].keys where position < end { compare(position, position) }
        for position in old.overlay?.edits.keys ?? [:].keys where position < end {
            if new.overlay?.edits[position] == nil { compare(position, position) }
        }
    }

    /// Compares two elements of equal ids that are in place.
    private mutating func compare(_ position: Int, _ newPosition: Int) {
        if isMatch(position, newPosition) {
            note(position, newPosition)
        } else {
            removed.append(position)
            placed.append(Placement(position: newPosition, index: newPosition, isMove: false))
        }
    }

    private mutating func note(_ position: Int, _ newPosition: Int) {
        guard old.slot(at: position).stamp != new.slot(at: newPosition).stamp else { return }
        changed.append((position, newPosition))
    }

    /// Whether two elements of equal ids are one for a client too, who sees how an id is spelled.
    private func isMatch(_ position: Int, _ newPosition: Int) -> Bool {
        let first = old.slot(at: position)
        let second = new.slot(at: newPosition)
        guard first.stamp != second.stamp else { return true }
        return first.value.id.keyPathToken.utf8.elementsEqual(second.value.id.keyPathToken.utf8)
    }

    // MARK: - Elements that come, go and move

    private mutating func arrange(_ oldRange: Range<Int>, _ newRange: Range<Int>) {
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
    private mutating func place(_ sources: [Int?], from start: Int) {
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
    private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
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

extension Keyed {
    /// How many elements of the base are still there.
    fileprivate var kept: Int { overlay?.kept ?? base.list.count }

    /// The id at a valid position.
    fileprivate func id(at position: Int) -> Element.ID {
        position < kept ? base.list.ids[position] : overlay?.tail.ids[position - kept] ?? slot(at: position).value.id
    }
}

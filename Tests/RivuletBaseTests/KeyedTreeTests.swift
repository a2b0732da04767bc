import RivuletBase
import SeededRandom
import Testing

@Suite
struct KeyedTreeTests {
    @Test(arguments: UInt64(0)..<6)
    func `a tree behaves like an array, and its copies do not change`(seed: UInt64) {
        var program = TreeProgram(seed: seed)
        for round in 0..<16 {
            program.round()
            program.check("seed \(seed), round \(round)")
        }
    }

    @Test
    func `a tree that grows and shrinks at one position keeps its order`() {
        var tree = KeyedTree<Int, Int>()
        for number in 0..<6_000 { tree.insert(number, under: number, at: Swift.min(number, 3)) }
        #expect(tree.map(\.value) == [0, 1, 2] + (3..<6_000).reversed())
        #expect((0..<6_000).allSatisfy { tree.position(of: $0) == ($0 < 3 ? $0 : 6_002 - $0) })
        for _ in 0..<5_990 { tree.remove(at: 3) }
        #expect(tree.map(\.key) == [0, 1, 2, 9, 8, 7, 6, 5, 4, 3])
        #expect(tree.isFlat)
    }

    @Test
    func `a queue of 2,000 values needs no more nodes after 20,000 values`() {
        var tree = KeyedTree<Int, Int>()
        for number in 0..<20_000 {
            tree.append(number, under: number)
            if number >= 2_000 { #expect(tree.remove(at: 0).value == number - 2_000) }
        }
        #expect(tree.map(\.value) == Array(18_000..<20_000))
        #expect(tree.position(of: 17_999) == nil)
        #expect(tree.nodeCount < 80)
    }

    @Test
    func `nodes of removed values are freed while values are inserted`() {
        var generator = SeededGenerator(seed: 7)
        var tree = KeyedTree<Int, Int>()
        for number in 0..<20_000 { tree.append(number, under: number) }
        for number in 20_000..<40_000 {
            tree.remove(at: Int.random(in: 0..<tree.count, using: &generator))
            tree.remove(at: Int.random(in: 0..<tree.count, using: &generator))
            tree.insert(number, under: number, at: Int.random(in: 0...tree.count, using: &generator))
            if tree.count < 2_000 { break }
        }
        #expect(tree.nodeCount < 4 * tree.count / 64)
    }

    @Test
    func `an edit of a copied tree copies only the nodes on its path`() {
        var tree = KeyedTree<Int, Int>()
        for number in 0..<50_000 { tree.append(number, under: number) }
        let copy = tree
        tree.remove(at: 25_000)
        let gaps = tree.gaps(since: copy)
        #expect(gaps.count == 1)
        #expect(gaps.allSatisfy { $0.old.count <= 128 && $0.old.contains(25_000) && $0.new.count == $0.old.count - 1 })
        #expect(copy.value(at: 25_000) == 25_000)
        #expect(tree.gaps(since: tree).isEmpty)
    }

    @Test
    func `values can be read from a position`() {
        var tree = KeyedTree<Int, Int>()
        for number in 0..<5_000 { tree.append(number, under: number) }
        #expect(tree.suffix(from: 4_000).prefix(300).map(\.value) == Array(4_000..<4_300))
        #expect(Array(tree.suffix(from: 5_000)).isEmpty)
    }
}

/// A random program of edits of a tree and of the same array, with copies of both.
private struct TreeProgram {
    private typealias Pair = (key: Int, value: Int)

    private var generator: SeededGenerator
    private var tree = KeyedTree<Int, Int>()
    private var array: [Pair] = []
    private var copies: [(tree: KeyedTree<Int, Int>, array: [Pair])] = []
    private var next = 0

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
        for number in 0..<pick([0, 900, 1_100, 5_000]) {
            tree.append(number, under: number)
            array.append((number, number))
        }
        next = array.count
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &generator)]
    }

    private mutating func position(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Repeats one kind of edit many times, at one position or at random positions.
    mutating func round() {
        if pick([true, false]) { copies.append((tree, array)) }
        if copies.count > 2 { copies.remove(at: position(copies.count)) }
        let place = pick([nil, 0, position(array.count + 1), .max])
        let kind = pick([0, 0, 1, 1, 2, 3])
        for _ in 0..<pick([1, 30, 600]) {
            let limit = kind == 0 ? array.count : array.count - 1
            guard limit >= 0 else { return }
            let position = Swift.min(place ?? position(limit + 1), limit)
            switch kind {
            case 0: insert(at: position)
            case 1: remove(at: position)
            case 2: update(at: position)
            default: rename(at: position)
            }
        }
    }

    private mutating func insert(at position: Int) {
        tree.insert(next, under: next, at: position)
        array.insert((next, next), at: position)
        next += 1
    }

    private mutating func remove(at position: Int) {
        let (removed, expected) = (tree.remove(at: position), array.remove(at: position))
        #expect(removed == expected)
    }

    private mutating func update(at position: Int) {
        tree.update(at: position) { $0 += 1 }
        array[position].value += 1
    }

    private mutating func rename(at position: Int) {
        tree.rename(at: position, to: next)
        array[position].key = next
        next += 1
    }

    func check(_ place: Comment) {
        for (tree, array) in copies + [(tree, array)] {
            #expect(tree.count == array.count, place)
            let isSame = tree.elementsEqual(array, by: ==)
            #expect(isSame, place)
            #expect(array.indices.allSatisfy { tree.position(of: array[$0].key) == $0 }, place)
            #expect(array.indices.allSatisfy { tree.key(at: $0) == array[$0].key }, place)
            #expect(tree.position(of: -1) == nil, place)
        }
        for copy in copies { checkGaps(since: copy.tree, copy.array, place) }
    }

    /// Checks that the values outside of the gaps are the same, in the same order.
    private func checkGaps(since old: KeyedTree<Int, Int>, _ oldArray: [Pair], _ place: Comment) {
        var (oldRest, rest) = (IndexSet(oldArray.indices), IndexSet(array.indices))
        for gap in tree.gaps(since: old) {
            oldRest.remove(gap.old)
            rest.remove(gap.new)
        }
        let isSame = oldRest.positions.elementsEqual(rest.positions) { oldArray[$0] == array[$1] }
        #expect(isSame, place)
    }
}

/// The positions of an array, without the removed ones.
private struct IndexSet {
    private var isThere: [Bool]

    init(_ range: Range<Int>) {
        isThere = [Bool](repeating: true, count: range.count)
    }

    mutating func remove(_ range: Range<Int>) {
        for index in range { isThere[index] = false }
    }

    var positions: [Int] { isThere.indices.filter { isThere[$0] } }
}

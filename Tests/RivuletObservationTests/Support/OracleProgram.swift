// This file owns the random programs of writes that the oracle runs, with the copies that they keep.

import RivuletJSON
import RivuletObservation
import SeededRandom

/// An error that programs throw in the middle of an access.
struct OracleInterruption: Error {}

/// One random program of writes.
///
/// It keeps copies of values across accesses and runs, edits the copies and writes them to any position.
struct OracleProgram {
    var generator: SeededGenerator
    var inners: [OracleInner] = [OracleInner()]
    private var middles: [OracleMiddle] = [OracleMiddle()]
    var modes: [OracleMode] = [.idle]
    private var nodes: [OracleNode] = [OracleNode()]
    private var elements: [OracleElement] = [OracleElement(id: "a")]
    private var keyeds: [Keyed<OracleElement>] = [[]]
    private var groups: [Keyed<OracleGroup>] = [[]]
    private var roots: [OracleRoot] = [OracleRoot(t: OracleNode(), p: OracleNode())]

    init(seed: UInt64) {
        generator = SeededGenerator(seed: seed)
    }

    mutating func chance(_ oneIn: Int) -> Bool { Int.random(in: 0..<oneIn, using: &generator) == 0 }
    mutating func small() -> Int { Int.random(in: -8...8, using: &generator) }
    private mutating func word() -> String {
        ["", "a", "é", "e\u{301}", "\"", "~/"].randomElement(using: &generator) ?? ""
    }
    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Performs the writes of one run.
    mutating func run(_ root: inout OracleRoot) throws {
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
            switch pick(14) {
            case 0...4: try edit(&root.p, depth: 3)
            case 5...8: try edit(&root.t, depth: 3)
            case 9: keep(root)
            case 10: if chance(3) { root = roots[pick(roots.count)] }
            case 11: if chance(3) { try replace(&root) }
            case 12: if chance(2) { (root.p, root.t) = (root.t, root.p) }
            default: root.p = nodes[pick(nodes.count)]
            }
            if chance(60) { throw OracleInterruption() }
        }
    }

    private mutating func replace(_ root: inout OracleRoot) throws {
        let index = pick(roots.count)
        switch pick(4) {
        case 0: root = OracleRoot(t: OracleNode(), p: OracleNode())
        case 1: swap(&root, &roots[index])
        case 2:
            var copy = root
            try edit(&copy.p, depth: 2)
            if chance(2) { root = copy }
        default:
            var copy = roots[index]
            try edit(&copy.t, depth: 2)
            roots[index] = copy
        }
    }

    private mutating func keep(_ root: OracleRoot) {
        if roots.count > 4 { roots.removeFirst() }
        roots.append(root)
    }

    // MARK: - Nodes

    private mutating func edit(_ node: inout OracleNode, depth: Int) throws {
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
            switch pick(14) {
            case 10...13: try collections(&node)
            case 0: leaf(&node)
            case 1...3: try edit(&node.inner)
            case 4: try nested(&node, depth: depth)
            case 5: try middles(&node)
            case 6: try keepOrPut(&node, depth: depth)
            case 7: (node.inner, node.sibling) = (node.sibling, node.inner)
            case 8: try elements(&node)
            default: try edit(&node.sibling)
            }
            if chance(80) { throw OracleInterruption() }
        }
    }

    private mutating func leaf(_ node: inout OracleNode) {
        switch pick(8) {
        case 0: node.number = small()
        case 1: node.number += 0
        case 2: node.text = word()
        case 3: node.text += word()
        case 4: node.boxedList.append(word())
        case 5: node.boxedList = []
        case 6: node.tag = OracleTag(a: small(), b: word())
        default: node.tag.b += word()
        }
    }

    private mutating func nested(_ node: inout OracleNode, depth: Int) throws {
        guard depth > 0 else { return leaf(&node) }
        switch pick(7) {
        case 0: node.child = nil
        case 1: node.child = OracleNode()
        case 2: node.child = node
        case 3: node.child?.inner.text = word()
        case 4:
            let handle = node.$child
            if chance(2) { node.child?.number = small() }
            node.$child = handle
        case 5: node.$child.dismiss()
        default: if node.child != nil { try unwrapped(&node.child) { try $0.edit(&$1, depth: depth - 1) } }
        }
    }

    private mutating func middles(_ node: inout OracleNode) throws {
        switch pick(10) {
        case 0: try edit(&node.middle)
        case 1: try edit(&node.boxed)
        case 2: try edit(&node.section)
        case 3: node.section = middles[pick(middles.count)]
        case 4: node.boxed = middles[pick(middles.count)]
        case 5: node.maybe = chance(2) ? nil : node.middle
        case 6: try unwrapped(&node.maybe) { try $0.edit(&$1) }
        case 7: node[keyPath: \.middle.first.number] = small()
        case 8: try edit(&node.even)
        default: try edit(&node.passing)
        }
    }

    private mutating func keepOrPut(_ node: inout OracleNode, depth: Int) throws {
        let index = pick(nodes.count)
        switch pick(6) {
        case 0:
            if nodes.count > 4 { nodes.removeFirst() }
            nodes.append(node)
        case 1: node = nodes[index]
        case 2: swap(&node, &nodes[index])
        case 3:
            var copy = nodes[index]
            try edit(&copy.inner)
            nodes[index] = copy
        case 4:
            var copy = node
            try edit(&copy.middle)
            if chance(2) { node = copy }
        default:
            let json = chance(2) ? #"{"inner":{"number":4},"maybe":null}"# : #"{"maybe":{"text":"x"},"clamped":99}"#
            var reader = JSONReader([UInt8](json.utf8))
            try node._$merge(json: &reader)
        }
    }

    private mutating func elements(_ node: inout OracleNode) throws {
        switch pick(7) {
        case 0: node.items.append(node.inner)
        case 1: if !node.items.isEmpty { try edit(&node.items[0]) }
        case 2: if let last = node.items.popLast() { node.inner = last }
        case 3: if let last = node.items.last { put(last, in: &node.inner) }
        case 4: node.table["k"] = node.sibling
        case 5: node.table["k"]?.seen += 1
        default: if let value = node.table["k"] { put(value, in: &node.sibling) }
        }
    }

    // MARK: - Keyed collections

    private mutating func id() -> String {
        ["a", "b", "c", "d", "é", "e\u{301}", "~/", "", "x", "y"].randomElement(using: &generator) ?? ""
    }

    private mutating func collections(_ node: inout OracleNode) throws {
        switch pick(12) {
        case 0...3: try edit(&node.keyed)
        case 4: try edit(&node.boxedKeyed)
        case 5: try edit(&node.passingKeyed)
        case 6: (node.keyed, node.boxedKeyed) = (node.boxedKeyed, node.keyed)
        case 7: node.maybeKeyed = chance(3) ? nil : keyeds[pick(keyeds.count)]
        case 8: try unwrapped(&node.maybeKeyed) { try $0.edit(&$1) }
        case 9: if node.maybeKeyed != nil { node.maybeKeyed?[id: id()]?.text += word() }
        default: try edit(&node.groups)
        }
    }

    private mutating func edit(_ groups: inout Keyed<OracleGroup>) throws {
        let id = pick(3)
        let index = pick(self.groups.count)
        switch pick(10) {
        case 0: groups.append(OracleGroup(id: id))
        case 1: groups.remove(id: id)
        case 2: groups.move(id: id, to: pick(Swift.max(groups.count, 1)))
        case 3: groups[id: id]?.level += small()
        case 4: groups[id: id]?.id = pick(3)
        case 5: swap(&groups, &self.groups[index])
        case 6: groups[id: id]?.elements = keyeds[pick(keyeds.count)]
        default: if groups.contains(id: id) { try unwrapped(&groups[id: id]) { try $0.edit(&$1.elements) } }
        }
    }

    private mutating func edit(_ keyed: inout Keyed<OracleElement>) throws {
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
            switch pick(5) {
            case 0: order(&keyed)
            case 1: try keepOrPut(&keyed)
            case 2: addOrRemove(&keyed)
            default: try element(&keyed)
            }
            if chance(80) { throw OracleInterruption() }
        }
    }

    private mutating func addOrRemove(_ keyed: inout Keyed<OracleElement>) {
        switch pick(9) {
        case 0: keyed.append(OracleElement(id: id()))
        case 1: keyed.insert(OracleElement(id: id(), text: word()), at: pick(keyed.count + 1))
        case 2: keyed.updateOrAppend(elements[pick(elements.count)])
        case 3: keyed.remove(id: id())
        case 4: _ = keyed.popLast()
        case 5: if !keyed.isEmpty { keyed.remove(at: pick(keyed.count)) }
        case 6: if chance(4) { keyed.removeAll() } else { keyed.append(OracleElement(id: id(), text: word())) }
        case 7: for _ in 0..<3 { keyed.append(OracleElement(id: id())) }
        default: keyed.removeAll { $0.text.isEmpty }
        }
    }

    private mutating func order(_ keyed: inout Keyed<OracleElement>) {
        switch pick(6) {
        case 0: keyed.sort { $0.id < $1.id }
        case 1: keyed.sort { $0.text > $1.text }
        case 2: keyed = Keyed(keyed.reversed())
        default: keyed.move(id: id(), to: pick(Swift.max(keyed.count, 1)))
        }
    }

    private mutating func keepOrPut(_ keyed: inout Keyed<OracleElement>) throws {
        let index = pick(keyeds.count)
        switch pick(8) {
        case 0, 1:
            if keyeds.count > 5 { keyeds.removeFirst() }
            keyeds.append(keyed)
        case 2: keyed = keyeds[index]
        case 3: swap(&keyed, &keyeds[index])
        case 4:
            var copy = keyed
            try element(&copy)
            if chance(2) { keyed = copy }
        case 5:
            let id = id()
            let word = word()
            keyeds[index][id: id]?.text += word
        case 6:
            let json = #"[{"id":"b","text":"merged"},{"id":"é"}]"#
            var reader = JSONReader([UInt8](json.utf8))
            try keyed._$merge(json: &reader)
        default: keyed = Keyed(keyed.shuffled(using: &generator))
        }
    }

    private mutating func element(_ keyed: inout Keyed<OracleElement>) throws {
        let id = id()
        let index = pick(elements.count)
        switch pick(12) {
        case 0: keyed[id: id]?.text = word()
        case 1: keyed[id: id]?.text += word()
        case 2: keyed[id: id]?.seen += 1
        case 3: if keyed.contains(id: id) { try unwrapped(&keyed[id: id]) { try $0.edit(&$1.inner) } }
        case 4: keyed[id: id]?.inner.clamped = small() * 2
        case 5: keyed[id: id]?.id = self.id()
        case 6:
            if elements.count > 6 { elements.removeFirst() }
            if let element = keyed[id: id] { elements.append(element) }
        case 7: keyed[id: id] = elements[index]
        case 8:
            let word = word()
            elements[index].text += word
        case 9: keyed[id: id] = nil
        case 10:
            var element = keyed[id: id] ?? elements[index]
            element.id = self.id()
            keyed.updateOrAppend(element)
        default: keyed[id: id] = OracleElement(id: id)
        }
    }

    // MARK: - Middles and inners

    private mutating func edit(_ middle: inout OracleMiddle) throws {
        let index = pick(middles.count)
        switch pick(15) {
        case 0: try edit(&middle.first)
        case 1: try edit(&middle.second)
        case 2: swap(&middle, &middles[index])
        case 3: middle = OracleMiddle()
        case 4:
            if middles.count > 4 { middles.removeFirst() }
            middles.append(middle)
        case 5: (middle.first, middle.second) = (middle.second, middle.first)
        case 6: middle.maybe = chance(2) ? nil : inners[pick(inners.count)]
        case 7: try unwrapped(&middle.maybe) { try $0.edit(&$1) }
        case 8: middle.maybe?.number += small()
        case 9: middle.text = word()
        case 10, 11: try edit(&middle.mode, depth: 2)
        case 12: if middle.maybeMode != nil { try unwrapped(&middle.maybeMode) { try $0.edit(&$1, depth: 1) } }
        case 13: (middle.mode, middle.maybeMode) = (middle.maybeMode ?? .idle, middle.mode)
        default: _ = try ChangeRecorder.record(&middle) { try edit(&$0.first) }
        }
    }

    mutating func edit(_ inner: inout OracleInner) throws {
        let index = pick(inners.count)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            switch pick(13) {
            case 0: inner.number = small()
            case 1: inner.number += chance(3) ? 0 : small()
            case 2: inner.text = word()
            case 3: inner.list.append(small())
            case 4: inner.clamped = small() * 2
            case 5: inner.clamped += small()
            case 6: inner.omitted = small()
            case 7: inner.seen += 1
            case 8: inner.real = chance(2) ? -0.0 : 0.0
            case 9: keepOrPut(&inner, index)
            case 10: swap(&inner, &inners[index])
            case 11: interrupted(&inner)
            default: inner = chance(2) ? OracleInner() : inners[index]
            }
            if chance(80) { throw OracleInterruption() }
        }
    }

    private mutating func keepOrPut(_ inner: inout OracleInner, _ index: Int) {
        switch pick(4) {
        case 0:
            if inners.count > 6 { inners.removeFirst() }
            inners.append(inner)
        case 1: put(inners[index], in: &inner)
        case 2:
            var copy = inner
            copy.text += word()
            if chance(2) { inner = copy }
        default: inners[index].number += 1
        }
    }

    /// Replaces a value from inside an access to it.
    private func put(_ value: OracleInner, in inner: inout OracleInner) {
        inner = value
    }

    /// Leaves an access by an error that the program itself catches.
    private mutating func interrupted(_ inner: inout OracleInner) {
        func write(_ list: inout [Int]) throws {
            list.append(7)
            throw OracleInterruption()
        }
        try? write(&inner.list)
    }

    /// Edits the value of an optional.
    ///
    /// From inside the edit, the optional may become nil or get another value.
    private mutating func unwrapped<Value>(
        _ optional: inout Value?,
        _ edit: (inout OracleProgram, inout Value) throws -> Void
    ) throws {
        guard var value = optional else { return }
        if chance(4) {
            optional = nil
            if chance(2) { optional = value }
            return
        }
        if chance(2) { optional = nil }
        try edit(&self, &value)
        optional = value
    }
}

// Owns random events of the test app: write, add, remove, move, replace, and transient changes.

import SeededRandom

enum TallyProgram {
    /// The elements' ids.
    ///
    /// Two of them are spellings of one text.
    static let ids = ["a", "b", "c", "d", "é", "e\u{301}"]

    /// Sets of paths.
    ///
    /// No path is within another one of its set.
    static let watches = [
        [""], ["/p/items"], ["/p/items/a"], ["/p/items/a/title"], ["/p/items", "/t"],
        ["/p/items/c/isOpen", "/p/items/e\u{301}", "/p/items/é"], ["/p/groups", "/p/mode"],
        ["/p/count"], ["/p/count", "/p/items/b"],
        ["/p/groups/1/items", "/p/mode/writing/text"], ["/p/groups/2", "/p/groups/1/items/a", "/p/mode/writing"],
    ]

    static func event(_ generator: inout SeededGenerator) -> String {
        guard Int.random(in: 0..<6, using: &generator) > 0 else { return quietEvent(&generator) }
        let id = ids.randomElement(using: &generator) ?? ""
        let position = Int.random(in: 0...4, using: &generator)
        switch Int.random(in: 0..<21, using: &generator) {
        case 0...3: return #"{"insert":{"id":"\#(id)","at":\#(position)}}"#
        case 4...5: return #"{"retitle":{"id":"\#(id)","title":"\#(position)"}}"#
        case 6...8: return #"{"drop":"\#(id)"}"#
        case 9: return #"{"open":"\#(id)"}"#
        case 10: return #"[{"drop":"\#(id)"},{"insert":{"id":"\#(id)","at":0}},{"add":1}]"#
        case 11: return #"{"move":{"id":"\#(id)","to":\#(position)}}"#
        case 12: return position == 0 ? #"{"insert":{"id":"m","at":0}}"# : #"{"retitle":{"id":"m","title":"x"}}"#
        case 13: return position == 0 ? #""idle""# : #"{"write":"\#(position)"}"#
        case 14: return #"{"add":\#(position)}"#
        default: return groupEvent(id: id, &generator)
        }
    }

    /// An event that has no log entry.
    static func quietEvent(_ generator: inout SeededGenerator) -> String {
        let id = ids.randomElement(using: &generator) ?? ""
        let position = Int.random(in: 0...4, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: return #"{"quietAdd":\#(position)}"#
        case 1: return #"{"quietInsert":{"id":"\#(id)","at":\#(position)}}"#
        case 2: return #"{"quietRetitle":{"id":"\#(id)","title":"\#(position)"}}"#
        case 3: return #"{"quietDrop":"\#(id)"}"#
        default: return #"{"select":\#(position)}"#
        }
    }

    private static func groupEvent(id: String, _ generator: inout SeededGenerator) -> String {
        let group = Int.random(in: 1...3, using: &generator)
        let position = Int.random(in: 0...2, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...1: return #"{"insertGroup":{"id":\#(group),"at":\#(position)}}"#
        case 2: return #"{"dropGroup":\#(group)}"#
        case 3: return #"{"moveGroup":{"id":\#(group),"to":\#(position)}}"#
        case 4...6: return #"{"insertIn":{"group":\#(group),"id":"\#(id)","at":\#(position)}}"#
        case 7: return #"{"retitleIn":{"group":\#(group),"id":"\#(id)","title":"\#(position)"}}"#
        case 8: return #"{"dropIn":{"group":\#(group),"id":"\#(id)"}}"#
        default: return #"{"moveIn":{"group":\#(group),"id":"\#(id)","to":\#(position)}}"#
        }
    }
}

import RivuletAccess
import Testing

@Suite struct AccessTests {
    @Test func `names are compared by their bytes, and a star is a name`() {
        let names: NameSet = ["add", "caf\u{E9}", "*"]
        #expect(names.contains("add") && names.contains("caf\u{E9}") && names.contains("*"))
        #expect(!names.contains("cafe\u{301}") && !names.contains("other") && !names.isAll)
        #expect(names.list == ["*", "add", "caf\u{E9}"])
        #expect(NameSet.all.contains("x") && NameSet.all.list == nil && !NameSet.all.isEmpty)
        #expect(!NameSet.none.contains("") && NameSet.none.isEmpty && NameSet([]) == .none)
    }

    @Test func `sets of names have unions and intersections`() {
        let (left, right): (NameSet, NameSet) = (["a", "b"], ["b", "c"])
        #expect(left.union(right) == ["a", "b", "c"])
        #expect(left.intersection(right) == ["b"])
        #expect(left.union(.all) == .all && NameSet.all.union(left) == .all)
        #expect(left.intersection(.all) == left && NameSet.all.intersection(left) == left)
        #expect(left.intersection(.none) == .none && left.union(.none) == left)
    }

    @Test func `the name of a set of names is that of its names`() {
        #expect(NameSet(["a", "b"]).maskName == NameSet(["b", "a", "b"]).maskName)
        #expect(Set([NameSet(["a", "b"]), ["ab"], ["a"], .none, .all].map(\.maskName)).count == 5)
        #expect(NameSet.all.maskName.isEmpty && NameSet.none.maskName.utf8.count == 13)
    }

    @Test func `an access allows its actions, events and views`() {
        var access = Access(actions: [.dispatch], events: ["add"])
        #expect(access.allows(event: "add") && !access.allows(event: "remove") && !access.allows(view: "v"))
        access.actions = [.read]
        #expect(!access.allows(event: "add") && access.allows(view: "v"))
        #expect(Access.all.allows(event: "x") && Access.all.allows(view: "x") && !Access.all.allows(.operate))
        #expect(!Access.none.allows(event: "x") && Access.none.reads.isNone && Access.none.history.isNone)
    }
}

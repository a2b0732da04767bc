// This file owns the test that property observers behave the same in an observable value and in a plain struct.

import RivuletObservation
import Testing

@Suite
struct ObserverShapesTests {
    /// The result of a program: every field, and the log of the observers in order.
    private struct Outcome: Equatable {
        var fields: [String]
        var log: [String]
    }

    private typealias Program = @Sendable (inout any ObserverShapes) -> Void

    private static let programs: [(name: String, program: Program)] = [
        ("count whole", { $0.count = 1 }),
        ("count larger", { $0.count = 9 }),
        ("count in place", { $0.count += 2 }),
        ("level whole", { $0.level = 1 }),
        ("level larger", { $0.level = 9 }),
        ("level in place", { $0.level += 2 }),
        ("item whole", { $0.item = 1 }),
        ("item larger", { $0.item = 9 }),
        ("item in place", { $0.item += 2 }),
        ("phase whole", { $0.phase = 1 }),
        ("phase larger", { $0.phase = 9 }),
        ("phase in place", { $0.phase += 2 }),
        ("total whole", { $0.total = 1 }),
        ("total larger", { $0.total = 9 }),
        ("total in place", { $0.total += 2 }),
        ("number whole", { $0.number = 1 }),
        ("number larger", { $0.number = 9 }),
        ("number in place", { $0.number += 2 }),
        ("clash whole", { $0.clash = 1 }),
        ("clash larger", { $0.clash = 9 }),
        ("clash in place", { $0.clash += 2 }),
        ("oldValue whole", { $0.oldValue = 1 }),
        ("oldValue larger", { $0.oldValue = 9 }),
        ("oldValue in place", { $0.oldValue += 2 }),
        ("newValue whole", { $0.newValue = 1 }),
        ("newValue larger", { $0.newValue = 9 }),
        ("newValue in place", { $0.newValue += 2 }),
        ("deep whole", { $0.deep = 1 }),
        ("deep larger", { $0.deep = 9 }),
        ("deep in place", { $0.deep += 2 }),
        ("called whole", { $0.called = 1 }),
        ("called larger", { $0.called = 9 }),
        ("called in place", { $0.called += 2 }),
        ("deferred whole", { $0.deferred = 1 }),
        ("deferred larger", { $0.deferred = 9 }),
        ("deferred in place", { $0.deferred += 2 }),
        ("stepped whole", { $0.stepped = 1 }),
        ("stepped larger", { $0.stepped = 9 }),
        ("stepped in place", { $0.stepped += 2 }),
        ("keyed whole", { $0.keyed = 1 }),
        ("keyed larger", { $0.keyed = 9 }),
        ("keyed in place", { $0.keyed += 2 }),
        ("accessed whole", { $0.accessed = 1 }),
        ("accessed larger", { $0.accessed = 9 }),
        ("accessed in place", { $0.accessed += 2 }),
        ("copied whole", { $0.copied = 1 }),
        ("copied larger", { $0.copied = 9 }),
        ("copied in place", { $0.copied += 2 }),
        ("pair whole", { $0.pair = 1 }),
        ("pair larger", { $0.pair = 9 }),
        ("pair in place", { $0.pair += 2 }),
        ("swapped whole", { $0.swapped = 1 }),
        ("swapped larger", { $0.swapped = 9 }),
        ("swapped in place", { $0.swapped += 2 }),
        ("scoped whole", { $0.scoped = 1 }),
        ("scoped larger", { $0.scoped = 9 }),
        ("scoped in place", { $0.scoped += 2 }),
        ("wrapped whole", { $0.wrapped = 1 }),
        ("wrapped larger", { $0.wrapped = 9 }),
        ("wrapped in place", { $0.wrapped += 2 }),
        ("captured whole", { $0.captured = 1 }),
        ("captured larger", { $0.captured = 9 }),
        ("captured in place", { $0.captured += 2 }),
        ("chosen whole", { $0.chosen = 1 }),
        ("chosen larger", { $0.chosen = 9 }),
        ("chosen in place", { $0.chosen += 2 }),
        ("`default` whole", { $0.`default` = 1 }),
        ("`default` larger", { $0.`default` = 9 }),
        ("`default` in place", { $0.`default` += 2 }),
        ("sequence whole", { $0.sequence = 1 }),
        ("sequence larger", { $0.sequence = 9 }),
        ("sequence in place", { $0.sequence += 2 }),
        ("thrown whole", { $0.thrown = 1 }),
        ("thrown larger", { $0.thrown = 9 }),
        ("thrown in place", { $0.thrown += 2 }),
        ("maybe whole", { $0.maybe = 4 }),
        (
            "maybe in place",
            {
                $0.maybe = 1; $0.maybe? += 1
            }
        ),
        ("guarded whole", { $0.guarded = 4 }),
        (
            "guarded in place",
            {
                $0.guarded = 1; $0.guarded? += 1
            }
        ),
        ("name whole", { $0.name = "Abcdef" }),
        ("name in place", { $0.name += "Xyz" }),
        ("error whole", { $0.error = "Abcdef" }),
        ("error in place", { $0.error += "Xyz" }),
        ("text whole", { $0.text = "Abcdef" }),
        ("text in place", { $0.text += "Xyz" }),
        ("label whole", { $0.label = "Abcdef" }),
        ("label in place", { $0.label += "Xyz" }),
        ("items whole", { $0.items = [5, 6] }),
        ("items in place", { $0.items.append(4) }),
        ("compared whole", { $0.compared = [5, 6] }),
        ("compared in place", { $0.compared.append(4) }),
        ("queue whole", { $0.queue = [5, 6] }),
        ("queue in place", { $0.queue.append(4) }),
        ("inner whole", { $0.inner = Inner() }),
        (
            "inner in place",
            {
                $0.inner = Inner(); $0.inner?.value += 1
            }
        ),
        ("inPlace whole", { $0.inPlace = Inner(value: 4) }),
        ("inPlace in place", { $0.inPlace.value += 4 }),
        ("step", { $0.step() }),
    ]

    private func outcome(of shapes: some ObserverShapes, after program: Program) -> Outcome {
        var shapes: any ObserverShapes = shapes
        program(&shapes)
        let fields = [
            "name \(shapes.name as Any)",
            "maybe \(shapes.maybe as Any)",
            "count \(shapes.count as Any)",
            "level \(shapes.level as Any)",
            "item \(shapes.item as Any)",
            "phase \(shapes.phase as Any)",
            "guarded \(shapes.guarded as Any)",
            "total \(shapes.total as Any)",
            "number \(shapes.number as Any)",
            "clash \(shapes.clash as Any)",
            "error \(shapes.error as Any)",
            "oldValue \(shapes.oldValue as Any)",
            "newValue \(shapes.newValue as Any)",
            "items \(shapes.items as Any)",
            "compared \(shapes.compared as Any)",
            "deep \(shapes.deep as Any)",
            "called \(shapes.called as Any)",
            "deferred \(shapes.deferred as Any)",
            "stepped \(shapes.stepped as Any)",
            "keyed \(shapes.keyed as Any)",
            "accessed \(shapes.accessed as Any)",
            "copied \(shapes.copied as Any)",
            "pair \(shapes.pair as Any)",
            "swapped \(shapes.swapped as Any)",
            "text \(shapes.text as Any)",
            "scoped \(shapes.scoped as Any)",
            "queue \(shapes.queue as Any)",
            "wrapped \(shapes.wrapped as Any)",
            "captured \(shapes.captured as Any)",
            "chosen \(shapes.chosen as Any)",
            "label \(shapes.label as Any)",
            "inner \(shapes.inner as Any)",
            "inPlace \(shapes.inPlace as Any)",
            "default \(shapes.`default` as Any)",
            "sequence \(shapes.sequence as Any)",
            "thrown \(shapes.thrown as Any)",
        ]
        return Outcome(fields: fields, log: shapes.log)
    }

    @Test(arguments: programs.indices)
    func `property observers behave like those of a plain struct`(index: Int) {
        let (name, program) = Self.programs[index]
        let plain = outcome(of: PlainShapes(), after: program)
        let observed = outcome(of: ObservedShapes(), after: program)
        #expect(observed == plain, "\(name)")
        #expect(plain != outcome(of: PlainShapes(), after: { _ in }), "\(name) does something")
    }
}

@ObservableValue
struct Begun {
    @Ignoring var log: [String] = []
    var level: Int {
        didSet { log.append("did \(oldValue)") }
    }

    init(level: Int) {
        self.level = level
    }

    init(twice level: Int) {
        self.level = level
        self.level = level + 1
    }
}

extension ObserverShapesTests {
    @Test
    func `the first write of an initialiser runs no observer, and a later one does`() {
        #expect(Begun(level: 1).log == [])
        // A plain struct runs no observer here. A setter that a macro generates cannot know that an initialiser calls
        // it.
        #expect(Begun(twice: 1).log == ["did 1"])
    }
}

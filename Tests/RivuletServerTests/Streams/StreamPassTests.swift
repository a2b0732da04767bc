// Checks that a pass visits each stream once, in steps, and that a change during a pass causes one more pass.

import RivuletEventLoop
import Testing

@testable import RivuletServer

@Suite struct StreamPassTests {
    private static func ids(_ range: Range<UInt32>) -> [ConnectionID] {
        range.map { ConnectionID(slot: $0, generation: 1) }
    }

    /// The numbers of streams in the steps until no pass is due, and all visited streams.
    private static func run(_ pass: inout StreamPass, over ids: [ConnectionID]) -> (steps: [Int], ids: [ConnectionID]) {
        var (steps, visited) = ([Int](), [ConnectionID]())
        while true {
            let next = pass.next { ids }
            steps.append(next.count)
            visited += next
            guard !next.isEmpty || pass.isDue else { return (steps, visited) }
        }
    }

    @Test(arguments: [
        (0, [0]), (1, [1, 0]), (255, [255, 0]), (256, [256, 0]), (257, [256, 1, 0]), (1_000, [256, 256, 256, 232, 0]),
    ])
    func `a pass visits every stream once, a limited number in each step`(count: Int, steps: [Int]) {
        var pass = StreamPass()
        let begins = pass.change()
        let ids = Self.ids(0..<UInt32(count))
        let run = Self.run(&pass, over: ids)
        #expect(begins && run.steps == steps && run.ids == ids)
        #expect(!pass.isDue)
    }

    @Test func `any number of changes during a pass causes one more pass, over the streams of that time`() {
        var pass = StreamPass()
        var begins = [pass.change()]
        var visited = Array(pass.next { Self.ids(0..<300) })
        for _ in 0..<1_000 { begins.append(pass.change()) }
        let rest = Self.run(&pass, over: Self.ids(200..<260))
        visited += rest.ids
        #expect(begins.count { $0 } == 1)
        #expect(visited == Self.ids(0..<300) + Self.ids(200..<260))
        #expect(rest.steps == [44, 0, 60, 0])
        let beginsAgain = pass.change()
        #expect(beginsAgain)
    }

    @Test func `no change, no pass`() {
        var pass = StreamPass()
        #expect(!pass.isDue)
        #expect(pass.next { Self.ids(0..<9) }.isEmpty)
    }
}

// Tests the queue of objects.

import Testing

@testable import RivuletSessions

@Suite struct ObjectQueueTests {
    private final class Ticket {
        let number: Int

        init(_ number: Int) {
            self.number = number
        }
    }

    @Test func `objects leave in the order in which they came`() {
        var queue = ObjectQueue<Ticket>()
        for number in 0..<5 { queue.append(Ticket(number)) }
        #expect(queue.count == 5)
        #expect(queue.first?.number == 0)
        #expect(queue[3].number == 3)
        #expect((0..<5).map { _ in queue.popFirst()?.number } == [0, 1, 2, 3, 4])
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
        #expect(queue.first == nil)
    }

    @Test func `all objects are taken at once and let go`() {
        var queue = ObjectQueue<Ticket>()
        weak var last: Ticket?
        do {
            for number in 0..<3 { queue.append(Ticket(number)) }
            let taken = queue.takeAll()
            last = taken.last
            #expect(taken.map(\.number) == [0, 1, 2])
        }
        #expect(queue.isEmpty)
        #expect(last == nil)
    }
}

// Owns the tests of subscribing, sending and unsubscribing.

import FoundationEssentials
import RivuletObjects
import Testing

@Suite struct ObservableObjectPublisherTests {
    @Test func `C-01: send calls each subscriber before it returns, and none after all are removed`() {
        let publisher = ObservableObjectPublisher()
        let log = Log<Int>()
        let first = publisher.subscribe { log.add(1) }
        publisher.subscribe { log.add(2) }
        publisher.send()
        #expect(log.entries == [1, 2])
        publisher.unsubscribe(first)
        publisher.send()
        #expect(log.entries == [1, 2, 2])
        publisher.removeAllSubscribers()
        publisher.send()
        #expect(log.entries == [1, 2, 2])
    }

    @Test func `C-02: each current subscriber is called once, in the order of subscription`() {
        let publisher = ObservableObjectPublisher()
        let log = Log<Int>()
        for number in 0..<100 { publisher.subscribe { log.add(number) } }
        publisher.send()
        #expect(log.entries == Array(0..<100))
    }

    @Test func `C-02: a subscriber that is added inside a callback is called from the next send on`() {
        let publisher = ObservableObjectPublisher()
        let log = Log<String>()
        publisher.subscribe { [weak publisher] in
            log.add("outer")
            publisher?.subscribe { log.add("inner") }
        }
        publisher.send()
        #expect(log.entries == ["outer"])
        publisher.send()
        #expect(log.entries == ["outer", "outer", "inner"])
    }

    @Test func `C-02: a subscriber that is removed inside a callback is still called by this send`() {
        let publisher = ObservableObjectPublisher()
        let log = Log<String>()
        let ids = Log<UUID>()
        publisher.subscribe { [weak publisher] in
            log.add("first")
            for id in ids.entries { publisher?.unsubscribe(id) }
        }
        ids.add(publisher.subscribe { log.add("second") })
        publisher.send()
        publisher.send()
        #expect(log.entries == ["first", "second", "first"])
    }

    @Test func `C-03: ids are never used again, and an unknown id removes nothing`() {
        let publisher = ObservableObjectPublisher()
        let log = Log<Int>()
        let ids = (0..<100).map { number in publisher.subscribe { log.add(number) } }
        #expect(Set(ids).count == 100)
        publisher.unsubscribe(UUID())
        publisher.unsubscribe(ids[0])
        publisher.unsubscribe(ids[0])
        publisher.send()
        #expect(log.entries == Array(1..<100))
    }

    @Test func `an unsubscribed callback is freed with its captures, even if their deinit calls the publisher`() {
        final class Ending: Sendable {
            let publisher: ObservableObjectPublisher
            let log: Log<String>
            init(_ publisher: ObservableObjectPublisher, _ log: Log<String>) {
                self.publisher = publisher
                self.log = log
            }
            deinit {
                publisher.removeAllSubscribers()
                log.add("freed")
            }
        }
        let publisher = ObservableObjectPublisher()
        let log = Log<String>()
        func subscribe() -> UUID {
            let ending = Ending(publisher, log)
            return publisher.subscribe { withExtendedLifetime(ending) {} }
        }
        publisher.unsubscribe(subscribe())
        #expect(log.entries == ["freed"])
        _ = subscribe()
        publisher.removeAllSubscribers()
        #expect(log.entries == ["freed", "freed"])
    }
}

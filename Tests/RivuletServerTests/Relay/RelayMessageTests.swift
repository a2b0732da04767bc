// Checks the bytes of messages between nodes: what is written is read again, and no bytes are read in a wrong way.

import RivuletBase
import RivuletEventLoop
import RivuletJSON
import RivuletSessions
import RivuletStores
import SeededRandom
import Testing

@testable import RivuletServer

@Suite struct RelayMessageTests {
    private let account = SharedBytes.Account()

    private static func topic(_ random: inout SeededGenerator) -> RelayTopic {
        let isShared = Int.random(in: 0..<4, using: &random) == 0
        let flag = { (random: inout SeededGenerator) in Bool.random(using: &random) }
        let text = { (random: inout SeededGenerator) in
            Bool.random(using: &random) ? "aaaaaaaa.\(UInt8.random(in: 0...255, using: &random)).bbbb-0" : nil
        }
        let paths = (0..<Int.random(in: 0..<4, using: &random)).map { JSONPointer(tokens: ["p", "ä/~\($0)"]) }
        let topic = StreamTopic(
            view: flag(&random) ? "plan" : nil,
            paths: paths,
            format: StreamFormat.allCases.randomElement(using: &random) ?? .changes,
            interval: flag(&random) ? .milliseconds(Int.random(in: 1...60_000, using: &random)) : nil,
            isRepathed: flag(&random)
        )
        var subscription = StreamSubscription(
            stream: StreamID(loop: 0, connection: 0),
            source: isShared
                ? .shared(SharedName("tally", flag(&random) ? .store : .value, "tags"))
                : .session(SessionKey(app: "tally", id: "s"), topic),
            resume: text(&random)
        )
        subscription.stood = text(&random)
        subscription.reason = ResetReason.allCases.randomElement(using: &random)
        subscription.resumesAll = flag(&random)
        subscription.isMasked = flag(&random)
        subscription.isOpen = flag(&random)
        return RelayTopic(subscription)
    }

    private static func requests(_ random: inout SeededGenerator) -> RelayMessage {
        let requests = (0..<Int.random(in: 0..<5, using: &random)).map { _ -> RelayRequest in
            guard Bool.random(using: &random) else {
                return .ask(number: random.next(), topic(&random))
            }
            let group = GroupID(rawValue: random.next())
            return .leave(RelaySource(topic(&random).source), group, count: Int.random(in: 0...9_999, using: &random))
        }
        return .requests(
            RelayRequestMessage(
                channel: random.next(),
                target: random.next(),
                number: random.next(),
                taken: random.next(),
                asksForLast: Bool.random(using: &random),
                loop: Int.random(in: 0..<65_536, using: &random),
                requests: requests
            )
        )
    }

    @Test func `each message is read as it was written`() throws {
        var random = SeededGenerator(seed: 1)
        var messages: [RelayMessage] = [
            .events(channel: 1, number: .max, isLast: true, [1, 2, 3]),
            .events(channel: .max, number: 1, isLast: false, []),
            .closed(channel: 128), .last(channel: 3, number: 16_384),
        ]
        for _ in 0..<500 { messages.append(Self.requests(&random)) }
        for message in messages {
            let bytes = message.bytes
            #expect(try RelayMessage(bytes) == message)
            #expect((1...31).contains(bytes[0]))
            #expect(bytes[1] == 1)
        }
    }

    @Test func `a cut or longer message is refused`() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<50 {
            let bytes = Self.requests(&random).bytes
            for count in bytes.indices {
                #expect(throws: RelayError.self) { try RelayMessage(Array(bytes[..<count])) }
            }
            #expect(throws: RelayError.self) { try RelayMessage(bytes + [0]) }
        }
    }

    @Test func `a newer version and an unknown kind are refused with the remedy`() {
        for bytes: [UInt8] in [[3, 2, 1], [31, 1, 1]] {
            do throws(RelayError) {
                _ = try RelayMessage(bytes)
                Issue.record("\(bytes) were read")
            } catch {
                #expect(error.detail.hasSuffix("upgrade the node"))
            }
        }
    }

    @Test func `changed bytes are refused or read, and never stop the process`() throws {
        var random = SeededGenerator(seed: 3)
        for round in 0..<5_000 {
            var bytes =
                round % 3 == 0
                ? (0..<Int.random(in: 0..<64, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
                : round % 3 == 1 ? Self.requests(&random).bytes : try batch()
            for _ in 0..<Int.random(in: 1..<4, using: &random) where !bytes.isEmpty {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = try? RelayMessage(bytes)
            _ = try? RelayBatch(bytes, account: account)
        }
        #expect(account.bytes == 0)
    }

    // MARK: - Batches

    private func events() -> [(loop: Int, event: RelayEvent)] {
        let block = StreamBlock(Array("id: c1\ndata: 1\n\n".utf8).span)
        let text = StreamText(Array("\"values\":{}}\n\n".utf8), account: account)
        let change = StreamText(Array("data: 2\n\n".utf8), account: account)
        let fresh = FirstEvents(head: Array("data: {".utf8), body: [text, change], start: .fresh)
        let refusals: [StreamError] = [
            .session(.gone), .session(.full), .session(.failed(.draining)),
            .session(.failed(.notFound(SessionKey(app: "tally", id: "s")))),
            .session(.failed(.unreadable(SessionKey(app: "tally", id: "s"), detail: "d"))),
            .shared(.store(.busy(detail: "b"))), .shared(.fault("f")), .tooLarge(bytes: 2, bytesMax: 1),
        ]
        return [
            (0, .join(ask: 1, .group(GroupID(rawValue: 7)), fresh, cursor: "c0")),
            (0, .join(ask: 2, .waiting, fresh, cursor: "c0")),
            (3, .join(ask: 1, .more, FirstEvents(head: [], body: [change], start: .all), cursor: "c0")),
            (0, .deliver(block, cursor: "c1", GroupID(rawValue: 7))),
            (3, .deliver(block, cursor: "c1", GroupID(rawValue: 8))),
            (0, .end(GroupID(rawValue: 7), .deleted)),
        ] + refusals.map { (0, .refuse(ask: 9, RelayRefusal($0))) }
    }

    private func batch() throws -> [UInt8] {
        var batch = RelayBatchWriter()
        for (loop, event) in events() { batch.add(event, for: loop) }
        return batch.bytes
    }

    private func describe(_ event: RelayEvent) -> String {
        let text = { (shared: SharedBytes) -> String in
            var bytes: [UInt8] = []
            shared.append(to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        }
        switch event {
        case .join(let ask, let slot, let first, let cursor):
            let body = first.body.map { text($0.plain) }
            let head = String(decoding: first.head, as: UTF8.self)
            return "join \(ask) \(slot) \(head) \(body) \(first.start.value) \(cursor)"
        case .deliver(let block, let cursor, let group):
            return "deliver \(text(block.bytes(isChunked: false))) \(cursor) \(group)"
        case .end(let group, let reason): return "end \(group) \(reason)"
        case .refuse(let ask, let refusal): return "refuse \(ask) \(refusal)"
        }
    }

    @Test func `a batch is read by loops, in order`() throws {
        let read = try RelayBatch(try batch(), account: account)
        for loop in [0, 3] {
            let expected = events().filter { $0.loop == loop }.map { describe($0.event) }
            #expect(read.events[loop, default: []].map(describe) == expected)
        }
        #expect(read.events.count == 2)
    }

    @Test func `bytes that several events share are written once and kept once`() throws {
        let one = StreamText([UInt8](repeating: 65, count: 10_000), account: account)
        let first = FirstEvents(head: [1], body: [one], start: .fresh)
        var batch = RelayBatchWriter()
        for ask in 1...100 { batch.add(.join(ask: UInt64(ask), .waiting, first, cursor: "c"), for: 0) }
        #expect(batch.bytes.count < 12_000)
        let read = try RelayBatch(batch.bytes, account: account)
        let texts = read.events[0, default: []].compactMap { event -> ObjectIdentifier? in
            guard case .join(_, _, let first, _) = event else { return nil }
            return first.body.first.map { ObjectIdentifier($0) }
        }
        #expect(texts.count == 100)
        #expect(Set(texts).count == 1)
    }

    @Test func `a refusal has the same answer on the stream's node`() throws {
        let hidden = SessionError.unreadable(SessionKey(app: "tally", id: "s"), detail: "secret")
        let errors: [StreamError] = [
            .session(.failed(hidden)), .session(.full), .session(.gone), .tooLarge(bytes: 2, bytesMax: 1),
        ]
        for error in errors {
            let relayed = StreamError.relayed(RelayRefusal(error))
            #expect(relayed.end == error.end)
            switch (error.answer, relayed.answer) {
            case (.bye(let one), .bye(let other)): #expect(one == other)
            case (.response(let one), .response(let other)):
                #expect(one.status == other.status)
                #expect(one.pendingProblem?.problem.json == other.pendingProblem?.problem.json)
                #expect((one.pendingProblem?.cause == nil) == (other.pendingProblem?.cause == nil))
            default: Issue.record("\(error)")
            }
        }
        #expect(RelayRefusal(.session(.full)).isPassing)
        #expect(!RelayRefusal(.session(.gone)).isPassing)
    }
}

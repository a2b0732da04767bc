// Checks with random programs that every dispatch is answered once, and that a session's counters return to zero.

import CounterFixture
import RivuletEngine
import RivuletJSON
import Testing

@testable import RivuletSessions

@Suite struct SessionAccountsTests {
    /// Pseudorandom numbers that depend only on a seed.
    private struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    /// Clients that send without pause, some of them from within an answer.
    private final class Clients {
        let harness: SessionHarness
        var dice: Dice
        /// The number of answers to each request.
        var answers: [Int] = []
        var known: [Cursor] = []
        var sessions: [Session] = []
        var failures = 0
        private var keys = 0

        init(seed: UInt64) throws {
            harness = try SessionHarness()
            dice = Dice(state: seed)
        }

        private static let bodies = [
            #"{"add":1}"#, #"{"add":500}"#, #"[{"add":1},{"rename":""}]"#, #"{"rename":""}"#, #""peek""#,
            #"{"quietAdd":1}"#,
            #"{"note":"x"}"#, #""nothing""#, #"{"chain":2}"#, #""blowUp""#, "{", #"{"mark":3}"#,
            #"[{"mark":1},{"peek":{}}]"#,
        ]

        func send(depth: Int = 0) {
            let number = answers.count
            answers.append(0)
            let roll = Int.random(in: 0..<100, using: &dice)
            let strict = Bool.random(using: &dice)
            let expected = roll < 10 ? known.randomElement(using: &dice).map { [$0] } ?? [] : []
            let request: DispatchRequest =
                roll == 50
                ? DispatchRequest(.restored(version: 1))
                : roll == 51
                    ? DispatchRequest(.reset)
                    : DispatchRequest(
                        body: Array((Self.bodies.randomElement(using: &dice) ?? "").utf8),
                        expected: expected,
                        isStrict: strict
                    )
            let isKeyed = roll > 85
            let again = roll % 7 == 0 && depth < 3
            harness.shard.find(harness.key, of: harness.app) { [self] found in
                guard case .success(let session) = found else {
                    answers[number] += 1
                    return
                }
                if !sessions.contains(where: { $0 === session }) { sessions.append(session) }
                if isKeyed {
                    keys += 1
                    let reservation = IdempotencyReservation(key: "k\(keys / 2)", fingerprint: request.body) {
                        Array("\($0.cursor)".utf8)
                    }
                    session.dispatch(request, once: reservation) { [self] answer in
                        answers[number] += 1
                        if case .failure = answer { failures += 1 }
                        if again { send(depth: depth + 1) }
                    }
                } else {
                    session.dispatch(request) { [self] answer in
                        answers[number] += 1
                        if case .success(let answer) = answer { known.append(answer.cursor) } else { failures += 1 }
                        if again { send(depth: depth + 1) }
                    }
                }
            }
        }

        func step() {
            switch Int.random(in: 0..<40, using: &dice) {
            case 0: harness.storage.hold()
            case 1...2: harness.storage.release()
            case 3: harness.storage.failNext(.unavailable(detail: "test"))
            case 4: harness.storage.doubtNext(isWritten: Bool.random(using: &dice))
            case 5: harness.shard.evict(idleFor: .zero)
            case 6:
                harness.shard.find(harness.key, of: harness.app) { found in
                    if case .success(let session) = found { session.delete { _ in } }
                }
            case 7...14: harness.executor.runPosted()
            default: send()
            }
        }

        func settle() throws {
            harness.storage.release()
            for _ in 0..<200 {
                harness.executor.runPosted()
                harness.storage.release()
                if answers.allSatisfy({ $0 > 0 }), sessions.allSatisfy({ $0.machine.isRetired || $0.isQuiet }) {
                    return
                }
                try ask()
            }
        }

        private func ask() throws { _ = try harness.ask { harness.storage.lifecycle.probe(reply: $0) } }
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func `each dispatch is answered once, and the counters return to zero`(
        seed: UInt64
    ) throws {
        let clients = try Clients(seed: seed)
        for _ in 0..<200 { clients.step() }
        try clients.settle()
        #expect(clients.answers.allSatisfy { $0 == 1 }, "\(clients.answers)")
        for session in clients.sessions {
            #expect(session.machine.waitingBytes == 0)
            #expect(session.machine.pendingBytes == 0)
            #expect(session.machine.isHeadVisible && !session.machine.hasQueued)
            #expect(session.machine.effectsToCome == 0)
            if session.machine.isRetired {
                #expect(session.accountedBytes == 0)
            } else {
                #expect(session.isQuiet)
                #expect(session.machine.head === session.standing.state)
                #expect(session.accountedBytes == session.memoryBytes)
            }
        }
        let live = clients.sessions.filter { !$0.machine.isRetired }
        #expect(
            clients.harness.shard.residentBytes == live.reduce(0) { $0 + $1.accountedBytes }
                + clients.harness.shard.passivated.bytes
        )
    }
}

// Checks the definition of a body's progress.

import RivuletEventLoop
import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct BodiesUnderWayTests {
    private static let request = AdmittedRequest(route: .apps, permit: .everything)

    private let id = ConnectionID(slot: 0, generation: 1)

    /// The bodies at 0 ms.
    ///
    /// One of them has 10,000 bytes.
    private func begun() -> BodiesUnderWay {
        var bodies = BodiesUnderWay()
        bodies.begin(id, BodiesUnderWay.Body(Self.request, .length(10_000), now: 0))
        return bodies
    }

    private func receive(_ count: Int, at now: UInt64, _ bodies: inout BodiesUnderWay) {
        #expect(bodies.didReceive(id, count, bytesMax: 10_000, progressBytesMin: 1_000, now: now) == 0)
    }

    @Test func `single bytes are no progress`() {
        var bodies = begun()
        for count in 1..<1_000 { receive(count, at: UInt64(count), &bodies) }
        #expect(bodies.stalled(.small, since: 0) == [id])
    }

    @Test func `bytes at the required rate are progress, in one piece or in several`() {
        var bodies = begun()
        receive(400, at: 100, &bodies)
        receive(1_000, at: 900, &bodies)
        #expect(bodies.stalled(.small, since: 899) == [])
        #expect(bodies.stalled(.small, since: 900) == [id])
        receive(1_999, at: 1_000, &bodies)
        #expect(bodies.stalled(.small, since: 900) == [id])
        receive(3_000, at: 1_100, &bodies)
        #expect(bodies.stalled(.small, since: 1_099) == [])
    }

    @Test func `stalled bodies are in the order of their last progress, the oldest first`() {
        var bodies = BodiesUnderWay()
        let ids = (0..<8).map { ConnectionID(slot: $0, generation: 1) }
        for (index, id) in ids.enumerated() {
            bodies.begin(id, BodiesUnderWay.Body(Self.request, .length(10_000), now: UInt64((index * 5) % 8)))
        }
        let order = ids.indices.sorted { ($0 * 5) % 8 < ($1 * 5) % 8 }.map { ids[$0] }
        #expect(order != ids && bodies.stalled(.small, since: 7) == order)
        #expect(bodies.stalled(.small, since: 3) == Array(order.prefix(4)))
    }
}

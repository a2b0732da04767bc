import RivuletCluster
import RivuletSessions
import RivuletStores
import Testing

@Suite struct OutcomeHashTests {
    private static let head = SessionHead(epoch: "k3v9x0qa", version: 300, token: 7)
    private static let excess = QuotaExcess(app: "a", scope: .app, measure: .bytes, limit: 5)
    private static let outcomes: [OperationOutcome] = [
        .created(.created(head)), .created(.exists(head)), .appended(.committed(head)), .appended(.conflict),
        .compacted(.compacted(head, retained: RetainedLog(from: 2, since: nil))),
        .compacted(.compacted(head, retained: RetainedLog(from: 2, since: 3, bytes: 4))), .compacted(.conflict),
        .deleted(true), .deleted(false), .items(nil), .items(.tooMany(limit: 3)), .items(.tooMany(limit: 4)),
        .items(.tooLarge(limitBytes: 3)), .refused(excess),
        .refused(QuotaExcess(app: "a", scope: .owner, measure: .bytes, limit: 5)),
    ]

    @Test func `the hash is the same in every process`() {
        var hash = OutcomeHash()
        hash.add(Self.outcomes)
        #expect(hash.value == 11_096_863_434_195_321_736)
    }

    @Test func `each outcome has another hash, and their order counts`() {
        let hashes = Set(Self.outcomes.map { Self.hash([$0]) })
        #expect(hashes.count == Self.outcomes.count)
        #expect(Self.hash([.deleted(true), .deleted(false)]) != Self.hash([.deleted(false), .deleted(true)]))
        #expect(Self.hash([.items(nil)]) != Self.hash([.items(nil), .items(nil)]))
    }

    @Test func `tokens, texts of errors, and operations without an outcome do not count`() {
        let other = SessionHead(epoch: Self.head.epoch, version: Self.head.version, token: 8)
        #expect(Self.hash([.created(.created(Self.head))]) == Self.hash([.created(.created(other))]))
        #expect(Self.hash([.items(.full(detail: "/a"))]) == Self.hash([.items(.full(detail: "/b"))]))
        #expect(Self.hash([.none, .deleted(true), .none]) == Self.hash([.deleted(true)]))
        #expect(Self.hash([.none]) == 0)
    }

    @Test func `a hash continues from its value`() {
        var continued = OutcomeHash(Self.hash([.deleted(true)]))
        continued.add(.items(nil))
        #expect(continued.value == Self.hash([.deleted(true), .items(nil)]))
    }

    private static func hash(_ outcomes: [OperationOutcome]) -> UInt64 {
        var hash = OutcomeHash()
        hash.add(outcomes)
        return hash.value
    }
}

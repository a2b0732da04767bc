import RivuletCluster
import RivuletSessions
import RivuletStores
import Testing

@Suite struct NodeRecordTests {
    @Test func `a record of a node is read as it was written`() throws {
        let record = NodeRecord(
            incarnation: .max,
            build: "1.2 \"x\"",
            schemas: ["votes": 2, "counter": 1],
            leaseSeconds: 10,
            state: .draining
        )
        #expect(
            String(decoding: record.bytes, as: UTF8.self)
                == #"{"incarnation":"ffffffffffffffff","build":"1.2 \"x\"","schemas":{"counter":1,"votes":2},"#
                + #""lease_seconds":10,"state":"draining"}"#
        )
        #expect(try NodeRecord(bytes: record.bytes) == record)
    }

    @Test(arguments: ["", "{}", "[]", #"{"incarnation":"g","lease_seconds":10,"state":"live"}"#])
    func `bytes that are no record are refused`(text: String) {
        #expect(throws: (any Error).self) { try NodeRecord(bytes: Array(text.utf8)) }
    }

    @Test func `the place of a base is read as it was written`() throws {
        let record = BaseRecord(position: LogPosition(rawValue: 7), byteCount: 9)
        #expect(try BaseRecord(bytes: record.bytes) == record)
    }

    @Test func `an ownership is read as it was written`() throws {
        let claim = Claim(node: "a", incarnation: 3, build: "1", schemas: ["x": 1])
        for ownership in [
            PartitionOwnership.none, PartitionOwnership(claim: claim), PartitionOwnership(claim: claim, release: ""),
            PartitionOwnership(claim: claim, release: "b"),
        ] {
            #expect(try PartitionOwnership(bytes: ownership.bytes) == ownership)
        }
        #expect(try PartitionOwnership(bytes: []) == .none)
    }

    @Test func `a base has the ownership, and an incomplete base is refused`() throws {
        let position = ReplicaPosition(
            cluster: "c",
            position: LogPosition(rawValue: 9),
            link: FrameLink(number: 7, term: 2, hash: FrameHash(high: 1, low: 2)),
            outcomes: 11,
            ownership: PartitionOwnership(claim: Claim(node: "a", incarnation: 3, build: "1", schemas: [:]))
        )
        let item = StoredItem(key: "k", document: [1], created: 2, updated: 3)
        let export = ReplicaExport(
            position: position,
            operations: [[.items(collection: "x", [item])], [.items(collection: "y", [item, item])]]
        )
        let base = PartitionBase(export, of: .first, frameBytesMax: 1 << 10)
        #expect(try ReplicaExport(base, of: .first) == export)
        let short = PartitionBase(position: base.position, frames: base.frames.dropLast())
        #expect(throws: FrameError.self) { try ReplicaExport(short, of: .first) }
    }
}

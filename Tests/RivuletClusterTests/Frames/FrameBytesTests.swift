// Pins the bytes of frames, so that a change of the format is noticed: other nodes and old logs have these bytes.

import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores
import Testing

@Suite struct FrameBytesTests {
    private static let key = SessionKey(app: "n", id: "a")
    private static let snapshot = StateSnapshot(version: 2, schema: 1, state: [123, 125])
    private static let entry = LogEntry(
        version: 3,
        time: 1_000,
        commandID: "c",
        by: nil,
        event: [49],
        changes: [91, 93]
    )
    private static let record = IdempotencyRecord(id: "r", time: 7, fingerprint: [1], body: [2, 3])

    private static let header = "00030602" + "0000000000000001" + "0000000000000002" + "000000000000a1b2" + "026331"
    private static let whole = "52564c4601" + "00" + header + "00000004" + "07026e32" + "2804c924"
    private static let part = "52564c4601" + "01" + header + "ac02" + "64" + "020102" + "dde9b333"

    /// Each operation, and its bytes after the length.
    private static let operations: [(Operation, String)] = [
        (
            .create(key, epoch: "e", time: 1, snapshot: snapshot, owner: "o", quota: StorageQuota(bytesMax: 9)),
            "01016e0161016502010201027b7d01016f0001120000"
        ),
        (.create(key, epoch: "e", time: -1, snapshot: nil, owner: nil, quota: .none), "01016e0161016501000000000000"),
        (
            .append(
                key,
                at: .after(epoch: "e", version: 2),
                entries: [entry],
                answers: IdempotencyRecords([record], droppingBefore: 5),
                quota: .none
            ), "02016e0161000165020103d00f010163000131025b5d0101720e01010202030a00000000"
        ),
        (
            .append(
                key,
                at: .creating(epoch: "e", time: 1, snapshot: nil, owner: "o"),
                entries: [],
                answers: .none,
                quota: StorageQuota(sessionsMax: 1, bytesMax: 2, ownerSessionsMax: 3, ownerBytesMax: 4)
            ), "02016e0161010165020001016f0000ffffffffffffffffff010102010401060108"
        ),
        (
            .compact(
                key,
                epoch: "e",
                version: 2,
                snapshot: snapshot,
                keeping: LogKeeping(from: 1, since: 300, bytes: 64)
            ), "03016e01610165020201027b7d01d804018001"
        ),
        (.delete(key), "04016e0161"),
        (
            .items(
                collection: "l",
                changes: [.put(key: "k", document: [1]), .remove(key: "k"), .removeAll],
                time: 2,
                itemsMax: 100
            ), "05016c0300016b010101016b0204c801"
        ),
        (
            .claim(Claim(node: "n1", incarnation: 258, build: "b", schemas: ["z": 1, "a": 200])),
            "06026e3100000000000001020162020161c801017a01"
        ),
        (.release(to: "n2"), "07026e32"),
        (.checkpoint(outcomes: 0x0102_0304_0506_0708), "080102030405060708"),
        (.base(.session(key, epoch: "e", created: 1, owner: "o")), "10016e016101650201016f"),
        (.base(.snapshot(key, snapshot, time: 3)), "11016e01610201027b7d06"),
        (.base(.entries(key, [entry])), "12016e01610103d00f010163000131025b5d"),
        (.base(.answer(key, record)), "13016e016101720e0101020203"),
        (
            .base(.items(collection: "l", [StoredItem(key: "k", document: [1], created: 1, updated: 2)])),
            "14016c01016b01010204"
        ),
    ]

    @Test func `the bytes of a whole frame`() {
        #expect(Self.hex(FrameCodec.encode(FrameCodecTests.frame([.release(to: "n2")]))) == Self.whole)
    }

    @Test func `the bytes of a frame with a part`() {
        var frame = FrameCodecTests.frame([])
        frame.part = OperationPart(total: 300, offset: 100, bytes: [1, 2])
        #expect(Self.hex(FrameCodec.encode(frame)) == Self.part)
    }

    @Test func `the bytes of each kind of operation`() throws {
        let header = FrameCodec.encode(FrameCodecTests.frame([])).count - 4
        for (operation, bytes) in Self.operations {
            let frame = FrameCodec.encode(FrameCodecTests.frame([operation]))
            #expect(Self.hex(frame.dropFirst(header + 4).dropLast(4)) == bytes)
            #expect(try FrameCodec.decode(frame).operations == [operation])
        }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in String(byte >> 4, radix: 16) + String(byte & 15, radix: 16) }.joined()
    }
}

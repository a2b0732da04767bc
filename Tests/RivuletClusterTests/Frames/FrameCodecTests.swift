// Checks the bytes of frames: every frame comes back, and no bytes crash the codec.

import ClusterModels
import RivuletBase
import RivuletCluster
import RivuletSessions
import RivuletStores
import SeededRandom
import Testing

@Suite struct FrameCodecTests {
    @Test(arguments: 0..<8 as Range<UInt64>)
    func `a decoded frame is the encoded one, and has one form`(seed: UInt64) throws {
        var operations = RandomOperations(seed: seed)
        for _ in 0..<100 {
            let frame = operations.frame()
            let bytes = FrameCodec.encode(frame)
            let decoded = try FrameCodec.decode(bytes)
            #expect(decoded == frame)
            // Swift's `==` takes some texts with different bytes as equal.
            #expect(FrameCodec.encode(decoded) == bytes)
        }
    }

    @Test func `a frame that is cut at any byte is damaged`() throws {
        let bytes = FrameCodec.encode(Self.sample)
        for count in 0..<bytes.count { #expect(Self.isDamaged(Array(bytes.prefix(count))), "\(count)") }
        #expect(Self.isDamaged(bytes + [0]))
    }

    @Test func `a frame with any flipped bit is damaged`() throws {
        let bytes = FrameCodec.encode(Self.sample)
        for index in bytes.indices {
            for bit in 0..<8 as Range<UInt8> {
                var flipped = bytes
                flipped[index] ^= 1 << bit
                #expect(Self.isDamaged(flipped), "bit \(bit) of byte \(index)")
            }
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `bytes with a valid check never crash, and what is read has one form`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var operations = RandomOperations(seed: seed)
        var readCount = 0
        for _ in 0..<1_000 {
            var body = Array(FrameCodec.encode(operations.frame()).dropLast(4))
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let index = Int.random(in: 4..<body.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: body[index] = .random(in: .min ... .max, using: &random)
                case 1: body[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2 where body.count > 6: body.remove(at: index)
                default: body.insert(.random(in: .min ... .max, using: &random), at: index)
                }
            }
            let bytes = Self.checked(body)
            guard let frame = try? FrameCodec.decode(bytes) else { continue }
            readCount += 1
            #expect(FrameCodec.encode(frame) == bytes)
        }
        #expect(readCount > 200)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `random bytes are damaged`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            #expect(Self.isDamaged(bytes))
            #expect(Self.isDamaged(Array("RVLF".utf8) + bytes))
        }
    }

    @Test func `a newer format asks for an upgrade of the node`() {
        var body = Array(FrameCodec.encode(Self.sample).dropLast(4))
        body[4] = 2
        let error = #expect(throws: FrameError.self) { try FrameCodec.decode(Self.checked(body)) }
        #expect(
            error?.description
                == "a newer build wrote the frame: it has the format version 2, and this node reads version 1; "
                + "upgrade this node"
        )
        body[4] = 0
        #expect(Self.isDamaged(Self.checked(body)))
    }

    @Test(
        arguments: [
            (0, "the unknown kind 0"), (9, "the unknown kind 9"), (32, "kind 32, for sequences of clients"),
            (47, "kind 47, for scheduled events"), (255, "the unknown kind 255"),
        ] as [(UInt8, String)]
    )
    func `an unknown kind of operation asks for an upgrade of the node`(kind: UInt8, name: String) {
        let empty = FrameCodec.encode(Self.frame([]))
        let bytes = Self.checked(empty.dropLast(4) + [0, 0, 0, 1, kind])
        let error = #expect(throws: FrameError.newer("it has an operation of \(name)")) {
            try FrameCodec.decode(bytes)
        }
        #expect(error?.description.hasSuffix("upgrade this node") == true)
    }

    @Test func `unknown flags ask for an upgrade of the node`() {
        var body = Array(FrameCodec.encode(Self.sample).dropLast(4))
        body[5] = 2
        #expect(throws: FrameError.newer("it has the unknown flags 2")) { try FrameCodec.decode(Self.checked(body)) }
    }

    @Test func `an operation with bytes behind its fields is damaged`() {
        let empty = FrameCodec.encode(Self.frame([]))
        #expect(Self.isDamaged(Self.checked(empty.dropLast(4) + [0, 0, 0, 3, 7, 0, 0])))
        #expect(!Self.isDamaged(Self.checked(empty.dropLast(4) + [0, 0, 0, 2, 7, 0])))
    }

    @Test func `the last number cannot be followed`() {
        var frame = Self.frame([])
        frame.previous.number = .max
        #expect(Self.isDamaged(FrameCodec.encode(frame)))
    }

    @Test func `the size of an operation is that of its bytes`() {
        var operations = RandomOperations(seed: 1)
        let empty = FrameCodec.encode(Self.frame([])).count
        for _ in 0..<500 {
            let operation = operations.any()
            #expect(FrameCodec.encode(Self.frame([operation])).count == empty + 4 + operation.byteCount)
        }
    }

    @Test func `the hash is the beginning of the SHA-256`() {
        // The SHA-256 of "abc" is ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 …, by FIPS 180-2, B.1.
        let hash = FrameHash(high: 0xba78_16bf_8f01_cfea, low: 0x4141_40de_5dae_2223)
        #expect(FrameCodec.hash(of: Array("abc".utf8)) == hash)
    }

    static let sample = frame([
        .append(
            SessionKey(app: "notes", id: "a"),
            at: .after(epoch: "k3v9x0qa", version: 300),
            entries: [
                LogEntry(version: 301, time: -1, commandID: "c", by: "ann", event: [1, 2], changes: [])
            ],
            answers: IdempotencyRecords(
                [IdempotencyRecord(id: "é", time: 5, fingerprint: [9], body: [8, 7])],
                droppingBefore: .min
            ),
            quota: StorageQuota(sessionsMax: 3)
        ),
        .delete(SessionKey(app: "notes", id: "b")),
    ])

    static func frame(_ operations: [Operation]) -> Frame {
        Frame(
            cluster: "c1",
            partition: .first,
            previous: FrameLink(number: 6, term: 2, hash: FrameHash(high: 1, low: 2)),
            term: 3,
            nonce: 0xA1B2,
            operations: operations
        )
    }

    private static func isDamaged(_ bytes: [UInt8]) -> Bool {
        do throws(FrameError) {
            _ = try FrameCodec.decode(bytes)
            return false
        } catch {
            if case .damaged = error { return true }
            return false
        }
    }

    /// Adds the CRC32, made bit by bit.
    private static func checked(_ body: [UInt8]) -> [UInt8] {
        var rest = UInt32.max
        for byte in body {
            rest ^= UInt32(byte)
            for _ in 0..<8 { rest = rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
        let check = ~rest
        return body + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: check >> $0) }
    }
}

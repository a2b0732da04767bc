import Crypto

/// Writes and reads the bytes of frames.
///
/// | bytes | field |
/// |---|---|
/// | 4 | `RVLF` |
/// | 1 | format version, now 1 |
/// | 1 | flags: 1 if the frame has a part of an operation; other bits are of newer formats |
/// | | partition, term; number, term and hash of the previous frame; nonce; cluster |
/// | | operations, each with a length (4 bytes) and a kind (1 byte); or one part: total, offset, bytes |
/// | 4 | CRC32 of all bytes before it |
///
/// `FrameSink` describes numbers, and `OperationKind` the kinds. Every later format begins with the magic bytes and the
/// version and ends with the CRC32, so that a node can tell a newer frame from a damaged one. Every frame has exactly
/// one form, so decoding and encoding gives the same bytes.
package enum FrameCodec {
    private static let magic: [UInt8] = Array("RVLF".utf8)
    private static let version: UInt8 = 1
    private static let partFlag: UInt8 = 1
    /// The bytes of the check at the end.
    private static let checkBytes = 4
    /// The bytes of the length before each operation.
    static let lengthBytes = 4

    package static func encode(_ frame: Frame) -> [UInt8] {
        let byteCounts = frame.operations.map(\.byteCount)
        var header = FrameCounter()
        writeHeader(of: frame, into: &header)
        let bodyBytes = byteCounts.reduce(frame.part.map { $0.bytes.count + OperationPart.headerBytesMax } ?? 0) {
            $0 + $1 + lengthBytes
        }
        var writer = FrameWriter(reserving: header.byteCount + bodyBytes + checkBytes)
        writeHeader(of: frame, into: &writer)
        if let part = frame.part {
            precondition(frame.operations.isEmpty, "a frame with a part of an operation has no whole operations")
            writer.add(count: part.total)
            writer.add(count: part.offset)
            writer.add(part.bytes)
        }
        for (operation, byteCount) in zip(frame.operations, byteCounts) {
            writer.add(fixed32: UInt32(byteCount))
            OperationCodec.write(operation, into: &writer)
        }
        writer.add(fixed32: CRC32.check(of: writer.bytes, count: writer.bytes.count))
        return writer.bytes
    }

    /// Reads a frame.
    ///
    /// - Throws: `.newer` if the bytes are whole and have a format, an operation or an option that this build does not
    ///   know. `.damaged` for all other bytes.
    package static func decode(_ bytes: [UInt8]) throws(FrameError) -> Frame {
        let end = bytes.count - checkBytes
        guard end > magic.count, bytes.prefix(magic.count).elementsEqual(magic) else {
            throw .damaged("its \(bytes.count) bytes do not begin as a frame begins")
        }
        var check = FrameReader(bytes, in: end..<bytes.count)
        guard try check.fixed32() == CRC32.check(of: bytes, count: end) else {
            throw .damaged("the check over its \(bytes.count) bytes fails")
        }
        var reader = FrameReader(bytes, in: magic.count..<end)
        let version = try reader.byte()
        guard version > 0 else { throw .damaged("its format version is 0") }
        guard version == Self.version else {
            throw .newer("it has the format version \(version), and this node reads version \(Self.version)")
        }
        let flags = try reader.byte()
        guard flags & ~partFlag == 0 else { throw .newer("it has the unknown flags \(flags & ~partFlag)") }
        var frame = try header(from: &reader)
        if flags & partFlag != 0 {
            frame.part = try OperationPart(from: &reader)
            try reader.finish()
        }
        while reader.remaining > 0 {
            var part = try reader.part(Int(try reader.fixed32()))
            frame.operations.append(try OperationCodec.read(from: &part))
            try part.finish()
        }
        return frame
    }

    /// Returns the first 16 bytes of the SHA-256 of a frame's bytes.
    package static func hash(of bytes: [UInt8]) -> FrameHash {
        let (high, low) = SHA256.hash(data: bytes).prefix(16).enumerated().reduce(into: (UInt64(0), UInt64(0))) {
            if $1.offset < 8 {
                $0.0 = $0.0 << 8 | UInt64($1.element)
            } else {
                $0.1 = $0.1 << 8 | UInt64($1.element)
            }
        }
        return FrameHash(high: high, low: low)
    }

    /// The most bytes of a frame around its operations, for a cluster's id of this many bytes.
    static func emptyFrameBytesMax(clusterBytes: Int) -> Int {
        let numbers = 3 + 3 * 10
        let fixed = magic.count + 2 + 16 + 8 + checkBytes
        return numbers + fixed + 10 + clusterBytes
    }

    private static func writeHeader(of frame: Frame, into sink: inout some FrameSink) {
        sink.add(raw: magic)
        sink.add(byte: version)
        sink.add(byte: frame.part == nil ? 0 : partFlag)
        sink.add(UInt64(frame.partition.rawValue))
        sink.add(frame.term)
        sink.add(frame.previous.number)
        sink.add(frame.previous.term)
        sink.add(fixed: frame.previous.hash.high)
        sink.add(fixed: frame.previous.hash.low)
        sink.add(fixed: frame.nonce)
        sink.add(frame.cluster)
    }

    private static func header(from reader: inout FrameReader) throws(FrameError) -> Frame {
        let partition = Partition(rawValue: try reader.number(UInt16.self))
        let term = try reader.number()
        let (number, previousTerm) = (try reader.number(), try reader.number())
        // `Frame.number` is the next number.
        guard number < .max else { throw .damaged("the number of the previous frame is too large") }
        let hash = FrameHash(high: try reader.fixed(), low: try reader.fixed())
        let nonce = try reader.fixed()
        return Frame(
            cluster: try reader.text(),
            partition: partition,
            previous: FrameLink(number: number, term: previousTerm, hash: hash),
            term: term,
            nonce: nonce,
            operations: []
        )
    }
}

extension OperationPart {
    /// The most bytes of the numbers before the bytes.
    static let headerBytesMax = 3 * 10

    fileprivate init(from reader: inout FrameReader) throws(FrameError) {
        let (total, offset) = (try reader.number(Int.self), try reader.number(Int.self))
        let bytes = try reader.bytes()
        guard !bytes.isEmpty, offset <= total, bytes.count <= total - offset else {
            throw .damaged("the part of \(bytes.count) bytes at \(offset) is not in its operation of \(total) bytes")
        }
        self.init(total: total, offset: offset, bytes: bytes)
    }
}

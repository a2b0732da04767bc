import CZlib

/// The checksum and the length of a plain text; the tallies of two texts give the tally of their concatenation.
///
/// So no delivery reads the text again. A group computes the tally of its events once, and a stream combines the
/// tallies of the events that it got. Source: RFC 1952 §2.3.1, <https://zlib.net/manual.html>, crc32_combine.
struct GzipTally: Hashable, Sendable {
    private(set) var checksum: UInt32 = 0
    private(set) var count: UInt64 = 0

    /// The tally of an empty text.
    init() {}

    /// The tally of some bytes.
    init(_ bytes: Span<UInt8>) {
        checksum = unsafe bytes.withUnsafeBytes { source in
            // crc32 takes a length of 32 bits; every event is far shorter.
            let start = unsafe source.baseAddress?.assumingMemoryBound(to: UInt8.self)
            return UInt32(truncatingIfNeeded: unsafe crc32(0, start, UInt32(clamping: source.count)))
        }
        count = UInt64(bytes.count)
    }

    /// Appends a text with this tally.
    mutating func append(_ other: GzipTally) {
        checksum = Self.combine(checksum, other.checksum, other.count)
        count += other.count
    }

    /// The tally of the rest of this text, if the text begins with a text of the tally `beginning`.
    func after(_ beginning: GzipTally) -> GzipTally {
        var rest = GzipTally()
        rest.count = count - beginning.count
        // A combination is the first checksum, shifted by the second length, xor the second checksum. So the second
        // checksum can be recovered.
        rest.checksum = checksum ^ Self.combine(beginning.checksum, 0, rest.count)
        return rest
    }

    private static func combine(_ first: UInt32, _ second: UInt32, _ count: UInt64) -> UInt32 {
        UInt32(truncatingIfNeeded: crc32_combine(UInt(first), UInt(second), Int(clamping: count)))
    }

    /// The end of a gzip body of this text: an empty last block, the checksum, the length.
    var trailer: [UInt8] {
        var bytes: [UInt8] = [0x03, 0x00]
        for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: checksum >> UInt32(shift))) }
        for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: count >> UInt64(shift))) }
        return bytes
    }
}

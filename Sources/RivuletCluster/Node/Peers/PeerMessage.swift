/// A message of a channel between two runs of nodes.
///
/// | bytes | field |
/// |---|---|
/// | 1 | kind |
/// | 8 | incarnation of the sender |
/// | 8 | incarnation of the receiver |
/// | 8 | number, from 1; of an acknowledgement or a probe: the number of the last message |
/// | 4 | offset of the bytes in their payload |
/// | | bytes |
///
/// Numbers are written with their first byte first.
struct PeerMessage {
    enum Kind: UInt8 {
        case chunk = 1
        case lastChunk = 2
        case gap = 3
        case probe = 4
        case acknowledgement = 5
    }

    /// The fields that do not name the two runs.
    struct Part {
        let kind: Kind
        let number: UInt64
        var offset: UInt32 = 0
        var bytes: ArraySlice<UInt8> = []
    }

    let kind: Kind
    let sender: UInt64
    let receiver: UInt64
    let number: UInt64
    let offset: UInt32
    let bytes: ArraySlice<UInt8>

    static let headerBytes = 29

    /// Reads a message; nil if it is none.
    init?(_ message: [UInt8]) {
        guard message.count >= Self.headerBytes, let kind = Kind(rawValue: message[0]) else { return nil }
        self.kind = kind
        sender = message[1..<9].bigEndianNumber
        receiver = message[9..<17].bigEndianNumber
        number = message[17..<25].bigEndianNumber
        offset = UInt32(message[25..<29].bigEndianNumber)
        bytes = message[29...]
    }

    static func encode(_ part: Part, from sender: UInt64, to receiver: UInt64) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(headerBytes + part.bytes.count)
        message.append(part.kind.rawValue)
        for number in [sender, receiver, part.number] { message.append(bigEndian: number) }
        message += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: part.offset >> $0) }
        message += part.bytes
        return message
    }
}

extension ArraySlice<UInt8> {
    /// The number that these bytes, at most 8, write with the first byte first.
    var bigEndianNumber: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

extension [UInt8] {
    /// Adds the 8 bytes of a number, the first byte first.
    mutating func append(bigEndian number: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: number >> UInt64(shift))) }
    }
}

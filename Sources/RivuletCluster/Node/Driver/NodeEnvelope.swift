/// The sender that a node writes before each message to another node.
///
/// | bytes | field |
/// |---|---|
/// | 1 | format version, now 1 |
/// | 8 | incarnation of the sender, first byte first |
/// | 1 | bytes of the sender's name |
/// | | name, then the message |
enum NodeEnvelope {
    private static let version: UInt8 = 1
    private static let fixedBytes = 10
    /// The most bytes of a node's name.
    static let nameBytesMax = 255

    static func byteCount(for node: String) -> Int { fixedBytes + node.utf8.count }

    static func wrap(_ message: [UInt8], from sender: ClusterPeer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount(for: sender.node) + message.count)
        bytes.append(version)
        bytes.append(bigEndian: sender.incarnation)
        bytes.append(UInt8(truncatingIfNeeded: sender.node.utf8.count))
        bytes += sender.node.utf8
        bytes += message
        return bytes
    }

    /// Reads an envelope; nil if the bytes are of another format.
    static func unwrap(_ bytes: [UInt8]) -> (sender: ClusterPeer, message: [UInt8])? {
        guard bytes.count >= fixedBytes, bytes[0] == version else { return nil }
        let begin = fixedBytes + Int(bytes[9])
        guard bytes.count >= begin, let node = String(validating: bytes[10..<begin], as: UTF8.self) else { return nil }
        return (ClusterPeer(node: node, incarnation: bytes[1..<9].bigEndianNumber), Array(bytes[begin...]))
    }
}

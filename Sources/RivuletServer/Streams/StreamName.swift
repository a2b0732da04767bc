import RivuletEventLoop

/// The id of a stream: its location, and a token that cannot be guessed.
///
/// In a cluster, the name of the node is the last part of the text.
///
/// A client that knows the name may change the stream's paths. Source: <Documentation/HTTP.md#change-streams>.
package struct StreamName: Hashable, Sendable, CustomStringConvertible {
    let loop: Int
    let connection: ConnectionID
    let token: UInt64
    /// The node of the stream; nil for a server that is alone.
    let node: String?

    /// The most bytes of the name of a node.
    private static let nodeBytesMax = 64

    init(loop: Int, connection: ConnectionID, token: UInt64, node: String? = nil) {
        self.loop = loop
        self.connection = connection
        self.token = token
        self.node = node
    }

    /// Reads a name's text; nil if it is no name.
    package init?(_ text: String) {
        // The name of a node may have the separator.
        let parts = text.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count >= 4, let loop = Int(parts[0], radix: 36), let slot = UInt32(parts[1], radix: 36),
            let generation = UInt32(parts[2], radix: 36), let token = UInt64(parts[3], radix: 36)
        else { return nil }
        let node = parts.count > 4 ? String(parts[4]) : nil
        guard node.map(Self.isNode) ?? true else { return nil }
        self.init(loop: loop, connection: ConnectionID(slot: slot, generation: generation), token: token, node: node)
        guard description == text else { return nil }
    }

    /// The text: letters, digits and `-`, and the characters of the node's name.
    package var description: String {
        let numbers = [UInt64(loop), UInt64(connection.slot), UInt64(connection.generation), token]
        return (numbers.map { String($0, radix: 36) } + (node.map { [$0] } ?? [])).joined(separator: "-")
    }

    /// True if a text can be the name of a node: letters, digits, `.`, `_` and `-`.
    private static func isNode(_ text: String) -> Bool {
        (1...nodeBytesMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch UnicodeScalar(byte) {
                case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
                default: false
                }
            }
    }
}

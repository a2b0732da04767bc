import RivuletEventLoop

/// The id of a stream: its location, and a token that cannot be guessed.
///
/// A client that knows the name may change the stream's paths. Source: <Documentation/HTTP.md#change-streams>.
package struct StreamName: Hashable, Sendable, CustomStringConvertible {
    let loop: Int
    let connection: ConnectionID
    let token: UInt64

    init(loop: Int, connection: ConnectionID, token: UInt64) {
        self.loop = loop
        self.connection = connection
        self.token = token
    }

    /// Reads a name's text; nil if it is no name.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, let loop = Int(parts[0], radix: 36), let slot = UInt32(parts[1], radix: 36),
            let generation = UInt32(parts[2], radix: 36), let token = UInt64(parts[3], radix: 36)
        else { return nil }
        self.init(loop: loop, connection: ConnectionID(slot: slot, generation: generation), token: token)
        guard description == text else { return nil }
    }

    /// The text: letters, digits and `-`.
    package var description: String {
        [UInt64(loop), UInt64(connection.slot), UInt64(connection.generation), token]
            .map { String($0, radix: 36) }.joined(separator: "-")
    }
}

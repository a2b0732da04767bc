/// Thrown by a reducer that does not accept an event; the state stays as it was.
public struct EventRejection: Error, Hashable, CustomStringConvertible {
    /// What the client reads in the answer's `detail`.
    public let message: String

    /// Rejects with a message for the client.
    public init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

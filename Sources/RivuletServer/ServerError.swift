// Part of Rivulet. See README.md for the architecture.
// Owns why a server does not start.

/// A reason not to start; the description is the one line that an operator reads.
public struct ServerError: Error, CustomStringConvertible, Sendable {
    /// What is wrong and what to do.
    public let description: String

    package init(_ description: String) {
        self.description = description
    }
}

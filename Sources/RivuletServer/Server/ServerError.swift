/// A reason not to start; the description is the one line that an operator reads.
public struct ServerError: Error, CustomStringConvertible, Sendable {
    /// What is wrong and what to do.
    public let description: String

    /// `errno` of the call that failed; nil: it is nothing that a call said.
    package let status: Int32?

    package init(_ description: String, status: Int32? = nil) {
        self.description = description
        self.status = status
    }
}

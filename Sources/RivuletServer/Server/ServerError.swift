/// The reason why a server cannot start, in one line for the operator.
public struct ServerError: Error, CustomStringConvertible, Sendable {
    /// The problem and its remedy.
    public let description: String

    /// `errno` of the failed call; nil if no call failed.
    package let status: Int32?

    package init(_ description: String, status: Int32? = nil) {
        self.description = description
        self.status = status
    }
}

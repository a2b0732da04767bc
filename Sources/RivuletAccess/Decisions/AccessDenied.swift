/// The refusal of an event by `admit(_:from:state:)`; the server answers 403.
public struct AccessDenied: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, which the caller sees.
    public let description: String

    /// Creates a refusal with its reason, such as `"only the author may delete a note"`.
    public init(_ reason: String) {
        description = reason
    }
}

/// A write in which a wrapper changed the written value.
public struct Coercion: Hashable, Sendable {
    /// The field's path as a JSON Pointer's text.
    public let path: String
    /// The value that was written, as JSON text.
    ///
    /// If the wrapper changed several writes to the field, this is the value of the last write.
    public let from: [UInt8]
    /// The field's value after the run, as JSON text.
    public let to: [UInt8]

    /// Describes a coercion.
    public init(path: String, from: [UInt8], to: [UInt8]) {
        self.path = path
        self.from = from
        self.to = to
    }
}

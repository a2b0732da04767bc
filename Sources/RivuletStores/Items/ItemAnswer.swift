/// An item as clients get it.
package struct ItemAnswer: Sendable {
    /// Its identifier.
    package let id: String
    /// A name of what it is, which equal items of one identifier share, without quotes.
    package let tag: String
    /// JSON.
    package let json: [UInt8]
}

import Crypto

/// An item as clients receive it.
package struct ItemAnswer: Sendable {
    /// Its identifier.
    package let id: String
    /// A tag of the item's value, without quotes.
    ///
    /// Equal items with the same identifier have the same tag.
    package let tag: String
    /// The item as JSON.
    package let json: [UInt8]
}

extension ItemAnswer {
    /// The number of bytes of the digest that a tag has.
    private static let tagBytes = 12

    /// Creates the answer for an item, in the form in which its store would write the item now.
    package init(_ item: some StorableItem, id: String) {
        let json = ItemDocument.json(of: item)
        self.init(id: id, tag: Self.tag(of: ItemDocument.canonicalText(of: item) ?? json), json: json)
    }

    /// Returns a tag of the item's value, not of the time of its change, so that a client's tag stays valid after a
    /// restart.
    private static func tag(of document: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = SHA256.hash(data: document).prefix(tagBytes).flatMap { byte in
            [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

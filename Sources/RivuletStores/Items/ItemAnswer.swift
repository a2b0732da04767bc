import Crypto

/// An item as clients get it.
package struct ItemAnswer: Sendable {
    /// Its identifier.
    package let id: String
    /// A name of what it is, which equal items of one identifier share, without quotes.
    package let tag: String
    /// JSON.
    package let json: [UInt8]
}

extension ItemAnswer {
    /// How many bytes of a digest make a tag.
    private static let tagBytes = 12

    /// An item as its store would write it now.
    package init(_ item: some StorableItem, id: String) {
        let json = ItemDocument.json(of: item)
        self.init(id: id, tag: Self.tag(of: ItemDocument.canonicalText(of: item) ?? json), json: json)
    }

    /// Says what an item is, not when it became that: a client's tag is good after a restart.
    private static func tag(of document: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = SHA256.hash(data: document).prefix(tagBytes).flatMap { byte in
            [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

package import RivuletJSON

/// Writes lists of items in answers and events.
package enum ItemList {
    /// The number of bytes after which no further item is written.
    ///
    /// The rest belongs in another answer.
    package static let bytesMax = 1 << 20

    /// Writes a member with all items, or with as many as fit, at least one.
    ///
    /// The member's name is `items` by default.
    ///
    /// - Returns: The index after the last written item.
    package static func write<Item: StorableItem>(
        _ items: ArraySlice<Item>,
        as name: String = "items",
        into writer: inout JSONWriter
    ) -> Int {
        writer.key(name)
        writer.beginArray()
        defer { writer.endArray() }
        let start = writer.bytes.count
        for index in items.indices {
            if writer.bytes.count - start >= bytesMax { return index }
            ItemDocument.write(items[index], into: &writer)
        }
        return items.endIndex
    }
}

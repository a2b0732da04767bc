package import RivuletJSON

/// Lists of items in answers and events.
package enum ItemList {
    /// The bytes of items after which no more are written: the rest is for another answer.
    package static let bytesMax = 1 << 20

    /// Writes a member, `items` unless said otherwise: all of them, or as many as there is room for, one at least.
    ///
    /// - Returns: the index behind the last one that was written.
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

package import RivuletJSON

/// The place and the size of a partition's newest base, as the record `base.<partition>` has them for all nodes.
package struct BaseRecord: Hashable, Sendable {
    package let position: LogPosition
    package let byteCount: Int

    package init(position: LogPosition, byteCount: Int) { (self.position, self.byteCount) = (position, byteCount) }

    package static func name(of partition: Partition) -> String { "base.\(partition.rawValue)" }
}

extension BaseRecord {
    /// The record's JSON text.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("position")
        writer.integer(position.rawValue)
        writer.key("bytes")
        writer.integer(byteCount)
        writer.endObject()
        return writer.bytes
    }

    package init(bytes: [UInt8]) throws(JSONError) {
        let value = try JSONValue(parsing: bytes)
        guard
            let position = value["position"]?.integerValue.flatMap(UInt64.init(exactly:)),
            let byteCount = value["bytes"]?.integerValue
        else { throw JSONError(kind: .mismatch, detail: "the record of a base has no position or size") }
        self.init(position: LogPosition(rawValue: position), byteCount: byteCount)
    }
}

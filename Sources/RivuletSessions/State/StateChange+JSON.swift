// Owns the JSON of changes, as clients see them and as the log keeps them.

package import RivuletJSON
package import RivuletObservation

extension StateChange {
    /// Writes `{"op":…,"path":…,"index":…,"value":…}`.
    ///
    /// The log's form has the durable part of the value, and marks transient changes, which a restart must not replay.
    package func encodeJSON(into writer: inout JSONWriter, forLog: Bool = false) {
        writer.beginObject(known: operation.beginning)
        writer.string(path)
        if let index {
            writer.key(known: "index")
            writer.integer(index)
        }
        if let value = forLog ? durableValue ?? value : value {
            writer.key(known: "value")
            writer.raw(value)
        }
        if forLog, isTransient {
            writer.key(known: "transient")
            writer.bool(true)
        }
        writer.endObject()
    }

    /// True if the log's form is the one that clients see.
    var isLoggedAsSeen: Bool { !isTransient && durableValue == nil }

    /// Reads the log's form.
    package init(log reader: inout JSONReader) throws(JSONError) {
        var operation: Operation?
        var path: String?
        var index: Int?
        var value: [UInt8]?
        var isTransient = false
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "op": operation = Operation(rawValue: try reader.string())
            case "path": path = try reader.string()
            case "index": index = try reader.integer(Int.self)
            case "value": value = try reader.capture()
            case "transient": isTransient = try reader.bool()
            default: try reader.unknownKey(key)
            }
        }
        guard let operation, let path else {
            throw JSONError(kind: .missing, detail: "a logged change needs a known \"op\" and a \"path\"")
        }
        self.init(operation: operation, path: path, index: index, value: value, isTransient: isTransient)
    }
}

extension [StateChange] {
    /// The changes as the log keeps them.
    package var logJSON: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginArray()
        for change in self { change.encodeJSON(into: &writer, forLog: true) }
        writer.endArray()
        return writer.bytes
    }

    /// Reads the changes that `logJSON` wrote.
    package init(logJSON bytes: [UInt8]) throws(JSONError) {
        var reader = JSONReader(bytes)
        var changes: [StateChange] = []
        try reader.array { _, reader throws(JSONError) in changes.append(try StateChange(log: &reader)) }
        try reader.finish()
        self = changes
    }
}

extension StateChange.Operation {
    /// The beginning of a change with this operation as JSON, up to its path.
    fileprivate var beginning: StaticString {
        switch self {
        case .add: #"{"op":"add","path":"#
        case .replace: #"{"op":"replace","path":"#
        case .remove: #"{"op":"remove","path":"#
        case .move: #"{"op":"move","path":"#
        }
    }
}

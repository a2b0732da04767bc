// Part of Rivulet. See README.md for the architecture.
// This file owns the writing of one event in its short form.

public import RivuletJSON

/// Writes events; generated code calls it.
public enum EventWriter {
    /// Writes a value of a payload.
    public static func write<Value: JSONCodable>(_ value: Value, into writer: inout JSONWriter) {
        value.encodeJSON(into: &writer)
    }

    /// Writes a value of a payload that is only Codable.
    @_disfavoredOverload
    public static func write<Value: Codable>(_ value: Value, into writer: inout JSONWriter) {
        CodableJSON.encode(value, into: &writer)
    }

    /// Writes an event with a single value without a label: `{"name":value}`.
    ///
    /// A value that itself begins with a key `_0` gets Swift's own form around it, or it would be read as that form.
    public static func single(_ name: String, into writer: inout JSONWriter, _ value: (inout JSONWriter) -> Void) {
        var inner = JSONWriter(includesTransient: writer.includesTransient)
        value(&inner)
        writer.beginObject()
        writer.key(name)
        let isAmbiguous = inner.bytes.starts(with: #"{"_0":"#.utf8)
        if isAmbiguous {
            writer.beginObject()
            writer.key("_0")
        }
        if inner.hasUnrepresentableNumber {
            // Written anew, so that the outer writer knows of the number as well.
            value(&writer)
        } else {
            writer.raw(inner.bytes)
        }
        if isAmbiguous { writer.endObject() }
        writer.endObject()
    }

    /// Writes an event with labelled or several values: `{"name":{…}}`.
    public static func values(_ name: String, into writer: inout JSONWriter, _ values: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.key(name)
        writer.beginObject()
        values(&writer)
        writer.endObject()
        writer.endObject()
    }
}

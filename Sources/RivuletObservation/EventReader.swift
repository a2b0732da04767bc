// Part of Rivulet. See README.md for the architecture.
// This file owns the reading of one event: which case it is, and the forms that its payload may have.

public import RivuletJSON

/// The payload of an event whose name is known; generated code takes the case's values out of it.
public struct EventReader {
    /// The case's name.
    private let name: String
    /// The payload as JSON text; nil when the event was only its name.
    private let payload: [UInt8]?
    private let pointer: String
    private let unknownKeys: JSONReader.UnknownKeys

    /// Reads one event of a type: its name, and what `make` makes of the payload.
    ///
    /// `make` answers nil for a name that is no case.
    /// - Throws: `mismatch` when the event is unknown, listing the known ones, or has another form; errors of a value.
    public static func read<Event: EventCoding>(
        _ type: Event.Type,
        from reader: inout JSONReader,
        _ make: (_ name: String, _ payload: EventReader) throws(JSONError) -> Event?
    ) throws(JSONError) -> Event {
        let start = reader
        let payload: EventReader
        switch try reader.peek() {
        case .string:
            payload = EventReader(name: try reader.string(), payload: nil, reader)
        case .object:
            payload = try member(of: &reader)
        case .null, .bool, .number, .array:
            throw reader.mismatch("an event: a name, or an object whose only key is a name")
        }
        guard let event = try make(payload.name, payload) else {
            let known = Event.eventCases.map(\.name).joined(separator: ", ")
            throw start.error(.mismatch, "there is no event \"\(payload.name)\"; known are \(known)")
        }
        return event
    }

    /// Says that the case has no values.
    ///
    /// - Throws: `mismatch` when the payload is anything but an empty object.
    public func none() throws(JSONError) {
        guard payload != nil else { return }
        guard try reader.peek() == .object, try members().isEmpty else {
            throw reader.mismatch("nothing, or {}, because the event \"\(name)\" has no values")
        }
    }

    /// The value of a case with a single one without a label: the payload, or its member `_0`.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func single<Value: JSONCodable>(
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(absent: standard() ?? Value.jsonAbsent) { reader throws(JSONError) in try Value(json: &reader) }
    }

    /// The only value of a case, without a label, that is only Codable.
    ///
    /// - Throws: `missing`, or an error of the value.
    @_disfavoredOverload
    public func single<Value: Codable>(
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(absent: standard()) { reader throws(JSONError) in
            try CodableJSON.decode(type, from: &reader)
        }
    }

    /// The payload of a case with several or labelled values, as an object with these keys.
    ///
    /// - Throws: `mismatch` when it is no object, `unknownKey` when the reader refuses such keys.
    public func values(_ names: [String]) throws(JSONError) -> EventValues {
        guard payload != nil else { return EventValues(event: name, members: [:], reader) }
        guard try reader.peek() == .object else {
            throw reader.mismatch("an object with the keys \(names.joined(separator: ", ")) for the event \"\(name)\"")
        }
        var members: [String: [UInt8]] = [:]
        var object = reader
        try object.object { (key, reader) throws(JSONError) in
            if names.contains(key) {
                members[key] = try reader.capture()
            } else {
                try reader.unknownKey(key)
            }
        }
        return EventValues(event: name, members: members, reader)
    }

    private init(name: String, payload: [UInt8]?, _ reader: JSONReader) {
        self.name = name
        self.payload = payload
        pointer = reader.pointer
        unknownKeys = reader.unknownKeys
    }

    /// Reads the object form: one key, the name, whose value is the payload.
    private static func member(of reader: inout JSONReader) throws(JSONError) -> EventReader {
        let start = reader
        var found: EventReader?
        var count = 0
        try reader.object { (key, reader) throws(JSONError) in
            count += 1
            let inner = reader
            found = EventReader(name: key, payload: try reader.capture(), inner)
        }
        guard let found, count == 1 else {
            throw start.error(.mismatch, "an event is an object whose only key is its name; found \(count) keys")
        }
        return found
    }

    private var reader: JSONReader {
        var reader = JSONReader(payload ?? [], pointer: pointer)
        reader.unknownKeys = unknownKeys
        return reader
    }

    private func single<Value>(
        absent: Value?,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        guard payload != nil else {
            if let absent { return absent }
            throw reader.error(.missing, "the event \"\(name)\" needs a value: {\"\(name)\":…}")
        }
        guard try reader.peek() == .object else { return try value(reader, read) }
        let members = try members()
        // Swift's own form first: a type that ignores unknown keys would take `{"_0":…}` for its own.
        if members.count == 1, let inner = members["_0"], let value = try? value(sub(inner, "_0"), read) {
            return value
        }
        if members.isEmpty, let absent { return (try? value(reader, read)) ?? absent }
        return try value(reader, read)
    }

    private func value<Value>(
        _ start: JSONReader,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        var reader = start
        let value = try read(&reader)
        try reader.finish()
        return value
    }

    private func members() throws(JSONError) -> [String: [UInt8]] {
        var members: [String: [UInt8]] = [:]
        var reader = reader
        try reader.object { (key, reader) throws(JSONError) in members[key] = try reader.capture() }
        return members
    }

    private func sub(_ bytes: [UInt8], _ key: String) -> JSONReader {
        var reader = JSONReader(bytes, pointer: pointer + "/" + JSONPointer.escape(key))
        reader.unknownKeys = unknownKeys
        return reader
    }
}

/// The values of an event's payload by name; generated code takes them one by one.
public struct EventValues {
    private let event: String
    private let members: [String: [UInt8]]
    private let parent: JSONReader

    init(event: String, members: [String: [UInt8]], _ parent: JSONReader) {
        self.event = event
        self.members = members
        self.parent = parent
    }

    /// The value under a name, its default, or what its absence means.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func value<Value: JSONCodable>(
        _ name: String,
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        let absent = standard() ?? Value.jsonAbsent
        return try value(name, absent: absent) { reader throws(JSONError) in try Value(json: &reader) }
    }

    /// The value under a name, or its default, of a type that is only Codable.
    ///
    /// - Throws: `missing`, or an error of the value.
    @_disfavoredOverload
    public func value<Value: Codable>(
        _ name: String,
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try value(name, absent: standard()) { reader throws(JSONError) in
            try CodableJSON.decode(type, from: &reader)
        }
    }

    private func value<Value>(
        _ name: String,
        absent: Value?,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        guard let bytes = members[name] else {
            guard let absent else { throw parent.error(.missing, "the event \"\(event)\" needs the key \"\(name)\"") }
            return absent
        }
        var reader = JSONReader(bytes, pointer: parent.pointer + "/" + JSONPointer.escape(name))
        reader.unknownKeys = parent.unknownKeys
        return try read(&reader)
    }
}

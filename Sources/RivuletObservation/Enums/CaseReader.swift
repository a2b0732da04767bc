public import RivuletJSON

/// The payload of a case whose name is known; generated code takes the case's values out of it.
///
/// Serves enums of events and enums in states alike; they differ in the word by which errors call a case.
public struct CaseReader {
    /// How much of an unknown name an error repeats, in characters.
    private static let repeatedNameMax = 64

    /// What errors call a case.
    private enum Noun: String {
        case event
        case `case`

        var withArticle: String { self == .event ? "an event" : "a case" }
    }

    /// The case's name.
    private let name: String
    private let noun: Noun
    /// A reader of the payload alone; nil when the value was only a name.
    private let payload: JSONReader?
    /// Where the value stands.
    private let start: JSONReader

    /// Reads one event of a type: its name, and what `make` makes of the payload.
    ///
    /// `make` answers nil for a name that is no case.
    /// - Throws: `mismatch` when the event is unknown, listing known ones, or has another form; errors of a value.
    public static func read<Event: EventCoding>(
        _ type: Event.Type,
        from reader: inout JSONReader,
        _ make: (_ name: String, _ payload: CaseReader) throws(JSONError) -> Event?
    ) throws(JSONError) -> Event {
        try read(.event, from: &reader, known: Event.eventCases, make)
    }

    /// Reads one value of an enum in a state: its case's name, and what `make` makes of the payload.
    ///
    /// `make` answers nil for a name that is no case.
    /// - Throws: `mismatch` when the case is unknown, listing known ones, or has another form; errors of a value.
    public static func read<Value: ObservableEnum>(
        _ type: Value.Type,
        from reader: inout JSONReader,
        _ make: (_ name: String, _ payload: CaseReader) throws(JSONError) -> Value?
    ) throws(JSONError) -> Value {
        try read(.case, from: &reader, known: Value._$cases, make)
    }

    /// Says that the case has no values.
    ///
    /// - Throws: `mismatch` when the payload is anything but an empty object.
    public func none() throws(JSONError) {
        guard let payload else { return }
        guard payload.isEmptyObject else {
            throw payload.mismatch("nothing, or {}, because the \(noun.rawValue) \"\(name)\" has no values")
        }
    }

    /// The payload of a case with several or labelled values, as an object with these keys.
    ///
    /// - Throws: `mismatch` when it is no object, `unknownKey` when the reader refuses such keys.
    public func values(_ names: [String]) throws(JSONError) -> CaseValues {
        let title = "the \(noun.rawValue) \"\(name)\""
        guard var payload else { return CaseValues(of: title, members: [:], start) }
        let parent = payload
        guard try payload.peek() == .object else {
            throw payload.mismatch("an object with the keys \(names.joined(separator: ", ")) for \(title)")
        }
        var members: [String: JSONReader] = [:]
        try payload.object { (key, reader) throws(JSONError) in
            if names.contains(key) {
                members[key] = try reader.value()
            } else {
                try reader.unknownKey(key)
            }
        }
        return CaseValues(of: title, members: members, parent)
    }

    // MARK: - The case

    private static func read<Value>(
        _ noun: Noun,
        from reader: inout JSONReader,
        known: @autoclosure () -> [EventCase],
        _ make: (_ name: String, _ payload: CaseReader) throws(JSONError) -> Value?
    ) throws(JSONError) -> Value {
        let found: CaseReader
        switch try reader.peek() {
        case .string:
            let start = reader
            found = CaseReader(name: try reader.string(), noun: noun, payload: nil, start: start)
        case .object:
            found = try member(of: &reader, noun)
        case .null, .bool, .number, .array:
            throw reader.mismatch("\(noun.withArticle): a name, or an object whose only key is a name")
        }
        guard let value = try make(found.name, found) else { throw found.unknown(among: known().map(\.name)) }
        return value
    }

    /// Reads the object form: one key, the name, whose value is the payload.
    private static func member(of reader: inout JSONReader, _ noun: Noun) throws(JSONError) -> CaseReader {
        let start = reader
        if let (name, payload) = try reader.soleMember() {
            return CaseReader(name: name, noun: noun, payload: payload, start: start)
        }
        var count = 0
        try reader.object { (_, _) throws(JSONError) in count += 1 }
        let form = "\(noun.withArticle) is an object whose only key is its name"
        throw start.error(.mismatch, "\(form); found \(count) keys")
    }

    private func unknown(among known: [String]) -> JSONError {
        let isLong = name.count > Self.repeatedNameMax
        let shown = isLong ? name.prefix(Self.repeatedNameMax) + "…" : name[...]
        return start.error(.mismatch, "there is no \(noun.rawValue) \"\(shown)\"\(JSONError.known(known))")
    }

    private static func members(_ payload: JSONReader) throws(JSONError) -> [String: JSONReader] {
        var members: [String: JSONReader] = [:]
        var payload = payload
        try payload.object { (key, reader) throws(JSONError) in members[key] = try reader.value() }
        return members
    }
}

// A single value without a label: the payload itself, or its member `_0`, as Swift writes it.
extension CaseReader {
    /// The only value of a case, without a label.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func single<Value: JSONCodable>(
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(absent: standard() ?? Value.jsonAbsent, hasOwnKey: Value.jsonSchema.hasKey(CaseWriter.singleKey)) {
            reader throws(JSONError) in try Value(json: &reader)
        }
    }

    /// The only value of a case, without a label, whose inner writes are tracked.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func single<Value: StateNode>(
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        if let payload, Value.jsonSchema.hasKey(CaseWriter.singleKey) == true {
            return try Self.value(payload) { reader throws(JSONError) in try Value(json: &reader) }
        }
        return try single(absent: standard() ?? Value.jsonAbsent, hasOwnKey: false) { reader throws(JSONError) in
            try Value(json: &reader)
        }
    }

    /// The only value of a case, without a label, that is only Codable.
    ///
    /// - Throws: `missing`, or an error of the value.
    @_disfavoredOverload
    public func single<Value: Codable>(
        _ type: Value.Type,
        default standard: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(absent: standard(), hasOwnKey: nil) { reader throws(JSONError) in
            try CodableJSON.decode(type, from: &reader)
        }
    }

    /// `hasOwnKey` says that values have a key `_0` of their own, nil that they might; Swift's form is looked for first all the same.
    ///
    /// `absent` is asked only for a payload that is missing or empty: an optional of a type that is not known here is dear to make.
    private func single<Value>(
        absent: @autoclosure () -> Value?,
        hasOwnKey: @autoclosure () -> Bool?,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        guard let payload else {
            if let absent = absent() { return absent }
            throw start.error(.missing, "the \(noun.rawValue) \"\(name)\" needs a value: {\"\(name)\":…}")
        }
        guard try payload.peek() == .object else { return try Self.value(payload, read) }
        let members = try Self.members(payload)
        if members.count == 1, let inner = members[CaseWriter.singleKey] {
            // Swift's own form first: a type that ignores unknown keys would take `{"_0":…}` for its own.
            do throws(JSONError) {
                return try Self.value(inner, read)
            } catch {
                if hasOwnKey() != false, let value = try? Self.value(payload, read) { return value }
                throw error
            }
        }
        if members.isEmpty, let absent = absent() { return (try? Self.value(payload, read)) ?? absent }
        return try Self.value(payload, read)
    }

    private static func value<Value>(
        _ start: JSONReader,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        var reader = start
        let value = try read(&reader)
        try reader.finish()
        return value
    }
}

/// The values of a case's payload by name; generated code takes them one by one.
public struct CaseValues {
    /// What errors call the case.
    private let title: String
    private let members: [String: JSONReader]
    private let parent: JSONReader

    init(of title: String, members: [String: JSONReader], _ parent: JSONReader) {
        self.title = title
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
        guard var reader = members[name] else {
            guard let absent else { throw parent.error(.missing, "\(title) needs the key \"\(name)\"") }
            return absent
        }
        return try read(&reader)
    }
}

import RivuletBase
public import RivuletJSON

extension Generated {
    /// The name and the payload of a case in JSON; generated code takes the case's values out of it.
    ///
    /// It reads the cases of event enums and of enums in states. The two differ only in error messages, which say "an
    /// event" or "a case".
    public struct CaseReader {
        /// The maximum number of characters of an unknown name that an error repeats.
        private static let repeatedNameMax = 64

        /// The noun for a case in error messages.
        private enum Noun: String {
            case event
            case `case`

            var withArticle: String { self == .event ? "an event" : "a case" }
        }

        /// The case's name.
        private let name: String
        private let noun: Noun
        /// A reader of the payload alone; nil if the value was only a name.
        private let payload: JSONReader?
        /// The reader at the start of the value.
        private let start: JSONReader

        /// Reads one event of a type; `make` makes it from its name and its payload.
        ///
        /// `make` returns nil for a name that is no case.
        /// - Throws: `mismatch` with a list of the events if no event has the name; `mismatch` if the JSON is neither a
        ///   name nor an object with one key; the errors of a value in the payload.
        public static func read<Event: EventCoding>(
            _ type: Event.Type,
            from reader: inout JSONReader,
            _ make: (_ name: String, _ payload: Generated.CaseReader) throws(JSONError) -> Event?
        ) throws(JSONError) -> Event {
            try read(.event, from: &reader, known: Event.clientCases, make)
        }

        /// Reads one value of an enum in a state; `make` makes it from its case's name and its payload.
        ///
        /// `make` returns nil for a name that is no case.
        /// - Throws: `mismatch` with a list of the cases if no case has the name; `mismatch` if the JSON is neither a
        ///   name nor an object with one key; the errors of a value in the payload.
        public static func read<Value: ObservableEnum>(
            _ type: Value.Type,
            from reader: inout JSONReader,
            _ make: (_ name: String, _ payload: Generated.CaseReader) throws(JSONError) -> Value?
        ) throws(JSONError) -> Value {
            try read(.case, from: &reader, known: Value._$cases, make)
        }

        /// Returns the name of a value's case, and does not check the payload.
        ///
        /// Returns nil if the value is neither a string nor an object with one key.
        package static func name(in start: JSONReader) -> String? {
            var reader = start
            if let name = try? reader.string() { return name }
            reader = start
            return (try? reader.singleMember())?.key
        }

        /// Checks that the case has no values.
        ///
        /// - Throws: `mismatch` if the payload is anything but an empty object.
        public func none() throws(JSONError) {
            guard let payload else { return }
            guard payload.isEmptyObject else {
                throw payload.mismatch("nothing, or {}, because the \(noun.rawValue) \"\(name)\" has no values")
            }
        }

        /// Returns the payload of a case with several or labelled values, as an object with these keys.
        ///
        /// - Throws: `mismatch` if the payload is no object, `unknownKey` if it has another key and the reader refuses
        ///   unknown keys.
        public func values(_ names: [String]) throws(JSONError) -> Generated.CaseValues {
            let title = "the \(noun.rawValue) \"\(name)\""
            guard var payload else { return Generated.CaseValues(of: title, members: [:], start) }
            let parent = payload
            guard try payload.peek() == .object else {
                throw payload.mismatch("an object with the keys \(names.joined(separator: ", ")) for \(title)")
            }
            var members: [String: JSONReader] = [:]
            try payload.object { (key, reader) throws(JSONError) in
                if names.contains(where: { $0.hasSameBytes(as: key) }) {
                    members[key] = try reader.value()
                } else {
                    try reader.unknownKey(key)
                }
            }
            return Generated.CaseValues(of: title, members: members, parent)
        }

        // MARK: - The case

        private static func read<Value>(
            _ noun: Noun,
            from reader: inout JSONReader,
            known: @autoclosure () -> [EventCase],
            _ make: (_ name: String, _ payload: Generated.CaseReader) throws(JSONError) -> Value?
        ) throws(JSONError) -> Value {
            let found: Generated.CaseReader
            switch try reader.peek() {
            case .string:
                let start = reader
                found = Generated.CaseReader(name: try reader.string(), noun: noun, payload: nil, start: start)
            case .object:
                found = try member(of: &reader, noun)
            case .null, .bool, .number, .array:
                throw reader.mismatch("\(noun.withArticle): a name, or an object whose only key is a name")
            }
            guard let value = try make(found.name, found) else { throw found.unknown(among: known().map(\.name)) }
            return value
        }

        /// Reads the object form: an object with one key, which is the name, and the payload as its value.
        private static func member(of reader: inout JSONReader, _ noun: Noun) throws(JSONError) -> Generated.CaseReader
        {
            let start = reader
            if let (name, payload) = try reader.singleMember() {
                return Generated.CaseReader(name: name, noun: noun, payload: payload, start: start)
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
}

// A single value without a label: the payload itself, or its member `_0`, as Swift writes it.
extension Generated.CaseReader {
    /// The only value of a case, without a label.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func single<Value: JSONCodable>(
        _ type: Value.Type,
        default defaultValue: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(
            absent: defaultValue() ?? Value.jsonAbsent,
            hasOwnKey: Value.jsonSchema.hasKey(Generated.CaseWriter.singleKey)
        ) {
            reader throws(JSONError) in try Value(json: &reader)
        }
    }

    /// The only value of a case, without a label, of a type with tracked inner writes.
    ///
    /// - Throws: `missing`, or an error of the value.
    public func single<Value: StateNode>(
        _ type: Value.Type,
        default defaultValue: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        if let payload, Value.jsonSchema.hasKey(Generated.CaseWriter.singleKey) == true {
            return try Self.value(payload) { reader throws(JSONError) in try Value(json: &reader) }
        }
        return try single(absent: defaultValue() ?? Value.jsonAbsent, hasOwnKey: false) { reader throws(JSONError) in
            try Value(json: &reader)
        }
    }

    /// The only value of a case, without a label, of a type that is only Codable.
    ///
    /// - Throws: `missing`, or an error of the value.
    @_disfavoredOverload
    public func single<Value: Codable>(
        _ type: Value.Type,
        default defaultValue: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        try single(absent: defaultValue(), hasOwnKey: nil) { reader throws(JSONError) in
            try CodableJSON.decode(type, from: &reader)
        }
    }

    /// Reads the single value in Swift's form, `{"name":{"_0":value}}`, or in the short form, `{"name":value}`.
    ///
    /// `hasOwnKey` is true if the value's own JSON has a key `_0`, and nil if it might have one. Swift's form is always
    /// tried first.
    ///
    /// `absent` is evaluated only for a payload that is missing or empty, because an optional of a generic type is
    /// expensive to make.
    private func single<Value>(
        absent: @autoclosure () -> Value?,
        hasOwnKey: @autoclosure () -> Bool?,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        if let payload, try payload.peek() != .object { return try Self.value(payload, read) }
        return try rareSingle(absent: absent(), hasOwnKey: hasOwnKey(), read)
    }

    /// Reads the single value if there is no payload, or if the payload is an object.
    @inline(never)
    private func rareSingle<Value>(
        absent: @autoclosure () -> Value?,
        hasOwnKey: @autoclosure () -> Bool?,
        _ read: (inout JSONReader) throws(JSONError) -> Value
    ) throws(JSONError) -> Value {
        guard let payload else {
            if let absent = absent() { return absent }
            throw start.error(.missing, "the \(noun.rawValue) \"\(name)\" needs a value: {\"\(name)\":…}")
        }
        let members = try Self.members(payload)
        if members.count == 1, let inner = members[Generated.CaseWriter.singleKey] {
            // Swift's own form comes first: a type that ignores unknown keys would accept `{"_0":…}` as its own form.
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

extension Generated {
    /// The values of a case's payload by name; generated code takes them one by one.
    public struct CaseValues {
        /// The case as error messages name it, such as `the event "move"`.
        private let title: String
        private let members: [String: JSONReader]
        private let parent: JSONReader

        init(of title: String, members: [String: JSONReader], _ parent: JSONReader) {
            self.title = title
            self.members = members
            self.parent = parent
        }

        /// Returns the value under a name.
        ///
        /// If the key is absent, returns the default, or else the type's value for an absent key.
        ///
        /// - Throws: `missing`, or an error of the value.
        public func value<Value: JSONCodable>(
            _ name: String,
            _ type: Value.Type,
            default defaultValue: @autoclosure () -> Value? = nil
        ) throws(JSONError) -> Value {
            let absent = defaultValue() ?? Value.jsonAbsent
            return try value(name, absent: absent) { reader throws(JSONError) in try Value(json: &reader) }
        }

        /// Returns the value under a name, of a type that is only Codable; the default if the key is absent.
        ///
        /// - Throws: `missing`, or an error of the value.
        @_disfavoredOverload
        public func value<Value: Codable>(
            _ name: String,
            _ type: Value.Type,
            default defaultValue: @autoclosure () -> Value? = nil
        ) throws(JSONError) -> Value {
            try value(name, absent: defaultValue()) { reader throws(JSONError) in
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
}

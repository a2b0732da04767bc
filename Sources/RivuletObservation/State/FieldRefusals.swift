// This file owns the compiler's messages for a field of a type that JSON cannot have.

public import RivuletJSON

// One overload is unavailable and says what to do. The others exist so that the message appears once for each field or
// value. None of them ever runs, because code that calls them does not compile. So each does the least that its
// signature allows.

extension Generated.ChangeCollector {
    /// Refuses a field.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: """
            a field of a state needs a type that JSON can have: put @ObservableState on the type, which tracks its fields, or make \
            it Codable, or mark the field @ObservationStateIgnored
            """
    )
    public mutating func field<Value>(
        _ index: Int,
        _ step: String,
        _ old: Value,
        _ new: Value,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {}

    /// Refuses a field in a wrapper.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: """
            a field of a state needs a type that JSON can have, also in a wrapper: put @ObservableState on the type, which tracks \
            its fields, or make it Codable, or mark the field @ObservationStateIgnored without a wrapper
            """
    )
    public mutating func field<Wrapper: ObservableWrapper>(
        _ index: Int,
        _ step: String,
        wrapper old: Wrapper,
        _ new: Wrapper,
        isTransient: Bool = false,
        isReplaceable: Bool = false
    ) {}
}

extension StateField {
    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public init<State, Value>(
        _ name: String,
        _ storage: KeyPath<State, Value>,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) {
        self.init(name, .any, addressed: nil)
    }

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public init<State, Wrapper: ObservableWrapper>(
        _ name: String,
        wrapper storage: KeyPath<State, Wrapper>,
        named wrapper: String,
        config: Wrapper.Config,
        text: String?,
        hasDefault: Bool = false,
        isTransient: Bool = false
    ) {
        self.init(name, .any, addressed: nil)
    }
}

extension ObservationStateRegistrar {
    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public mutating func edit<Value>(
        _ field: Int,
        _ storage: inout Value,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {}

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {}
}

extension Generated.FieldSelection {
    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public mutating func write<Value>(
        _ position: Int,
        _ name: String,
        _ value: Value,
        into writer: inout JSONWriter
    ) {}

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public mutating func write<Wrapper: ObservableWrapper>(
        _ position: Int,
        _ name: String,
        wrapper: Wrapper,
        into writer: inout JSONWriter
    ) {}
}

extension Generated.StateCoding {
    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public static func write<Value>(
        _ value: Value,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        false
    }

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public static func write<Wrapper: ObservableWrapper>(
        wrapper: Wrapper,
        at path: ArraySlice<String>,
        into writer: inout JSONWriter
    ) -> Bool {
        false
    }

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public static func read<Value>(into value: inout Value?, from reader: inout JSONReader) throws(JSONError) {}

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public static func read<State, Wrapper: ObservableWrapper>(
        into value: inout Wrapper.WrappedValue?,
        wrapper storage: (State) -> Wrapper,
        from reader: inout JSONReader
    ) throws(JSONError) {}

    /// Accepts a field that ``ChangeCollector`` refuses.
    @_disfavoredOverload
    public static func require<Value>(
        _ value: Value?,
        _ name: String,
        in reader: JSONReader
    ) throws(JSONError) -> Value {
        guard let value else { throw missing(name, reader) }
        return value
    }
}

// The values of an enum's cases.

extension EventCase.Payload {
    /// Refuses a value of a case.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: """
            a value of a case needs a type that JSON can have: put @ObservableState on the type, or make it Codable
            """
    )
    public init<Value>(_ label: String?, _ type: Value.Type, hasDefault: Bool = false) {
        self.label = label
        schema = .any
        isRequired = !hasDefault
        addressed = nil
        self.type = type
    }
}

extension StateField {
    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public init<Value>(_ name: String, payload type: Value.Type) {
        self.init(name, .any, addressed: nil)
    }
}

extension Generated.PayloadEdit {
    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public mutating func payload<Value>(_ index: Int, _ name: String, _ value: inout Value) {}
}

extension Generated.CaseReader {
    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public func single<Value>(
        _ type: Value.Type,
        default defaultValue: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        throw JSONError(kind: .mismatch, detail: "a field that JSON cannot have")
    }
}

extension Generated.CaseValues {
    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public func value<Value>(
        _ name: String,
        _ type: Value.Type,
        default defaultValue: @autoclosure () -> Value? = nil
    ) throws(JSONError) -> Value {
        throw JSONError(kind: .mismatch, detail: "a field that JSON cannot have")
    }
}

extension Generated.CaseWriter {
    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public static func write<Value>(_ value: Value, into writer: inout JSONWriter) {}

    /// Accepts a value that ``EventCase/Payload`` refuses.
    @_disfavoredOverload
    public static func single<Value>(_ name: String, _ value: Value, into writer: inout JSONWriter) {}
}

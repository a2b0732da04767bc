// This file owns the reading of documents into fields. A field that is read is tracked like any other write, so that a
// run can read documents.

public import RivuletJSON

extension ObservationStateRegistrar {
    /// Reads a leaf.
    public mutating func edit<Value: JSONCodable>(
        _ field: Int,
        _ storage: inout Value,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {
        try Self.checkLeaf(edit, reader)
        set(field, &storage, to: try Value(json: &reader))
    }

    /// Reads a leaf that is only Codable.
    @_disfavoredOverload
    public mutating func edit<Value: Codable>(
        _ field: Int,
        _ storage: inout Value,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {
        try Self.checkLeaf(edit, reader)
        set(field, &storage, to: try CodableJSON.decode(Value.self, from: &reader))
    }

    /// Reads a nested state, or a value at a path in it.
    public mutating func edit<Value: StateNode>(
        _ field: Int,
        _ storage: inout Value,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) {
        let wasAbsent = begin(field, &storage)
        defer { endNode(field, storage, wasAbsent: wasAbsent) }
        try Self.take(edit, &storage, &reader)
    }

    /// Reads a leaf in a wrapper; the value of an omitted field is skipped.
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: JSONCodable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        try Self.checkLeaf(edit, reader)
        let value = try Wrapper.WrappedValue(json: &reader)
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
    }

    /// Reads a leaf in a wrapper, and records a coercion; the value of an omitted field is skipped.
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: Equatable & JSONCodable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        try Self.checkLeaf(edit, reader)
        set(field, wrapper: &wrapper, from: try Wrapper.WrappedValue(json: &reader), config: config)
    }

    /// Reads a leaf that is only Codable, in a wrapper.
    @_disfavoredOverload
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: Codable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        try Self.checkLeaf(edit, reader)
        let value = try CodableJSON.decode(Wrapper.WrappedValue.self, from: &reader)
        set(field, &wrapper, to: Wrapper.makeWrapper(from: value, config: config), isChange: true)
    }

    /// Reads a nested state in a wrapper, or a value at a path in it.
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: StateNode {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        let wasAbsent = begin(field, wrapper: &wrapper)
        defer { end(field, wrapper: &wrapper, config: config, wasAbsent: wasAbsent) }
        try Self.take(edit, &wrapper.wrappedValue, &reader)
    }

    /// Reads a nested state in a wrapper, or a value at a path in it, and records a coercion.
    public mutating func edit<Wrapper: ObservableWrapper>(
        _ field: Int,
        wrapper: inout Wrapper,
        config: Wrapper.Config,
        _ edit: Generated.StateEdit,
        json reader: inout JSONReader
    ) throws(JSONError) where Wrapper.WrappedValue: StateNode & Equatable {
        guard !Wrapper.isOmittedFromCoding else { return try reader.skip() }
        let wasAbsent = begin(field, wrapper: &wrapper)
        defer { end(field, wrapper: &wrapper, config: config, wasAbsent: wasAbsent) }
        try Self.take(edit, &wrapper.wrappedValue, &reader)
    }

    /// Reads a nested state, or a value at a path in it.
    private static func take(
        _ edit: Generated.StateEdit,
        _ value: inout some StateNode,
        _ reader: inout JSONReader
    ) throws(JSONError) {
        switch edit {
        case .merge: try value._$merge(json: &reader)
        case .apply(let operation, let path, let index):
            try value._$apply(operation, at: path, index: index, json: &reader)
        }
    }

    /// Refuses a path below a leaf: changes are recorded for the leaf as a whole.
    private static func checkLeaf(_ edit: Generated.StateEdit, _ reader: JSONReader) throws(JSONError) {
        guard case .apply(let operation, let path, _) = edit else { return }
        if let name = path.first { throw Generated.StateCoding.noField(name, reader) }
        guard operation == .replace else { throw Generated.StateCoding.noOperation(operation, reader) }
    }
}

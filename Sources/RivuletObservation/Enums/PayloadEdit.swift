public import RivuletJSON

/// Something to do with a case's single value, which generated code offers; overloads choose by the value's type.
public protocol PayloadEdit {
    /// What it can throw.
    associatedtype Failure: Error

    /// Does it with a value whose inner writes are tracked.
    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)

    /// Does it with a leaf.
    mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)

    /// Does it with a leaf that is only Codable.
    @_disfavoredOverload
    mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)
}

extension PayloadEdit {
    /// A leaf has no place of its own.
    @inlinable
    public mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) {}

    /// A leaf that is only Codable has no place of its own.
    @inlinable
    @_disfavoredOverload
    public mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) {}
}

/// Gives the payload the serial of its case's place.
@usableFromInline
struct PayloadEntry: PayloadEdit {
    /// The mark that the enum would have.
    @usableFromInline let mark: ChangeMark

    @inlinable
    init(mark: ChangeMark) {
        self.mark = mark
    }

    @inlinable
    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        value._$enter(mark.serial(of: index))
    }
}

/// Gives the payload its case's place.
struct PayloadObservation: PayloadEdit {
    let place: ObservedPlace

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        value._$observe(at: place.child(.field(index)))
    }
}

/// Asks whether the payload has its case's place.
struct PayloadIdentity: PayloadEdit {
    let place: ObservedPlace
    var isObserved = false

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        isObserved = value._$isObserved(at: place.child(.field(index)))
    }
}

/// Does what a recorded change did at a path, whose first token is the case.
struct PayloadApplication: PayloadEdit {
    let operation: StateChange.Operation
    let path: ArraySlice<String>
    let index: Int?
    var reader: JSONReader
    var isDone = false

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(JSONError) {
        guard path.first == name else { return }
        try value._$apply(operation, at: path.dropFirst(), index: self.index, json: &reader)
        isDone = true
    }

    mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) throws(JSONError) {
        guard operation == .replace, path.first == name, path.count == 1 else { return }
        value = try Value(json: &reader)
        isDone = true
    }

    @_disfavoredOverload
    mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) throws(JSONError) {
        guard operation == .replace, path.first == name, path.count == 1 else { return }
        value = try CodableJSON.decode(Value.self, from: &reader)
        isDone = true
    }
}

/// Puts the payload in order between two runs.
struct PayloadSettling: PayloadEdit {
    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        value._$settle()
    }
}

/// Writes the value at a path, whose first token is the case.
struct PayloadWriting: PayloadEdit {
    let path: ArraySlice<String>
    var writer: JSONWriter
    /// Whether the path leads into the single value of the case.
    var isPayload = false
    var isFound = false

    init(path: ArraySlice<String>, like outer: JSONWriter) {
        self.path = path
        writer = JSONWriter(like: outer)
    }

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { StateCoding.write(value, at: $0, into: &$1) }
    }

    mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { StateCoding.write(value, at: $0, into: &$1) }
    }

    @_disfavoredOverload
    mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { StateCoding.write(value, at: $0, into: &$1) }
    }

    /// Writes a place in a case with several values, which is rarely asked for, by way of the whole value.
    mutating func writeValue(of whole: some ObservableEnum) {
        var text = JSONWriter(notingKeyed: false, includesTransient: writer.includesTransient)
        whole.encodeJSON(into: &text)
        isFound = NotedJSON(text).write(at: path, into: &writer)
    }

    private mutating func enter(_ name: String, _ write: (ArraySlice<String>, inout JSONWriter) -> Bool) {
        guard path.first == name else { return }
        isPayload = true
        isFound = write(path.dropFirst(), &writer)
    }
}

public import RivuletJSON

extension Generated {
    /// An operation on a case's single value.
    ///
    /// Generated code passes the value. The value's type selects the overload of `payload`.
    public protocol PayloadEdit {
        /// The errors of the operation.
        associatedtype Failure: Error

        /// Runs the operation on a value with tracked inner writes.
        mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)

        /// Runs the operation on a leaf.
        mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)

        /// Runs the operation on a leaf that is only Codable.
        @_disfavoredOverload
        mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) throws(Failure)
    }
}

extension Generated.PayloadEdit {
    /// Does nothing: a leaf has no node of its own.
    @inlinable
    public mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) {}

    /// Does nothing: a leaf that is only Codable has no node of its own.
    @inlinable
    @_disfavoredOverload
    public mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) {}
}

/// Gives the payload the serial of its case.
@usableFromInline
struct PayloadEntry: Generated.PayloadEdit {
    /// A mark with the enum's serial; the payload's serial follows from it.
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

/// Gives the payload the observed node of its case.
struct PayloadObservation: Generated.PayloadEdit {
    let node: Generated.ObservedNode

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        value._$observe(at: node.child(.field(index)))
    }
}

/// Checks that the payload has the observed node of its case.
struct PayloadIdentity: Generated.PayloadEdit {
    let node: Generated.ObservedNode
    var isObserved = false

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        isObserved = value._$isObserved(at: node.child(.field(index)))
    }
}

/// Applies a recorded change at a path that begins with the name of the case.
struct PayloadApplication: Generated.PayloadEdit {
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

/// Finishes deferred work of the payload between two runs.
struct PayloadSettling: Generated.PayloadEdit {
    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        value._$settle()
    }
}

/// Writes the value at a path that begins with the name of the case.
struct PayloadWriting: Generated.PayloadEdit {
    let path: ArraySlice<String>
    var writer: JSONWriter
    /// True if the path leads into the single value of the case.
    var isPayload = false
    var isFound = false

    init(path: ArraySlice<String>, like outer: JSONWriter) {
        self.path = path
        writer = JSONWriter(like: outer)
    }

    mutating func payload<Value: StateNode>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { Generated.StateCoding.write(value, at: $0, into: &$1) }
    }

    mutating func payload<Value: JSONCodable>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { Generated.StateCoding.write(value, at: $0, into: &$1) }
    }

    @_disfavoredOverload
    mutating func payload<Value: Codable>(_ index: Int, _ name: String, _ value: inout Value) throws(Never) {
        enter(name) { Generated.StateCoding.write(value, at: $0, into: &$1) }
    }

    /// Writes a value of a case with several values: it writes the whole enum, and takes the value out of the text.
    mutating func writeValue(of whole: some ObservableEnum) {
        var text = JSONWriter(notingKeyed: false, includesTransient: writer.includesTransient)
        whole.encodeJSON(into: &text)
        isFound = KeyedJSON(text).write(at: path, into: &writer)
    }

    private mutating func enter(_ name: String, _ write: (ArraySlice<String>, inout JSONWriter) -> Bool) {
        guard path.first == name else { return }
        isPayload = true
        isFound = write(path.dropFirst(), &writer)
    }
}

import RivuletJSON

/// Compares the fields that a run touched and keeps what differs.
///
/// What counts as different is the JSON text, never `==`: a custom `==`, or one for which "é" has two spellings, would lose writes.
/// Generated code calls `field`; its overloads are in `ChangeCollector+Fields.swift`.
public struct ChangeCollector {
    /// What the walk is for.
    @usableFromInline
    enum Purpose: Equatable {
        /// Report what differs.
        case differences
        /// Find the coercions inside of a value that is reported as a whole.
        case coercions
    }

    /// What a comparison of two JSON texts found.
    @usableFromInline
    enum Finding: Equatable {
        case equal
        /// The texts are equal, and were written without all fields.
        case equalBesideOmitted
        case different
    }

    /// The mark of the value whose fields are walked now.
    @usableFromInline var mark = ChangeMark()
    /// Whether every field of it is compared, and not only the touched ones.
    @usableFromInline var comparesAll = true
    @usableFromInline var purpose = Purpose.differences
    /// The pointer to the current value; one step needs no new string, and short ones no allocation.
    @usableFromInline var path = ""
    /// Whether the current value is below a transient field.
    @usableFromInline var isTransient = false

    private var changes: [StateChange] = []
    private var hasUnrepresentableNumber = false
    private var hasOmittedWrite = false
    /// What is found of the run's notes; nil for a run without.
    @usableFromInline let search: CoercionSearch?

    /// The texts of the last comparison, whose room the next one uses.
    private var texts = Comparison()

    @usableFromInline
    init(_ notes: CoercionNotes?) {
        search = notes.map(CoercionSearch.init)
    }

    /// What was found.
    @usableFromInline var recording: Recording {
        Recording(
            changes: changes,
            coercions: search?.found ?? [],
            hasUnrepresentableNumber: hasUnrepresentableNumber,
            hasOmittedWrite: hasOmittedWrite
        )
    }

    /// Compares two states from their root; a nil serial compares every field.
    @inlinable
    mutating func collect<State: ObservableState>(from old: State, to new: State, serial: UInt64?) {
        _ = State._$collect(from: old, to: new, serial: serial, into: &self)
    }

    /// Walks the fields of one value: all of them, or those that its mark says were touched.
    @inlinable
    mutating func walk(
        _ container: Any.Type,
        _ mark: ChangeMark,
        comparesAll: Bool,
        _ body: (inout ChangeCollector) -> Void
    ) {
        let outer = (self.mark, self.comparesAll)
        let outerContainer = search?.container
        (self.mark, self.comparesAll) = (mark, comparesAll)
        search?.container = container
        body(&self)
        (self.mark, self.comparesAll) = outer
        if let outerContainer { search?.container = outerContainer }
    }

    /// Whether the field may differ; generated code asks before it hands over the values.
    ///
    /// Mutating, because an unoptimised build would copy the collector for each call.
    @inlinable
    public mutating func visits(_ field: Int) -> Bool {
        comparesAll || mark.isTouched(field)
    }

    /// The serial that a value carries if it knows what was touched in it; nil where nothing is known.
    @inlinable
    func serial(of field: Int) -> UInt64? {
        comparesAll ? nil : mark.serial(of: field)
    }

    /// Runs `body` with the path, and the transience, of what is one step below; a step is a slash and an escaped token.
    @inlinable
    mutating func enter(step: String, isTransient: Bool, _ body: (inout ChangeCollector) -> Void) {
        let outer = (path, self.isTransient)
        path = outer.0.isEmpty ? step : outer.0 + step
        self.isTransient = outer.1 || isTransient
        body(&self)
        (path, self.isTransient) = outer
    }

    /// Reports the current path if the two values differ as JSON.
    ///
    /// `bearsState` says that the value's JSON may have transient fields, so that its form on disk is another one.
    @usableFromInline
    mutating func compare(
        bearsState: Bool,
        _ old: (inout JSONWriter) -> Void,
        _ new: (inout JSONWriter) -> Void
    ) -> Finding {
        guard purpose == .differences else { return .equal }
        texts.encode(old, new, includesTransient: true)
        // Before the comparison: a NaN that takes the place of a nil is `null` like it, and must not slip through.
        if texts.new.hasUnrepresentableNumber, !texts.old.hasUnrepresentableNumber { hasUnrepresentableNumber = true }
        guard texts.isDifferent else { return texts.new.hasOmittedFields ? .equalBesideOmitted : .equal }
        if texts.new.hasUnrepresentableNumber { hasUnrepresentableNumber = true }
        guard bearsState, !isTransient else {
            append(StateChange(operation: .replace, path: path, value: texts.takeNew(), isTransient: isTransient))
            return .different
        }
        let value = texts.takeNew()
        texts.encode(old, new, includesTransient: false)
        append(
            StateChange(
                operation: .replace,
                path: path,
                value: value,
                durableValue: texts.new.bytes == value ? nil : texts.new.bytes,
                isTransient: !texts.isDifferent
            )
        )
        return .different
    }

    /// Reports, at the current path, an operation on an element; `value` writes a new element.
    @usableFromInline
    mutating func report(_ operation: StateChange.Operation, index: Int?, _ value: ((inout JSONWriter) -> Void)? = nil)
    {
        var change = StateChange(
            operation: operation,
            path: path,
            index: index,
            value: nil,
            isTransient: isTransient
        )
        if let value {
            var writer = JSONWriter()
            value(&writer)
            if writer.hasUnrepresentableNumber { hasUnrepresentableNumber = true }
            change.value = writer.bytes
            if !isTransient {
                writer = JSONWriter(includesTransient: false)
                value(&writer)
                if writer.bytes != change.value { change.durableValue = writer.bytes }
            }
        }
        append(change)
    }

    /// Keeps a change; most runs have one, and an array of one is made more quickly than an array that grows.
    @inline(__always)
    private mutating func append(_ change: StateChange) {
        if changes.isEmpty { changes = [change] } else { changes.append(change) }
    }

    /// Notes that a field in no JSON, or one in a value, has another value now.
    mutating func noteOmittedWrite() {
        hasOmittedWrite = true
    }

    /// How much has been found; `goBack` forgets what was found after it.
    @usableFromInline var checkpoint: (changes: Int, search: CoercionSearch.Checkpoint?) {
        (changes.count, search?.checkpoint)
    }

    @usableFromInline
    mutating func goBack(to checkpoint: (changes: Int, search: CoercionSearch.Checkpoint?)) {
        changes.removeSubrange(checkpoint.changes...)
        if let found = checkpoint.search { search?.goBack(to: found) }
    }

    /// Reports the current path, whose values are known to differ and hold no state.
    @usableFromInline
    mutating func report(_ value: (inout JSONWriter) -> Void) {
        guard purpose == .differences else { return }
        var writer = JSONWriter(capacity: 16)
        value(&writer)
        append(StateChange(operation: .replace, path: path, value: writer.bytes, isTransient: isTransient))
    }

    /// The JSON texts of a value as it was and as it is.
    private struct Comparison {
        /// Without room at first: most runs compare nothing.
        private(set) var old = JSONWriter(capacity: 0)
        private(set) var new = JSONWriter(capacity: 0)

        /// The room for a text at first.
        private static let roomBytes = 256

        var isDifferent: Bool { old.bytes != new.bytes }

        mutating func encode(
            _ old: (inout JSONWriter) -> Void,
            _ new: (inout JSONWriter) -> Void,
            includesTransient: Bool
        ) {
            Self.write(old, into: &self.old, includesTransient: includesTransient)
            Self.write(new, into: &self.new, includesTransient: includesTransient)
        }

        /// Gives the text of the value as it is away.
        mutating func takeNew() -> [UInt8] { new.takeBytes() }

        private static func write(
            _ value: (inout JSONWriter) -> Void,
            into writer: inout JSONWriter,
            includesTransient: Bool
        ) {
            writer.removeAll(keepingCapacity: true)
            writer.reserveCapacity(roomBytes)
            writer.includesTransient = includesTransient
            value(&writer)
        }
    }
}

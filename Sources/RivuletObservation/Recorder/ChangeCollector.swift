import RivuletJSON

extension Generated {
    /// Compares the fields that a run touched and collects the differences.
    ///
    /// Values differ if their JSON texts differ. The comparison relies on no type's own `==`: a custom `==`, or one for
    /// which two spellings of "é" are equal, would lose writes. Generated code calls `field`; its overloads are in
    /// `ChangeCollector+Fields.swift`.
    public struct ChangeCollector {
        /// The purpose of the walk.
        @usableFromInline
        enum Purpose: Equatable {
            /// Report the differences.
            case differences
            /// Find the coercions inside of a value that is reported as a whole.
            case coercions
        }

        /// The result of a comparison of two JSON texts.
        @usableFromInline
        enum Finding: Equatable {
            case equal
            /// The texts are equal, but do not contain all fields.
            case equalBesideOmitted
            case different
        }

        /// The mark of the value that is being walked.
        @usableFromInline var mark = ChangeMark()
        /// True if every field of the value is compared, and not only the touched ones.
        @usableFromInline var comparesAll = true
        @usableFromInline var purpose = Purpose.differences
        /// The JSON Pointer of the current value.
        ///
        /// A path of one step is the step's own string, and a short path needs no allocation.
        @usableFromInline var path = ""
        /// True if the current value is below a transient field.
        @usableFromInline var isTransient = false

        private var changes: [StateChange] = []
        private var hasUnrepresentableNumber = false
        private var hasUnaddressableID = false
        private var hasOmittedWrite = false
        /// The search for coercions; nil for a run without coercion records.
        @usableFromInline let search: CoercionSearch?

        /// The texts of the last comparison; the next comparison reuses their memory.
        private var texts = Comparison()

        @usableFromInline
        init(_ records: CoercionRecords?) {
            search = records.map(CoercionSearch.init)
        }

        /// All findings.
        @usableFromInline var recording: Recording {
            Recording(
                changes: changes,
                coercions: search?.found ?? [],
                hasUnrepresentableNumber: hasUnrepresentableNumber,
                hasUnaddressableID: hasUnaddressableID,
                hasOmittedWrite: hasOmittedWrite
            )
        }

        /// Compares two states from their root; a nil serial compares every field.
        @inlinable
        mutating func collect<State: ObservableState>(from old: State, to new: State, serial: UInt64?) {
            _ = State._$collect(from: old, to: new, serial: serial, into: &self)
        }

        /// Walks the fields of one value: all fields, or only the fields that its mark shows as touched.
        @inlinable
        mutating func walk(
            _ container: Any.Type,
            _ mark: ChangeMark,
            comparesAll: Bool,
            _ body: (inout Generated.ChangeCollector) -> Void
        ) {
            let outer = (self.mark, self.comparesAll)
            let outerContainer = search?.container
            (self.mark, self.comparesAll) = (mark, comparesAll)
            search?.container = container
            body(&self)
            (self.mark, self.comparesAll) = outer
            if let outerContainer { search?.container = outerContainer }
        }

        /// Returns true if the field may differ; generated code asks before it passes the values.
        ///
        /// The method is mutating, because an unoptimised build would copy the collector for each call.
        @inlinable
        public mutating func visits(_ field: Int) -> Bool {
            comparesAll || mark.isTouched(field)
        }

        /// Returns the serial of a field's location; nil if the writes to the walked value are unknown.
        ///
        /// The mark of a value with this serial tells which of its fields were written.
        @inlinable
        func serial(of field: Int) -> UInt64? {
            comparesAll ? nil : mark.serial(of: field)
        }

        /// Runs `body` one step below the current path; a step is a slash and an escaped token.
        @inlinable
        mutating func enter(step: String, isTransient: Bool, _ body: (inout Generated.ChangeCollector) -> Void) {
            let outer = (path, self.isTransient)
            path = outer.0.isEmpty ? step : outer.0 + step
            self.isTransient = outer.1 || isTransient
            body(&self)
            (path, self.isTransient) = outer
        }

        /// Reports the current path if the two values differ as JSON.
        ///
        /// `bearsState` is true if the value's JSON may have transient fields, which its form on disk does not have.
        @usableFromInline
        mutating func compare(
            bearsState: Bool,
            _ old: (inout JSONWriter) -> Void,
            _ new: (inout JSONWriter) -> Void
        ) -> Finding {
            guard purpose == .differences else { return .equal }
            texts.encode(old, new, includesTransient: true)
            // This comes before the comparison: a NaN that replaces a nil is also `null`, and must not slip through.
            if texts.new.hasUnrepresentableNumber, !texts.old.hasUnrepresentableNumber {
                hasUnrepresentableNumber = true
            }
            guard texts.isDifferent else { return texts.new.hasOmittedFields ? .equalBesideOmitted : .equal }
            if texts.new.hasUnrepresentableNumber { hasUnrepresentableNumber = true }
            if texts.new.hasUnaddressableID, !texts.old.hasUnaddressableID { hasUnaddressableID = true }
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
        mutating func report(
            _ operation: StateChange.Operation,
            index: Int?,
            _ value: ((inout JSONWriter) -> Void)? = nil
        ) {
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
                if writer.hasUnaddressableID || operation == .add && path.utf8.contains(0) { hasUnaddressableID = true }
                change.value = writer.bytes
                if !isTransient {
                    writer = JSONWriter(includesTransient: false)
                    value(&writer)
                    if writer.bytes != change.value { change.durableValue = writer.bytes }
                }
            }
            append(change)
        }

        /// Adds a change; most runs have one, and an array of one is made faster than an array that grows.
        @inline(__always)
        private mutating func append(_ change: StateChange) {
            if changes.isEmpty { changes = [change] } else { changes.append(change) }
        }

        /// Records that an omitted field has another value now.
        mutating func recordOmittedWrite() {
            hasOmittedWrite = true
        }

        /// The number of findings so far; `goBack` discards later findings.
        @usableFromInline var checkpoint: (changes: Int, search: CoercionSearch.Checkpoint?) {
            (changes.count, search?.checkpoint)
        }

        @usableFromInline
        mutating func goBack(to checkpoint: (changes: Int, search: CoercionSearch.Checkpoint?)) {
            changes.removeSubrange(checkpoint.changes...)
            if let found = checkpoint.search { search?.goBack(to: found) }
        }

        /// Reports the current path for values that are known to differ and hold no state.
        @usableFromInline
        mutating func report(_ value: (inout JSONWriter) -> Void) {
            guard purpose == .differences else { return }
            var writer = JSONWriter(capacity: 16)
            value(&writer)
            append(StateChange(operation: .replace, path: path, value: writer.bytes, isTransient: isTransient))
        }

        /// The JSON texts of the old and of the new value.
        private struct Comparison {
            /// The writers begin without capacity, because most runs compare nothing.
            private(set) var old = JSONWriter(capacity: 0)
            private(set) var new = JSONWriter(capacity: 0)

            /// The initial capacity for a text, in bytes.
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

            /// Takes the text of the new value out.
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
}

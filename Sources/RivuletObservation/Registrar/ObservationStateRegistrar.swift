/// What every accessor of an observable struct goes through: it notes writes for ``ChangeRecorder`` and tells observers.
///
/// It is no part of the value: registrars are all equal, hash to nothing and are in no JSON. Without observers it is 24 bytes and no
/// allocation, and an access costs a test for nil. Generated code calls its methods; overloads choose by the field's type, so that the
/// macros need not know it. Methods that change nothing are `mutating` too where they can be: an unoptimised build would copy the
/// registrar for each call, in a good part of the generated code.
/// Source: <Tests/Rows/Systems.md#a-23>, F-01.
public struct ObservationStateRegistrar: Sendable {
    /// What a run of the recorder knows of this value.
    @usableFromInline var mark = ChangeMark()
    /// Where this value is observed; nil: nobody can be watching.
    @usableFromInline var place: ObservedPlace?

    /// Starts with nothing written; a value that is born observable has a place at once.
    @inlinable
    public init(_ rules: ObservationRules = .state) {
        place = rules.isBornObservable ? ObservedPlace() : nil
    }
}

extension ObservationStateRegistrar: Hashable {
    /// Registrars are no part of a value: all are equal.
    @inlinable
    public static func == (first: Self, second: Self) -> Bool {
        first.readWhole()
        second.readWhole()
        return true
    }

    /// Adds nothing.
    @inlinable
    public func hash(into hasher: inout Hasher) { readWhole() }
}

// Reading.
extension ObservationStateRegistrar {
    /// The value of a field, noted as read.
    @inlinable
    public func read<Value>(_ field: Int, _ value: Value) -> Value {
        if let place { place.access(field) }
        return value
    }

    /// Notes that the whole value is read: compared, hashed or encoded by code that goes past the accessors.
    @inlinable
    public func readWhole() {
        if let place { place.accessWhole() }
    }

    /// The value of a field whose own fields are observed: it learns where it is.
    @inlinable
    public func read<Value: StateNode>(_ field: Int, _ value: Value) -> Value {
        guard let place else { return value }
        place.access(field)
        var value = value
        value._$observe(at: place.child(.field(field)))
        return value
    }
}

// Whole-value writes.
extension ObservationStateRegistrar {
    /// Writes a leaf.
    @inlinable
    public mutating func set<Value>(_ field: Int, _ storage: inout Value, to value: Value) {
        set(field, &storage, to: value, isChange: true)
    }

    /// Writes a leaf; an equal value is told to nobody.
    @inlinable
    public mutating func set<Value: Equatable>(_ field: Int, _ storage: inout Value, to value: Value) {
        set(field, &storage, to: value, isChange: place == nil || storage != value)
    }

    /// Writes a nested value, which keeps the mark that it comes with; one that is observed as what it replaces is told to nobody.
    @inlinable
    public mutating func set<Value: StateNode>(_ field: Int, _ storage: inout Value, to value: Value) {
        setNode(field, &storage, to: value, isChange: true)
    }

    /// Writes a nested value that can be compared.
    @inlinable
    public mutating func set<Value: StateNode & Equatable>(_ field: Int, _ storage: inout Value, to value: Value) {
        setNode(field, &storage, to: value, isChange: place == nil || storage != value)
    }

    /// Writes a leaf, with the answer to whether observers are to be told.
    @inlinable
    public mutating func set<Value>(_ field: Int, _ storage: inout Value, to value: Value, isChange: Bool) {
        mark.touch(field)
        guard let place, isChange else { return storage = value }
        place.mutate(field) { storage = value }
    }

    @inlinable
    mutating func setNode<Value: StateNode>(_ field: Int, _ storage: inout Value, to value: Value, isChange: Bool) {
        mark.touch(field)
        guard let place, isChange, !_$isIdentityEqual(value, at: place.child(.field(field))) else {
            return storage = value
        }
        place.mutate(field) { storage = value }
    }
}

// In-place edits. `begin` answers whether there was nothing to edit, a nil, which `end` wants to know. `end` is called in a `defer`,
// because the code after a `yield` is skipped when the access is left by a throw.
extension ObservationStateRegistrar {
    /// Begins an in-place edit of a leaf.
    @inlinable
    public mutating func begin<Value>(_ field: Int, _ storage: inout Value) -> Bool {
        mark.touch(field)
        if let place { place.willSet(field) }
        return false
    }

    /// Begins an in-place edit of a nested value, which learns its place if this is the first write to the field in this run.
    ///
    /// Only then is it known to be what it was when the run began. In a value without a place there is none to learn.
    @inlinable
    public mutating func begin<Value: StateNode>(_ field: Int, _ storage: inout Value) -> Bool {
        if mark.begin(field), mark.serial != 0 { storage._$enter(mark.serial(of: field)) }
        guard let place else { return false }
        storage._$observe(at: place.child(.field(field)))
        return storage._$isAbsent
    }

    /// Ends an in-place edit of a leaf.
    @inlinable
    public mutating func end<Value>(_ field: Int, _ storage: inout Value, wasAbsent: Bool) {
        if let place { place.didSet(field) }
    }

    /// Ends an in-place edit of a nested value: its own fields have told their observers, but not of a value that took its place.
    @inlinable
    public mutating func end<Value: StateNode>(_ field: Int, _ storage: inout Value, wasAbsent: Bool) {
        endNode(field, storage, wasAbsent: wasAbsent)
    }

    @inlinable
    func endNode<Value: StateNode>(_ field: Int, _ value: Value, wasAbsent: Bool) {
        guard let place, !(wasAbsent && value._$isAbsent) else { return }
        if !_$isIdentityEqual(value, at: place.child(.field(field))) { place.mutate(field) {} }
    }
}

// swift-format-ignore: NoLeadingUnderscores
/// Whether a value is the one that is observed at a place, so that a write of it changes nothing for those who watch the field.
///
/// Source: <Tests/Rows/Systems.md#f-05>.
@inlinable
public func _$isIdentityEqual(_ value: some StateNode, at place: ObservedPlace) -> Bool {
    value._$isObserved(at: place)
}

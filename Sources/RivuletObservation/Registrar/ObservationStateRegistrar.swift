/// The entry point of every accessor of an observable struct: it records writes for ``ChangeRecorder`` and notifies
/// observers.
///
/// The registrar is no part of the value: registrars are all equal, hash to nothing and are in no JSON. Without
/// observers it is 24 bytes and no allocation, and an access costs a test for nil. Generated code calls its methods.
/// The field's type selects the overload, so that the macros need not know the type. Many methods that change nothing
/// are `mutating` too: otherwise an unoptimised build copies the registrar for each call.
/// Source: <Tests/Rows/Systems.md#a-23>, F-01.
public struct ObservationStateRegistrar: Sendable {
    /// The writes to this value in a run of the recorder.
    @usableFromInline var mark = ChangeMark()
    /// The node at which this value is observed; nil if it can have no observers.
    @usableFromInline var node: Generated.ObservedNode?

    /// Starts with nothing written; a value that is born observable has a node at once.
    @inlinable
    public init(_ rules: ObservationRules = .state) {
        node = rules.isBornObservable ? Generated.ObservedNode() : nil
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
    /// Returns the value of a field, and records the read.
    @inlinable
    public func read<Value>(_ field: Int, _ value: Value) -> Value {
        if let node { node.access(field) }
        return value
    }

    /// Records a read of the whole value: a comparison, a hash or an encoding that does not use the accessors.
    @inlinable
    public func readWhole() {
        if let node { node.accessWhole() }
    }

    /// Returns the nested value of a field with its observed node, and records the read.
    @inlinable
    public func read<Value: StateNode>(_ field: Int, _ value: Value) -> Value {
        guard let node else { return value }
        node.access(field)
        var value = value
        value._$observe(at: node.child(.field(field)))
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

    /// Writes a leaf; an equal value notifies no observers.
    @inlinable
    public mutating func set<Value: Equatable>(_ field: Int, _ storage: inout Value, to value: Value) {
        set(field, &storage, to: value, isChange: node == nil || storage != value)
    }

    /// Writes a nested value, which keeps its mark; notifies no observers if the value is the observed one.
    @inlinable
    public mutating func set<Value: StateNode>(_ field: Int, _ storage: inout Value, to value: Value) {
        setNode(field, &storage, to: value, isChange: true)
    }

    /// Writes a nested value that can be compared.
    @inlinable
    public mutating func set<Value: StateNode & Equatable>(_ field: Int, _ storage: inout Value, to value: Value) {
        setNode(field, &storage, to: value, isChange: node == nil || storage != value)
    }

    /// Writes a leaf; observers are notified if `isChange` is true.
    @inlinable
    public mutating func set<Value>(_ field: Int, _ storage: inout Value, to value: Value, isChange: Bool) {
        mark.touch(field)
        guard let node, isChange else { return storage = value }
        node.mutate(field) { storage = value }
    }

    @inlinable
    mutating func setNode<Value: StateNode>(_ field: Int, _ storage: inout Value, to value: Value, isChange: Bool) {
        mark.touch(field)
        guard let node, isChange, !_$isIdentityEqual(value, at: node.child(.field(field))) else {
            return storage = value
        }
        node.mutate(field) { storage = value }
    }
}

// In-place edits. `begin` returns true if the nested value is nil, and `end` takes this answer as `wasAbsent`. `end` is
// called in a `defer`, because a throw skips the code after a `yield`.
extension ObservationStateRegistrar {
    /// Begins an in-place edit of a leaf.
    @inlinable
    public mutating func begin<Value>(_ field: Int, _ storage: inout Value) -> Bool {
        mark.touch(field)
        if let node { node.willSet(field) }
        return false
    }

    /// Begins an in-place edit of a nested value, and gives the value its node.
    ///
    /// The value also gets its serial if this is the first write to the field in this run. A later write may find
    /// another value than the one from the beginning of the run. A container without a location has no serial to give.
    @inlinable
    public mutating func begin<Value: StateNode>(_ field: Int, _ storage: inout Value) -> Bool {
        if mark.begin(field), mark.serial != 0 { storage._$enter(mark.serial(of: field)) }
        guard let node else { return false }
        storage._$observe(at: node.child(.field(field)))
        return storage._$isAbsent
    }

    /// Ends an in-place edit of a leaf.
    @inlinable
    public mutating func end<Value>(_ field: Int, _ storage: inout Value, wasAbsent: Bool) {
        if let node { node.didSet(field) }
    }

    /// Ends an in-place edit of a nested value, and notifies observers if another value replaced it.
    ///
    /// The value's own fields have already notified their observers.
    @inlinable
    public mutating func end<Value: StateNode>(_ field: Int, _ storage: inout Value, wasAbsent: Bool) {
        endNode(field, storage, wasAbsent: wasAbsent)
    }

    @inlinable
    func endNode<Value: StateNode>(_ field: Int, _ value: Value, wasAbsent: Bool) {
        guard let node, !(wasAbsent && value._$isAbsent) else { return }
        if !_$isIdentityEqual(value, at: node.child(.field(field))) { node.mutate(field) {} }
    }
}

// swift-format-ignore: NoLeadingUnderscores
/// Returns true if a value is the one observed at a node, so that a write of it changes nothing for the field's
/// observers.
///
/// Source: <Tests/Rows/Systems.md#f-05>.
@inlinable
public func _$isIdentityEqual(_ value: some StateNode, at node: Generated.ObservedNode) -> Bool {
    value._$isObserved(at: node)
}

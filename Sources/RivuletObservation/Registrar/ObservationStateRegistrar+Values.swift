// This file owns the accessors of fields of @ObservableValue: identities decide which observers are notified of a
// write.

import Observation

// The accessors write the storage themselves between these calls. So the storage's `willSet` and `didSet` run at every
// write, before observers are notified that the field has changed.
extension ObservationStateRegistrar {
    /// The identity of the value, made at its first use; all zeros for a value that is not born observable.
    public var id: ObservationIdentity { node?.id ?? Generated.ObservedNode.noID }

    /// Begins a whole write, and notifies observers if the field changes.
    ///
    /// A field with an identity changes if it gets another identity, even that of an equal value. Otherwise the new
    /// value would have no observers. A field without an identity changes if `isChange` is true. Source:
    /// <Tests/Rows/Systems.md#b-08>.
    /// - Returns: true if observers are notified; pass it to ``didSet(_:isTold:)``.
    @inlinable
    public func willSet(
        _ field: Int,
        from old: ObservationIdentity?,
        to new: ObservationIdentity?,
        isChange: @autoclosure () -> Bool
    ) -> Bool {
        guard let node, old != new || (old == nil && isChange()) else { return false }
        node.willSet(field)
        return true
    }

    /// Ends a write.
    @inlinable
    public func didSet(_ field: Int, isTold: Bool) {
        if isTold, let node { node.didSet(field) }
    }

    /// Begins an in-place edit, which is also a read of the field.
    ///
    /// If the field holds an observable value, that value notifies the observers of its own edits.
    ///
    /// Source: <Tests/Rows/Systems.md#b-10>.
    @inlinable
    public func willEdit(_ field: Int, _ identity: ObservationIdentity?) {
        guard let node else { return }
        if ObservationRules.value.countsEditsAsReads { node.access(field) }
        if identity == nil { node.willSet(field) }
    }

    /// Ends an in-place edit, which may have put another observable value into the field.
    @inlinable
    public func didEdit(_ field: Int, from old: ObservationIdentity?, to new: ObservationIdentity?) {
        guard let node else { return }
        if old == nil {
            node.didSet(field)
        } else if old != new {
            node.mutate(field) {}
        }
    }

    /// Records a read by key path, of a field or of a computed member.
    public func access<Subject: ObservableValue, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
        guard let node else { return }
        guard let field = Subject._$position(of: keyPath) else {
            return node.registrar.access(subject, keyPath: keyPath)
        }
        node.access(field)
    }

    /// Makes a write, and notifies the observers of its key path.
    ///
    /// - Throws: the error of the write; observers are notified all the same.
    public func withMutation<Subject: ObservableValue, Member, Result>(
        of subject: Subject,
        keyPath: KeyPath<Subject, Member>,
        _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let node else { return try mutation() }
        guard let field = Subject._$position(of: keyPath) else {
            return try node.registrar.withMutation(of: subject, keyPath: keyPath, mutation)
        }
        node.willSet(field)
        defer { node.didSet(field) }
        return try mutation()
    }
}

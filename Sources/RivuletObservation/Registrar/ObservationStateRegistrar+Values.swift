// This file owns the accessors' side of fields of @ObservableValue: who is told of a write is decided by identities.

import Observation

// The accessors write the storage themselves, between these calls, so that its `willSet` and `didSet` run at every write, and before
// observers are told that the field has changed.
extension ObservationStateRegistrar {
    /// The identity of the value, made when it is first asked for; all zeros for a value that is not born observable.
    public var id: ObservationIdentity { place?.id ?? ObservedPlace.noID }

    /// Begins a whole-value write: tells observers, unless the field keeps its identity or, without identities, its value.
    ///
    /// Values of different identity are different even if they are equal: else nobody would watch the new one.
    /// Source: <Tests/Rows/Systems.md#b-08>.
    /// - Returns: whether observers are told, which ``didSet(_:isTold:)`` wants to know.
    @inlinable
    public func willSet(
        _ field: Int,
        from old: ObservationIdentity?,
        to new: ObservationIdentity?,
        isChange: @autoclosure () -> Bool
    ) -> Bool {
        guard let place, old != new || (old == nil && isChange()) else { return false }
        place.willSet(field)
        return true
    }

    /// Ends a write.
    @inlinable
    public func didSet(_ field: Int, isTold: Bool) {
        if isTold, let place { place.didSet(field) }
    }

    /// Begins an in-place edit, which counts as a read; an edit of an observable value is told by that value.
    ///
    /// Source: <Tests/Rows/Systems.md#b-10>.
    @inlinable
    public func willEdit(_ field: Int, _ identity: ObservationIdentity?) {
        guard let place else { return }
        if ObservationRules.value.countsEditsAsReads { place.access(field) }
        if identity == nil { place.willSet(field) }
    }

    /// Ends an in-place edit, which may have put another observable value into the field.
    @inlinable
    public func didEdit(_ field: Int, from old: ObservationIdentity?, to new: ObservationIdentity?) {
        guard let place else { return }
        if old == nil {
            place.didSet(field)
        } else if old != new {
            place.mutate(field) {}
        }
    }

    /// Notes a read by key path: of a field, or of what the type computes.
    public func access<Subject: ObservableValue, Member>(_ subject: Subject, keyPath: KeyPath<Subject, Member>) {
        guard let place else { return }
        guard let field = Subject._$position(of: keyPath) else {
            return place.registrar.access(subject, keyPath: keyPath)
        }
        place.access(field)
    }

    /// Tells the observers of a key path of a write.
    ///
    /// - Throws: what the write throws; observers are told all the same.
    public func withMutation<Subject: ObservableValue, Member, Result>(
        of subject: Subject,
        keyPath: KeyPath<Subject, Member>,
        _ mutation: () throws -> Result
    ) rethrows -> Result {
        guard let place else { return try mutation() }
        guard let field = Subject._$position(of: keyPath) else {
            return try place.registrar.withMutation(of: subject, keyPath: keyPath, mutation)
        }
        place.willSet(field)
        defer { place.didSet(field) }
        return try mutation()
    }
}

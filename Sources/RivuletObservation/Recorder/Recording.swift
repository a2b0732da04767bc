/// The result of a run of ``ChangeRecorder``.
public struct Recording: Hashable, Sendable {
    /// The net differences in the order of the fields; each path occurs at most once.
    ///
    /// The changes must be applied in this order. No change is below the path of an `add`, a `replace` or a `remove`.
    /// If an element of a keyed collection moved and changed, the changes below its path come before its `move`. If an
    /// id gets another spelling, such as `e` and an accent in place of `é`, it is another id: the list has a `remove`
    /// and an `add`.
    public let changes: [StateChange]
    /// The writes that a wrapper changed, each path at most once.
    ///
    /// The list has the writes to fields that are in the state after the run, and the values that initialisers were
    /// given in the run. Writes to fields of a type that is not `Equatable` and ``JSONCodable`` are not recorded.
    /// Values that the state does not have after the run are not reported. Two initialisers of one type may be given
    /// different values that a wrapper turns into the same value. The coercions of these two values may then be
    /// interchanged.
    public let coercions: [Coercion]
    /// True if a changed value has a NaN or an infinity, which JSON cannot carry; the run should be refused.
    public let hasUnrepresentableNumber: Bool
    /// True if an added element has an id with a NUL, which no URL can carry; the run should be refused.
    public let hasUnaddressableID: Bool
    /// True if an omitted field was written, unless its type is `Equatable` and the new value is equal.
    ///
    /// No change reports this write, but values computed from the field may differ now.
    public let hasOmittedWrite: Bool

    /// Describes a run.
    public init(
        changes: [StateChange] = [],
        coercions: [Coercion] = [],
        hasUnrepresentableNumber: Bool = false,
        hasUnaddressableID: Bool = false,
        hasOmittedWrite: Bool = false
    ) {
        self.changes = changes
        self.coercions = coercions
        self.hasUnrepresentableNumber = hasUnrepresentableNumber
        self.hasUnaddressableID = hasUnaddressableID
        self.hasOmittedWrite = hasOmittedWrite
    }
}

/// The result of a run.
public struct Recording: Hashable, Sendable {
    /// The net differences in the order of the fields; each path occurs at most once, and its value really differs.
    ///
    /// The changes must be applied in this order. No change is below the path of an `add`, a `replace` or a `remove`.
    /// An element of a keyed collection that moved and changed has changes below its path, and then its `move`. If an
    /// id is spelled anew, as `e` and an accent for `é`, its element has a `remove` and an `add`: ids with other bytes
    /// are other ids.
    public let changes: [StateChange]
    /// The writes that a wrapper changed, each path at most once.
    ///
    /// Known are writes to fields of values that are in the state after the run, and the values that initialisers were
    /// given in the run. Unknown are writes to fields of a type that is not `Equatable` and ``JSONCodable``. A value
    /// that is discarded is not reported. New values of one type can hold the same value although their initialisers
    /// were given different ones. One of them may then be named for another.
    public let coercions: [Coercion]
    /// True if a changed value has a NaN or an infinity, which JSON cannot carry; the run should be refused.
    public let hasUnrepresentableNumber: Bool
    /// True if an added element has an id with a NUL, which no URL can carry; the run should be refused.
    public let hasUnaddressableID: Bool
    /// True if an omitted field was written, except with an equal value of an `Equatable` type.
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

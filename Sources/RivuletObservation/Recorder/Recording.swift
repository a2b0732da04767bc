/// What a run changed.
public struct Recording: Hashable, Sendable {
    /// The net differences in the order of the fields, each path at most once, each really different; to be made in this order.
    ///
    /// There are none below an `add`, a `replace` or a `remove`. An element of a keyed collection that moved and changed has changes
    /// below it and then its `move`. One whose id is spelled anew, `e` and an accent for `é`, has a `remove` and an `add`, whose paths
    /// Swift's strings hold for equal though their bytes differ.
    public let changes: [StateChange]
    /// The writes that a wrapper changed, each path at most once.
    ///
    /// Known are writes to fields of values that are in the state after the run, and what they were made of by an initialiser in the
    /// run. Not known are fields whose type is not `Equatable` and ``JSONCodable``. A value that is thrown away is not reported. Of
    /// new values of one type that hold the same after initialisers were given different ones, one may be named for another.
    public let coercions: [Coercion]
    /// Whether a changed value has a NaN or an infinity, which JSON cannot carry: the run should be refused.
    public let hasUnrepresentableNumber: Bool
    /// Whether a field that is in no JSON was written, and not with an equal value of an `Equatable` type; no change tells of it, but what is
    /// computed from it may be another value now.
    public let hasOmittedWrite: Bool

    /// Describes a run.
    public init(
        changes: [StateChange] = [],
        coercions: [Coercion] = [],
        hasUnrepresentableNumber: Bool = false,
        hasOmittedWrite: Bool = false
    ) {
        self.changes = changes
        self.coercions = coercions
        self.hasUnrepresentableNumber = hasUnrepresentableNumber
        self.hasOmittedWrite = hasOmittedWrite
    }
}

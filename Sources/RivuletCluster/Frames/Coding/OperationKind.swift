/// The first byte of an operation; a byte keeps its meaning for ever.
///
/// A kind that is not in this list was made by a newer build, and is refused as such. The numbers 32 to 39 are reserved
/// for sequences of clients, and 40 to 47 for scheduled events. No number is used for two kinds.
enum OperationKind: UInt8, CaseIterable {
    case create = 1
    case append = 2
    case compact = 3
    case delete = 4
    case items = 5
    case claim = 6
    case release = 7
    case checkpoint = 8
    case baseSession = 16
    case baseSnapshot = 17
    case baseEntries = 18
    case baseAnswer = 19
    case baseItems = 20

    /// The kinds of the sequences by which a client numbers its dispatches.
    static let reservedForClientSequences: ClosedRange<UInt8> = 32...39
    /// The kinds of events that are dispatched at a time.
    static let reservedForScheduledEvents: ClosedRange<UInt8> = 40...47
}

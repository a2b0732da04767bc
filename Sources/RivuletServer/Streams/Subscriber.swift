/// How far a member of a group is.
struct Subscriber {
    /// The number of the first event of its group's log that it has not been given.
    var next: UInt64
    var state: SubscriberState
    var form: SubscriberForm
}

/// The form in which a member of a group is sent the next event of its group's log.
///
/// One byte, because a run of members that need the same form is found by comparing it for each delivery.
struct SubscriberForm: OptionSet, Sendable {
    let rawValue: UInt8

    /// The last bytes that it was sent are those of the event before the next; always, where nothing is compressed.
    static let chained = SubscriberForm(rawValue: 1)
    /// Its body is chunked, as that of HTTP/1.1 is; without, the content alone is sent.
    static let chunked = SubscriberForm(rawValue: 2)

    var isChained: Bool { contains(.chained) }
    var isChunked: Bool { contains(.chunked) }
}

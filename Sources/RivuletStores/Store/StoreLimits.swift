/// The limits of a ``Store``: its size, its waiting requests, and the events for its subscribers.
public struct StoreLimits: Hashable, Sendable {
    /// The most bytes of keys and documents in the store; a larger insert fails with
    /// ``StoreError/full(limitBytes:)``.
    ///
    /// The items take more or less memory than that, depending on their type.
    public var bytesMax: Int
    /// The most requests that wait for the storage; a further request fails with ``StoreError/busy(detail:)``.
    public var requestsMax: Int
    /// The most bytes of documents that wait for the storage; a single request may have more.
    public var requestBytesMax: Int
    /// The most requests that the storage handles at a time.
    public var commitsMax: Int
    /// The most events that wait for one subscriber; a slower subscriber gets all items instead of the missed events.
    public var subscriberEventsMax: Int
    /// The most items in the events that wait for one subscriber; a single event may have more.
    public var subscriberItemsMax: Int
    /// The most bytes of keys and documents in the events that wait for one subscriber; a single event may have more.
    public var subscriberBytesMax: Int
    /// The most past events that are kept for subscribers that resume.
    public var historyEventsMax: Int
    /// The most items in the events that are kept for subscribers that resume.
    public var historyItemsMax: Int
    /// The most bytes of keys and documents in the events that are kept for subscribers that resume.
    public var historyBytesMax: Int

    /// Creates limits that suit most stores; a limit below 1 is raised to 1.
    public init(
        bytesMax: Int = 256 << 20,
        requestsMax: Int = 10_000,
        requestBytesMax: Int = 64 << 20,
        commitsMax: Int = 256,
        subscriberEventsMax: Int = 1_024,
        subscriberItemsMax: Int = 65_536,
        subscriberBytesMax: Int = 4 << 20,
        historyEventsMax: Int = 1_024,
        historyItemsMax: Int = 65_536,
        historyBytesMax: Int = 4 << 20
    ) {
        self.bytesMax = max(1, bytesMax)
        self.requestsMax = max(1, requestsMax)
        self.requestBytesMax = max(1, requestBytesMax)
        self.commitsMax = max(1, commitsMax)
        self.subscriberEventsMax = max(1, subscriberEventsMax)
        self.subscriberItemsMax = max(1, subscriberItemsMax)
        self.subscriberBytesMax = max(1, subscriberBytesMax)
        self.historyEventsMax = max(1, historyEventsMax)
        self.historyItemsMax = max(1, historyItemsMax)
        self.historyBytesMax = max(1, historyBytesMax)
    }
}

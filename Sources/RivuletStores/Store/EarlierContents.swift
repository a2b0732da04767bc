import Synchronization

/// The contents of a store before a change.
///
/// Removed items, and the array that a reader of all items has made, take O(n) to free. Neither the store's lock nor
/// the storage's thread should be held for that time.
final class EarlierContents<Item: StorableItem>: Sendable {
    /// The number of items from which on a task frees the contents.
    ///
    /// Freeing fewer items takes less time than a task.
    private static var taskCountMin: Int { 1_024 }

    private let contents: Mutex<StoreContents<Item>?>

    init(_ contents: StoreContents<Item>) { self.contents = Mutex(contents) }

    /// Frees the contents, in a task if they are large.
    func free() {
        guard contents.withLock({ $0.map(\.count) ?? 0 }) >= Self.taskCountMin else { return drop() }
        Task { drop() }
    }

    private func drop() {
        // The contents are taken out under the lock, and freed at the end of this function, without the lock.
        let earlier = contents.withLock { $0.take() }
        withExtendedLifetime(earlier) {}
    }
}

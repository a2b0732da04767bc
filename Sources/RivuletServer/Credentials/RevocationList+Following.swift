// Owns the list at a node of a cluster that does not write it: it follows the records that another node writes.

import Logging
import RivuletAuth
import RivuletStores
import Synchronization

extension RevocationList {
    /// Reads the stored records, and puts in force what has changed since the last reading; blocks.
    ///
    /// - Throws: a `ServerError` if the collection cannot be read.
    func follow() throws(ServerError) {
        let number = readings.add(1, ordering: .relaxed).newValue
        _ = take(try read(), number)
    }

    /// Reads the stored records soon; `done` is called on any thread if there are other ones.
    func followSoon(_ done: @escaping @Sendable () -> Void) {
        let number = readings.add(1, ordering: .relaxed).newValue
        storage.items(of: Self.collection) { [self] result in
            switch result {
            case .success(let stored): if take(stored, number) { done() }
            case .failure(let error):
                logger.error("revocations of another node are not in force yet, because they cannot be read: \(error)")
            }
        }
    }

    /// Takes the records of a reading; true if some have changed.
    private func take(_ stored: StoredCollection, _ number: UInt64) -> Bool {
        let records = stored.items.compactMap(Self.record)
        let ids = Set(records.map(\.id))
        var unread = stored.damaged.map(\.detail)
        if records.count < stored.items.count { unread.append("\(stored.items.count - records.count) records") }
        let hasChanged = content.withLock { content in
            // A later reading may have come first.
            guard number > content.latestReading else { return false }
            content.latestReading = number
            let gone = content.revocations.records.filter { !ids.contains($0.id) }
            for record in gone where content.revocations.remove(id: record.id) { didChange(.takenBack, &content) }
            let new = records.filter { content.revocations.record(id: $0.id) == nil }
            for record in new where content.revocations.insert(record) {
                didChange(.added(record.revocation), &content)
            }
            return !gone.isEmpty || !new.isEmpty
        }
        for detail in unread {
            logger.error(
                "A stored revocation is not in force: \(detail). If its credentials may be in use, revoke them again."
            )
        }
        return hasChanged
    }
}

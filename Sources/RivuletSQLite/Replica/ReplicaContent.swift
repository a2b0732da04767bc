package import RivuletCluster
package import RivuletSessions
internal import RivuletStores

/// The content of a copy as a whole: its hash, and its operations.
package enum ReplicaContent {
    /// Makes a hash over the content of a database, also while a server uses it.
    ///
    /// - Throws: `.corrupt` if a row is damaged. `.unavailable` if the database cannot be read.
    package static func hash(
        ofDatabaseAt path: String,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(StorageError) -> ContentHash {
        do throws(SQLiteError) {
            var hasher = ContentHasher()
            let reader = try ContentReader(path: path, limits: SQLiteStorageLimits(), isCancelled: isCancelled)
            let position = try reader.read(partBytesMax: hashedPartBytesMax) { hasher.add($0) }
            return ContentHash(position: position.position, hash: hasher.value)
        } catch {
            throw error.storageError(for: nil)
        }
    }

    /// Passes the content to a closure in batches, each of which fits in a frame of `frameBytesMax` bytes; returns its
    /// position.
    ///
    /// An operation with one snapshot, one entry or one item may be larger, and is a batch of its own then. Only one
    /// batch is in memory.
    static func export(
        ofDatabaseAt path: String,
        frameBytesMax: Int,
        isCancelled: @escaping @Sendable () -> Bool,
        _ pass: ([BaseOperation]) throws(StorageError) -> Void
    ) throws(StorageError) -> ReplicaPosition {
        do throws(SQLiteError) {
            let reader = try ContentReader(path: path, limits: SQLiteStorageLimits(), isCancelled: isCancelled)
            let bytesMax = max(1, frameBytesMax - frameOverheadBytes)
            var (batch, byteCount): ([BaseOperation], Int) = ([], 0)
            func passBatch() throws(SQLiteError) {
                do throws(StorageError) { try pass(batch) } catch { throw .refused(error) }
                (batch, byteCount) = ([], 0)
            }
            let position = try reader.read(partBytesMax: bytesMax / 2) { (operation) throws(SQLiteError) in
                let added = Operation.base(operation).byteCount + operationOverheadBytes
                if byteCount + added > bytesMax, !batch.isEmpty { try passBatch() }
                batch.append(operation)
                byteCount += added
            }
            if !batch.isEmpty { try passBatch() }
            return position
        } catch {
            throw error.storageError(for: nil)
        }
    }

    private static let hashedPartBytesMax = 1 << 20
    /// The bytes of a frame besides its operations.
    private static let frameOverheadBytes = 256
    private static let operationOverheadBytes = 8
}

/// A hash over the rows of a content, which does not depend on their distribution over operations.
private struct ContentHasher {
    private(set) var value: UInt64 = 0

    mutating func add(_ operation: BaseOperation) {
        switch operation {
        case .session(let key, let epoch, let created, let owner):
            add(1)
            add(key.app)
            add(key.id)
            add(epoch)
            add(created)
            add(owner)
        case .snapshot(_, let snapshot, let time):
            add(2)
            add(Int64(clamping: snapshot.version))
            add(Int64(snapshot.schema))
            add(time)
            add(snapshot.state)
        case .entries(_, let entries):
            for entry in entries {
                add(3)
                add(Int64(clamping: entry.version))
                add(entry.time)
                add(entry.commandID)
                add(entry.by)
                add(entry.event)
                add(entry.changes)
            }
        case .answer(_, let answer):
            add(4)
            add(answer.id)
            add(answer.time)
            add(answer.fingerprint)
            add(answer.body)
        case .items(let collection, let items):
            for item in items {
                add(5)
                add(collection)
                add(item.key)
                add(item.document)
                add(item.created)
                add(item.updated)
            }
        }
    }

    private mutating func add(_ number: Int64) {
        var number = number.littleEndian
        value = unsafe withUnsafeBytes(of: &number) { unsafe XXHash64.hash($0, seed: value) }
    }

    private mutating func add(_ bytes: [UInt8]) {
        value = unsafe bytes.span.bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: value) }
    }

    /// Adds a text; nil and an empty text give different hashes.
    private mutating func add(_ text: String?) {
        guard let text else { return add(-1) }
        value = unsafe text.utf8.span.bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: value) }
    }
}

import RivuletBase
internal import RivuletSessions
internal import RivuletStores
internal import Synchronization

/// The keys of collections that the reader thread has read, for the writer thread.
///
/// The keys are valid as long as no other connection writes to their collection. The writer itself writes to a
/// collection only after it knows the keys. If the writer forgets its keys, keys that were read before are invalid too.
final class SharedKeys: Sendable {
    /// The period between two calls of `forget()`.
    struct Term: Hashable {
        fileprivate var number: UInt64 = 0
    }

    private struct State {
        var term = Term()
        /// The collections with keys that the writer knows.
        var known: Set<ByteText> = []
        var found: [ByteText: StoredKeys] = [:]
        var foundCount = 0
        /// The answers to the writer's requests that the writer has not taken yet.
        var answers: [(name: ByteText, error: StorageError?)] = []
        var writerReads = 0
    }

    private let state = Mutex(State())
    private let keysMax: Int

    init(keysMax: Int) {
        self.keysMax = keysMax
    }

    // MARK: - Reading

    /// Returns the current term, to pass to `add` with the keys; nil if the writer knows the keys already.
    ///
    /// Call this before the transaction of the read begins.
    func term(ofReading name: ByteText) -> Term? {
        state.withLock { $0.known.contains(name) ? nil : $0.term }
    }

    /// Adds keys that were read in a term.
    func add(_ keys: StoredKeys, of name: ByteText, in term: Term) {
        state.withLock { state in
            guard state.term == term, !state.known.contains(name) else { return }
            state.foundCount += keys.rowIDs.count - (state.found[name]?.rowIDs.count ?? 0)
            if state.foundCount > keysMax {
                state.found = [:]
                state.foundCount = keys.rowIDs.count
            }
            state.found[name] = keys
        }
    }

    /// Answers a request of the writer, with nil if the keys were read, or with the error of the read.
    func answer(_ name: ByteText, _ error: StorageError?) {
        state.withLock { $0.answers.append((name, error)) }
    }

    // MARK: - Writing

    /// Returns the answers since the last call.
    func takeAnswers() -> [(name: ByteText, error: StorageError?)] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// Removes and returns the keys of a collection, for the writer; nil if they were not read.
    func take(_ name: ByteText) -> StoredKeys? {
        state.withLock { state in
            guard let keys = state.found.removeValue(forKey: name) else { return nil }
            state.foundCount -= keys.rowIDs.count
            return keys
        }
    }

    /// The number of times that the writer had to read keys itself, while all other requests waited.
    var writerReads: Int { state.withLock { $0.writerReads } }

    /// Counts a read of keys by the writer itself.
    func countWriterRead() { state.withLock { $0.writerReads += 1 } }

    /// Records that the writer knows the keys of a collection, or no longer knows them.
    func setKnown(_ name: ByteText, to isKnown: Bool) {
        state.withLock { state in
            if isKnown { state.known.insert(name) } else { state.known.remove(name) }
        }
    }

    /// Drops all keys, because the writer has forgotten its keys.
    func forget() {
        state.withLock { state in
            state.term.number += 1
            (state.known, state.found, state.foundCount) = ([], [:], 0)
        }
    }
}

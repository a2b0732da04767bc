internal import RivuletSessions
internal import RivuletStores
internal import Synchronization

/// Keys of collections that the reading thread has met, for the writing thread to take over.
///
/// What was read is good as long as no other connection writes to that collection: the writer itself does not before it knows the keys, and
/// when it forgets what it knows, what was read before that is worth nothing either.
final class SharedKeys: Sendable {
    /// The time between two forgettings.
    struct Term: Hashable {
        fileprivate var number: UInt64 = 0
    }

    private struct State {
        var term = Term()
        /// What the writer knows already.
        var known: Set<ItemKey> = []
        var found: [ItemKey: StoredKeys] = [:]
        var foundCount = 0
        /// What the writer has asked for, and has not yet heard that it is there, or why not.
        var answers: [(name: ItemKey, error: StorageError?)] = []
        var writerReads = 0
    }

    private let state = Mutex(State())
    private let keysMax: Int

    init(keysMax: Int) {
        self.keysMax = keysMax
    }

    // MARK: - Reading

    /// To be asked before a view is taken: when the keys are of use, what to give them back with.
    func term(ofReading name: ItemKey) -> Term? {
        state.withLock { $0.known.contains(name) ? nil : $0.term }
    }

    /// Takes what was read.
    func add(_ keys: StoredKeys, of name: ItemKey, in term: Term) {
        state.withLock { state in
            guard state.term == term, !state.known.contains(name) else { return }
            state.foundCount += keys.places.count - (state.found[name]?.places.count ?? 0)
            if state.foundCount > keysMax {
                state.found = [:]
                state.foundCount = keys.places.count
            }
            state.found[name] = keys
        }
    }

    /// Tells that what the writer has asked for is there, or why not.
    func answer(_ name: ItemKey, _ error: StorageError?) {
        state.withLock { $0.answers.append((name, error)) }
    }

    // MARK: - Writing

    /// What has been answered since the last call.
    func takeAnswers() -> [(name: ItemKey, error: StorageError?)] {
        state.withLock { state in
            defer { state.answers = [] }
            return state.answers
        }
    }

    /// The keys of a collection, which are the writer's from now on; nil: they were not read.
    func take(_ name: ItemKey) -> StoredKeys? {
        state.withLock { state in
            guard let keys = state.found.removeValue(forKey: name) else { return nil }
            state.foundCount -= keys.places.count
            return keys
        }
    }

    /// How often the writer had to read keys by itself, with no other request between.
    var writerReads: Int { state.withLock { $0.writerReads } }

    /// The writer reads keys by itself.
    func countWriterRead() { state.withLock { $0.writerReads += 1 } }

    /// The writer knows the keys of a collection, or does not any more.
    func setKnown(_ name: ItemKey, to isKnown: Bool) {
        state.withLock { state in
            if isKnown { state.known.insert(name) } else { state.known.remove(name) }
        }
    }

    /// The writer has forgotten all that it knew.
    func forget() {
        state.withLock { state in
            state.term.number += 1
            (state.known, state.found, state.foundCount) = ([], [:], 0)
        }
    }
}

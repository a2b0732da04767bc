// Part of Rivulet. See README.md for the architecture.
// This file owns the notes that wrappers leave, during a run, of values they changed.

import RivuletJSON
import Synchronization

/// The coercions of one run, by the mark of the value that holds the field.
final class CoercionLog: Sendable {
    struct Entry: Sendable {
        /// The serial of the value that holds the field.
        let serial: UInt64
        let field: Int
        /// What was written, JSON text.
        let from: [UInt8]
    }

    /// How many notes a run keeps; later ones are dropped, for they only inform.
    static let entriesMax = 10_000

    /// The log of the run that this code is in; it is looked up only when a wrapper did change a value.
    @TaskLocal static var current: CoercionLog?

    private let storage = Mutex<[Entry]>([])

    var entries: [Entry] { storage.withLock { $0 } }

    func append(_ entry: Entry) {
        storage.withLock { entries in
            if entries.count < Self.entriesMax { entries.append(entry) }
        }
    }
}

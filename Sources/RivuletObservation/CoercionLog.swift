// Part of Rivulet. See README.md for the architecture.
// This file owns the notes that wrappers leave, during a run, of values they changed.

internal import CCurrentRun
import RivuletJSON
import Synchronization

/// The coercions of runs that go on now, by the number of the run.
///
/// Most runs leave no note: then this costs two writes of a thread-local variable.
@usableFromInline
enum CoercionLog {
    @usableFromInline
    struct Entry: Sendable {
        /// The serial of the value that holds the field.
        let serial: UInt64
        let field: Int
        /// What was written, JSON text.
        let from: [UInt8]
    }

    /// How many notes a run keeps; later ones are dropped, for they only inform.
    static let entriesMax = 10_000

    fileprivate static let entries = Mutex<[UInt64: [Entry]]>([:])

    /// Whether this thread is in a run.
    static var isOpen: Bool { current_run().number != 0 }

    /// A run that is open on this thread, inside of another one perhaps.
    @usableFromInline
    struct Run {
        /// The run's number.
        @usableFromInline let number: UInt64
        private let outer: CCurrentRun.current_run

        /// Opens a run.
        @usableFromInline
        init() {
            number = ChangeMark.freshSerial()
            outer = current_run()
            set_current_run(CCurrentRun.current_run(number: number, has_notes: false))
        }

        /// Closes it, and gives the notes that were left.
        @usableFromInline
        func close() -> [Entry] {
            let hasNotes = current_run().has_notes
            set_current_run(outer)
            return hasNotes ? entries.withLock { $0.removeValue(forKey: number) ?? [] } : []
        }
    }

    /// Whether the run that this thread is in has notes.
    @usableFromInline static var hasNotes: Bool { current_run().has_notes }

    /// Takes back the notes of a field, because a later write was taken as it was.
    static func forget(serial: UInt64, field: Int) {
        entries.withLock { entries in
            entries[current_run().number]?.removeAll { $0.serial == serial && $0.field == field }
        }
    }

    /// Leaves a note in the run that this thread is in.
    static func append(_ entry: Entry) {
        var run = current_run()
        guard run.number != 0 else { return }
        run.has_notes = true
        set_current_run(run)
        entries.withLock { entries in
            if entries[run.number, default: []].count < entriesMax { entries[run.number, default: []].append(entry) }
        }
    }
}

internal import CCurrentRun
import RivuletJSON
import Synchronization

/// The coercions of runs that go on now, by the number of the run.
///
/// Most runs leave no note: then this costs two writes of a thread-local variable.
@usableFromInline
package enum CoercionLog {
    fileprivate static let notes = Mutex<[UInt64: CoercionNotes]>([:])

    /// Whether this thread is in a run.
    static var isOpen: Bool { current_run().number != 0 }

    /// A run that is open on this thread, inside of another one perhaps.
    @usableFromInline
    struct Run {
        /// The run's number.
        @usableFromInline let number: UInt64
        private let outer: CCurrentRun.current_run

        /// Opens a run that goes on with these notes.
        @usableFromInline
        init(_ notes: CoercionNotes? = nil) {
            number = ChangeMark.freshSerial()
            outer = current_run()
            set_current_run(CCurrentRun.current_run(number: number, has_notes: notes != nil))
            if let notes { CoercionLog.notes.withLock { $0[number] = notes } }
        }

        /// Closes it, and gives its notes if it has any.
        @usableFromInline
        func close() -> CoercionNotes? {
            let hasNotes = current_run().has_notes
            set_current_run(outer)
            return hasNotes ? notes.withLock { $0.removeValue(forKey: number) } : nil
        }
    }

    /// Makes a value that is to be put into a state later: the notes of its making belong into that run of ``ChangeRecorder``.
    ///
    /// - Throws: what `body` throws.
    package static func noting<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> (value: Value, notes: CoercionNotes?) {
        let run = Run()
        do throws(Failure) {
            let value = try body()
            return (value, run.close())
        } catch {
            _ = run.close()
            throw error
        }
    }

    /// Whether the run that this thread is in has notes.
    @usableFromInline static var hasNotes: Bool { current_run().has_notes }

    /// Whether the run that this thread is in has a note of a field.
    static func hasNote(serial: UInt64, field: Int) -> Bool {
        let number = current_run().number
        return notes.withLock { $0[number]?.written[serial]?[field] != nil }
    }

    /// Changes the notes of the run that this thread is in, if it is in one.
    static func edit(_ body: (inout CoercionNotes) -> Void) {
        var run = current_run()
        guard run.number != 0 else { return }
        run.has_notes = true
        set_current_run(run)
        notes.withLock { body(&$0[run.number, default: CoercionNotes()]) }
    }
}

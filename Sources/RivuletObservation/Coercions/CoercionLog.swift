internal import CCurrentRun
import RivuletJSON
import Synchronization

/// The coercion records of the open runs, by the number of the run.
///
/// Most runs record nothing. Such a run costs two writes of a thread-local variable.
@usableFromInline
package enum CoercionLog {
    fileprivate static let records = Mutex<[UInt64: CoercionRecords]>([:])

    /// True while a run is open on this thread.
    static var isOpen: Bool { current_run().number != 0 }

    /// A run that is open on this thread, possibly inside of another run.
    @usableFromInline
    struct Run {
        /// The run's number.
        @usableFromInline let number: UInt64
        private let outer: CCurrentRun.current_run

        /// Opens a run that continues these records.
        @usableFromInline
        init(_ records: CoercionRecords? = nil) {
            number = ChangeMark.freshSerial()
            outer = current_run()
            set_current_run(CCurrentRun.current_run(number: number, has_records: records != nil))
            if let records { CoercionLog.records.withLock { $0[number] = records } }
        }

        /// Closes the run and returns its records, if it has any.
        @usableFromInline
        func close() -> CoercionRecords? {
            let hasRecords = current_run().has_records
            set_current_run(outer)
            return hasRecords ? records.withLock { $0.removeValue(forKey: number) } : nil
        }
    }

    /// Makes a value for a later run of ``ChangeRecorder``, and returns the value with its coercion records.
    ///
    /// - Throws: what `body` throws.
    package static func noting<Value, Failure: Error>(
        _ body: () throws(Failure) -> Value
    ) throws(Failure) -> (value: Value, records: CoercionRecords?) {
        let run = Run()
        do throws(Failure) {
            let value = try body()
            return (value, run.close())
        } catch {
            _ = run.close()
            throw error
        }
    }

    /// True if the current run of this thread has records.
    @usableFromInline static var hasRecords: Bool { current_run().has_records }

    /// Returns true if the current run of this thread has a record for a field.
    static func hasNote(serial: UInt64, field: Int) -> Bool {
        let number = current_run().number
        return records.withLock { $0[number]?.written[serial]?[field] != nil }
    }

    /// Changes the records of the current run of this thread, if there is one.
    static func edit(_ body: (inout CoercionRecords) -> Void) {
        var run = current_run()
        guard run.number != 0 else { return }
        run.has_records = true
        set_current_run(run)
        records.withLock { body(&$0[run.number, default: CoercionRecords()]) }
    }
}

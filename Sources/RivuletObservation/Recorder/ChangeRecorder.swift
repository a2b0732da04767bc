/// Finds the changes of an edit, and reads only the locations that the edit touched.
///
/// One call of `record` is a run. The run keeps a copy of the state, and edits the state under a fresh mark. The marks
/// say which locations can differ, and only these are compared with the copy. The cost depends on the number of written
/// locations and the size of their values, not on the size of the state.
public enum ChangeRecorder {
    /// Runs `body` on the state and reports the net differences.
    ///
    /// Runs may happen on any thread and at the same time, on different states. A run inside of a run is allowed. Each
    /// value that the inner run edited is then compared as a whole by the outer run.
    /// - Throws: the error of `body`; the state is then as it was before.
    @inlinable
    public static func record<State: ObservableState>(
        _ state: inout State,
        _ body: (inout State) throws -> Void
    ) rethrows -> Recording {
        try record(&state, records: nil, body)
    }

    /// Runs `body`, which may write values that were made before the run; `records` has the coercions of these values.
    @inlinable
    package static func record<State: ObservableState>(
        _ state: inout State,
        records: CoercionRecords?,
        _ body: (inout State) throws -> Void
    ) rethrows -> Recording {
        // This comes before the copy, because deferred work can be finished only in values that are not shared.
        state._$settle()
        let before = state
        let run = CoercionLog.Run(records)
        state._$enter(run.number)
        do {
            try body(&state)
        } catch {
            _ = run.close()
            state = before
            throw error
        }
        let records = run.close()
        // Another serial means that the root itself was replaced, so nothing is known of any field.
        let mark = state._$observationRegistrar.mark
        let isSame = mark.serial == run.number
        guard !isSame || mark.touched != 0 else { return Recording() }
        var collector = Generated.ChangeCollector(records)
        collector.collect(from: before, to: state, serial: isSame ? run.number : nil)
        return collector.recording
    }

    /// Compares two states field by field, to find the changes of a restore or a reset.
    ///
    /// A nested state that differs is one change with its whole value, unless it is marked `@Replaceable`.
    public static func differences<State: ObservableState>(from old: State, to new: State) -> [StateChange] {
        var collector = Generated.ChangeCollector(nil)
        collector.collect(from: old, to: new, serial: nil)
        return collector.recording.changes
    }
}

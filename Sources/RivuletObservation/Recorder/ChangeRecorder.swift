/// Finds the changes of an edit, without reading what the edit did not touch.
///
/// The state is edited under a fresh mark, beside a copy of its earlier value. The marks say which locations can
/// differ, and only these are compared with the copy. The cost follows the written locations and the size of their
/// values, not the size of the state.
public enum ChangeRecorder {
    /// Runs `body` on the state and reports the net differences.
    ///
    /// Runs may happen on any thread and at the same time, on different states. A run inside of a run is allowed. The
    /// outer run then compares values that the inner run edited as a whole.
    /// - Throws: the error of `body`; the state is then as it was before.
    @inlinable
    public static func record<State: ObservableState>(
        _ state: inout State,
        _ body: (inout State) throws -> Void
    ) rethrows -> Recording {
        try record(&state, records: nil, body)
    }

    /// Runs `body`, which puts earlier made values into the state; `records` are the coercion records of their making.
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
        var collector = ChangeCollector(records)
        collector.collect(from: before, to: state, serial: isSame ? run.number : nil)
        return collector.recording
    }

    /// Compares two states field by field, to find the changes of a restore or a reset.
    ///
    /// A nested state that differs is one change with its whole value, unless it is marked `@Replaceable`.
    public static func differences<State: ObservableState>(from old: State, to new: State) -> [StateChange] {
        var collector = ChangeCollector(nil)
        collector.collect(from: old, to: new, serial: nil)
        return collector.recording.changes
    }
}

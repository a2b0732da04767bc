/// Finds out what an edit changed, without looking at what it did not touch.
///
/// The state is edited under a fresh mark, beside a copy of what it was; the marks tell which places can differ, and only those are
/// compared with the copy. The cost follows the places written and the size of their values, not the size of the state.
public enum ChangeRecorder {
    /// Runs `body` on the state and reports the net differences.
    ///
    /// Runs on any thread, any number at once, on different states. A run inside of a run is allowed; the outer one then compares
    /// whole what the inner one edited.
    /// - Throws: what `body` throws; the state is then what it was before.
    @inlinable
    public static func record<State: ObservableState>(
        _ state: inout State,
        _ body: (inout State) throws -> Void
    ) rethrows -> Recording {
        try record(&state, notes: nil, body)
    }

    /// Runs `body`, which puts values into the state that were made before; `notes` are those of their making.
    @inlinable
    package static func record<State: ObservableState>(
        _ state: inout State,
        notes: CoercionNotes?,
        _ body: (inout State) throws -> Void
    ) rethrows -> Recording {
        // Before the copy: only what nobody shares can be put in order.
        state._$settle()
        let before = state
        let run = CoercionLog.Run(notes)
        state._$enter(run.number)
        do {
            try body(&state)
        } catch {
            _ = run.close()
            state = before
            throw error
        }
        let notes = run.close()
        // Another serial: the root itself was replaced, so nothing is known of any field.
        let mark = state._$observationRegistrar.mark
        let isSame = mark.serial == run.number
        guard !isSame || mark.touched != 0 else { return Recording() }
        var collector = ChangeCollector(notes)
        collector.collect(from: before, to: state, serial: isSame ? run.number : nil)
        return collector.recording
    }

    /// Compares two states field by field: what a restore or a reset changes.
    ///
    /// A nested state that differs is one change with its whole value, unless it is marked `@Replaceable`.
    public static func differences<State: ObservableState>(from old: State, to new: State) -> [StateChange] {
        var collector = ChangeCollector(nil)
        collector.collect(from: old, to: new, serial: nil)
        return collector.recording.changes
    }
}

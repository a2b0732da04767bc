import RivuletEventLoop

/// The progress of a pass over all streams of a loop, a limited number in each step.
///
/// A change during a pass causes another pass after it, which covers all changes until then. So any number of changes
/// costs at most two passes at a time.
struct StreamPass {
    /// The most streams of one step.
    static let streamsPerStepMax = 256

    /// The streams that the pass has not visited; nil while no pass is under way.
    private var rest: ArraySlice<ConnectionID>?
    private var isOutdated = false

    /// True if a pass has to begin.
    var isDue: Bool { isOutdated && rest == nil }

    /// Records a change; returns true if a pass has to begin now.
    mutating func change() -> Bool {
        isOutdated = true
        return isDue
    }

    /// Returns the streams of the next step, at most `count`; an empty step ends the pass.
    ///
    /// The first step of a pass takes all present `streams`.
    mutating func next(
        atMost count: Int = streamsPerStepMax,
        of streams: () -> [ConnectionID]
    ) -> ArraySlice<ConnectionID> {
        if isDue { (rest, isOutdated) = (streams()[...], false) }
        guard let rest, !rest.isEmpty else {
            self.rest = nil
            return []
        }
        self.rest = rest.dropFirst(count)
        return rest.prefix(count)
    }
}

/// The size of a state as JSON, stored and transient fields; fields in `OmitCoding` are in no JSON and not counted.
///
/// While the state is far from its limit this is an upper bound: each event adds what it wrote, whatever that replaced, and the state is
/// measured when the bound has grown by the state's own size. In a state of more than half of the limit the size is nearly exact: then
/// each event adds what it wrote and takes away what that replaced, but for some punctuation. So neither an event that is accepted nor one that is refused costs
/// much more than the changes that it makes.
struct StateSize: Hashable, Sendable {
    /// The size, or more.
    private(set) var bytes: Int
    /// What `bytes` were when they were measured, or at the beginning.
    private var measured: Int
    private var isExact = false

    /// How much the bound of a small state may grow before it is measured.
    private static let slackBytes = 4_096

    /// Begins with an upper bound.
    init(atMost bytes: Int) {
        self.bytes = bytes
        measured = bytes
    }

    /// Counts an event by what it wrote alone; false, with nothing counted: that says too little.
    mutating func countAtMost(_ written: Int, limit: Int) -> Bool {
        guard !isExact || measured <= limit / 2, bytes + written <= min(limit, 2 * measured + Self.slackBytes) else {
            return false
        }
        bytes += written
        isExact = false
        return true
    }

    /// Counts an event for which that says too little.
    ///
    /// - Parameters:
    ///   - limit: How large the state may be.
    ///   - whole: Measures the state after the event.
    ///   - growth: The bytes that the event wrote without those that they replaced.
    /// - Returns: False, with nothing counted, when the state would grow beyond the limit; one that is too large already may shrink.
    mutating func count(limit: Int, whole: () -> Int, growth: () -> Int) -> Bool {
        guard isExact, measured > limit / 2 else {
            let now = whole()
            let growth = now > limit ? growth() : 0
            measure(now - max(growth, 0))
            return growth <= 0
        }
        let growth = growth()
        guard growth <= 0 || bytes + growth <= limit else { return false }
        measure(bytes + growth)
        return true
    }

    private mutating func measure(_ bytes: Int) {
        self.bytes = max(bytes, 0)
        measured = self.bytes
        isExact = true
    }
}

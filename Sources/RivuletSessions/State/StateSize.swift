/// The size of a state as JSON, with stored and transient fields.
///
/// Fields in `OmitCoding` are in no JSON and not counted.
///
/// While the state is far from its limit, the size is an upper bound. Each event adds the bytes that it wrote, without
/// regard to the bytes that it replaced. The state is measured when the bound has grown by the state's own size.
///
/// In a state of more than half of the limit, the size is nearly exact. Each event adds the bytes that it wrote and
/// subtracts the bytes that it replaced, except for some punctuation. So neither an accepted nor a refused event costs
/// much more than its own changes.
struct StateSize: Hashable, Sendable {
    /// The size in bytes, or an upper bound of it.
    private(set) var bytes: Int
    /// The value of `bytes` at the last measurement, or at the beginning.
    private var measured: Int
    private var isExact = false

    /// The bytes by which the bound may grow, in addition to the measured size, before the state is measured.
    private static let slackBytes = 4_096

    /// Begins with an upper bound.
    init(atMost bytes: Int) {
        self.bytes = bytes
        measured = bytes
    }

    /// Begins with a size that was measured.
    init(exactly bytes: Int) {
        self.init(atMost: bytes)
        isExact = true
    }

    /// Adds the bytes that an event wrote, without regard to the bytes that it replaced.
    ///
    /// - Returns: False, with nothing added, if the result would not be exact enough.
    mutating func countAtMost(_ written: Int, limit: Int) -> Bool {
        guard !isExact || measured <= limit / 2, bytes + written <= min(limit, 2 * measured + Self.slackBytes) else {
            return false
        }
        bytes += written
        isExact = false
        return true
    }

    /// Updates the size for an event for which ``countAtMost(_:limit:)`` returned false.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of the state.
    ///   - whole: Measures the state after the event.
    ///   - growth: Returns the written bytes minus the replaced bytes.
    /// - Returns: False, without the event's bytes in the size, if the state would grow beyond the limit. A state that
    ///   is already too large may shrink.
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

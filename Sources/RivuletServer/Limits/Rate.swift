/// The rate of one limit: `burst` at once, and then `quota` in each window.
struct Rate: Hashable, Sendable {
    /// The most that a quota or a burst counts.
    static let countMax = 1_000_000_000_000
    /// The longest window, and the longest time in which an empty burst is full again, in seconds.
    static let secondsMax = 86_400

    let quota: Int
    let windowSeconds: Int
    let burst: Int
    /// The time in which an empty burst is full again, in microseconds.
    let capacity: UInt64

    /// Makes a rate; nil if a number is not positive or too large, or if a burst takes longer than a day to fill.
    init?(quota: Int, windowSeconds: Int, burst: Int) {
        guard (1...Self.countMax).contains(quota), (1...Self.countMax).contains(burst),
            (1...Self.secondsMax).contains(windowSeconds)
        else { return nil }
        let capacity = Self.product(burst, windowSeconds * 1_000_000, over: quota)
        guard capacity <= UInt64(Self.secondsMax) * 1_000_000 else { return nil }
        (self.quota, self.windowSeconds, self.burst) = (quota, windowSeconds, burst)
        self.capacity = max(capacity, 1)
    }

    /// The time for which a count uses the quota, in microseconds; a count above the burst is the burst.
    ///
    /// Fractions are dropped, so that no client gets less than its burst.
    func microseconds(of count: Int) -> UInt64 {
        max(Self.product(min(max(count, 1), burst), windowSeconds * 1_000_000, over: quota), 1)
    }

    /// The count that fits into a time of at most `capacity`, in microseconds.
    func count(in microseconds: UInt64) -> Int {
        guard microseconds < capacity else { return burst }
        return min(Int(clamping: Self.product(Int(microseconds), quota, over: windowSeconds * 1_000_000)), burst)
    }

    /// `a * b / c`, rounded down; the product may have 128 bits.
    private static func product(_ a: Int, _ b: Int, over c: Int) -> UInt64 {
        let product = UInt64(a).multipliedFullWidth(by: UInt64(b))
        guard product.high < UInt64(c) else { return .max }
        return UInt64(c).dividingFullWidth(product).quotient
    }
}

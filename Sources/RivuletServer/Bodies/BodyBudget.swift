import RivuletHTTP
import Synchronization

/// A number of bytes of which never more than a limit are taken.
///
/// Any thread.
final class ByteAccount: Sendable {
    let bytesMax: Int
    private let taken = Atomic<Int>(0)

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The bytes that are taken now.
    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes bytes; false, and nothing changes, when there are not as many.
    func take(_ count: Int) -> Bool {
        var before = taken.load(ordering: .sequentiallyConsistent)
        while before + count <= bytesMax {
            let (isTaken, now) = taken.compareExchange(
                expected: before,
                desired: before + count,
                ordering: .sequentiallyConsistent
            )
            if isTaken { return true }
            before = now
        }
        return false
    }

    /// Gives back bytes that were taken before.
    func giveBack(_ count: Int) {
        let now = taken.subtract(count, ordering: .sequentiallyConsistent).newValue
        precondition(now >= 0, "\(-now) more bytes are given back than were taken")
    }
}

/// The memory for bodies under way, one sum for all loops: `ServerLimits.heldBodyBytesMax`.
///
/// Any thread. While there is room for all, a reservation takes no lock. Bodies that find none wait in line, one line for each share, and
/// get their room in the order in which they came.
final class BodyBudget: Sendable {
    /// The most bytes of a body of the share `small`.
    static let smallBytesMax = 16_384
    /// The bytes by which the reservation of a chunked body grows.
    static let chunkedStepBytes = 65_536
    /// The least that a waiting body is charged: its head, roughly.
    static let waiterBytesMin = 4_096

    /// Which bodies share memory.
    enum Share: Int, CaseIterable, Sendable {
        /// Bodies that declare at most `smallBytesMax`, so that large ones do not lock them out.
        case small
        /// All others.
        case large

        init(_ framing: HTTPHead.Framing) {
            if case .length(let count) = framing, count <= BodyBudget.smallBytesMax {
                self = .small
            } else {
                self = .large
            }
        }
    }

    /// Bytes that a body may hold; they are given back when the last reference to this goes.
    final class Reservation: Sendable {
        let bytes: Int
        private let share: Share
        private let budget: BodyBudget

        fileprivate init(_ bytes: Int, _ share: Share, of budget: BodyBudget) {
            self.bytes = bytes
            self.share = share
            self.budget = budget
        }

        deinit { budget.giveBack(bytes, to: share) }
    }

    /// A body in line.
    final class Waiter: Sendable {
        fileprivate let bytes: Int
        fileprivate let share: Share
        fileprivate let grant: @Sendable (Reservation) -> Void
        private let heldBytes: Int
        private let budget: BodyBudget

        fileprivate init(
            _ bytes: Int,
            _ share: Share,
            holding heldBytes: Int,
            of budget: BodyBudget,
            _ grant: @escaping @Sendable (Reservation) -> Void
        ) {
            (self.bytes, self.share, self.heldBytes, self.budget) = (bytes, share, heldBytes, budget)
            self.grant = grant
        }

        deinit { budget.waiting[share.rawValue].giveBack(heldBytes) }

        /// Leaves the line; what was granted already stays granted.
        func cancel() { budget.cancel(self) }
    }

    private let accounts: [ByteAccount]
    /// The memory of the waiting bodies of each share: heads, and what came with them.
    private let waiting: [ByteAccount]
    private let lines = Mutex<[[Waiter]]>(Array(repeating: [], count: Share.allCases.count))
    /// How many bodies wait in each line; read without the lock.
    private let smallWaiters = Atomic<Int>(0)
    private let largeWaiters = Atomic<Int>(0)

    /// A budget of so many bytes: an eighth is for small bodies, a sixteenth for the waiting bodies of each share, and the rest for large bodies.
    init(bytesMax: Int) {
        let (eighth, sixteenth) = (bytesMax / 8, bytesMax / 16)
        accounts = [ByteAccount(bytesMax: eighth), ByteAccount(bytesMax: bytesMax - eighth - 2 * sixteenth)]
        // One account for both shares would let waiting bodies of one share keep those of the other from waiting.
        waiting = Share.allCases.map { _ in ByteAccount(bytesMax: sixteenth) }
    }

    /// The bytes that are reserved, and held by waiting bodies.
    var bytes: Int { (accounts + waiting).reduce(0) { $0 + $1.bytes } }

    /// The most bytes that bodies of this share may hold together.
    func bytesMax(of share: Share) -> Int { accounts[share.rawValue].bytesMax }

    /// Whether bodies wait for memory of this share.
    func hasWaiters(for share: Share) -> Bool {
        switch share {
        case .small: smallWaiters.load(ordering: .sequentiallyConsistent) > 0
        case .large: largeWaiters.load(ordering: .sequentiallyConsistent) > 0
        }
    }

    /// Reserves bytes; nil when there are not as many, or other bodies wait for theirs.
    func reserve(_ bytes: Int, _ share: Share) -> Reservation? {
        guard !hasWaiters(for: share), accounts[share.rawValue].take(bytes) else { return nil }
        return Reservation(bytes, share, of: self)
    }

    /// Gets in line for bytes.
    ///
    /// - Parameters:
    ///   - bytes: How many are wanted.
    ///   - share: Of which share.
    ///   - heldBytes: How many bytes the body holds while it waits.
    ///   - grant: Called once, on any thread, with the reservation.
    /// - Returns: The place in line; nil when the waiting bodies of the share would hold too much.
    func wait(
        for bytes: Int,
        _ share: Share,
        holding heldBytes: Int,
        _ grant: @escaping @Sendable (Reservation) -> Void
    ) -> Waiter? {
        let heldBytes = max(heldBytes, Self.waiterBytesMin)
        guard waiting[share.rawValue].take(heldBytes) else { return nil }
        let waiter = Waiter(bytes, share, holding: heldBytes, of: self, grant)
        lines.withLock { lines in
            lines[share.rawValue].append(waiter)
            count(share, lines)
        }
        // Room may have come between the look and the line.
        serve(share)
        return waiter
    }

    private func cancel(_ waiter: Waiter) {
        let share = waiter.share
        lines.withLock { lines in
            lines[share.rawValue].removeAll { $0 === waiter }
            count(share, lines)
        }
        serve(share)
    }

    private func giveBack(_ bytes: Int, to share: Share) {
        accounts[share.rawValue].giveBack(bytes)
        if hasWaiters(for: share) { serve(share) }
    }

    /// Gives room to those in front, as far as there is any.
    private func serve(_ share: Share) {
        let served = lines.withLock { lines in
            let line = lines[share.rawValue]
            let served = Array(line.prefix { accounts[share.rawValue].take($0.bytes) })
            guard !served.isEmpty else { return served }
            lines[share.rawValue].removeFirst(served.count)
            count(share, lines)
            return served
        }
        // Not under the lock: a reservation whose body has gone is given back at once.
        for waiter in served { waiter.grant(Reservation(waiter.bytes, share, of: self)) }
    }

    private func count(_ share: Share, _ lines: [[Waiter]]) {
        let count = lines[share.rawValue].count
        switch share {
        case .small: smallWaiters.store(count, ordering: .sequentiallyConsistent)
        case .large: largeWaiters.store(count, ordering: .sequentiallyConsistent)
        }
    }
}

import RivuletHTTP
import Synchronization

/// A count of taken bytes that never exceeds a limit.
///
/// Any thread may use it.
final class ByteAccount: Sendable {
    let bytesMax: Int
    private let taken = Atomic<Int>(0)

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    /// The bytes that are taken now.
    var bytes: Int { taken.load(ordering: .relaxed) }

    /// Takes bytes; returns false and changes nothing if too few are left.
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

    /// Returns bytes that were taken before.
    func giveBack(_ count: Int) {
        let now = taken.subtract(count, ordering: .sequentiallyConsistent).newValue
        precondition(now >= 0, "\(-now) more bytes are given back than were taken")
    }
}

/// The memory for bodies under way, `ServerLimits.heldBodyBytesMax` for all loops together.
///
/// Any thread may use it. While there is room for all, a reservation takes no lock. Bodies without room wait in a line.
/// Each share has its own line, in the order in which the bodies came.
final class BodyBudget: Sendable {
    /// The most bytes of a body of the share `small`.
    static let smallBytesMax = 16_384
    /// The bytes by which the reservation of a chunked body grows.
    static let chunkedStepBytes = 65_536
    /// The least number of bytes that is charged to a waiting body: about the size of its head.
    static let waiterBytesMin = 4_096

    /// The groups of bodies that share memory.
    enum Share: Int, CaseIterable, Sendable {
        /// Bodies with a declared length of at most `smallBytesMax`, so that large bodies do not lock them out.
        case small
        /// All other bodies.
        case large

        init(_ framing: HTTPHead.Framing) {
            if case .length(let count) = framing, count <= BodyBudget.smallBytesMax {
                self = .small
            } else {
                self = .large
            }
        }
    }

    /// Bytes that a body may hold; they are returned when the last reference to this object is released.
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

    /// A body that waits in line for memory.
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

        /// Leaves the line; a reservation that was already granted stays granted.
        func cancel() { budget.cancel(self) }
    }

    private let accounts: [ByteAccount]
    /// The memory of the waiting bodies of each share: their heads, and the bytes that came with the heads.
    private let waiting: [ByteAccount]
    private let lines = Mutex<[[Waiter]]>(Array(repeating: [], count: Share.allCases.count))
    /// The number of bodies that wait in each line; read without the lock.
    private let smallWaiters = Atomic<Int>(0)
    private let largeWaiters = Atomic<Int>(0)

    /// Makes a budget of this number of bytes.
    ///
    /// An eighth is for small bodies, a sixteenth for the waiting bodies of each share, and the rest for large bodies.
    init(bytesMax: Int) {
        let (eighth, sixteenth) = (bytesMax / 8, bytesMax / 16)
        accounts = [ByteAccount(bytesMax: eighth), ByteAccount(bytesMax: bytesMax - eighth - 2 * sixteenth)]
        // With one account for both shares, waiting bodies of one share could leave no room for waiting bodies of the
        // other.
        waiting = Share.allCases.map { _ in ByteAccount(bytesMax: sixteenth) }
    }

    /// The number of bytes that are reserved or held by waiting bodies.
    var bytes: Int { (accounts + waiting).reduce(0) { $0 + $1.bytes } }

    /// The most bytes that bodies of this share may hold together.
    func bytesMax(of share: Share) -> Int { accounts[share.rawValue].bytesMax }

    /// True if bodies wait for memory of this share.
    func hasWaiters(for share: Share) -> Bool {
        switch share {
        case .small: smallWaiters.load(ordering: .sequentiallyConsistent) > 0
        case .large: largeWaiters.load(ordering: .sequentiallyConsistent) > 0
        }
    }

    /// Reserves bytes; nil if too few are left, or if other bodies wait in this share.
    func reserve(_ bytes: Int, _ share: Share) -> Reservation? {
        guard !hasWaiters(for: share), accounts[share.rawValue].take(bytes) else { return nil }
        return Reservation(bytes, share, of: self)
    }

    /// Enters the line for bytes.
    ///
    /// - Parameters:
    ///   - bytes: The number of bytes to reserve.
    ///   - share: The share of the body.
    ///   - heldBytes: The number of bytes that the body holds while it waits.
    ///   - grant: Called once, on any thread, with the reservation.
    /// - Returns: The entry in the line; nil if the waiting bodies of the share would hold too much.
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
        // Room may have become free between the check and the entry into the line.
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

    /// Grants memory to the first bodies in the line, as long as there is room.
    private func serve(_ share: Share) {
        let served = lines.withLock { lines in
            let line = lines[share.rawValue]
            let served = Array(line.prefix { accounts[share.rawValue].take($0.bytes) })
            guard !served.isEmpty else { return served }
            lines[share.rawValue].removeFirst(served.count)
            count(share, lines)
            return served
        }
        // Called without the lock: if the body is gone, `grant` releases the reservation, which may take the lock
        // again.
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

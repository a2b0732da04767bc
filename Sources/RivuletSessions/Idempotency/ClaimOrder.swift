import DequeModule

/// What waits for storage's answers, in the order in which it was asked for.
///
/// Reads may be answered in any order; lines of one request must happen in theirs. Bounded by the keys under way.
struct ClaimOrder {
    /// A place in the order.
    struct Ticket {
        fileprivate let number: UInt64
    }

    /// The steps by their places; nil for one whose answer has not come.
    private var steps: Deque<(() -> Void)?> = []
    /// The number of the first place.
    private var first: UInt64 = 0

    /// Takes the next place.
    mutating func take() -> Ticket {
        steps.append(nil)
        return Ticket(number: first + UInt64(steps.count) - 1)
    }

    /// Says what is to be done when everything before it is.
    mutating func fill(_ ticket: Ticket, _ step: @escaping () -> Void) {
        steps[Int(ticket.number - first)] = step
    }

    /// The first step, if its answer has come; it is done before the next is asked for.
    mutating func popReady() -> (() -> Void)? {
        guard let step = steps.first ?? nil else { return nil }
        steps.removeFirst()
        first += 1
        return step
    }
}

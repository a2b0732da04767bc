import DequeModule

/// The steps that wait for storage's answers, in the order in which their requests came.
///
/// Reads may be answered in any order, but the lines of one request must be carried out in their order. The limit on
/// keys under way bounds the number of steps.
struct RecordLookupQueue {
    /// A position in the order.
    struct Ticket {
        fileprivate let number: UInt64
    }

    /// The steps by their positions; nil at a position that storage has not answered yet.
    private var steps: Deque<(() -> Void)?> = []
    /// The number of the first position.
    private var first: UInt64 = 0

    /// Takes the next position.
    mutating func take() -> Ticket {
        steps.append(nil)
        return Ticket(number: first + UInt64(steps.count) - 1)
    }

    /// Sets the step of a position; it is carried out after all earlier steps.
    mutating func fill(_ ticket: Ticket, _ step: @escaping () -> Void) {
        steps[Int(ticket.number - first)] = step
    }

    /// Removes and returns the first step if storage has answered; the caller carries it out before it takes the next
    /// one.
    mutating func popReady() -> (() -> Void)? {
        guard let step = steps.first ?? nil else { return nil }
        steps.removeFirst()
        first += 1
        return step
    }
}

import DequeModule

/// Steps that wait for answers of storage, in the order in which these were requested.
///
/// Reads may be answered in any order, but the lines of one request must be carried out in their order. The keys under
/// way bound the number of steps.
struct ClaimOrder {
    /// A position in the order.
    struct Ticket {
        fileprivate let number: UInt64
    }

    /// The steps by their positions; nil for a step without an answer so far.
    private var steps: Deque<(() -> Void)?> = []
    /// The number of the first position.
    private var first: UInt64 = 0

    /// Takes the next position.
    mutating func take() -> Ticket {
        steps.append(nil)
        return Ticket(number: first + UInt64(steps.count) - 1)
    }

    /// Sets the step that is carried out after everything before it.
    mutating func fill(_ ticket: Ticket, _ step: @escaping () -> Void) {
        steps[Int(ticket.number - first)] = step
    }

    /// Takes the first step, if its answer has come; it is carried out before the next one is taken.
    mutating func popReady() -> (() -> Void)? {
        guard let step = steps.first ?? nil else { return nil }
        steps.removeFirst()
        first += 1
        return step
    }
}

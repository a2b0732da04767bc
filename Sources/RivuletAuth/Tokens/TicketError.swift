/// The error of a ticket that does not open its stream.
package enum TicketError: Error, CaseIterable {
    case unknown, reloaded, late, target, spent

    /// The text for the log.
    var text: String {
        switch self {
        case .unknown: "The ticket is unknown here: it is mistyped, too old, or of an earlier start of the server."
        case .reloaded: "The ticket is from before the keys or permissions were read again."
        case .late: "The ticket was not opened in time, or its caller's credential has expired."
        case .target: "The ticket is for another stream, or for other parameters."
        case .spent: "The ticket was opened before. Each stream needs a ticket of its own."
        }
    }
}

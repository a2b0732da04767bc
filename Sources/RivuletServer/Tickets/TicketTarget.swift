import Crypto
import RivuletHTTP

/// The stream that a ticket opens: the path and all parameters, in any order.
///
/// The value is a hash, so that a long target costs no memory.
struct TicketTarget: Hashable, Sendable, HashMessage {
    /// The parameter with the ticket.
    static let parameter = "ticket"

    let hash: [UInt8]

    init(hash: [UInt8]) { self.hash = hash }

    /// Makes the target of decoded segments and parameters; the ticket itself is no part of it.
    init(_ segments: [String], _ items: [HTTPQueryItem]) {
        var hasher = SHA256()
        let parameters = items.filter { $0.name != Self.parameter }
            .map { [Array($0.name.utf8), Array($0.value.utf8)] }
            .sorted { $0[0] == $1[0] ? $0[1].lexicographicallyPrecedes($1[1]) : $0[0].lexicographicallyPrecedes($1[0]) }
        // Counts come before texts, so that no two targets have the same bytes.
        let parts = segments.map { Array($0.utf8) } + parameters.flatMap { $0 }
        for part in [Array("\(segments.count)".utf8)] + parts {
            hasher.update(data: Array("\(part.count):".utf8))
            hasher.update(data: part)
        }
        hash = Array(hasher.finalize())
    }
}

/// The hash of a ticket, under which the server keeps it.
struct TicketID: Hashable, Sendable, HashMessage {
    let hash: [UInt8]

    init(hash: [UInt8]) { self.hash = hash }

    /// Makes the id of a ticket's text.
    init(_ ticket: String) { hash = Array(SHA256.hash(data: Array(ticket.utf8))) }
}

/// A hash that nodes of a cluster send to each other.
protocol HashMessage {
    /// The 32 bytes.
    var hash: [UInt8] { get }

    init(hash: [UInt8])
}

extension HashMessage {
    init(_ reader: inout MessageReader) throws(MalformedMessageError) {
        self.init(hash: Array(try reader.take(SHA256.byteCount)))
    }
}

import RivuletHTTP

/// The credential of a request, as the client sent it.
///
/// Source: RFC 6750 section 2.1, RFC 9110 section 11.6.2.
enum Credentials {
    /// The cookie with a token, for TLS.
    static let cookieName = "__Host-rivulet"
    /// The cookie with a token on a machine of a developer, without TLS.
    static let plainCookieName = "rivulet-token"

    /// A credential, and the place in which it stood.
    enum Found: Equatable {
        case none
        /// The bytes after `Bearer`.
        case token([UInt8])
        /// A header or a cookie that cannot be a credential.
        case malformed
    }

    /// Returns the credential in the `Authorization` header; the scheme may be in any case.
    ///
    /// - Throws: 400 for two such headers, because a proxy and the server could choose different ones.
    static func header(of request: HTTPRequest) throws(Problem) -> Found {
        guard let value = request.headers.bytes(of: "authorization") else { return .none }
        guard request.headers.values(of: "authorization").count == 1 else {
            throw .credentialMisplaced("The request has two Authorization headers; send one. Nothing has changed.")
        }
        let scheme = Array("bearer".utf8)
        guard value.count > scheme.count, value.prefix(scheme.count).map({ $0 | 0x20 }) == scheme,
            value[value.startIndex + scheme.count] == UInt8(ascii: " ")
        else { return .malformed }
        let token = value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
        guard !token.isEmpty, token.allSatisfy({ (0x21...0x7E).contains($0) }) else { return .malformed }
        return .token(Array(token))
    }

    /// Returns the credential in the cookies; two different ones are no credential.
    ///
    /// The cookie without `Secure` is read on loopback only, because another site of the same domain could set it.
    static func cookie(of request: HTTPRequest, isLoopback: Bool) -> Found {
        guard request.headers.contains("cookie") else { return .none }
        let fields = request.headers.values(of: "cookie")
        var values = HTTPCookies.values(of: cookieName, in: fields)
        if values.isEmpty, isLoopback { values = HTTPCookies.values(of: plainCookieName, in: fields) }
        guard let value = values.first else { return .none }
        guard values.count == 1, !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return .malformed
        }
        return .token(Array(value.utf8))
    }

    /// Refuses a credential in the query, because logs and histories keep URLs.
    ///
    /// - Throws: 400.
    static func refuse(in items: [HTTPQueryItem]) throws(Problem) {
        for item in items where item.name == "access_token" || item.name == "authorization" {
            throw .credentialMisplaced(
                "The query has a credential in \"\(item.name)\", and logs keep URLs. Send it as Authorization: Bearer, "
                    + "and replace it, because it may have been logged. Nothing has changed."
            )
        }
    }

    /// Returns the ticket in the query of a request for a stream; nil if it has none.
    ///
    /// - Throws: 400 for two tickets, and for a ticket beside a header, because they could name two callers.
    static func ticket(in items: [HTTPQueryItem], of request: HTTPRequest) throws(Problem) -> String? {
        let tickets = items.filter { $0.name == TicketTarget.parameter }
        guard let ticket = tickets.first else { return nil }
        guard tickets.count == 1, !request.headers.contains("authorization") else {
            throw .credentialMisplaced(
                "The request has two credentials. Send one ticket, or Authorization: Bearer. Nothing has changed."
            )
        }
        return ticket.value
    }

    /// The refusal of a ticket on a resource that is no stream.
    static var ticketMisplaced: Problem {
        .credentialMisplaced(
            "A ticket opens streams only, with GET. Send the credential as Authorization: Bearer. Nothing has changed."
        )
    }
}

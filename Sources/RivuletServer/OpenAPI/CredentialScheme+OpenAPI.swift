import RivuletJSON

extension CredentialScheme {
    /// The object in `securitySchemes`.
    ///
    /// Source: <https://spec.openapis.org/oas/v3.1.1.html#security-scheme-object>.
    var document: JSONValue {
        switch self {
        case .bearer: ["type": "http", "scheme": "bearer", "description": "A JSON Web Token or an API key."]
        case .cookie:
            [
                "type": "apiKey", "in": "cookie", "name": .string(Credentials.cookieName),
                "description": .string(
                    "A JSON Web Token, which PUT /v1/login sets. Without TLS, on one machine, the name is \(Credentials.plainCookieName)."
                ),
            ]
        case .ticket:
            [
                "type": "apiKey", "in": "query", "name": .string(TicketTarget.parameter),
                "description": "A ticket of POST /v1/tickets, for a client that cannot send a header.",
            ]
        }
    }
}

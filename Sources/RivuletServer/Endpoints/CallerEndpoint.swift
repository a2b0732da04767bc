import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletJSON

/// The caller, and the description of the server for clients that get tokens.
struct CallerEndpoint {
    let server: ServerLoop

    /// GET /v1/me: the caller's names, the end of its credential, its grants and its limits.
    func caller(_ permit: Permit, _ exchange: Exchange) {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        switch permit {
        case .everything: encode(nil, grants: .array([]), into: &writer)
        case .limited(let limited): encode(limited.identity, grants: limited.identity.sources.json, into: &writer)
        }
        writer.endObject()
        server.send(.json(writer.bytes), to: exchange)
    }

    private func encode(_ identity: Identity?, grants: JSONValue, into writer: inout JSONWriter) {
        for (name, text) in [
            ("subject", identity?.caller.subject), ("issuer", identity?.caller.issuer), ("me", identity?.caller.me),
            ("expires", identity?.expires),
        ] {
            writer.key(name)
            if let text { writer.string(text) } else { writer.null() }
        }
        writer.key("grants")
        writer.raw(grants.json)
        writer.key("limits")
        writer.raw((server.core.limiter?.rules ?? .off).json.json)
    }

    /// GET of the metadata of the protected resource.
    ///
    /// Source: RFC 9728 section 2.
    func resourceMetadata(_ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        guard let authentication = server.context.authentication else {
            throw Problem(.notFound, "this server asks for no tokens, so it has no metadata for their clients")
        }
        let issuers = authentication.snapshot.authenticator.issuerNames
        guard !issuers.isEmpty else {
            throw Problem(.notFound, "this server has no issuer of tokens with a name, so it has no metadata")
        }
        let resource = server.context.options.publicURL ?? "http://\(request.host ?? "localhost")"
        let document = JSONValue.object([
            .init(name: "resource", value: .string(resource)),
            .init(name: "authorization_servers", value: .array(issuers.map(JSONValue.string))),
            .init(name: "bearer_methods_supported", value: .array([.string("header")])),
        ])
        server.send(.json(document.json), to: exchange)
    }
}

extension [Grant] {
    /// The grants as one array.
    fileprivate var json: JSONValue { .array(map(\.json)) }
}

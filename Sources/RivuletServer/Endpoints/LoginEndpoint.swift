import RivuletAuth
import RivuletEventLoop
import RivuletHTTP
import RivuletStores

/// The sign-in of pages: a cookie with the token of the header.
struct LoginEndpoint {
    let server: ServerLoop

    /// PUT and DELETE of `/v1/login`.
    func login(_ request: HTTPRequest, _ permit: Permit, _ exchange: Exchange) throws(Problem) {
        _ = try Query(request, known: [])
        let fields = request.method == .delete ? LoginCookie.cleared : try cookie(for: request, permit, exchange)
        server.send(Response(.noContent, fields: [HTTPField("Cache-Control", "no-store")] + fields), to: exchange)
    }

    /// The fields that set the cookie.
    ///
    /// - Throws: 404 on a server that asks for no credentials, 422 for a credential that no cookie may have.
    private func cookie(
        for request: HTTPRequest,
        _ permit: Permit,
        _ exchange: Exchange
    ) throws(Problem) -> [HTTPField] {
        guard case .limited(let limited) = permit else {
            throw Problem(.notFound, "this server asks for no credentials, so no caller has to sign in")
        }
        guard let principal = limited.identity.principal, case .token(let token) = try Credentials.header(of: request)
        else { throw .credentialMissing }
        let cookie = try LoginCookie(token, of: principal, over: transport(of: request, exchange))
        return cookie.fields(now: Int(WallClock.milliseconds() / 1_000))
    }

    private func transport(of request: HTTPRequest, _ exchange: Exchange) -> LoginCookie.Transport {
        guard !server.context.options.hasSecureCookies else { return .tls }
        guard let connection = server.connections[exchange.connection] else { return .plain }
        let doors = server.context.doors
        guard !doors.isTLS(request, on: connection) else { return .tls }
        return doors.clientAddress(of: request, on: connection).isLoopback && HostList.isLoopback(request.host ?? "")
            ? .loopback : .plain
    }
}

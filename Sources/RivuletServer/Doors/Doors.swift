// The checks that a request passes before its resource is found.

import RivuletEventLoop
import RivuletHTTP

/// Decides by a request's head alone if the server handles the request: by the host in the head, and by the page that
/// sent the request.
///
/// It is made once, when the server starts. Source: <Documentation/Security.md>.
struct Doors: Sendable {
    /// The outcome of the checks.
    enum Verdict {
        case pass(DoorPass)
        case refuse(DoorProblem)
    }

    private let hosts: HostList
    private let origins: AllowedOrigins
    private let publicOrigin: WebOrigin?
    /// The addresses of proxies; the server believes their fields about clients.
    private let proxies: AddressList
    /// True if clients use TLS, according to the public URL.
    var isPublicTLS: Bool { publicOrigin?.scheme == "https" }
    /// The public URL without a slash at its end; nil if there is none.
    let publicURL: String?
    /// The constant lines of an answer that no page of another origin may read.
    let ownFields: [UInt8]
    /// The line that keeps browsers on https; empty without `hstsDays`.
    private let transportFields: [UInt8]

    /// Makes the checks that the options require.
    ///
    /// - Throws: a `ServerError` for an invalid option.
    init(_ options: ServerOptions, machineName: String) throws(ServerError) {
        publicURL = options.publicURL.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        publicOrigin = try Self.origin(of: publicURL)
        let publicHost = publicOrigin.flatMap { HostList.bare($0.host[...]) }.map(String.init) ?? ""
        hosts = try HostList(options.allowedHosts, and: [machineName, publicHost])
        origins = try AllowedOrigins(options.allowedOrigins)
        proxies = try AddressList(options.trustedProxies)
        transportFields = try Self.transportFields(days: options.hstsDays, publicOrigin)
        ownFields = ConstantFields.own(isVarying: !origins.isEmpty) + transportFields
    }

    private static func transportFields(days: Int?, _ publicOrigin: WebOrigin?) throws(ServerError) -> [UInt8] {
        guard let days else { return [] }
        guard (0...ServerOptions.hstsDaysMax).contains(days) else {
            throw ServerError("--hsts is \(days); choose 0 to \(ServerOptions.hstsDaysMax) days, and 0 to take it back")
        }
        // Browsers that use https only could not reach a server without TLS.
        guard publicOrigin?.scheme == "https" else {
            throw ServerError(
                "--hsts keeps browsers on https, so clients need an https address; "
                    + "name it, as in --public-url https://rivulet.example, or leave --hsts out"
            )
        }
        return ConstantFields.strictTransport(days: days)
    }

    private static func origin(of publicURL: String?) throws(ServerError) -> WebOrigin? {
        guard let publicURL else { return nil }
        guard let origin = WebOrigin(publicURL), origin.scheme == "http" || origin.scheme == "https" else {
            throw ServerError(
                "--public-url is \"\(publicURL)\", which is not the URL of a server. Write it as https://rivulet.example, without a path."
            )
        }
        return origin
    }

    // MARK: - Clients

    /// True if the server believes the fields of this peer about its clients.
    ///
    /// A peer on a Unix socket is a proxy on the same machine, because the file's mode keeps other users away.
    func trusts(_ peer: PeerAddress.IP) -> Bool { peer == .unixSocket || proxies.contains(peer) }

    /// The client of a request: the connection's peer, or the client that a trusted proxy names.
    func client(of headers: HTTPHeaders, on connection: ClientConnection) -> ClientAddress {
        guard trusts(connection.address) else { return ClientAddress(connection.address) }
        return ClientAddress(
            forwarded: headers.values(of: "forwarded"),
            forwardedFor: headers.values(of: "x-forwarded-for"),
            from: connection.address,
            isTrusted: trusts
        )
    }

    /// The address of the client that sent a request; `limitKey` of it is the key of limits for each address.
    func clientAddress(of request: HTTPRequest, on connection: ClientConnection) -> PeerAddress.IP {
        client(of: request.headers, on: connection).ip
    }

    /// True if a trusted proxy says that the request's client uses TLS.
    ///
    /// A proxy says it in one `X-Forwarded-Proto`, or without this field in `Forwarded`.
    func isForwardedFromTLS(_ request: HTTPRequest, on connection: ClientConnection) -> Bool {
        guard trusts(connection.address) else { return false }
        let protocols = request.headers.values(of: "x-forwarded-proto")
        guard !protocols.isEmpty else { return client(of: request.headers, on: connection).usesTLS }
        return protocols.count == 1 && protocols[0].lowercased() == "https"
    }

    // MARK: - Requests

    /// True if the request passes without further checks.
    ///
    /// Such a request has no header fields of a page, and names the host that was accepted last.
    func isOrdinary(_ request: HTTPRequest, acceptedHost: [UInt8]) -> Bool {
        !request.hasPageFields && !acceptedHost.isEmpty && request.isHost(acceptedHost)
    }

    /// The verdict on a request: by its host first, then by its page.
    ///
    /// `acceptsAnyHost` is true for a request of another node: each node also answers for its own machine's name.
    func verdict(on request: HTTPRequest, acceptsAnyHost: Bool = false) -> Verdict {
        guard acceptsAnyHost || isHostAccepted(of: request) else {
            return refusal(of: request, Self.misdirected(request.host ?? ""), .host)
        }
        guard request.hasPageFields else { return .pass(DoorPass(fields: ownFields, callers: .all)) }
        let site = FetchSite(request.headers)
        if site == .own { return .pass(DoorPass(fields: ownFields, callers: .all)) }
        let text = Self.origin(of: request)
        let origin = text.flatMap { WebOrigin($0) }
        if site == .unknown {
            guard request.headers.contains("origin") else { return .pass(DoorPass(fields: ownFields, callers: .all)) }
            let isOwn = origin.map { $0.isOf(host: request.host ?? "") || $0 == publicOrigin } ?? false
            if isOwn { return .pass(DoorPass(fields: ownFields, callers: .all)) }
        }
        if let text, let origin, let grant = origins.grant(for: origin) {
            let isNear = site == .sameSite || (site == .unknown && origin.isSameHost(as: request.host ?? ""))
            let fields = ConstantFields.shared(with: text, as: grant) + transportFields
            return .pass(DoorPass(fields: fields, callers: grant == .anonymous ? .none : isNear ? .all : .known))
        }
        if site != .unknown, FetchSite.isNavigation(request), Self.isPage(request) {
            return .pass(DoorPass(fields: ownFields, callers: .all))
        }
        return refusal(of: request, Self.foreign(text), .crossSite)
    }

    /// The constant lines of an answer to a request of which only the origin could be read.
    func fields(forOrigin text: String?) -> [UInt8] {
        guard let text, let origin = WebOrigin(text), let grant = origins.grant(for: origin) else { return ownFields }
        return ConstantFields.shared(with: text, as: grant) + transportFields
    }

    /// True if the request may name any host.
    ///
    /// Balancers and orchestrators name any host, and the answers of these two resources contain no data.
    static func isExempt(_ request: HTTPRequest) -> Bool { request.isPath("/healthz") || request.isPath("/readyz") }

    private func isHostAccepted(of request: HTTPRequest) -> Bool {
        guard !Self.isExempt(request), let host = request.host else { return true }
        return hosts.contains(host)
    }

    /// The only `Origin`; nil if there is none, or if there are several.
    private static func origin(of request: HTTPRequest) -> String? {
        let values = request.headers.values(of: "origin")
        return values.count == 1 ? values[0] : nil
    }

    private static func isPage(_ request: HTTPRequest) -> Bool {
        do throws(Problem) {
            return try Route(segments: request.pathSegments).resource.isPage
        } catch {
            return false
        }
    }

    // MARK: - TLS

    /// True if the client uses TLS: by the public URL, or because a trusted proxy says so.
    func isTLS(_ request: HTTPRequest, on connection: ClientConnection) -> Bool {
        isPublicTLS || isForwardedFromTLS(request, on: connection)
    }

    // MARK: - Refusals

    private func refusal(of request: HTTPRequest, _ problem: Problem, _ cause: RequestRefusalReason) -> Verdict {
        .refuse(DoorProblem(problem: problem, cause: cause, fields: fields(forOrigin: Self.origin(of: request))))
    }

    private static func misdirected(_ authority: String) -> Problem {
        guard !authority.isEmpty else {
            return Problem(
                .misdirectedRequest,
                "The request names no host: its Host header is empty. Send the server's name in it. Nothing has changed."
            )
        }
        let host = HostList.withoutDot(HostList.withoutPort(authority))
        guard HostList.isName(host.lowercased()[...]) else {
            return Problem(
                .misdirectedRequest,
                "The host that the request names is no host name and no IP address. Send the server's name or its address. Nothing has changed."
            )
        }
        return Problem(
            .misdirectedRequest,
            "This server does not answer for the host \"\(host)\". If it should, start it with --allowed-hosts \(host) "
                + "(RIVULET_ALLOWED_HOSTS). Nothing has changed."
        )
    }

    private static func foreign(_ origin: String?) -> Problem {
        guard let origin, WebOrigin(origin) != nil else {
            return Problem(
                .crossSite,
                "Requests from pages of other sites are refused, and this request has no Origin that could be allowed. Send it with CORS, and "
                    + "start the server with --allowed-origins and the page's origin (RIVULET_ALLOWED_ORIGINS). Nothing has changed."
            )
        }
        return Problem(
            .crossSite,
            "Requests from pages of other sites are refused. If pages of \(origin) may use this server, start it with --allowed-origins "
                + "\(origin) (RIVULET_ALLOWED_ORIGINS). Nothing has changed."
        )
    }
}

/// The results of the checks for a request that passes.
struct DoorPass: Sendable {
    /// The constant lines of its answer.
    let fields: [UInt8]
    let callers: Callers

    /// The callers for which `me` is served.
    enum Callers: Hashable, Sendable {
        /// All callers; a new caller gets its cookie.
        case all
        /// Callers with a valid cookie, because a browser would not keep a new cookie.
        case known
        /// No callers but those of a header or a ticket, because the page is allowed by `*`, and has no cookies.
        case none
    }
}

/// The answer to a request that does not pass.
struct DoorProblem: Sendable {
    let problem: Problem
    let cause: RequestRefusalReason
    /// The constant lines of the answer.
    let fields: [UInt8]
}

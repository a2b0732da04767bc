import FoundationEssentials
package import RivuletCluster
public import RivuletSessions

/// The address, the folders and the permissions of a server.
public struct ServerOptions: Sendable {
    /// The version of Rivulet, for a program that names no version of its own.
    public static let libraryVersion = "0.1.0"

    /// The maximum number of event loops.
    public static let workersMax = 256

    /// The most days of ``hstsDays``: ten years.
    public static let hstsDaysMax = 3_650

    /// The number of cores that the process can use, at most ``workersMax``: the default of ``workers``.
    public static var cores: Int { min(max(ProcessInfo.processInfo.activeProcessorCount, 1), workersMax) }

    /// The policy of the pages in Rivulet's repository: all content comes from their own server, and no page frames
    /// them.
    public static let strictContentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"

    /// The places at which the server takes connections.
    public var listeners: [ServerListener]
    /// The address of the listener `.tcp`, IPv4 or IPv6.
    public var host: String
    /// The port of the listener `.tcp`; 0 takes a free one.
    public var port: UInt16
    /// The number of event loops, each on a thread of its own: 1 to ``workersMax``.
    ///
    /// Each session belongs to one of the loops.
    public var workers: Int
    /// The version of the program, as `/openapi.json` shows it.
    public var version: String
    /// The folder of static files; nil serves none.
    public var publicFolder: String?
    /// The secret for signing cookies and for the fingerprints of requests with an `Idempotency-Key`.
    ///
    /// `SecretKey(keptIn:)` reads the secret of a data folder, or makes it there.
    ///
    /// If the option is nil, the server makes a secret for this run and logs a warning: after a restart every browser
    /// gets another session.
    public var secretKey: SecretKey?
    /// The server's previous secret; nil if there is none.
    ///
    /// Cookies and fingerprints made under it are still valid. Such cookies are signed again with the current secret.
    public var olderSecretKey: SecretKey?
    /// True if browsers may send the server's cookies over TLS only (`Secure`).
    ///
    /// If it is false, this holds if ``publicURL`` begins with `https`, and for cookies of requests for which a trusted
    /// proxy says that their client uses TLS.
    public var hasSecureCookies: Bool
    /// The permission to serve other machines although the server asks for no credentials.
    public var access: ServerAccess
    /// The files with the keys and rules for callers; nil if the server asks no client for a credential.
    public var credentials: CredentialFiles?
    /// Fetches the key sets of ``credentials`` that are URLs; nil if each of them is a file.
    ///
    /// A set is fetched when the server starts, every 15 minutes, and after a token with an unknown key, at most once
    /// a minute. The last good set stays in use for a day.
    public var keySource: (any KeySource)?
    /// True if the answer to a credential that is not valid has the reason, for development.
    ///
    /// A server that other machines may reach refuses to start with it, because the reason helps to forge credentials.
    public var explainsRefusedCredentials: Bool
    /// The limits on the rates, streams and connections of callers and addresses.
    public var rateLimits: RateLimits
    /// The hosts that requests may name: `a.example`, or `.b.example` for all subdomains.
    ///
    /// IP addresses, `localhost`, `*.localhost`, the machine's name and the public URL's host need no entry. A request
    /// for any other host gets 421.
    public var allowedHosts: [String]
    /// The origins of the pages that may use the server.
    ///
    /// Examples are `http://localhost:5173`, and `https://*.example.com`, in which `*` stands for one label.
    ///
    /// `*` allows all origins, without cookies. Pages of other origins get 403.
    public var allowedOrigins: [String]
    /// The address under which clients know the server, such as `https://rivulet.example`; nil if clients use the
    /// server's own address.
    ///
    /// Its host is in the Host list, and its pages are the server's own. OpenAPI and the metadata of RFC 9728 name it.
    public var publicURL: String?
    /// The addresses and networks of proxies: `10.0.0.7`, `10.0.0.0/8`.
    ///
    /// From these peers the server believes `Forwarded`, `X-Forwarded-For` and `X-Forwarded-Proto`.
    public var trustedProxies: [String]
    /// True if each connection has to begin with a PROXY header, version 1 or 2, of a trusted proxy.
    ///
    /// A connection without it is closed. Source: <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>.
    public var expectsProxyHeaders: Bool
    /// The days for which browsers use https only for the public URL's host, 0 to ``hstsDaysMax``; nil says nothing.
    ///
    /// It needs an https ``publicURL``. With 0, browsers forget an earlier answer. Source: RFC 6797.
    public var hstsDays: Int?
    /// The `Content-Security-Policy` of the pages in the public folder.
    public var contentSecurityPolicy: String
    /// Limits of HTTP and of streams.
    public var limits: ServerLimits
    /// Limits of sessions.
    public var sessionLimits: SessionLimits
    /// The node's membership in a cluster; nil for a server that is alone.
    package var cluster: (any ClusterMember)?
    /// The times of requests that need another node.
    package var clusterTimes = ClusterTimes()

    /// Sets all options; the defaults are those of `rivulet serve`.
    public init(
        listeners: [ServerListener] = [.tcp],
        host: String = "127.0.0.1",
        port: UInt16 = 8080,
        workers: Int = ServerOptions.cores,
        version: String = ServerOptions.libraryVersion,
        publicFolder: String? = nil,
        secretKey: SecretKey? = nil,
        olderSecretKey: SecretKey? = nil,
        hasSecureCookies: Bool = false,
        access: ServerAccess = .protected,
        credentials: CredentialFiles? = nil,
        keySource: (any KeySource)? = nil,
        explainsRefusedCredentials: Bool = false,
        rateLimits: RateLimits = .automatic,
        allowedHosts: [String] = [],
        allowedOrigins: [String] = [],
        publicURL: String? = nil,
        trustedProxies: [String] = [],
        expectsProxyHeaders: Bool = false,
        hstsDays: Int? = nil,
        contentSecurityPolicy: String = ServerOptions.strictContentSecurityPolicy,
        limits: ServerLimits = ServerLimits(),
        sessionLimits: SessionLimits = SessionLimits()
    ) {
        self.listeners = listeners
        self.host = host
        self.port = port
        self.workers = workers
        self.version = version
        self.publicFolder = publicFolder
        self.secretKey = secretKey
        self.olderSecretKey = olderSecretKey
        self.hasSecureCookies = hasSecureCookies
        self.access = access
        self.credentials = credentials
        self.keySource = keySource
        self.explainsRefusedCredentials = explainsRefusedCredentials
        self.rateLimits = rateLimits
        self.allowedHosts = allowedHosts
        self.allowedOrigins = allowedOrigins
        self.publicURL = publicURL
        self.trustedProxies = trustedProxies
        self.expectsProxyHeaders = expectsProxyHeaders
        self.hstsDays = hstsDays
        self.contentSecurityPolicy = contentSecurityPolicy
        self.limits = limits
        self.sessionLimits = sessionLimits
    }

    /// The address of the server's port; nil if it has no port.
    var tcpHost: String? { listeners.contains(.tcp) ? host : nil }

    /// Checks the options as a start does, and creates nothing.
    ///
    /// The check covers workers, listeners, access, limits, hosts, origins, addresses, the page policy and the public
    /// folder.
    /// A program calls it before it creates a data folder or a key, so that a refused start leaves nothing behind.
    ///
    /// - Throws: a `ServerError` that names the option and the remedy.
    public func check() throws(ServerError) {
        guard (1...Self.workersMax).contains(workers) else {
            throw ServerError("\(workers) workers are not possible; choose 1 to \(Self.workersMax)")
        }
        _ = try Doors(self, machineName: "")
        try ServerListener.check(listeners)
        if expectsProxyHeaders, listeners.contains(.tcp), trustedProxies.isEmpty {
            throw ServerError(
                "--proxy-protocol closes every connection to the port, because no proxy is trusted; name the proxy in --trusted-proxies"
            )
        }
        try access.check(host: tcpHost, publicURL: publicURL, hasCredentials: credentials != nil)
        try checkExplanation()
        try credentials?.check(keySource: keySource)
        _ = try rateLimits.rules(hasCredentials: credentials != nil)
        _ = try PagePolicy.fields(contentSecurityPolicy)
        if let publicFolder { try FileStamp.checkFolder(publicFolder) }
    }
    private func checkExplanation() throws(ServerError) {
        guard explainsRefusedCredentials else { return }
        let isLocal = listeners.allSatisfy { $0 == .tcp } && !ServerAccess.isExposed(host)
        guard isLocal, publicURL == nil, trustedProxies.isEmpty else {
            throw ServerError(
                "--explain-auth shows every client why its credential is refused, so it needs a server for this machine alone: "
                    + "leave it out, or listen on 127.0.0.1 without --listen, --public-url and --trusted-proxies"
            )
        }
    }
}

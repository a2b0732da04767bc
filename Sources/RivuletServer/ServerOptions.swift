// Part of Rivulet. See README.md for the architecture.
// Owns what an operator may set on a server.

public import RivuletSessions

/// How a server listens and what it allows.
public struct ServerOptions: Sendable {
    /// The version of Rivulet, which a program has that names none of its own.
    public static let libraryVersion = "0.1.0"

    /// The address to listen on, IPv4 or IPv6.
    public var host: String
    /// The port; 0 takes a free one.
    public var port: UInt16
    /// How many event loops, each on a thread of its own.
    public var workers: Int
    /// The version of the program, as `/openapi.json` tells it.
    public var version: String
    /// The folder of static files; nil serves none.
    public var publicFolder: String?
    /// The secret that cookies are signed under, and requests with an `Idempotency-Key` are known by; `SecretKey(keptIn:)` keeps one.
    ///
    /// Nil makes one for this run, which a warning in the log says: a restart then gives every browser another session.
    public var secretKey: SecretKey?
    /// The secret before this one; nil: there is none.
    ///
    /// What was made under it is still good, and cookies are signed anew.
    public var olderSecretKey: SecretKey?
    /// Whether cookies are for TLS only, also when no `X-Forwarded-Proto` says that a proxy speaks it.
    public var hasSecureCookies: Bool
    /// Bounds of HTTP and of streams.
    public var limits: ServerLimits
    /// Bounds of sessions.
    public var sessionLimits: SessionLimits

    /// Sets all options; the defaults are those of `rivulet serve`.
    public init(
        host: String = "127.0.0.1",
        port: UInt16 = 8080,
        workers: Int = 1,
        version: String = ServerOptions.libraryVersion,
        publicFolder: String? = nil,
        secretKey: SecretKey? = nil,
        olderSecretKey: SecretKey? = nil,
        hasSecureCookies: Bool = false,
        limits: ServerLimits = ServerLimits(),
        sessionLimits: SessionLimits = SessionLimits()
    ) {
        self.host = host
        self.port = port
        self.workers = workers
        self.version = version
        self.publicFolder = publicFolder
        self.secretKey = secretKey
        self.olderSecretKey = olderSecretKey
        self.hasSecureCookies = hasSecureCookies
        self.limits = limits
        self.sessionLimits = sessionLimits
    }
}

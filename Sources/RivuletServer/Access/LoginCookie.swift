import RivuletAuth
import RivuletHTTP

/// The cookie with which pages of this site send their caller's token.
///
/// No script can read it, and a browser sends it only with requests of this site's own pages.
/// Source: <https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis>.
struct LoginCookie {
    /// The connection between the browser and the server.
    enum Transport: CaseIterable {
        case tls
        /// Plain HTTP on one machine, where no other machine sees the cookie.
        case loopback
        /// Plain HTTP.
        case plain
    }

    /// The most bytes of a token; browsers keep cookies of about 4,096 bytes.
    static let tokenBytesMax = 4_000
    /// The time for which a browser keeps the cookie of an expired token, in seconds.
    ///
    /// The server then sees an expired credential, and answers 401. Without the cookie, the caller would be anonymous,
    /// and its pages would show less without a reason.
    static let graceSeconds = 604_800

    private let token: String
    private let expires: Int
    private let isSecure: Bool

    /// Makes the cookie of a verified token.
    ///
    /// - Throws: 422 for a token that is too long, for an API key, and for a connection on which others could read the
    ///   cookie.
    init(_ token: [UInt8], of principal: Principal, over transport: Transport) throws(Problem) {
        guard case .token = principal.credential, let expires = principal.expires else {
            throw Problem(
                .loginRefused,
                "An API key is for programs, and stays valid for too long to be in a browser. Sign in with a token. Nothing has changed."
            )
        }
        guard token.count <= Self.tokenBytesMax else {
            throw Self.tooLong(token.count)
        }
        guard transport != .plain else {
            throw Problem(
                .loginRefused,
                "Without TLS, others could read the cookie. Use https: start the server with --public-url https://…, or let a proxy of "
                    + "--trusted-proxies send X-Forwarded-Proto: https. Nothing has changed."
            )
        }
        self.token = String(decoding: token, as: UTF8.self)
        self.expires = expires
        isSecure = transport == .tls
    }

    /// The fields that set this cookie and remove the one of the other name; `now` is in seconds since 1970.
    ///
    /// A browser may have both after a change between http and https.
    func fields(now: Int) -> [HTTPField] {
        let seconds = max(expires - now, 0) + Self.graceSeconds
        return [Self.field(isSecure, value: token, seconds: seconds), Self.field(!isSecure, value: "", seconds: 0)]
    }

    /// The fields that remove the cookie.
    static var cleared: [HTTPField] { [true, false].map { field($0, value: "", seconds: 0) } }

    /// The refusal of a token of this many bytes.
    static func tooLong(_ count: Int) -> Problem {
        Problem(
            .loginRefused,
            "The token has \(count) bytes, and a cookie takes at most \(tokenBytesMax). Use a token with fewer claims, such as roles "
                + "in place of grants. Nothing has changed."
        )
    }

    private static func field(_ isSecure: Bool, value: String, seconds: Int) -> HTTPField {
        let name = isSecure ? Credentials.cookieName : Credentials.plainCookieName
        let attributes = "Max-Age=\(seconds); Path=/; HttpOnly; SameSite=Strict\(isSecure ? "; Secure" : "")"
        return HTTPField("Set-Cookie", "\(name)=\(value); \(attributes)")
    }
}

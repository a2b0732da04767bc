import Crypto
import RivuletHTTP
import RivuletSessions

/// Reads and makes the cookie `rivulet-session`: a session's id and a signature of it.
///
/// A forged or damaged cookie is ignored, and its sender is a new caller. An error would lock browsers out after a
/// change of the key, because no script of a page can remove the cookie. Source: <Documentation/HTTP.md#resources>, RFC
/// 6265.
struct SessionCookies: Sendable {
    static let cookieName = "rivulet-session"
    /// The time for which a browser keeps the cookie, in seconds: a year.
    static let cookieSeconds = 31_536_000

    private let key: SymmetricKey
    private let olderKey: SymmetricKey?
    private let isSecure: Bool

    /// The caller of a request.
    struct Caller: Equatable {
        /// The id of the caller's session in every app.
        let sessionID: String
        /// The value of the cookie to set; nil if the caller's cookie is current.
        let newCookie: String?
        /// True if a cookie of the request named the caller.
        var isKnown = true
    }

    init(_ secret: SecretKey, older: SecretKey? = nil, isSecure: Bool) {
        let purpose = "rivulet-session cookie"
        key = secret.derived(for: purpose)
        olderKey = older?.derived(for: purpose)
        self.isSecure = isSecure
    }

    /// The caller that one of the cookies names, or a new caller.
    ///
    /// A cookie that is signed with the older key still names its caller. The caller then gets a cookie signed with the
    /// current key.
    func caller(cookies fields: [String]) -> Caller {
        for value in HTTPCookies.values(of: Self.cookieName, in: fields) {
            if let id = sessionID(in: value, signedWith: key) { return Caller(sessionID: id, newCookie: nil) }
            if let olderKey, let id = sessionID(in: value, signedWith: olderKey) { return signed(id) }
        }
        var caller = signed(RandomToken.sessionID())
        caller.isKnown = false
        return caller
    }

    /// The session of the caller that one of the cookies names; nil if none is valid.
    func sessionID(in fields: [String]) -> String? {
        for value in HTTPCookies.values(of: Self.cookieName, in: fields) {
            if let id = sessionID(in: value, signedWith: key) { return id }
            if let olderKey, let id = sessionID(in: value, signedWith: olderKey) { return id }
        }
        return nil
    }

    private func signed(_ id: String) -> Caller {
        Caller(sessionID: id, newCookie: "\(id).\(signature(of: id))")
    }

    /// The header field that sets the caller's cookie.
    func field(cookie: String, isForwardedFromTLS: Bool) -> HTTPField {
        let secure = isSecure || isForwardedFromTLS ? "; Secure" : ""
        let attributes = "Max-Age=\(Self.cookieSeconds); Path=/; HttpOnly; SameSite=Lax\(secure)"
        return HTTPField("Set-Cookie", "\(Self.cookieName)=\(cookie); \(attributes)")
    }

    /// The id that the cookie names; nil if its signature was not made with this key.
    private func sessionID(in cookie: String, signedWith key: SymmetricKey) -> String? {
        let parts = cookie.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let code = Self.bytes(hex: parts[1]) else { return nil }
        let id = String(parts[0])
        // Compared in constant time.
        let isValid = HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(id.utf8), using: key)
        return isValid ? id : nil
    }

    private func signature(of id: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Array(id.utf8), using: key).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }

    private static func bytes(hex text: Substring) -> [UInt8]? {
        let digits = text.utf8.compactMap { digit -> UInt8? in
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
            default: nil
            }
        }
        guard digits.count == text.utf8.count, digits.count == 2 * SHA256.byteCount else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

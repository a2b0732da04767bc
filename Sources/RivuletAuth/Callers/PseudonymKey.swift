package import Crypto
import RivuletBase

/// The secret that makes ``RivuletAccess/Caller/me`` of an issuer and a subject.
///
/// Another secret gives every caller another name, so it is kept with the data, and does not follow the server's key.
package struct PseudonymKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The characters of a name: 130 bits.
    package static let characters = 26

    private let key: SymmetricKey

    package init(_ secret: SymmetricKey) {
        key = secret
    }

    /// Returns the name of a subject at its issuer.
    ///
    /// The length before the issuer keeps the two texts apart, and no issuer is another one than an empty issuer.
    package func name(issuer: String?, subject: String) -> String {
        var message = Array("rivulet-me".utf8)
        message.append(issuer == nil ? 0 : 1)
        let bytes = Array((issuer ?? "").utf8)
        message += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bytes.count >> $0) }
        message += bytes
        message += Array(subject.utf8)
        let code = HMAC<SHA256>.authenticationCode(for: message, using: key)
        return String(Base32.encode(code).prefix(Self.characters))
    }

    /// No part of the secret.
    package var description: String { "PseudonymKey" }

    /// An empty mirror, so that no dump contains the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

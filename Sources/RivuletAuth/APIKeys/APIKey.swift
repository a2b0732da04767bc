import Crypto
import RivuletBase

/// The key of a backend: `rvk_ID_SECRET_CHECKSUM`, such as
/// `rvk_7m2k9xq4_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8_421608d8`.
///
/// The id has 8 characters of `a-z0-9`. The secret is 256 random bits in base64url. The checksum is the CRC-32 of all
/// characters before it, in 8 hexadecimal digits, so that a scanner of secrets finds keys and a mistyped key costs no
/// look-up.
package struct APIKey: Sendable, CustomStringConvertible, CustomReflectable {
    package static let idCharacters = 8
    package static let secretBytes = 32
    private static let prefix = Array("rvk_".utf8)
    private static let idDigits = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
    /// `rvk_`, the id, `_`, 43 characters of the secret, `_`, and 8 digits.
    private static let byteCount = 65

    package let id: String
    private let secret: [UInt8]

    /// Makes a key from random bits.
    package init(using random: inout some RandomNumberGenerator) {
        id = Self.randomID(using: &random)
        secret = (0..<Self.secretBytes).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// Makes a key from the random bits of the system.
    package init() {
        var random = SystemRandomNumberGenerator()
        self.init(using: &random)
    }

    /// Returns true if a credential has the beginning of an API key, which no token has.
    package static func isBeginning(of credential: [UInt8]) -> Bool { credential.starts(with: prefix) }

    /// Reads a key.
    ///
    /// - Throws: `CredentialError.apiKeyForm` for another form or checksum.
    package init(parsing text: [UInt8]) throws(CredentialError) {
        guard text.count == Self.byteCount, text.starts(with: Self.prefix) else { throw .apiKeyForm }
        let (id, secret, checksum) = (text[4..<12], text[13..<56], text[57...])
        guard text[12] == UInt8(ascii: "_"), text[56] == UInt8(ascii: "_"), Self.isID(id),
            let secret = Base64URL.decode(secret), checksum.elementsEqual(Self.checksum(of: text[..<57]))
        else { throw .apiKeyForm }
        self.id = String(decoding: id, as: UTF8.self)
        self.secret = secret
    }

    /// The whole key, which is shown once.
    package var text: String {
        let beginning = "rvk_\(id)_\(Base64URL.encode(secret))_"
        return beginning + String(decoding: Self.checksum(of: Array(beginning.utf8)[...]), as: UTF8.self)
    }

    /// The SHA-256 of the secret's 32 bytes.
    ///
    /// A slow hash would add nothing, because the secret is random.
    var hash: SHA256.Digest { SHA256.hash(data: secret) }

    /// The id only, so that no text contains the secret.
    package var description: String { "APIKey(\(id))" }

    /// An empty mirror, so that no dump contains the secret.
    package var customMirror: Mirror { Mirror(self, children: []) }

    /// Returns true for 8 characters of `a-z0-9`.
    package static func isID(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.count == idCharacters && bytes.allSatisfy(idDigits.contains)
    }

    private static func randomID(using random: inout some RandomNumberGenerator) -> String {
        let digits = (0..<idCharacters).map { _ in idDigits[Int.random(in: idDigits.indices, using: &random)] }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The CRC-32 in hexadecimal digits.
    private static func checksum(of bytes: ArraySlice<UInt8>) -> [UInt8] {
        HexadecimalText.encode(CRC32.checksum(of: bytes).bigEndianBytes)
    }
}

/// Bytes as hexadecimal digits in lower case.
enum HexadecimalText {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }

    /// Returns the bytes; nil if the text has other characters, or an odd number of them.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        let values = text.compactMap { digits.firstIndex(of: $0).map(UInt8.init) }
        guard values.count == text.count, values.count % 2 == 0 else { return nil }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}

/// The checksum of zlib and of Ethernet.
///
/// Source: RFC 1952 section 8.
private enum CRC32 {
    static func checksum(of bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { checksum, byte in
            (0..<8).reduce(checksum ^ UInt32(byte)) { rest, _ in rest & 1 == 1 ? rest >> 1 ^ 0xEDB8_8320 : rest >> 1 }
        }
    }
}

extension UInt32 {
    fileprivate var bigEndianBytes: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> UInt32($0)) }
    }
}

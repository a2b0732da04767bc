internal import Crypto
internal import FoundationEssentials

/// The secret key of a NATS user: an Ed25519 key in the text form of NATS.
///
/// A seed is base32 of two bytes for the kinds "seed" and "user", 32 bytes of the key, and a CRC-16.
/// Source: <https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth>,
/// <https://github.com/nats-io/nkeys>
package struct NKey: Sendable {
    private let key: Curve25519.Signing.PrivateKey

    /// Reads a user's seed, such as "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY".
    package init(seed: String) throws(NATSCredentialsError) {
        guard let bytes = Self.decode(seed), bytes.count == 36 else { throw .invalidSeed }
        let checksum = UInt16(bytes[34]) | UInt16(bytes[35]) << 8
        guard Self.crc16(bytes[..<34]) == checksum else { throw .invalidSeed }
        let kind = (bytes[0] & 7) << 5 | bytes[1] >> 3
        guard bytes[0] & 0xF8 == Self.seedKind, kind == Self.userKind else { throw .notUserSeed }
        do {
            key = try Curve25519.Signing.PrivateKey(rawRepresentation: bytes[2..<34])
        } catch {
            throw .invalidSeed
        }
    }

    /// The public key, such as "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4".
    package var publicKey: String {
        var bytes = [Self.userKind] + key.publicKey.rawRepresentation
        let checksum = Self.crc16(bytes[...])
        bytes += [UInt8(truncatingIfNeeded: checksum), UInt8(truncatingIfNeeded: checksum >> 8)]
        return Self.encode(bytes)
    }

    /// Signs the server's nonce; the result is base64url without padding.
    package func sign(_ nonce: String) throws(NATSCredentialsError) -> String {
        do {
            let text = try key.signature(for: Data(nonce.utf8)).base64EncodedString()
            return text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        } catch {
            throw .cannotSign
        }
    }

    private static let seedKind: UInt8 = 18 << 3
    private static let userKind: UInt8 = 20 << 3
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Decodes base32 without padding; nil for other text.
    ///
    /// Source: RFC 4648 section 6.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)
            count += 5
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        // The bits behind the last byte are zero in the only spelling of a key.
        guard count < 5, bits & (1 << count - 1) == 0 else { return nil }
        return bytes
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> count & 31)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The CRC-16 with the polynomial 0x1021 and the start 0, known as XMODEM.
    static func crc16(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        return crc
    }
}

/// The way in which a client proves itself to a server.
package enum NATSCredentials: Sendable {
    case none
    case password(user: String, password: String)
    case token(String)
    /// A user of a server without operator, by its NKey.
    case nkey(NKey)
    /// A user of an operator's account, by its JWT and NKey.
    case jwt(String, NKey)

    /// Reads a `.creds` file, or a file with only the seed of an NKey.
    ///
    /// Source: <https://docs.nats.io/using-nats/developer/connecting/creds>
    package init(fileText text: String) throws(NATSCredentialsError) {
        let lines = text.split(whereSeparator: \.isNewline).map { Self.trimmed($0) }.filter { !$0.isEmpty }
        func line(after marker: String) -> String? {
            guard let index = lines.firstIndex(where: { $0.contains("BEGIN \(marker)") }), index + 1 < lines.count
            else { return nil }
            return lines[index + 1]
        }
        let seed = line(after: "USER NKEY SEED") ?? lines.first { $0.hasPrefix("SU") }
        guard let seed else { throw .noSeed }
        let key = try NKey(seed: seed)
        if let jwt = line(after: "NATS USER JWT") { self = .jwt(jwt, key) } else { self = .nkey(key) }
    }

    private static func trimmed(_ line: Substring) -> String {
        let start = line.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Fills in the options for a server.
    func apply(to options: inout NATSConnectOptions, nonce: String?) throws(NATSCredentialsError) {
        switch self {
        case .none: break
        case .password(let user, let password): (options.user, options.password) = (user, password)
        case .token(let token): options.token = token
        case .nkey(let key):
            guard let nonce else { throw .noNonce }
            (options.nkey, options.signature) = (key.publicKey, try key.sign(nonce))
        case .jwt(let jwt, let key):
            guard let nonce else { throw .noNonce }
            (options.jwt, options.signature) = (jwt, try key.sign(nonce))
        }
    }
}

/// The reason that credentials cannot be used.
package enum NATSCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case noSeed
    case invalidSeed
    case notUserSeed
    case noNonce
    case cannotSign

    package var description: String {
        switch self {
        case .noSeed:
            "The NATS credentials file has no user seed. Use the .creds file that nsc or your NATS operator made."
        case .invalidSeed:
            "The seed in the NATS credentials file is damaged: its checksum does not match. Copy the file again."
        case .notUserSeed: "The seed in the NATS credentials file is not a user's. Use a seed that begins with SU."
        case .noNonce:
            "The NATS server asks for no signature, so it does not know NKeys. Check the server's configuration."
        case .cannotSign: "The NATS credentials could not sign the server's nonce."
        }
    }
}

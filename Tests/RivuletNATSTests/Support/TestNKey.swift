// Owns keys and claims as the tool nsc makes them.

import Crypto
import Foundation

/// A key of an operator, an account or a user, which signs claims.
///
/// Source: <https://github.com/nats-io/jwt>, <https://github.com/nats-io/nkeys>
struct TestNKey {
    private let key = Curve25519.Signing.PrivateKey()
    private let kind: UInt8

    /// Makes a key of the kind that its text begins with: O, A or U.
    init(kind: Character) {
        self.kind = UInt8(Self.alphabet.firstIndex(of: kind) ?? 0) << 3
    }

    var publicKey: String { Self.text([kind] + key.publicKey.rawRepresentation) }

    var seed: String {
        Self.text([18 << 3 | kind >> 5, kind << 3] + key.rawRepresentation)
    }

    /// Signs a claim of this key about another one.
    func claim(_ subject: TestNKey, _ type: String) throws -> String {
        let limits =
            switch type {
            case "account":
                #","limits":{"subs":-1,"conn":-1,"leaf":-1,"imports":-1,"exports":-1,"data":-1,"payload":-1,"#
                    + #""wildcards":true}"#
            case "user": #","subs":-1,"data":-1,"payload":-1"#
            default: ""
            }
        let body =
            #"{"jti":"x","iat":1700000000,"iss":"\#(publicKey)","name":"test","sub":"\#(subject.publicKey)","#
            + #""nats":{"type":"\#(type)","version":2\#(limits)}}"#
        let text = Self.base64(Data(#"{"typ":"JWT","alg":"ed25519-nkey"}"#.utf8)) + "." + Self.base64(Data(body.utf8))
        return text + "." + Self.base64(try key.signature(for: Data(text.utf8)))
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The base32 of the bytes and their CRC-16.
    private static func text(_ bytes: [UInt8]) -> String {
        var crc: UInt16 = 0
        for byte in bytes {
            crc ^= UInt16(byte) << 8
            for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
        }
        var (text, bits, count) = ("", UInt32(0), 0)
        for byte in bytes + [UInt8(truncatingIfNeeded: crc), UInt8(truncatingIfNeeded: crc >> 8)] {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 5 {
                count -= 5
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return text
    }
}

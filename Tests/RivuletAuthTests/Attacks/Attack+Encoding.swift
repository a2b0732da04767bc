import Crypto
import CryptoExtras
import Foundation
import RivuletAuth
import Testing

extension Attack {
    /// Attacks by another text of the same token, or by another number of parts.
    static let encodings: [Attack] = [
        Attack("empty", "malformed") { _ in "" },
        Attack("one part", "malformed") { try parts($0.token())[0] },
        Attack("two dots", "malformed") { _ in ".." },
        Attack("no signature and no dot", "malformed") { try parts($0.token()).prefix(2).joined(separator: ".") },
        Attack("four parts", "malformed") { try $0.token() + "." },
        Attack("five parts, as an encrypted token has", "malformed") { try $0.token() + ".AAAA.AAAA" },
        Attack("8,000 dots", "malformed") { _ in String(repeating: ".", count: 8_000) },
        Attack("no header", "malformed") { try "." + parts($0.token()).dropFirst().joined(separator: ".") },
        Attack("no payload", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0])..\(parts[2])"
        },
        Attack("a space before", "malformed") { try " " + $0.token() },
        Attack("a newline behind", "malformed") { try $0.token() + "\n" },
        Attack("a tab behind", "malformed") { try $0.token() + "\t" },
        Attack("a zero behind", "malformed") { try $0.token() + "\0" },
        Attack("a scheme before", "malformed") { try "Bearer " + $0.token() },
        Attack("quotes around", "malformed") { try "\"\($0.token())\"" },
        Attack("two tokens with a comma", "malformed") { try "\($0.token()),\($0.token())" },
        Attack("a newline in the payload", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0]).\(parts[1].prefix(8))\n\(parts[1].dropFirst(8)).\(parts[2])"
        },
        Attack("padding of the header", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0])=.\(parts[1]).\(parts[2])"
        },
        Attack("padding of the payload", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0]).\(parts[1])==.\(parts[2])"
        },
        Attack("padding of the signature", "malformed") { try $0.token() + "==" },
        Attack("a rest of six bits", "malformed") { issuer in
            let token = try issuer.token()
            let count = try #require(parts(token).last?.utf8.count)
            return token + String(repeating: "A", count: (5 - count % 4) % 4)
        },
        Attack("spare bits of the signature", "malformed") { issuer in
            let token = try issuer.token()
            guard let last = token.last, let next = Attack.next(last) else { return "" }
            // A signature of 96 bytes has no spare bits, so it gets a byte more.
            return issuer.kind == .p384 ? token + "AB" : token.dropLast() + String(next)
        },
        Attack("the alphabet of base64", "malformed") { issuer in
            let parts = try parts(issuer.token(claims: ["x": "\"???>>>\""]))
            return "\(parts[0]).\(parts[1].dropLast(4))+/+/.\(parts[2])"
        },
        Attack("a percent escape", "malformed") { issuer in
            let token = try issuer.token()
            return "%65" + token.dropFirst()
        },
        Attack("the JSON form", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "{\"protected\":\"\(parts[0])\",\"payload\":\"\(parts[1])\",\"signature\":\"\(parts[2])\"}"
        },
        Attack("8,001 bytes", "malformed") { issuer in
            let token = try issuer.token()
            return token + String(repeating: "A", count: 8_001 - token.utf8.count)
        },
        Attack("9,000 bytes with the right signature", "malformed") { issuer in
            try issuer.token(claims: ["x": "\"\(String(repeating: "x", count: 7_000))\""])
        },
        Attack("a megabyte", "malformed") { _ in String(repeating: "A", count: 1_000_000) },
        Attack("a nested token", "malformed") { issuer in
            try issuer.sign(header: issuer.header(), payload: issuer.token())
        },
        Attack("a nested token as a string", "malformed") { issuer in
            try issuer.sign(header: issuer.header(), payload: "\"\(issuer.token())\"")
        },
        payload("a payload that is null") { _ in "null" },
        payload("a payload that is an array") { "[\($0.claims())]" },
        payload("an empty payload") { _ in "" },
        payload("a payload with text behind") { $0.claims() + "x" },
        payload("a payload with a zero behind") { $0.claims() + "\0" },
        payload("a payload with a comment") { "/**/" + $0.claims() },
        payload("a payload with a byte order mark") { "\u{FEFF}" + $0.claims() },
        payload("exp twice") { "{\"exp\":\(now + 86_000)," + $0.claims().dropFirst() },
        payload("sub twice") { "{\"sub\":\"root\"," + $0.claims().dropFirst() },
        payload("sub twice, once with an escape") { "{\"s\\u0075b\":\"root\"," + $0.claims().dropFirst() },
        payload("a member twice, deeper") { $0.claims(["x": "{\"a\":1,\"a\":2}"]) },
        payload("half of a surrogate pair") { $0.claims(["sub": "\"\\ud800\""]) },
        payload("exp with a leading zero") { $0.claims(["exp": "0\(now + 60)"]) },
        payload("exp in hexadecimal") { $0.claims(["exp": "0x7fffffff"]) },
        payload("exp as NaN") { $0.claims(["exp": "NaN"]) },
        payload("a payload of 17 levels") { issuer in
            issuer.claims(["x": String(repeating: "[", count: 16) + String(repeating: "]", count: 16)])
        },
        Attack("a payload that is not UTF-8", "malformed") { issuer in
            let claims = Array(issuer.claims(["x": "\"?\""]).utf8).map { $0 == UInt8(ascii: "?") ? 0xC0 : $0 }
            return try issuer.sign(header: Array(issuer.header().utf8), payload: claims)
        },
    ]

    private static func payload(_ name: String, _ payload: @escaping @Sendable (TestIssuer) -> String) -> Attack {
        Attack(name, "malformed") { try $0.sign(header: $0.header(), payload: payload($0)) }
    }

    /// The digit of base64url with the next value.
    private static func next(_ digit: Character) -> Character? {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        return digits.firstIndex(of: digit).flatMap { $0 + 1 < digits.count ? digits[$0 + 1] : nil }
    }

    /// Attacks by a signature that the key has not made for these bytes.
    static let signatures: [Attack] = [
        Attack("an empty signature", "signature") { try resigned($0) { _ in [] } },
        Attack("a signature of one byte", "signature") { try resigned($0) { _ in [0] } },
        Attack("a byte less", "signature") { try resigned($0) { $0.dropLast() } },
        Attack("the first byte missing", "signature") { try resigned($0) { Array($0.dropFirst()) } },
        Attack("half of the signature", "signature") { try resigned($0) { Array($0.prefix($0.count / 2)) } },
        Attack("a byte more behind", "signature") { try resigned($0) { $0 + [0] } },
        Attack("a byte more before", "signature") { try resigned($0) { [0] + $0 } },
        Attack("the signature twice", "signature") { try resigned($0) { $0 + $0 } },
        Attack("zeros", "signature") { try resigned($0) { $0.map { _ in 0 } } },
        Attack("ones", "signature") { try resigned($0) { $0.map { _ in 0xFF } } },
        Attack("the number one", "signature") { try resigned($0) { $0.dropLast().map { _ in 0 } + [1] } },
        Attack("the bytes backwards", "signature") { try resigned($0) { $0.reversed() } },
        Attack("the first bit flipped", "signature") { try resigned($0) { [$0[0] ^ 0x80] + $0.dropFirst() } },
        Attack("the last bit flipped", "signature") { try resigned($0) { $0.dropLast() + [$0[$0.count - 1] ^ 1] } },
        Attack("a bit in the middle flipped", "signature") { issuer in
            try resigned(issuer) { signature in
                var changed = signature
                changed[signature.count / 2] ^= 0x10
                return changed
            }
        },
        Attack("the key of another party", "signature") { issuer in
            try TestIssuer(kind: issuer.kind, isForeign: true)
                .sign(header: issuer.header(), payload: issuer.claims())
        },
        Attack("the signature of the payload alone", "signature") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0]).\(parts[1]).\(Base64URL.encode(try issuer.signature(of: Array(parts[1].utf8))))"
        },
        Attack("the signature of the decoded bytes", "signature") { issuer in
            let parts = try parts(issuer.token())
            let bytes = Array((issuer.header() + "." + issuer.claims()).utf8)
            return "\(parts[0]).\(parts[1]).\(Base64URL.encode(try issuer.signature(of: bytes)))"
        },
        Attack("the payload of another token", "signature") { issuer in
            let (first, second) = (try parts(issuer.token()), try parts(issuer.token(claims: ["sub": "\"root\""])))
            return "\(first[0]).\(second[1]).\(first[2])"
        },
        Attack("the header of another token", "signature") { issuer in
            let (first, second) = (try parts(issuer.token()), try parts(issuer.token(header: ["x": "1"])))
            return "\(second[0]).\(first[1]).\(first[2])"
        },
        Attack("the signature of another token", "signature") { issuer in
            let (first, second) = (try parts(issuer.token()), try parts(issuer.token(claims: ["sub": "\"root\""])))
            return "\(first[0]).\(first[1]).\(second[2])"
        },
        Attack("the payload and the signature swapped", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0]).\(parts[2]).\(parts[1])"
        },
        Attack("the header and the payload swapped", "sub") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[1]).\(parts[0]).\(parts[2])"
        },
        Attack("a space in the payload after the signature was made", "signature") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0]).\(Base64URL.encode((" " + issuer.claims()).utf8)).\(parts[2])"
        },
        Attack("another case of the digits", "malformed") { issuer in
            let parts = try parts(issuer.token())
            return "\(parts[0].lowercased()).\(parts[1]).\(parts[2])"
        },
        Attack("a signature in DER", "signature", kinds: [.p256, .p384]) { issuer in
            let signed = try parts(issuer.token()).prefix(2).joined(separator: ".")
            let message = Array(signed.utf8)
            let signature =
                try issuer.kind == .p256
                ? TestKeys.p256().signature(for: message).derRepresentation
                : TestKeys.p384().signature(for: message).derRepresentation
            return "\(signed).\(Base64URL.encode(signature))"
        },
        Attack("r is zero", "signature", kinds: [.p256, .p384]) { issuer in
            try resigned(issuer) { Array(repeating: 0, count: $0.count / 2) + $0.suffix($0.count / 2) }
        },
        Attack("s is zero", "signature", kinds: [.p256, .p384]) { issuer in
            try resigned(issuer) { $0.prefix($0.count / 2) + Array(repeating: 0, count: $0.count / 2) }
        },
        Attack("r and s swapped", "signature", kinds: [.p256, .p384, .ed25519]) { issuer in
            try resigned(issuer) { Array($0.suffix($0.count / 2) + $0.prefix($0.count / 2)) }
        },
        Attack("r and s are the order of the curve", "signature", kinds: [.p256]) { issuer in
            let order: [UInt8] = [
                0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
            ]
            return try resigned(issuer) { _ in order + order }
        },
        Attack("s of Ed25519 beyond the order", "signature", kinds: [.ed25519]) { issuer in
            // The order of the base point, least byte first.
            let order: [UInt8] =
                [0xED, 0xD3, 0xF5, 0x5C, 0x1A, 0x63, 0x12, 0x58, 0xD6, 0x9C, 0xF7, 0xA2, 0xDE, 0xF9, 0xDE, 0x14]
                + Array(repeating: 0, count: 15) + [0x10]
            return try resigned(issuer) { signature in
                var (sum, carry): ([UInt8], Int) = ([], 0)
                for (left, right) in zip(signature.suffix(32), order) {
                    carry += Int(left) + Int(right)
                    sum.append(UInt8(truncatingIfNeeded: carry))
                    carry >>= 8
                }
                return signature.prefix(32) + sum
            }
        },
        Attack("the identity as R and zero as s", "signature", kinds: [.ed25519]) { issuer in
            try resigned(issuer) { _ in [1] + Array(repeating: 0, count: 63) }
        },
        Attack("the modulus as the signature", "signature", kinds: [.rsa, .pss]) { issuer in
            let modulus = try TestKeys.rsa().publicKey.getKeyPrimitives().modulus
            return try resigned(issuer) { _ in Array(modulus) }
        },
    ]
}

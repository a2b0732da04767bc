import Crypto
import Foundation
import RivuletAuth
import RivuletJSON

extension Attack {
    /// Attacks on the choice of the algorithm.
    static let algorithms: [Attack] =
        ["none", "None", "NONE", "nOnE", "none\\u0000", "", "hs256", "rs256", " HS256", "HS256 ", "HS384", "HS512"]
        .map { header("alg \"\($0)\"", "alg", "\"\($0)\"", "alg") }
        + ["RS384", "RS512", "PS384", "PS512", "ES512", "ES256K", "Ed448", "ML-DSA-44", "A256GCM", "dir"]
        .map { header("alg \($0)", "alg", "\"\($0)\"", "alg") }
        + [
            header("alg missing", "alg", nil, "alg"),
            header("alg null", "alg", "null", "header"),
            header("alg as a number", "alg", "256", "header"),
            header("alg as an array", "alg", "[\"HS256\"]", "header"),
            header("alg as an object", "alg", "{\"name\":\"HS256\"}", "header"),
            Attack("alg none without a signature", "alg") { issuer in
                let parts = try parts(issuer.token(header: ["alg": "\"none\""]))
                return "\(parts[0]).\(parts[1])."
            },
            Attack("alg none without the last dot", "malformed") { issuer in
                let parts = try parts(issuer.token(header: ["alg": "\"none\""]))
                return "\(parts[0]).\(parts[1])"
            },
            Attack("alg of each other kind of key", "alg") { issuer in
                try issuer.token(header: ["alg": issuer.kind == .hmac ? "\"RS256\"" : "\"HS256\""])
            },
            Attack("alg PS256 for RS256 and the other way", "alg", kinds: [.rsa, .pss]) { issuer in
                try issuer.token(header: ["alg": issuer.kind == .rsa ? "\"PS256\"" : "\"RS256\""])
            },
            Attack("the PSS signature under RS256", "signature", kinds: [.rsa]) { issuer in
                try TestIssuer(kind: .pss).sign(header: issuer.header(), payload: issuer.claims())
            },
            Attack("the PKCS1 signature under PS256", "signature", kinds: [.pss]) { issuer in
                try TestIssuer(kind: .rsa).sign(header: issuer.header(), payload: issuer.claims())
            },
            confusion("the public key as PEM is the secret") { _ in Array(TestKeys.rsaPublicPEM.utf8) },
            confusion("the public key as PEM with a newline is the secret") { _ in
                Array((TestKeys.rsaPublicPEM + "\n").utf8)
            },
            confusion("the public key as JSON is the secret") { issuer in Array(try issuer.key().utf8) },
            confusion("the public key's bytes are the secret") { issuer in
                let key = try JSONValue(parsing: issuer.key())
                return Base64URL.decode((key["n"] ?? key["x"])?.stringValue?.utf8 ?? "".utf8) ?? []
            },
            confusion("the empty secret") { _ in [] },
        ]

    /// A token of HS256 under a secret that is public.
    private static func confusion(
        _ name: String,
        _ secret: @escaping @Sendable (TestIssuer) throws -> [UInt8]
    ) -> Attack {
        Attack(name, "alg", kinds: [.rsa, .pss, .p256, .p384, .ed25519]) { issuer in
            let header = Base64URL.encode(issuer.header(["alg": "\"HS256\""]).utf8)
            let signed = "\(header).\(Base64URL.encode(issuer.claims().utf8))"
            let key = SymmetricKey(data: try secret(issuer))
            return "\(signed).\(Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key)))"
        }
    }

    /// Attacks by members of the header.
    static let headers: [Attack] = [
        header("typ missing", "typ", nil, "typ"),
        header("typ JWT", "typ", "\"JWT\"", "typ"),
        header("typ of an event token", "typ", "\"secevent+jwt\"", "typ"),
        header("typ of a proof", "typ", "\"dpop+jwt\"", "typ"),
        header("typ with more behind", "typ", "\"at+jwt;x\"", "typ"),
        header("typ with a zero", "typ", "\"at+jwt\\u0000\"", "typ"),
        header("typ with the prefix twice", "typ", "\"application/application/at+jwt\"", "typ"),
        header("typ with a letter of another alphabet", "typ", "\"\\u0430t+jwt\"", "typ"),
        header("typ empty", "typ", "\"\"", "typ"),
        header("typ as an array", "typ", "[\"at+jwt\"]", "header"),
        header("crit empty", "crit", "[]", "header"),
        header("crit with a known claim", "crit", "[\"exp\"]", "header"),
        header("crit as null", "crit", "null", "header"),
        header("b64 false", "b64", "false", "header"),
        header("b64 true", "b64", "true", "header"),
        header("zip", "zip", "\"DEF\"", "header"),
        header("cty of a nested token", "cty", "\"JWT\"", "header"),
        header("enc", "enc", "\"A256GCM\"", "header"),
        header("jku", "jku", "\"https://evil.example/jwks.json\"", "header"),
        header("jku of the issuer", "jku", "\"https://issuer.example/../evil\"", "header"),
        header("x5u", "x5u", "\"https://evil.example/cert.pem\"", "header"),
        header("x5c", "x5c", "[\"MIIB\"]", "header"),
        Attack("an embedded jwk that has signed the token", "header") { issuer in
            let foreign = TestIssuer(kind: issuer.kind, isForeign: true)
            return try foreign.token(header: ["jwk": try foreign.key()])
        },
        Attack("the right jwk embedded", "header") { try $0.token(header: ["jwk": try $0.key()]) },
        Attack("alg twice", "malformed") { issuer in
            let header = "{\"alg\":\"none\"," + issuer.header().dropFirst()
            return try issuer.sign(header: header, payload: issuer.claims())
        },
        Attack("alg twice, once with an escape", "malformed") { issuer in
            let header = "{\"\\u0061lg\":\"none\"," + issuer.header().dropFirst()
            return try issuer.sign(header: header, payload: issuer.claims())
        },
        Attack("a header that is an array", "malformed") { try $0.sign(header: "[]", payload: $0.claims()) },
        Attack("a header that is a string", "malformed") { try $0.sign(header: "\"HS256\"", payload: $0.claims()) },
        Attack("a header that is null", "malformed") { try $0.sign(header: "null", payload: $0.claims()) },
        Attack("an empty header", "malformed") { try $0.sign(header: "", payload: $0.claims()) },
        Attack("a header without members", "typ") { try $0.sign(header: "{}", payload: $0.claims()) },
        Attack("a header with a byte order mark", "malformed") { issuer in
            try issuer.sign(header: "\u{FEFF}" + issuer.header(), payload: issuer.claims())
        },
        Attack("a header with a trailing comma", "malformed") { issuer in
            try issuer.sign(header: issuer.header().dropLast() + ",}", payload: issuer.claims())
        },
        Attack("a header with text behind", "malformed") { issuer in
            try issuer.sign(header: issuer.header() + "{}", payload: issuer.claims())
        },
        Attack("a header in single quotes", "malformed") { issuer in
            try issuer.sign(
                header: issuer.header().replacingOccurrences(of: "\"", with: "'"),
                payload: issuer.claims()
            )
        },
        Attack("a header that is not UTF-8", "malformed") { issuer in
            let header = Array(issuer.header(["x": "\"?\""]).utf8).map { $0 == UInt8(ascii: "?") ? 0xFF : $0 }
            return try issuer.sign(header: header, payload: Array(issuer.claims().utf8))
        },
        Attack("a header of 17 levels", "malformed") { issuer in
            let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
            return try issuer.token(header: ["x": deep])
        },
        Attack("a header of 1,000 levels", "malformed") { issuer in
            let deep = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
            return try issuer.token(header: ["x": deep])
        },
    ]

    /// Attacks on the choice of the key.
    static let keyIDs: [Attack] =
        [
            "k3", "", "K1", "k1 ", " k1", "k1\\u0000", "k1\\n", "../../../../dev/null", "/dev/null", "file:///dev/null",
            "' UNION SELECT 'secret' --", "k1' OR '1'='1", "$(id)", "|id", "https://evil.example/key", "k1,k2", "*",
            "0",
            "\\u212A1", "%6b1",
        ].map { header("kid \"\($0)\"", "kid", "\"\($0)\"", "kid") }
        + [
            header("kid missing", "kid", nil, "kid"),
            header("kid null", "kid", "null", "header"),
            header("kid as a number", "kid", "1", "header"),
            header("kid as an array", "kid", "[\"k1\"]", "header"),
            header("kid as an object", "kid", "{\"k1\":1}", "header"),
            header("the kid of the issuer's other key", "kid", "\"k2\"", "signature"),
            header("a kid of 4,000 bytes", "kid", "\"\(String(repeating: "k", count: 4_000))\"", "kid"),
            Attack("the key of another issuer, with the same kid", "signature") { issuer in
                try TestIssuer(kind: issuer.kind, isForeign: true).token()
            },
            Attack("this issuer's key for another issuer", "signature") { issuer in
                try issuer.token(claims: ["iss": "\"https://other.example\""])
            },
        ]
}

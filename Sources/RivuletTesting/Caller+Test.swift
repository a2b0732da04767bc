// This file owns the callers of tests, which no credential names.

public import RivuletAccess
public import RivuletJSON

extension Caller {
    /// Returns an authenticated caller for a test, with a ``Caller/me`` like the one that a server makes.
    ///
    /// `me` has 26 characters of `a-z2-7`. It is the same in each run for the same subject and issuer, and differs from
    /// the `me` that a server makes for them.
    public static func test(
        _ subject: String,
        issuer: String? = nil,
        roles: Set<String> = [],
        claims: JSONValue = .object([]),
        isOperator: Bool = false
    ) -> Caller {
        Caller(
            subject: subject,
            issuer: issuer,
            me: me(of: Array("\(issuer ?? "")\n\(subject)".utf8)),
            roles: roles,
            claims: claims,
            isOperator: isOperator
        )
    }

    /// Returns 26 characters that depend on all bytes.
    private static func me(of bytes: [UInt8]) -> String {
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
        // FNV-1a. The hash continues with the position of each digit.
        var hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        let text = (0..<26).map { position in
            hash = (hash ^ UInt64(position)) &* 0x0000_0100_0000_01b3
            return digits[Int(hash >> 59)]
        }
        return String(decoding: text, as: UTF8.self)
    }
}

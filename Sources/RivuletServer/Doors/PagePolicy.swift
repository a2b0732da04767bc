// The header fields of pages.

import RivuletHTTP

/// The header fields with which browsers restrict the pages of the public folder.
enum PagePolicy {
    /// Returns the fields of a page under this policy.
    ///
    /// - Throws: a `ServerError` for a policy that cannot be in a header.
    static func fields(_ policy: String) throws(ServerError) -> [HTTPField] {
        guard !policy.isEmpty, policy.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw ServerError(
                "--content-security-policy is empty, or has a character that a header cannot have; write it as \"default-src 'self'\""
            )
        }
        return [
            HTTPField("Content-Security-Policy", policy),
            HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
    }
}

import Crypto

/// A name of the keys that verify a credential; other keys have another one.
package struct KeyFingerprint: Hashable, Sendable {
    private let digest: SHA256.Digest
    /// The 32 bytes of the fingerprint, which are equal on all servers with these keys.
    package var bytes: [UInt8] { Array(digest) }

    /// Takes the documents from which the keys were read, in their order.
    init(of documents: [[UInt8]]) {
        var hash = SHA256()
        for document in documents { hash.update(data: SHA256.hash(data: document).map(\.self)) }
        digest = hash.finalize()
    }
}

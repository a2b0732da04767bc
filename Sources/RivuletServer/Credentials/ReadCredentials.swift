import Crypto
import RivuletAuth

/// The documents from which an authenticator is read, in the order of their reading.
struct CredentialDocuments {
    private(set) var all: [(location: String, bytes: [UInt8])] = []

    /// Adds the content of a file or of a URL.
    mutating func add(_ bytes: [UInt8], of location: String) { all.append((location, bytes)) }
}

/// An authenticator with the digests of its documents, so that a reload can name what has changed.
struct ReadCredentials: Sendable {
    private(set) var authenticator: Authenticator
    private let digests: [String: SHA256.Digest]

    init(_ authenticator: Authenticator, from documents: CredentialDocuments) {
        self.authenticator = authenticator
        let digests = documents.all.map { ($0.location, SHA256.hash(data: $0.bytes)) }
        self.digests = Dictionary(digests, uniquingKeysWith: { $1 })
    }

    /// Makes the names of callers by another secret.
    mutating func nameCallers(by secret: SymmetricKey) { authenticator = authenticator.naming(by: secret) }

    /// The paths and URLs whose content differs from that of the earlier reading, with added and removed ones.
    func changes(from earlier: ReadCredentials) -> [String] {
        Set(digests.keys).union(earlier.digests.keys).filter { digests[$0] != earlier.digests[$0] }.sorted()
    }
}

/// The newest claim of a partition, and its end; a replica stores it with its position.
///
/// The claim's message may have been cut from the log, and a node that starts has to know it nevertheless.
package struct PartitionOwnership: Hashable, Sendable {
    /// The newest claim; nil before the first one.
    package var claim: Claim?
    /// The node for which the claim's node has given the partition up, empty for any node; nil while the claim holds.
    package var release: String?

    package init(claim: Claim? = nil, release: String? = nil) { (self.claim, self.release) = (claim, release) }

    /// The ownership before the first claim.
    package static let none = PartitionOwnership()

    /// Applies an operation of the log.
    package mutating func apply(_ operation: Operation) {
        switch operation {
        case .claim(let claim): self = PartitionOwnership(claim: claim)
        case .release(let node): release = node
        default: break
        }
    }

    /// The operations that make this ownership from `.none`.
    package var operations: [Operation] {
        let claims: [Operation] = claim.map { [.claim($0)] } ?? []
        return claims + (release.map { [.release(to: $0)] } ?? [])
    }

    /// The bytes for a replica's own storage.
    package var bytes: [UInt8] {
        FrameCodec.encode(
            Frame(cluster: "", partition: .first, previous: .start, term: 0, nonce: 0, operations: operations)
        )
    }

    /// Reads the bytes of an ownership; no bytes mean `.none`.
    package init(bytes: [UInt8]) throws(FrameError) {
        self = .none
        guard !bytes.isEmpty else { return }
        for operation in try FrameCodec.decode(bytes).operations { apply(operation) }
    }
}

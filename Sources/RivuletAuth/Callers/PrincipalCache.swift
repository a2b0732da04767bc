import Crypto

/// The identities of the credentials that were verified last, so that a signature is verified once.
///
/// The table has a fixed capacity. A full table replaces an entry that was not used since the clock's hand passed it.
/// The cache has hashes of credentials and no credential. Expiry is checked at every look-up. Refused credentials are
/// kept for a short time, so that a repeated one costs no signature.
/// Source: <https://en.wikipedia.org/wiki/Page_replacement_algorithm#Clock>.
package struct PrincipalCache {
    /// The state of the revocations and of the keys; another one after each change.
    package struct Generation: Equatable, Sendable {
        fileprivate var number: UInt64 = 0
    }

    /// The result of a look-up.
    package enum Finding {
        case identity(Identity)
        case refused(CredentialError)
        /// Nothing is known. An insertion needs the generation.
        case unknown(Generation)
    }

    private struct Entry {
        let credential: SHA256.Digest
        let identity: Identity
        let bytes: Int
        var isUsed: Bool
    }

    /// A credential that was refused.
    private struct NegativeEntry {
        let error: CredentialError
        /// Seconds since 1970.
        let until: Int
    }

    /// The capacity where no other is given.
    package static let defaultCapacity = 4_096
    /// The most approximate memory of the identities where no other is given, in bytes.
    package static let defaultBytesMax = 33_554_432
    /// The most refused credentials.
    package static let refusedMax = 1_024
    /// The time for which a refused credential is kept, in seconds.
    package static let refusedSeconds = 60

    private let capacity: Int
    private let bytesMax: Int
    private var entries: [Entry] = []
    private var positions: [SHA256.Digest: Int] = [:]
    private var hand = 0
    package private(set) var generation = Generation()
    private var negativeEntries: [SHA256.Digest: NegativeEntry] = [:]
    /// The refused credentials in a ring, of which the next one is replaced.
    private var refused: [SHA256.Digest] = []
    private var nextRefused = 0
    /// The approximate memory of the identities, in bytes.
    package private(set) var bytes = 0

    /// Creates an empty cache of this many entries, at least one.
    package init(capacity: Int = defaultCapacity, bytesMax: Int = defaultBytesMax) {
        self.capacity = max(capacity, 1)
        self.bytesMax = bytesMax
    }

    package var count: Int { entries.count }

    /// Returns what is known of a credential; `now` is in seconds since 1970.
    package mutating func find(_ credential: [UInt8], at now: Int) -> Finding {
        let hash = SHA256.hash(data: credential)
        if let position = positions[hash] {
            let identity = entries[position].identity
            guard identity.isExpired(at: now) else {
                entries[position].isUsed = true
                return .identity(identity)
            }
            remove(at: position)
        } else if let entry = negativeEntries[hash], now < entry.until {
            return .refused(entry.error)
        }
        return .unknown(generation)
    }

    /// Returns the identity of a credential that was inserted and is not expired; `now` is in seconds since 1970.
    package mutating func identity(of credential: [UInt8], at now: Int) -> Identity? {
        guard case .identity(let identity) = find(credential, at: now) else { return nil }
        return identity
    }

    /// Keeps the identity of a credential that was verified by the present keys and revocations.
    package mutating func insert(_ identity: Identity, of credential: [UInt8]) {
        insert(identity, of: credential, found: generation)
    }

    /// Keeps the identity of a verified credential.
    ///
    /// Nothing is kept if a revocation or a reload came since the look-up, because the identity may be outdated, and if
    /// the identity alone is larger than the cache.
    package mutating func insert(_ identity: Identity, of credential: [UInt8], found: Generation) {
        let bytes = Self.bytes(of: identity, credential)
        guard found == generation, bytes <= bytesMax else { return }
        let entry = Entry(credential: SHA256.hash(data: credential), identity: identity, bytes: bytes, isUsed: false)
        if let position = positions[entry.credential] { remove(at: position) }
        while entries.count >= capacity || self.bytes + bytes > bytesMax { removeUnused() }
        positions[entry.credential] = entries.count
        entries.append(entry)
        self.bytes += bytes
    }

    /// Keeps the error of a credential for ``refusedSeconds``; `now` is in seconds since 1970.
    ///
    /// A credential that becomes valid with time is not kept.
    package mutating func insert(
        _ error: CredentialError,
        of credential: [UInt8],
        found: Generation,
        at now: Int
    ) {
        switch error {
        case .notYetValid, .issuedInFuture: return
        default: break
        }
        guard found == generation else { return }
        let hash = SHA256.hash(data: credential)
        let kept = NegativeEntry(error: error, until: now + Self.refusedSeconds)
        guard negativeEntries.updateValue(kept, forKey: hash) == nil else { return }
        if refused.count < Self.refusedMax {
            refused.append(hash)
        } else {
            negativeEntries[refused[nextRefused]] = nil
            refused[nextRefused] = hash
            nextRefused = (nextRefused + 1) % Self.refusedMax
        }
    }

    /// Removes the identities that the revocation covers, and returns their number.
    @discardableResult
    package mutating func drop(_ revocation: Revocation) -> Int {
        generation.number += 1
        let before = entries.count
        for position in entries.indices.reversed()
        where entries[position].identity.principal.map(revocation.covers) == true {
            remove(at: position)
        }
        return before - entries.count
    }

    /// Removes everything, as after a change of the keys, and after a revocation was taken back.
    package mutating func removeAll() {
        generation.number += 1
        (entries, positions, hand, bytes) = ([], [:], 0, 0)
        (negativeEntries, refused, nextRefused) = ([:], [], 0)
    }

    /// The approximate memory of an identity: claims are several times as large as their text.
    ///
    /// A policy with variables is bound to each caller, so its part does not depend on the credential's size.
    private static func bytes(of identity: Identity, _ credential: [UInt8]) -> Int {
        1_024 + 8 * credential.count + identity.grantBytes
    }

    /// Removes the next entry that was not used since the hand passed it.
    ///
    /// There is at least one entry.
    private mutating func removeUnused() {
        while entries[hand].isUsed {
            entries[hand].isUsed = false
            hand = (hand + 1) % entries.count
        }
        remove(at: hand)
        // The last entry stands there now, and is not the next one to go.
        hand = entries.isEmpty ? 0 : (hand + 1) % entries.count
    }

    /// Moves the last entry to this position.
    private mutating func remove(at position: Int) {
        positions[entries[position].credential] = nil
        bytes -= entries[position].bytes
        let last = entries.removeLast()
        if position < entries.count {
            entries[position] = last
            positions[last.credential] = position
        }
        if hand >= entries.count { hand = 0 }
    }
}

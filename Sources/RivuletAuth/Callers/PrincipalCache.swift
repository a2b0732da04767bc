import Crypto

/// The principals of the tokens that were verified last, so that a signature is verified once.
///
/// The table has a fixed capacity. A full table replaces an entry that was not used since the clock's hand passed it.
/// The cache has hashes of tokens and no token. Expiry is checked at every look-up.
/// Source: <https://en.wikipedia.org/wiki/Page_replacement_algorithm#Clock>.
package struct PrincipalCache {
    private struct Entry {
        let token: SHA256.Digest
        let principal: Principal
        var isUsed: Bool
    }

    /// The capacity where no other is given.
    package static let defaultCapacity = 4_096

    private let capacity: Int
    private var entries: [Entry] = []
    private var positions: [SHA256.Digest: Int] = [:]
    private var hand = 0

    /// Creates an empty cache of this many entries, at least one.
    package init(capacity: Int = defaultCapacity) {
        self.capacity = max(capacity, 1)
    }

    package var count: Int { entries.count }

    /// Returns the principal of a token that was inserted and is not expired; `now` is in seconds since 1970.
    package mutating func principal(of token: [UInt8], at now: Int) -> Principal? {
        guard let position = positions[SHA256.hash(data: token)] else { return nil }
        let principal = entries[position].principal
        guard !principal.isExpired(at: now, leewaySeconds: TokenVerifier.leewaySeconds) else {
            remove(at: position)
            return nil
        }
        entries[position].isUsed = true
        return principal
    }

    /// Keeps the principal of a token with a verified signature.
    package mutating func insert(_ principal: Principal, of token: [UInt8]) {
        let entry = Entry(token: SHA256.hash(data: token), principal: principal, isUsed: false)
        if let position = positions[entry.token] {
            entries[position] = entry
        } else if entries.count < capacity {
            positions[entry.token] = entries.count
            entries.append(entry)
        } else {
            while entries[hand].isUsed {
                entries[hand].isUsed = false
                hand = (hand + 1) % capacity
            }
            positions[entries[hand].token] = nil
            positions[entry.token] = hand
            entries[hand] = entry
            hand = (hand + 1) % capacity
        }
    }

    /// Removes the principals that the revocation covers, and returns their number.
    @discardableResult
    package mutating func drop(_ revocation: Revocation) -> Int {
        let before = entries.count
        for position in entries.indices.reversed() where revocation.covers(entries[position].principal) {
            remove(at: position)
        }
        return before - entries.count
    }

    /// Removes all principals, as after a change of the keys.
    package mutating func removeAll() {
        (entries, positions, hand) = ([], [:], 0)
    }

    /// Moves the last entry to this position.
    private mutating func remove(at position: Int) {
        positions[entries[position].token] = nil
        let last = entries.removeLast()
        hand = 0
        guard position < entries.count else { return }
        entries[position] = last
        positions[last.token] = position
    }
}

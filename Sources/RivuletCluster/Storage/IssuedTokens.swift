internal import DequeModule
internal import RivuletSessions

/// The tokens of the heads that this node has given out, the last one of each session.
///
/// The log compares an epoch and a version. Epochs are random, so a head of a deleted session or of another session
/// practically never fits. This table finds such a head even if the epochs are equal. Like tokens, the table is that of
/// one process. Without an entry, the epoch alone decides.
struct IssuedTokens {
    /// The most sessions in the table; the earliest entry is forgotten first.
    static let sessionsMax = 65_536

    private var tokens: [SessionKey: UInt64] = [:]
    private var order: Deque<SessionKey> = []

    mutating func add(_ head: SessionHead, of key: SessionKey) {
        guard tokens.updateValue(head.token, forKey: key) == nil else { return }
        order.append(key)
        if order.count > Self.sessionsMax { tokens[order.removeFirst()] = nil }
    }

    /// Returns true if the head is of another session, or of an earlier one with this key.
    func isForeign(_ head: SessionHead, of key: SessionKey) -> Bool {
        tokens[key].map { $0 != head.token } ?? false
    }
}

internal import DequeModule
internal import RivuletSessions

/// The sessions that were deleted in this process, and the tokens of their successors.
///
/// The log compares epochs, which are random: a new session practically never has the epoch of a deleted one. If it
/// does, this table finds the heads of the deleted session, which only this process can still have.
struct RecreatedSessions {
    /// The most sessions in the table; the earliest deletion is forgotten first.
    static let sessionsMax = 4_096

    /// The tokens of the successors; nil while there is none.
    private var tokens: [SessionKey: UInt64?] = [:]
    private var order: Deque<SessionKey> = []

    mutating func didDelete(_ key: SessionKey) {
        guard tokens.updateValue(nil, forKey: key) == nil else { return }
        order.append(key)
        if order.count > Self.sessionsMax { tokens[order.removeFirst()] = nil }
    }

    mutating func didCreate(_ key: SessionKey, token: UInt64) {
        if !tokens.isEmpty, tokens[key] != nil { tokens.updateValue(token, forKey: key) }
    }

    func isStale(_ head: SessionHead, of key: SessionKey) -> Bool {
        guard !tokens.isEmpty, let token = tokens[key] else { return false }
        return token != head.token
    }
}

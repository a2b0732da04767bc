/// The idempotency keys of one session that are in use, and how many answers storage keeps for it.
///
/// Their answers are in storage, which the session asks; requests with keys are dispatched in the order in which they came.
struct SessionIdempotency {
    private var ledger = KeptAnswerLedger()
    /// Dispatches whose answers storage is asked for.
    private var claims = ClaimOrder()

    /// Whether no key is in use.
    var isQuiet: Bool { ledger.underWay.isEmpty }

    /// Takes a key until ``release(_:)``.
    mutating func claim(_ claim: IdempotencyClaim, of key: SessionKey, underWayMax: Int) throws(SessionError) {
        guard ledger.underWay.count < underWayMax else {
            throw .overloaded("idempotency keys under way in session \(key.id)")
        }
        switch ledger.claim(claim.key, fingerprint: claim.fingerprint) {
        case .underWay: throw .keyUnderWay(claim.key)
        case .reused: throw .keyReused(claim.key)
        case nil: return
        }
    }

    mutating func release(_ key: String) { ledger.release(key) }

    /// Takes the next place among dispatches that wait for storage.
    mutating func takeTicket() -> ClaimOrder.Ticket { claims.take() }

    /// Says what is to be done once everything before the ticket is.
    mutating func fill(_ ticket: ClaimOrder.Ticket, _ step: @escaping () -> Void) { claims.fill(ticket, step) }

    /// The first step, if it is filled; it is done before the next is asked for.
    mutating func popReady() -> (() -> Void)? { claims.popReady() }

    /// Whether one more answer may be kept.
    func room(now: Int64, limits: SessionLimits) -> KeptAnswerLedger.Room { ledger.room(now: now, limits: limits) }

    /// Counts one more answer.
    mutating func didKeep(_ answer: KeptAnswer) { ledger.add(answer) }

    /// Takes over what storage has counted.
    mutating func learn(_ usage: KeptAnswersUsage) { ledger.learn(usage) }

    /// Has storage asked again, which may have kept less than was counted.
    mutating func storageDidFail() { ledger.forgetUsage() }
}

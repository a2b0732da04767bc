/// The idempotency keys of one session that are in use, and the number of its idempotency records in storage.
///
/// The session reads the records themselves from storage. Requests with keys are dispatched in the order in which they
/// came.
struct SessionIdempotency {
    private var ledger = IdempotencyLedger()
    /// Dispatches that wait for storage to find their idempotency records.
    private var lookups = RecordLookupQueue()

    /// True if no key is in use.
    var isQuiet: Bool { ledger.underWay.isEmpty }

    /// Reserves a key until ``release(_:)``.
    mutating func reserve(
        _ reservation: IdempotencyReservation,
        of key: SessionKey,
        underWayMax: Int
    ) throws(SessionError) {
        guard ledger.underWay.count < underWayMax else {
            throw .overloaded("idempotency keys under way in session \(key.id)")
        }
        switch ledger.reserve(reservation.key, fingerprint: reservation.fingerprint) {
        case .underWay: throw .keyUnderWay(reservation.name)
        case .reused: throw .keyReused(reservation.name)
        case nil: return
        }
    }

    mutating func release(_ key: String) { ledger.release(key) }

    /// Takes the next position among dispatches that wait for storage.
    mutating func takeTicket() -> RecordLookupQueue.Ticket { lookups.take() }

    /// Sets the step of a ticket; it is carried out once all earlier steps are done.
    mutating func fill(_ ticket: RecordLookupQueue.Ticket, _ step: @escaping () -> Void) { lookups.fill(ticket, step) }

    /// Removes and returns the first step if it is set; the caller carries it out before it takes the next one.
    mutating func popReady() -> (() -> Void)? { lookups.popReady() }

    /// Returns the room for one more idempotency record.
    func room(now: Int64, limits: SessionLimits) -> IdempotencyLedger.Room { ledger.room(now: now, limits: limits) }

    /// Counts one more idempotency record.
    mutating func didKeep(_ answer: IdempotencyRecord) { ledger.add(answer) }

    /// Takes the usage that storage has counted.
    mutating func learn(_ usage: IdempotencyUsage) { ledger.learn(usage) }

    /// Forgets the usage, so that storage is asked again; storage may have fewer records than were added here.
    mutating func storageDidFail() { ledger.forgetUsage() }
}

import RivuletBase

/// The counters of the apps with a quota, in memory.
struct MemoryCounters {
    private let quotas: [String: StorageQuota]
    private var usage: [Holder: Usage] = [:]

    /// An app, or an owner in it.
    private struct Holder: Hashable {
        let app: String
        let owner: String?
    }

    private struct Usage {
        var sessions = 0
        var bytes = 0
    }

    init(quotas: [String: StorageQuota] = [:]) { self.quotas = quotas }

    func counts(_ app: String) -> Bool { quotas[app] != nil }

    /// Checks that a write keeps the quotas.
    ///
    /// - Throws: `.quota` with the first limit that the write would exceed, the owner's limits before the app's.
    func check(sessions: Int, bytes: Int, of app: String, _ owner: String?) throws(StorageError) {
        guard let quota = quotas[app] else { return }
        if let owner {
            let limits = (quota.ownerSessionsMax, quota.ownerBytesMax)
            try check(sessions, bytes, usage[Holder(app: app, owner: owner)], limits, app, .owner)
        }
        try check(sessions, bytes, usage[Holder(app: app, owner: nil)], (quota.sessionsMax, quota.bytesMax), app, .app)
    }

    private func check(
        _ sessions: Int,
        _ bytes: Int,
        _ usage: Usage?,
        _ limits: (sessions: Int?, bytes: Int?),
        _ app: String,
        _ scope: QuotaExcess.Scope
    ) throws(StorageError) {
        if let limit = limits.sessions, sessions > 0, (usage?.sessions ?? 0) + sessions > limit {
            throw .quota(QuotaExcess(app: app, scope: scope, measure: .sessions, limit: limit))
        }
        if let limit = limits.bytes, bytes > 0, (usage?.bytes ?? 0) + bytes > limit {
            throw .quota(QuotaExcess(app: app, scope: scope, measure: .bytes, limit: limit))
        }
    }

    /// Adds to the counters of the app and of the owner.
    mutating func count(sessions: Int, bytes: Int, of app: String, _ owner: String?) {
        guard counts(app) else { return }
        let holders = [Holder(app: app, owner: nil)] + (owner.map { [Holder(app: app, owner: $0)] } ?? [])
        for holder in holders {
            var counted = usage[holder] ?? Usage()
            counted.sessions += sessions
            counted.bytes += bytes
            usage[holder] = counted.sessions == 0 ? nil : counted
        }
    }
}

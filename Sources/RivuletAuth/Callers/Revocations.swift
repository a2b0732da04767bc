import RivuletAccess
import RivuletBase
package import RivuletJSON

/// The credentials that operators took back, indexed by the names of credentials.
package struct Revocations: Sendable {
    /// The most revocations.
    package static let countMax = 100_000
    /// The most revocations for which a further one is kept for a year.
    package static let keptForYearMax = countMax / 2
    /// The time for which a revocation is kept beyond the longest lifetime of a token, in seconds.
    ///
    /// The issuer's clock may be fast by the leeway, and a token is taken for the leeway after its end.
    package static let extraSeconds = 2 * TokenVerifier.leewaySeconds

    /// One revocation with its id.
    package struct Record: Sendable {
        package let id: String
        package let revocation: Revocation
        /// The time at which the record is no longer needed, in seconds since 1970; nil if it is always needed.
        ///
        /// API keys may have no end, so their revocations have none.
        package let until: Int?
    }

    private enum Key: Hashable {
        case token(ByteText)
        case subject(ByteText, issuer: ByteText?)
        case apiKey(ByteText)

        init(_ revocation: Revocation) {
            switch revocation {
            case .token(let id): self = .token(ByteText(id))
            case .subject(let subject, let issuer, _):
                self = .subject(ByteText(subject), issuer: issuer.map(ByteText.init))
            case .apiKey(let id): self = .apiKey(ByteText(id))
            }
        }
    }

    private var recordsByID: [ByteText: Record] = [:]
    private var recordsByKey: [Key: [Record]] = [:]
    /// The ids of the records, ordered by their bytes.
    ///
    /// A new id is usually the last one.
    private var ids: [String] = []
    /// No record ends before this time, in seconds since 1970; nil if none ends.
    private var firstEnd: Int?

    /// Creates an empty list.
    package init() {}

    package var count: Int { ids.count }

    /// The records, ordered by their ids.
    package var records: [Record] { ids.compactMap(record) }

    /// Returns the record with this id; nil if there is none.
    package func record(id: String) -> Record? { recordsByID[ByteText(id)] }

    /// Returns the first records with a greater id, at most `limit`, and true if more follow.
    package func page(after id: String?, limit: Int) -> (records: [Record], hasMore: Bool) {
        let start = id.map { id in
            let position = position(of: id)
            return position < ids.count && ids[position].hasSameBytes(as: id) ? position + 1 : position
        }
        let rest = ids[(start ?? 0)...]
        return (rest.prefix(limit).compactMap(record), rest.count > limit)
    }

    /// Returns true if a revocation covers the principal's credential.
    package func covers(_ principal: Principal) -> Bool {
        guard !ids.isEmpty else { return false }
        var candidates: [Key] = []
        switch principal.credential {
        case .token(let id, _):
            if let id { candidates.append(.token(ByteText(id))) }
            candidates.append(
                .subject(ByteText(principal.subject), issuer: principal.issuer.map(ByteText.init))
            )
        case .apiKey(let id): candidates.append(.apiKey(ByteText(id)))
        }
        return candidates.contains { recordsByKey[$0]?.contains { $0.revocation.covers(principal) } == true }
    }

    /// Returns the record of a revocation that begins now; times are in seconds since 1970.
    ///
    /// The record is kept for the longest lifetime of the tokens that it covers.
    package static func record(
        _ revocation: Revocation,
        id: String,
        at now: Int,
        lifetimeSecondsMax: Int
    ) -> Record {
        let lastIssued: Int? =
            switch revocation {
            case .token: now
            case .subject(_, _, let issuedUntil): max(now, issuedUntil)
            case .apiKey: nil
            }
        return Record(id: id, revocation: revocation, until: lastIssued.map { $0 + lifetimeSecondsMax + extraSeconds })
    }

    /// Adds a record; one with the same id is replaced.
    ///
    /// Returns false, and adds nothing, if the list is full.
    package mutating func insert(_ record: Record) -> Bool {
        remove(id: record.id)
        guard count < Self.countMax else { return false }
        ids.insert(record.id, at: position(of: record.id))
        recordsByID[ByteText(record.id)] = record
        recordsByKey[Key(record.revocation), default: []].append(record)
        if let until = record.until { firstEnd = min(firstEnd ?? until, until) }
        return true
    }

    /// Takes a revocation back; returns false if there is none with this id.
    @discardableResult
    package mutating func remove(id: String) -> Bool {
        guard forget(id) else { return false }
        ids.remove(at: position(of: id))
        return true
    }

    /// Removes the records that are no longer needed, and returns their ids; `now` is in seconds since 1970.
    package mutating func removeExpired(at now: Int) -> [String] {
        guard let firstEnd, now >= firstEnd else { return [] }
        let expired = records.filter { record in record.until.map { now >= $0 } == true }.map(\.id)
        for id in expired { forget(id) }
        ids.removeAll { recordsByID[ByteText($0)] == nil }
        self.firstEnd = recordsByID.values.lazy.compactMap(\.until).min()
        return expired
    }

    /// Removes a record, but not its id from the order; returns false if there is none with this id.
    @discardableResult
    private mutating func forget(_ id: String) -> Bool {
        guard let record = recordsByID.removeValue(forKey: ByteText(id)) else { return false }
        let key = Key(record.revocation)
        let rest = recordsByKey[key]?.filter { !$0.id.hasSameBytes(as: id) } ?? []
        recordsByKey[key] = rest.isEmpty ? nil : rest
        return true
    }

    /// The position of the first id that is not less than this one.
    private func position(of id: String) -> Int {
        // A new id is usually greater than all others.
        if let last = ids.last, last.utf8.lexicographicallyPrecedes(id.utf8) { return ids.count }
        var (low, high) = (0, ids.count)
        while low < high {
            let middle = (low + high) / 2
            if ids[middle].utf8.lexicographicallyPrecedes(id.utf8) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension Revocations.Record {
    /// The record as it is stored.
    package var json: JSONValue {
        var members: [(String, JSONValue)] = [("id", .string(id))]
        switch revocation {
        case .token(let id): members.append(("jti", .string(id)))
        case .subject(let subject, let issuer, let issuedUntil):
            members += [("subject", .string(subject)), ("issuer", issuer.map(JSONValue.string) ?? .null)]
            members.append(("before", .number(String(issuedUntil))))
        case .apiKey(let id): members.append(("key", .string(id)))
        }
        if let until { members.append(("until", .number(String(until)))) }
        return .object(members.map { .init(name: $0, value: $1) })
    }

    /// Reads a stored record; nil if it is damaged.
    package init?(json: JSONValue) {
        guard let id = json["id"]?.stringValue else { return nil }
        if let token = json["jti"]?.stringValue {
            revocation = .token(id: token)
        } else if let key = json["key"]?.stringValue {
            revocation = .apiKey(id: key)
        } else if let subject = json["subject"]?.stringValue, let issuedUntil = json["before"]?.integerValue {
            revocation = .subject(subject, issuer: json["issuer"]?.stringValue, issuedUntil: issuedUntil)
        } else {
            return nil
        }
        self.id = id
        until = json["until"]?.integerValue
        // Without its end, the record of a token would be kept for ever.
        if until == nil, case .apiKey = revocation { return }
        guard until != nil else { return nil }
    }
}

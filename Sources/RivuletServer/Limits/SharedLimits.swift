import Logging
import Synchronization

/// The limits of a running server: the present rules with their tables, and their reload from the file.
///
/// Any thread may call it. Each loop keeps a copy of the present tables, and looks at the number of the generation
/// before it uses that copy.
final class SharedLimits: Sendable {
    let keys = LimitKeyMaker()
    /// The open connections by their addresses.
    let connections = OpenCounts()
    /// The open streams by their addresses and subjects.
    let streams = OpenCounts()
    /// The hashes of the credentials that were verified last, because each loop has a cache of its own.
    let knownCredentials = ArrivalTable()
    /// The path of the file; nil if there is none.
    var path: String? { source.path }
    private let source: RateLimits
    private let hasCredentials: Bool
    private let logger: Logger
    private let current: Mutex<LimitTables>
    private let generationNumber = Atomic<UInt64>(0)
    private let explained = Mutex<Set<LimitClass>>([])

    /// Reads the rules; nil if there are none, and no file could bring some later.
    ///
    /// - Throws: a `ServerError` that names the file and the remedy.
    init?(_ source: RateLimits, hasCredentials: Bool, logger: Logger) throws(ServerError) {
        let rules = try source.rules(hasCredentials: hasCredentials)
        guard !rules.isEmpty || source.path != nil else { return nil }
        (self.source, self.hasCredentials, self.logger) = (source, hasCredentials, logger)
        current = Mutex(LimitTables(rules))
    }

    /// The number of replacements so far.
    var generation: UInt64 { generationNumber.load(ordering: .acquiring) }

    /// The present tables, with a generation that is theirs or earlier.
    var snapshot: (tables: LimitTables, generation: UInt64) {
        let generation = generation
        return (current.withLock { $0 }, generation)
    }

    /// Reads the file of a server without credentials again; a fault in it keeps the present rules, and is logged.
    func reload() {
        guard let path else { return }
        do throws(ServerError) {
            let hasChanged = try use(rules())
            logger.notice(
                "the limits were read again",
                metadata: ["files": "\(path)", "changed": "\(hasChanged ? path : "none")"]
            )
        } catch {
            logger.error("the limits were not read again, and the earlier ones stay in use: \(error)")
        }
    }

    /// Returns the rules that the file has now.
    ///
    /// - Throws: a `ServerError` that names the file and the remedy.
    func rules() throws(ServerError) -> LimitRules { try source.rules(hasCredentials: hasCredentials) }

    /// Replaces the rules; returns true if the new ones differ.
    ///
    /// The quota of a class with a changed limit begins anew.
    func use(_ rules: LimitRules) -> Bool {
        let hasChanged = current.withLock { tables in
            let hasChanged = tables.rules != rules
            tables = LimitTables(rules, keeping: tables)
            return hasChanged
        }
        generationNumber.add(1, ordering: .releasing)
        return hasChanged
    }

    /// Logs the remedy for a proxy that is not listed, once for each class.
    func explainOnce(_ name: LimitClass) {
        guard explained.withLock({ $0.insert(name).inserted }) else { return }
        logger.notice(
            "The limit \"\(name.value)\" of one address was reached. If the address is a proxy, list it in --trusted-proxies. Further requests are counted in rivulet_rate_limited_total."
        )
    }
}

/// The rules of all classes, and the tables of those with a rate.
struct LimitTables: Sendable {
    let rules: LimitRules
    private let tables: [ArrivalTable?]

    /// Makes empty tables.
    init(_ rules: LimitRules) {
        self.rules = rules
        tables = LimitClass.allCases.map { rules.rate(of: $0) == nil ? nil : ArrivalTable() }
    }

    /// Keeps the tables of the classes with the same limit as before.
    init(_ rules: LimitRules, keeping earlier: LimitTables) {
        self.rules = rules
        tables = LimitClass.allCases.map { name in
            guard rules.rate(of: name) != nil else { return nil }
            let isSame = rules[name] == earlier.rules[name]
            return (isSame ? earlier.tables[name.rawValue] : nil) ?? ArrivalTable()
        }
    }

    /// Counts a cost of a key; nil if the class has no limit.
    ///
    /// `now` is in microseconds.
    func take(_ name: LimitClass, _ cost: Int, of key: LimitKey, at now: UInt64) -> LimitStanding? {
        guard let rate = rules.rate(of: name), let table = tables[name.rawValue] else { return nil }
        let cost = rate.microseconds(of: cost)
        let outcome = table.take(cost, of: key.hash, within: rate.capacity, at: now)
        return LimitStanding(name, rate, outcome, of: cost)
    }

    /// Takes back a cost that was counted.
    func giveBack(_ name: LimitClass, _ cost: Int, of key: LimitKey, at now: UInt64) {
        guard let rate = rules.rate(of: name), let table = tables[name.rawValue] else { return }
        table.giveBack(rate.microseconds(of: cost), of: key.hash, within: rate.capacity, at: now)
    }
}

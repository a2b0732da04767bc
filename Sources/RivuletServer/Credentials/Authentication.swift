import Crypto
import Logging
import RivuletAuth
import RivuletSessions
import RivuletStores
import Synchronization

/// The credentials of a running server: the present keys and rules, and their reload from the files.
///
/// Any thread may call it. Each loop keeps a copy of the present value, and looks at the number of the generation
/// before it uses that copy.
final class Authentication: Sendable {
    /// The time between two looks at the files, in milliseconds.
    static let lookInterval: Int64 = 60_000
    /// The shortest time between two looks because of an unknown key, in milliseconds.
    private static let unknownKeyInterval: Int64 = 1_000

    /// The tickets that open streams of callers.
    let tickets: StreamTickets

    private struct Files {
        var stamps: [FileStamp?]
        /// The time of the last look, in milliseconds since 1970.
        var looked: Int64
    }

    private let files: CredentialFiles
    /// The limits, whose file is read again with the files of the credentials.
    private let limits: SharedLimits?
    /// The secret of the callers' names.
    private let secret: Mutex<SymmetricKey>
    private let logger: Logger
    private let remote: RemoteKeySets?
    private let state: Mutex<Files>
    private let current: Mutex<ReadCredentials>
    private let generationNumber = Atomic<UInt64>(0)
    private let reloads = Atomic<UInt64>(0)
    /// The number of the present authenticator.
    private let currentNumber = Atomic<UInt64>(0)

    /// Reads the files, and fetches the key sets of URLs.
    ///
    /// - Throws: a `ServerError` that names the file or the URL, and the remedy.
    init(
        _ files: CredentialFiles,
        _ limits: SharedLimits?,
        keySource: (any KeySource)?,
        secret: SymmetricKey,
        node: String? = nil,
        logger: Logger
    ) throws(ServerError) {
        tickets = StreamTickets(node: node)
        (self.files, self.limits, self.logger) = (files, limits, logger)
        self.secret = Mutex(secret)
        let urls = files.urls
        remote = try urls.first.map { url throws(ServerError) in
            RemoteKeySets(try CredentialFiles.source(keySource, of: url), logger: logger)
        }
        // The stamps come first: a file that changes while it is read is read again.
        state = Mutex(Files(stamps: Self.stamps(files, limits), looked: WallClock.milliseconds()))
        current = Mutex(try Self.read(files, secret, remote))
    }

    /// The number of replacements so far.
    var generation: UInt64 { generationNumber.load(ordering: .acquiring) }

    /// Returns true if the present keys and rules have made the identity.
    func hasMade(_ identity: Identity) -> Bool {
        identity.authenticator == currentNumber.load(ordering: .acquiring)
    }

    /// The present keys and rules, with a generation that is theirs or earlier.
    var snapshot: (authenticator: Authenticator, generation: UInt64) {
        let generation = generation
        return (current.withLock { $0.authenticator }, generation)
    }

    private static func read(
        _ files: CredentialFiles,
        _ secret: SymmetricKey,
        _ remote: RemoteKeySets?,
        number: UInt64 = 0
    ) throws(ServerError) -> ReadCredentials {
        try files.read(secret: secret, number: number) { url throws(ServerError) in
            guard let remote else {
                throw ServerError("\(url) is a URL, and the server was started without one; restart it to use the URL")
            }
            return try remote.document(at: url)
        }
    }

    /// Makes the names of callers by another secret; call it before the first request.
    func nameCallers(by secret: SymmetricKey) {
        self.secret.withLock { $0 = secret }
        current.withLock { $0.nameCallers(by: secret) }
    }

    /// Makes the names of callers by another secret while the server runs; callers are found again then.
    func renameCallers(by secret: SymmetricKey) {
        guard self.secret.withLock({ $0 }) != secret else { return }
        nameCallers(by: secret)
        generationNumber.add(1, ordering: .releasing)
    }

    /// Starts the threads for key sets, if one has a URL.
    ///
    /// - Throws: a `LoopError` if the system cannot create a thread.
    func start() throws {
        try remote?.start { [self] in readAgain() }
    }

    /// Ends the threads.
    func stop() { remote?.stop() }

    /// Reads all files again: at once, or soon on the thread that fetches key sets, because it may fetch a new one.
    func reload() {
        if let remote { remote.reloadSoon() } else { readAgain() }
    }

    /// Reads all files again, with the file of the limits; a fault in one of them keeps all present keys, rules and
    /// limits, and is logged.
    private func readAgain() {
        state.withLock { $0 = Files(stamps: Self.stamps(files, limits), looked: WallClock.milliseconds()) }
        let names = limits?.path == nil ? "credentials" : "credentials and limits"
        do throws(ServerError) {
            // Two threads may reload at once. Then the one that read last has the greater number.
            let number = reloads.add(1, ordering: .relaxed).newValue
            // All files are read before the first one takes effect.
            let read = try Self.read(files, secret.withLock { $0 }, remote, number: number)
            let rules = try limits?.rules()
            guard let changed = use(read, rules) else { return }
            remote?.keep(only: files.urls)
            generationNumber.add(1, ordering: .releasing)
            logger.notice(
                "the \(names) were read again",
                metadata: [
                    "files": "\(Self.paths(files, limits).joined(separator: ", "))",
                    "changed": "\(changed.isEmpty ? "none" : changed.joined(separator: ", "))",
                ]
            )
        } catch {
            logger.error("the \(names) were not read again, and the earlier ones stay in use: \(error)")
        }
    }

    /// Replaces the keys and rules, and the limits; returns the files and URLs with other contents.
    ///
    /// The result is nil if another thread has read later files, and nothing was replaced.
    private func use(_ read: ReadCredentials, _ rules: LimitRules?) -> [String]? {
        current.withLock { current in
            guard current.authenticator.number < read.authenticator.number else { return nil }
            var changed = read.changes(from: current)
            if let limits, let rules, limits.use(rules), let path = limits.path { changed.append(path) }
            current = read
            currentNumber.store(read.authenticator.number, ordering: .releasing)
            return changed
        }
    }

    /// Reads the files again if one of them has changed; returns true if the keys and rules are new.
    ///
    /// `isUrgent` is true for a credential with an unknown key; `keySet` is the URL that may have the key by now.
    @discardableResult
    func lookForChanges(isUrgent: Bool = false, keySet: String? = nil) -> Bool {
        if let keySet { remote?.fetchSoon(keySet) }
        let now = WallClock.milliseconds()
        let stamps: [FileStamp?]? = state.withLock { state in
            let interval = isUrgent ? Self.unknownKeyInterval : Self.lookInterval
            // The wall clock may have been set back.
            guard now >= state.looked + interval || now < state.looked else { return nil }
            state.looked = now
            return state.stamps
        }
        guard let stamps, Self.stamps(files, limits) != stamps else { return false }
        let before = generation
        reload()
        return generation != before
    }

    private static func paths(_ files: CredentialFiles, _ limits: SharedLimits?) -> [String] {
        files.paths + [limits?.path].compactMap(\.self)
    }

    private static func stamps(_ files: CredentialFiles, _ limits: SharedLimits?) -> [FileStamp?] {
        paths(files, limits).map { FileStamp(following: $0) }
    }
}

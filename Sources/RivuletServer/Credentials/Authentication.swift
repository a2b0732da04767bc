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
    let tickets = StreamTickets()

    private struct Files {
        var stamps: [FileStamp?]
        /// The time of the last look, in milliseconds since 1970.
        var looked: Int64
    }

    private let files: CredentialFiles
    private let secret: SymmetricKey
    private let logger: Logger
    private let remote: RemoteKeySets?
    private let state: Mutex<Files>
    private let current: Mutex<Authenticator>
    private let generationNumber = Atomic<UInt64>(0)
    private let reloads = Atomic<UInt64>(0)
    /// The number of the present authenticator.
    private let currentNumber = Atomic<UInt64>(0)

    /// Reads the files, and fetches the key sets of URLs.
    ///
    /// - Throws: a `ServerError` that names the file or the URL, and the remedy.
    init(
        _ files: CredentialFiles,
        keySource: (any KeySource)?,
        secret: SymmetricKey,
        logger: Logger
    ) throws(ServerError) {
        (self.files, self.secret, self.logger) = (files, secret, logger)
        let urls = files.urls
        remote = try urls.first.map { url throws(ServerError) in
            RemoteKeySets(try CredentialFiles.source(keySource, of: url), logger: logger)
        }
        // The stamps come first: a file that changes while it is read is read again.
        state = Mutex(Files(stamps: Self.stamps(files), looked: WallClock.milliseconds()))
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
        return (current.withLock { $0 }, generation)
    }

    private static func read(
        _ files: CredentialFiles,
        _ secret: SymmetricKey,
        _ remote: RemoteKeySets?,
        number: UInt64 = 0
    ) throws(ServerError) -> Authenticator {
        try files.read(secret: secret, number: number) { url throws(ServerError) in
            guard let remote else {
                throw ServerError("\(url) is a URL, and the server was started without one; restart it to use the URL")
            }
            return try remote.document(at: url)
        }
    }

    /// Starts the thread that fetches key sets, if there is one of a URL.
    ///
    /// - Throws: a `LoopError` if the system cannot create a thread.
    func start() throws {
        try remote?.start { [self] in readAgain() }
    }

    /// Ends the thread.
    func stop() { remote?.stop() }

    /// Reads all files again: at once, or soon on the thread that fetches key sets, because it may fetch a new one.
    func reload() {
        if let remote { remote.reloadSoon() } else { readAgain() }
    }

    /// Reads all files again; a fault in one of them keeps all present keys and rules, and is logged.
    private func readAgain() {
        state.withLock { $0 = Files(stamps: Self.stamps(files), looked: WallClock.milliseconds()) }
        do throws(ServerError) {
            // Two threads may reload at once. Then the one that read last has the greater number.
            let number = reloads.add(1, ordering: .relaxed).newValue
            let authenticator = try Self.read(files, secret, remote, number: number)
            current.withLock { current in
                guard current.number < authenticator.number else { return }
                current = authenticator
                currentNumber.store(authenticator.number, ordering: .releasing)
            }
            remote?.keep(only: files.urls)
            generationNumber.add(1, ordering: .releasing)
            logger.notice(
                "the credentials were read again",
                metadata: ["files": "\(files.paths.joined(separator: ", "))"]
            )
        } catch {
            logger.error("the credentials were not read again, and the earlier ones stay in use: \(error)")
        }
    }

    /// Reads the files again if one of them has changed; returns true if the keys and rules are new.
    ///
    /// `isUrgent` is true for a token with an unknown key.
    @discardableResult
    func lookForChanges(isUrgent: Bool = false) -> Bool {
        if isUrgent { remote?.fetchSoon() }
        let now = WallClock.milliseconds()
        let stamps: [FileStamp?]? = state.withLock { state in
            let interval = isUrgent ? Self.unknownKeyInterval : Self.lookInterval
            // The wall clock may have been set back.
            guard now >= state.looked + interval || now < state.looked else { return nil }
            state.looked = now
            return state.stamps
        }
        guard let stamps, Self.stamps(files) != stamps else { return false }
        let before = generation
        reload()
        return generation != before
    }

    private static func stamps(_ files: CredentialFiles) -> [FileStamp?] {
        files.paths.map { FileStamp(following: $0) }
    }
}

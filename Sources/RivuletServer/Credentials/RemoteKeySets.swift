import Logging
import RivuletAccess
import RivuletAuth
import RivuletEventLoop
import RivuletStores
import Synchronization

/// The key sets of URLs, which a thread of their own fetches.
///
/// No event loop waits for a fetch: a loop only sets flags.
final class RemoteKeySets: Sendable {
    /// The time between two looks of the thread at the times and the flags.
    private static let lookInterval = Duration.seconds(1)

    private let source: any KeySource
    private let logger: Logger
    private let sets = Mutex<[String: RemoteKeySet]>([:])
    private let isUrgent = Atomic<Bool>(false)
    private let mustReload = Atomic<Bool>(false)
    private let loop = Mutex<EventLoop?>(nil)

    init(_ source: any KeySource, logger: Logger) {
        (self.source, self.logger) = (source, logger)
    }

    /// Returns the last good set of a URL, and fetches one if there was none so far.
    ///
    /// - Returns: nil if the last good fetch is too long ago.
    /// - Throws: a `ServerError` if the first fetch fails.
    func document(at url: String) throws(ServerError) -> [UInt8]? {
        if let set = sets.withLock({ $0[url] }) { return set.document }
        let document = try Self.fetch(url, from: source)
        let set = RemoteKeySet(document, at: WallClock.milliseconds(), factor: .random(in: RemoteKeySet.jitter))
        sets.withLock { $0[url] = set }
        return document
    }

    /// Forgets the sets of other URLs, which are not fetched any more.
    func keep(only urls: [String]) {
        sets.withLock { sets in sets = sets.filter { urls.contains($0.key) } }
    }

    /// Fetches a set and checks that it has a key that can be used.
    static func fetch(_ url: String, from source: any KeySource) throws(ServerError) -> [UInt8] {
        try KeySetURL.check(url)
        do {
            let document = try source.keySet(at: url)
            _ = try KeySet(jwks: document, skipsFaults: true)
            return document
        } catch {
            throw ServerError("the key set \(url) cannot be fetched: \(ForeignText.line("\(error)"))")
        }
    }

    // MARK: - Requests of event loops

    /// Makes the thread fetch soon, because a token has an unknown key.
    func fetchSoon() { isUrgent.store(true, ordering: .relaxed) }

    /// Makes the thread read all files again soon.
    func reloadSoon() { mustReload.store(true, ordering: .relaxed) }

    // MARK: - The thread

    /// Starts the thread; `reload` reads the files with the sets of this value.
    ///
    /// - Throws: a `LoopError` if the system cannot create a thread.
    func start(_ reload: @escaping @Sendable () -> Void) throws(LoopError) {
        let loop = try EventLoop(index: 0)
        loop.post { [self] in look(on: loop, reload) }
        _ = try LoopThread(running: loop)
        self.loop.withLock { $0 = loop }
    }

    /// Ends the thread after a fetch that is under way, and does not wait for it.
    func stop() {
        guard let loop = loop.withLock({ $0.take() }) else { return }
        loop.post { loop.stop() }
    }

    private func look(on loop: EventLoop, _ reload: @escaping @Sendable () -> Void) {
        loop.schedule(after: Self.lookInterval) { [self] in
            let hasChanged = fetchDue(isUrgent: isUrgent.exchange(false, ordering: .relaxed))
            if mustReload.exchange(false, ordering: .relaxed) || hasChanged { reload() }
            look(on: loop, reload)
        }
    }

    /// Fetches the sets that are due; returns true if one of them has changed.
    private func fetchDue(isUrgent: Bool) -> Bool {
        let now = WallClock.milliseconds()
        let due = sets.withLock { sets in
            sets.keys.sorted().filter { sets[$0]?.mustFetch(at: now, isUrgent: isUrgent) == true }
        }
        var hasChanged = false
        for url in due where fetchAgain(url) { hasChanged = true }
        return hasChanged
    }

    private func fetchAgain(_ url: String) -> Bool {
        let factor = Double.random(in: RemoteKeySet.jitter)
        do throws(ServerError) {
            let document = try Self.fetch(url, from: source)
            return sets.withLock { $0[url]?.succeed(document, at: WallClock.milliseconds(), factor: factor) ?? false }
        } catch {
            let isTooOld = sets.withLock { $0[url]?.fail(at: WallClock.milliseconds(), factor: factor) ?? false }
            if isTooOld {
                logger.error("\(error); its last keys are a day old, and its tokens are refused until a fetch succeeds")
            } else {
                logger.warning("\(error); the keys of the last fetch stay in use, for at most a day after it")
            }
            return isTooOld
        }
    }
}

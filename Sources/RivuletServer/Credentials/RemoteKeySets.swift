import Logging
import RivuletAccess
import RivuletAuth
import RivuletEventLoop
import RivuletStores
import Synchronization

/// The key sets of URLs, which a thread of their own fetches.
///
/// No event loop waits for a fetch: a loop only sets flags. Another thread reads the files again, so that a set that
/// does not come delays no other change of the credentials.
final class RemoteKeySets: Sendable {
    /// The time between two looks of a thread at the times and the flags.
    private static let lookInterval = Duration.seconds(1)

    private let source: any KeySource
    private let logger: Logger
    private let sets = Mutex<[String: RemoteKeySet]>([:])
    /// The URLs of ``sets`` that lack the key of a token.
    private let urgent = Mutex<Set<String>>([])
    private let mustReload = Atomic<Bool>(false)
    /// Held during a fetch: a source fetches one set at a time.
    private let fetching = Mutex<Void>(())
    /// True while the first fetch of a set waits for another fetch.
    private let firstFetchWaits = Atomic<Bool>(false)
    /// The loops of the two threads.
    private let loops = Mutex<[EventLoop]>([])

    init(_ source: any KeySource, logger: Logger) {
        (self.source, self.logger) = (source, logger)
    }

    /// Returns the last good set of a URL, and fetches one if there was none so far.
    ///
    /// - Returns: nil if the last good fetch is too long ago.
    /// - Throws: a `ServerError` if the first fetch fails.
    func document(at url: String) throws(ServerError) -> [UInt8]? {
        if let set = sets.withLock({ $0[url] }) { return set.document }
        firstFetchWaits.store(true, ordering: .relaxed)
        let document = try fetching.withLock { _ throws(ServerError) in
            firstFetchWaits.store(false, ordering: .relaxed)
            return try Self.fetch(url, from: source)
        }
        let set = RemoteKeySet(document, at: WallClock.milliseconds(), factor: .random(in: RemoteKeySet.jitter))
        sets.withLock { $0[url] = set }
        return document
    }

    /// Forgets the sets of other URLs, which are not fetched any more.
    func keep(only urls: [String]) {
        sets.withLock { sets in sets = sets.filter { urls.contains($0.key) } }
        urgent.withLock { $0.formIntersection(urls) }
    }

    /// Fetches a set and checks that it has a key that can be used.
    static func fetch(_ url: String, from source: any KeySource) throws(ServerError) -> [UInt8] {
        try KeySetURL.check(url)
        do {
            let document = try source.keySet(at: url)
            _ = try KeySet(jwks: document, skipsInvalidKeys: true)
            return document
        } catch {
            throw ServerError("the key set \(url) cannot be fetched: \(ForeignText.line("\(error)"))")
        }
    }

    // MARK: - Requests of event loops

    /// Makes the thread fetch a set soon, because a token has an unknown key of the set's issuer.
    ///
    /// Any client can send such a token. The times of the set bound the fetches.
    func fetchSoon(_ url: String) {
        guard sets.withLock({ $0[url] != nil }) else { return }
        _ = urgent.withLock { $0.insert(url) }
    }

    /// Makes the thread read all files again soon.
    func reloadSoon() { mustReload.store(true, ordering: .relaxed) }

    // MARK: - The threads

    /// Starts the threads; `reload` reads the files with the sets of this value.
    ///
    /// - Throws: a `LoopError` if the system cannot create a thread.
    func start(_ reload: @escaping @Sendable () -> Void) throws(LoopError) {
        let looks: [@Sendable () -> Void] = [
            { [self] in fetchDue() },
            { [self] in
                if mustReload.exchange(false, ordering: .relaxed) { reload() }
            },
        ]
        for look in looks {
            let loop = try EventLoop(index: 0)
            loop.post { Self.every(Self.lookInterval, on: loop, look) }
            do throws(LoopError) {
                _ = try LoopThread(running: loop)
            } catch {
                stop()
                throw error
            }
            loops.withLock { $0.append(loop) }
        }
    }

    /// Ends the threads after the work that is under way, and does not wait for it.
    func stop() {
        for loop in loops.withLock({ exchange(&$0, with: []) }) { loop.post { loop.stop() } }
    }

    private static func every(_ interval: Duration, on loop: EventLoop, _ look: @escaping @Sendable () -> Void) {
        loop.schedule(after: interval) {
            look()
            every(interval, on: loop, look)
        }
    }

    /// Fetches the sets that are due, and makes the other thread read the files again if one of them has changed.
    private func fetchDue() {
        for url in sets.withLock({ $0.keys.sorted() }) {
            // The next look fetches the rest, after the set that a reload waits for.
            guard !firstFetchWaits.load(ordering: .relaxed) else { return }
            let isUrgent = urgent.withLock { $0.remove(url) != nil }
            let now = WallClock.milliseconds()
            guard sets.withLock({ $0[url]?.mustFetch(at: now, isUrgent: isUrgent) }) == true else { continue }
            if fetchAgain(url) { reloadSoon() }
        }
    }

    private func fetchAgain(_ url: String) -> Bool {
        let factor = Double.random(in: RemoteKeySet.jitter)
        do throws(ServerError) {
            let document = try fetching.withLock { _ throws(ServerError) in try Self.fetch(url, from: source) }
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

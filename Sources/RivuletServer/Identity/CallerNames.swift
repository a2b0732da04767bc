import Crypto
import Logging
import RivuletBase
import RivuletSessions
import RivuletStores

/// The secret from which the names of callers are made, which the storage keeps.
///
/// Sessions, owners and idempotency records have these names. So the secret stays when the server's secret key is
/// replaced: a start with the new key and the older one seals it anew. An earlier version made the names of the secret
/// key itself, so the first secret is derived from the secret key.
///
/// A start without the key of a kept secret makes another one, and keeps both. If a later start has the key again, the
/// first secret that it opens makes the names.
struct CallerNames: Sendable {
    /// The collection of the storage in which the sealed secrets are.
    static let collection = "rivulet.callers"
    /// The most secrets that are kept.
    static let secretsMax = 16

    private let storage: any ItemStorage
    private let secret: SecretKey
    private let keys: SealingKeys
    private let logger: Logger

    init(in storage: any ItemStorage, _ secret: SecretKey, older: SecretKey?, logger: Logger) {
        (self.storage, self.secret, self.logger) = (storage, secret, logger)
        keys = SealingKeys(secret, older: older.map { [$0] } ?? [])
    }

    /// Returns the secret of a storage that keeps none, which is derived from the server's secret key.
    static func derived(from secret: SecretKey) -> SymmetricKey { secret.derived(for: "name of a caller") }

    /// Returns the kept secret, and keeps one if there is none; call it when the storage has started.
    ///
    /// - Throws: a `ServerError` if the collection cannot be read.
    func load() throws(ServerError) -> SymmetricKey {
        let stored = try read()
        if let (item, bytes) = opened(in: stored) {
            if !SealedDocument.isSealed(item.document, with: keys.current) { keep(bytes, as: item.key) }
            return SymmetricKey(data: bytes)
        }
        let count = stored.items.count + stored.damaged.count
        let derived = Self.derived(from: secret)
        guard count < Self.secretsMax else {
            logger.error(
                "The storage has \(count) secrets of the names of callers, and keeps no more. Give an earlier secret key as the older one."
            )
            return derived
        }
        keep(unsafe derived.withUnsafeBytes { unsafe Array($0) }, as: "\(count + 1)")
        return derived
    }

    /// Returns the kept secret, and writes nothing; that of a storage without one, if there is none.
    ///
    /// - Throws: a `ServerError` if the collection cannot be read.
    func kept() throws(ServerError) -> SymmetricKey { kept(in: try read()) }

    /// Reads the kept secret soon; the reply comes on any thread, and not if the collection cannot be read.
    func keptSoon(_ reply: @escaping @Sendable (SymmetricKey) -> Void) {
        storage.items(of: Self.collection) { [self] result in
            switch result {
            case .success(let stored): reply(kept(in: stored))
            case .failure(let error): logNotRead("\(error)")
            }
        }
    }

    private func kept(in stored: StoredCollection) -> SymmetricKey {
        opened(in: stored).map { SymmetricKey(data: $0.bytes) } ?? Self.derived(from: secret)
    }

    /// The first secret that a key opens.
    private func opened(in stored: StoredCollection) -> (item: StoredItem, bytes: [UInt8])? {
        for detail in stored.damaged.map(\.detail) { logNotRead(detail) }
        for item in stored.items {
            do throws(SealedDocument.OpeningError) {
                return (item, try SealedDocument.open(item.document, at: Self.collection, with: keys))
            } catch {
                logNotRead(error.description)
            }
        }
        return nil
    }

    private func logNotRead(_ detail: String) {
        logger.error(
            "A kept secret of the names of callers is not used: \(detail). Callers may have other names than before."
        )
    }

    /// Writes a secret, sealed with the current key.
    private func keep(_ bytes: [UInt8], as key: String) {
        do {
            let document = try SealedDocument.seal(bytes, at: Self.collection, with: keys.current)
            let answer = BlockingPromise<Result<Void, ItemStorageError>>()
            storage.commit([.put(key: key, document: document)], to: Self.collection) { answer.give($0) }
            try answer.take().get()
        } catch {
            // The names are right in this run. The next start with the same key derives or opens the same secret.
            logger.error(
                "The secret of the names of callers was not written: \(LogText.of(error)). Keep the present secret key until a start has no such line."
            )
        }
    }

    private func read() throws(ServerError) -> StoredCollection {
        do throws(ItemStorageError) {
            return try storage.readAtStart(Self.collection)
        } catch {
            throw ServerError("the secret of the names of callers cannot be read: \(error)")
        }
    }
}

extension StateServer {
    /// Reads the revocations and the secret of the callers' names, before the first request.
    ///
    /// - Throws: a `ServerError` if the storage cannot be read.
    func loadCallers(of context: ServerContext) throws(ServerError) {
        guard let authentication = context.authentication else { return }
        try context.revocations?.load(at: Int(WallClock.milliseconds() / 1_000))
        guard let names = callerNames(in: context) else { return }
        authentication.nameCallers(by: try names.load())
    }

    /// The kept names of callers; nil without credentials, and if no later start could read them.
    func callerNames(in context: ServerContext) -> CallerNames? {
        // No later start has the key of a server that made its own for this run.
        guard context.authentication != nil, context.secret.origin != .made, let items = storage as? any ItemStorage
        else { return nil }
        return CallerNames(in: items, context.secret, older: context.options.olderSecretKey, logger: logger)
    }
}

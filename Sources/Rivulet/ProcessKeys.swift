import Logging
import RivuletServer
import RivuletStores
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The keys of this process, looked for when they are needed first, for that may make a file.
final class ProcessKeys: Sendable {
    private let folder: String
    private let environment: [String: String]?
    private let found = Mutex<SealingKeys?>(nil)

    /// Those of ``SecretKeys``; nil: RIVULET_DATA, or `./data`, and the variables of the process.
    init(folder: String? = nil, environment: [String: String]? = nil) {
        self.folder = ProcessFolder.path(folder)
        self.environment = environment
    }

    /// The keys; where there are none they are looked for again the next time.
    ///
    /// - Throws: why there are none, which the log tells in full.
    func keys(_ logger: Logger) throws(KeychainError) -> SealingKeys {
        do throws(ServerError) {
            return try found.withLock { found throws(ServerError) in
                if let found { return found }
                let secrets = try SecretKeys(keptIn: folder, environment: environment)
                let keys = SealingKeys(secrets.current, older: secrets.older.map { [$0] } ?? [])
                found = keys
                return keys
            }
        } catch {
            logger.error("there is no key to seal values with: \(error)")
            throw KeychainError(error)
        }
    }
}

extension KeychainError {
    /// Why there is no key.
    fileprivate init(_ error: ServerError) {
        switch error.status {
        case nil: self = .couldNotAccessKeychain
        case EACCES, EPERM: self = .missingEntitlement
        case let status?: self = .errorWithStatus(status: status)
        }
    }
}

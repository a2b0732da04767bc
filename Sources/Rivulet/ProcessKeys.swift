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

/// The sealing keys of secrets for which the app gives no keys.
///
/// They are loaded when they are first needed, because loading them may create the key's file.
final class ProcessKeys: Sendable {
    private let folder: String
    private let environment: [String: String]?
    private let found = Mutex<SealingKeys?>(nil)

    /// Creates the object, which takes its keys from ``SecretKeys``.
    ///
    /// A nil `folder` means RIVULET_DATA, or `./data` if that is not set. A nil `environment` means the variables of
    /// the process.
    init(folder: String? = nil, environment: [String: String]? = nil) {
        self.folder = ProcessFolder.path(folder)
        self.environment = environment
    }

    /// Returns the keys.
    ///
    /// If the keys cannot be loaded, the next call tries again.
    ///
    /// - Throws: The reason that there are no keys; the log has the full reason.
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
    /// Converts the reason that there is no key.
    fileprivate init(_ error: ServerError) {
        switch error.status {
        case nil: self = .couldNotAccessKeychain
        case EACCES, EPERM: self = .missingEntitlement
        case let status?: self = .errorWithStatus(status: status)
        }
    }
}

// Owns the start of stores, values and secrets, which all sessions of an app share.

import Logging
import RivuletBase
import RivuletHTTP
import RivuletSessions
import RivuletStores

extension StateServer {
    /// Opens the storages of stores, values and secrets, and seals secrets anew that were sealed with an older key.
    ///
    /// Call it when the server's own storage is open. A single resource that cannot be read does not keep the server
    /// from starting. The log names that resource, and every request for it is refused.
    ///
    /// - Throws: a `ServerError` when a storage cannot be opened.
    func openShared(_ apps: [any HostedApp]) throws(ServerError) {
        for app in apps {
            for location in app.shared.locations {
                do throws(ItemStorageError) {
                    try location.collection.storage.open()
                } catch {
                    throw ServerError("app \"\(app.name)\" cannot be served: \(location.owner): \(error)")
                }
            }
            // Read before the first request, so that the log of the start names the values that cannot be read.
            for value in app.shared.values { read(value, of: app.name) }
            for secret in app.shared.secrets { reseal(secret, of: app.name) }
        }
    }

    /// Reads the stored items and values of all apps; secrets are not read, because no key is available here.
    func checkShared(
        in storage: some StorageInspection,
        _ report: inout StoredSessionsReport,
        _ onUnreadable: (_ location: String, _ reason: String) -> Void
    ) throws(StorageError) {
        for app in hostedApps {
            for store in app.shared.stores {
                let contents = try storage.items(of: store.host.collection.name)
                let faults = store.host.faults(in: contents)
                report.items += contents.items.count + contents.damaged.count
                report.unreadableItems += faults.count
                for fault in faults {
                    let id = fault.key.map(PercentCoding.encoded) ?? "?"
                    onUnreadable("\(app.name)/stores/\(store.name)/\(id)", fault.detail)
                }
            }
            for value in app.shared.values {
                let location = value.host.location
                let contents = try storage.items(of: location.collection.name)
                guard contents.hasKey(location.key) else { continue }
                report.items += 1
                guard let fault = value.host.fault(in: contents) else { continue }
                report.unreadableItems += 1
                onUnreadable("\(app.name)/values/\(value.name)", fault)
            }
        }
    }

    private func read(_ value: SharedResource<any HostedValue>, of app: String) {
        value.host.read { [logger] result in
            guard case .failure(let error) = result else { return }
            // The value itself has logged the reason.
            if case .damagedValue = error { return }
            logger.error(
                "a value cannot be read: \(LogText.of(error))",
                metadata: ["app": "\(app)", "value": "\(value.name)"]
            )
        }
    }

    private func reseal(_ secret: SharedResource<any HostedSecret>, of app: String) {
        let metadata: Logger.Metadata = ["app": "\(app)", "secret": "\(secret.name)"]
        secret.host.reseal { [logger] result in
            switch result {
            case .success(true): logger.notice("a secret was sealed anew, with the current key", metadata: metadata)
            case .success(false): break
            case .failure(let error):
                logger.error(
                    "a stored secret cannot be opened or sealed anew: \(LogText.of(error))",
                    metadata: metadata
                )
            }
        }
    }
}

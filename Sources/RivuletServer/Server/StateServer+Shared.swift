// Owns what a server does at its start with what all sessions of an app share.

import Logging
import RivuletBase
import RivuletHTTP
import RivuletSessions
import RivuletStores

extension StateServer {
    /// Opens the storages of stores, values and secrets, and seals with the current key what an older one has sealed.
    ///
    /// Called when the server's own storage is open. What is stored of a single resource and cannot be read keeps no server from starting: the
    /// log tells of it, and so does every request for it.
    ///
    /// - Throws: a `ServerError` when a storage cannot be opened.
    func openShared(_ apps: [any HostedApp]) throws(ServerError) {
        for app in apps {
            for place in app.shared.places {
                do throws(ItemStorageError) {
                    try place.collection.storage.open()
                } catch {
                    throw ServerError("app \"\(app.name)\" cannot be served: \(place.owner): \(error)")
                }
            }
            // Read before anybody asks, so that the log of the start tells what cannot be.
            for value in app.shared.values { read(value, of: app.name) }
            for secret in app.shared.secrets { reseal(secret, of: app.name) }
        }
    }

    /// Reads what is stored of the stores and values of all apps; secrets are not looked at, for no key is at hand.
    func checkShared(
        in storage: some StorageInspection,
        _ report: inout StoredSessionsReport,
        _ onUnreadable: (_ place: String, _ reason: String) -> Void
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
                let place = value.host.place
                let contents = try storage.items(of: place.collection.name)
                guard contents.hasKey(place.key) else { continue }
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
            // The value itself has told why.
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
                    "what is stored of a secret cannot be opened or sealed anew: \(LogText.of(error))",
                    metadata: metadata
                )
            }
        }
    }
}

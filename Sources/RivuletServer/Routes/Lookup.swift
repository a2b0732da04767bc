import RivuletBase
import RivuletSessions

/// Finds the apps, stores, values and secrets that paths name.
///
/// An unknown name is 404. `detail` lists the known names.
struct Lookup {
    fileprivate let context: ServerContext
    fileprivate let counters: LoopCounters

    /// The app of a request; a request for an app that is not hosted is counted as refused.
    func app(_ name: String) throws(Problem) -> any HostedApp { try served(name).host }

    /// The same, with the app's index in the counters of the loops.
    func served(_ name: String) throws(Problem) -> ServedApp {
        guard let app = context.served[name] else {
            counters.requestRefused(.route)
            let names = context.apps.keys.sorted().joined(separator: ", ")
            throw Problem(.appNotFound, "there is no app \"\(name)\"; this server hosts: \(names)")
        }
        return app
    }

    /// The store of that name.
    func store(_ shared: SharedName) throws(Problem) -> any HostedStore {
        let stores = try app(shared.app).shared.stores
        guard let store = stores.first(where: { $0.name.hasSameBytes(as: shared.name) }) else {
            throw Self.unknown("store", shared.name, of: shared.app, stores.map(\.name))
        }
        return store.host
    }

    /// The value of that name.
    func value(_ shared: SharedName) throws(Problem) -> any HostedValue {
        let values = try app(shared.app).shared.values
        guard let value = values.first(where: { $0.name.hasSameBytes(as: shared.name) }) else {
            throw Self.unknown("value", shared.name, of: shared.app, values.map(\.name))
        }
        return value.host
    }

    /// The secret of that name.
    func secret(_ name: String, of app: String) throws(Problem) -> any HostedSecret {
        let secrets = try self.app(app).shared.secrets
        guard let secret = secrets.first(where: { $0.name.hasSameBytes(as: name) }) else {
            throw Self.unknown("secret", name, of: app, secrets.map(\.name))
        }
        return secret.host
    }

    private static func unknown(_ kind: String, _ name: String, of app: String, _ names: [String]) -> Problem {
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        return Problem(.notFound, "app \"\(app)\" has no \(kind) \"\(name)\"; \(known)")
    }
}

extension LoopCore {
    /// The look-ups for this loop's requests.
    var lookup: Lookup { Lookup(context: context, counters: counters) }
}

import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions
import RivuletStores

/// The things that all parts of one loop share: its number, its thread, its wire, its peers, its counters and its log.
final class LoopCore {
    /// The time after which an answer is posted again to a loop whose mailbox was full.
    private static let answerRetryTime = Duration.milliseconds(10)

    let index: Int
    let loop: EventLoop
    let context: ServerContext
    /// What carries the connections: the loop itself, but in tests without sockets.
    ///
    /// Set before the first connection.
    var wire: any ConnectionWire
    /// All loops of the server in the order of their indices; set before the first connection.
    var peers: [Confined<ServerLoop>] = []
    /// Counts since they were published last.
    var counters: LoopCounters
    let log: RequestLog
    /// Whether the loop takes no more connections and requests.
    private(set) var isDraining = false
    /// The loop that this is the core of, which outlives it in all calls.
    private unowned var server: ServerLoop?

    init(index: Int, loop: EventLoop, context: ServerContext) {
        self.index = index
        self.loop = loop
        self.context = context
        wire = loop
        counters = LoopCounters(apps: context.served.count)
        log = RequestLog(context)
    }

    /// Says which loop this is the core of; once.
    func attach(to server: ServerLoop) { self.server = server }

    /// Begins to drain; false when it has begun already.
    func beginDraining() -> Bool {
        defer { isDraining = true }
        return !isDraining
    }

    /// Has the endpoint of a route do what the request asks; the answer comes now or later.
    func perform(_ route: Route, _ request: HTTPRequest, on connection: ClientConnection) throws(Problem) {
        try server?.perform(route, request, on: connection)
    }

    /// Says that an answer is about to be written.
    func willAnswer() { server?.streams.flushSingle() }

    /// Runs the job on a loop, at once when it is this one; false: the loop's mailbox is full, and the job does not run.
    @discardableResult
    func onLoop(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        guard target == index else { return peers[target].post(job) }
        if let server { job(server) }
        return true
    }

    /// Has another loop send the answer to one of its requests.
    ///
    /// A loop whose mailbox is full gets the answer later. At most one answer waits here for each of its connections.
    func post(_ response: Response, to exchange: Exchange) {
        let isPosted = peers[exchange.loop].post { $0.send(response, to: exchange) }
        guard !isPosted else { return }
        loop.schedule(after: Self.answerRetryTime) { [self] in post(response, to: exchange) }
    }

    /// Runs the job on the loop that owns the session.
    @discardableResult
    func onShard(of key: SessionKey, _ job: @escaping @Sendable (ServerLoop) -> Void) -> Bool {
        onLoop(context.shard(of: key), job)
    }

    /// The app of a request; a request for one that is not hosted counts as refused.
    func app(_ name: String) throws(Problem) -> any HostedApp { try served(name).host }

    /// The same with its place among the apps that loops count by.
    func served(_ name: String) throws(Problem) -> ServedApp {
        guard let app = context.served[name] else {
            counters.requestRefused(.route)
            let names = context.apps.keys.sorted().joined(separator: ", ")
            throw Problem(.appNotFound, "there is no app \"\(name)\"; this server hosts: \(names)")
        }
        return app
    }

    /// The store of that name.
    func store(_ key: SharedKey) throws(Problem) -> any HostedStore {
        let stores = try app(key.app).shared.stores
        guard let store = stores.first(where: { $0.name == key.name }) else {
            throw Self.unknown("store", key.name, of: key.app, stores.map(\.name))
        }
        return store.host
    }

    /// The value of that name.
    func value(_ key: SharedKey) throws(Problem) -> any HostedValue {
        let values = try app(key.app).shared.values
        guard let value = values.first(where: { $0.name == key.name }) else {
            throw Self.unknown("value", key.name, of: key.app, values.map(\.name))
        }
        return value.host
    }

    /// The secret of that name.
    func secret(_ name: String, of app: String) throws(Problem) -> any HostedSecret {
        let secrets = try self.app(app).shared.secrets
        guard let secret = secrets.first(where: { $0.name == name }) else {
            throw Self.unknown("secret", name, of: app, secrets.map(\.name))
        }
        return secret.host
    }

    private static func unknown(_ kind: String, _ name: String, of app: String, _ names: [String]) -> Problem {
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        return Problem(.notFound, "app \"\(app)\" has no \(kind) \"\(name)\"; \(known)")
    }
}

extension EventLoop: SessionExecutor {
    /// Whether the caller is on the loop's thread.
    package var isCurrent: Bool { isOnLoop }
}

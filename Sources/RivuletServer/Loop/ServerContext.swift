import CoreMetrics
import FoundationEssentials
import Logging
import RivuletAuth
import RivuletBase
import RivuletCluster
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSessions
import RivuletStores
import Synchronization

/// A hosted app, and its index in the counters of the loops.
struct ServedApp: Sendable {
    let host: any HostedApp
    let index: Int
}

/// The unchanging parts of a running server.
final class ServerContext: Sendable {
    let options: ServerOptions
    let httpLimits: HTTPLimits
    let apps: [String: any HostedApp]
    /// The documents of each app for clients, by its name.
    let documents: [String: AppDocuments]
    /// The description of this server and its apps, `/openapi.json`.
    let openAPI: StaticFile
    let files: StaticFiles
    /// The checks that a request passes before its resource is found.
    let doors: Doors
    /// The fields of the public folder's pages.
    let pageFields: [HTTPField]
    let storage: SessionStorage
    /// The storage engine, if it erases deleted sessions in the background.
    let erasing: (any ErasingStorageEngine)?
    /// The storage engine, if it keeps sessions in memory.
    let memoryStorage: (any MemoryHoldingStorage)?
    let logger: Logger
    /// True if each request has a line in the log, because the logger's level was `debug` or `trace` when the server
    /// started.
    let logsRequests: Bool
    /// The names of each app's events, by the app's name.
    let eventNames: [String: Set<String>]
    let metrics: ServerMetrics
    /// The apps with their indices in the counters of the loops.
    let served: [String: ServedApp]
    /// The clock of effects.
    let clock: any Clock<Duration>
    /// The secret from which the keys of `sessionCookies` and `fingerprints` are derived.
    let secret: SecretKey
    /// Identifies the callers of requests for `me`.
    let sessionCookies: SessionCookies
    /// Makes the fingerprints of requests with an idempotency key.
    let fingerprints: RequestFingerprints
    /// The keys and rules for callers; nil if the server asks no client for a credential.
    let authentication: Authentication?
    /// The revoked credentials; nil if the server asks no client for a credential.
    let revocations: RevocationList?
    /// The limits on callers and addresses; nil if there are none.
    let limits: SharedLimits?
    /// The place of the server in its cluster; nil for a server that is alone.
    let cluster: ClusterGateway?
    /// Carries streams between the nodes of the cluster; nil for a server that is alone.
    let relay: StreamRelay?
    /// The name of this node in its cluster; nil for a server that is alone.
    let node: String?
    /// The epochs of all stores and values, which are made when the server starts.
    private let sharedEpochs: [SharedName: String]
    /// The comment that a quiet stream gets.
    let heartbeat = Heartbeat()
    /// The end of a chunk that is written in parts.
    let chunkTerminator = SharedBytes(HTTPChunk.terminator)
    /// The bytes of events, snapshots and answers that are held for connections.
    let heldBytes = SharedBytes.Account()
    /// True if held bytes are beyond the limit, so that new streams and reads are refused.
    var holdsTooMuch: Bool { heldBytes.bytes > options.limits.heldBytesMax }
    /// True if there is room to keep bytes for later clients: held bytes are at most half of the limit.
    var hasRoomToKeep: Bool { heldBytes.bytes <= options.limits.heldBytesMax / 2 }
    /// The memory for bodies that are being read.
    let bodyBudget: BodyBudget
    /// The numbers of streams by their source addresses.
    let addresses: StreamAddresses
    /// The number of streams of all loops together.
    let streams = Atomic<Int>(0)
    private let groupCount = Atomic<UInt64>(0)
    private let quietLoops = Mutex<Set<Int>>([])
    private let explained = Mutex<Set<RequestRefusalReason>>([])
    private let explainedReasons = Mutex<Set<ProxyHeaders.RefusalReason>>([])

    init(
        options: ServerOptions,
        apps: [any HostedApp],
        files: StaticFiles,
        storage: any StorageEngine,
        logger: Logger,
        metrics factory: any MetricsFactory,
        clock: any Clock<Duration>
    ) throws(ServerError) {
        self.options = options
        httpLimits = HTTPLimits(options.limits)
        let hosted = Dictionary(apps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.apps = hosted
        documents = self.apps.mapValues(AppDocuments.init)
        openAPI = try OpenAPIDocument(of: apps.map(\.shape), options).file
        self.files = files
        doors = try Doors(options, machineName: ProcessInfo.processInfo.hostName)
        pageFields = try PagePolicy.fields(options.contentSecurityPolicy)
        cluster = options.cluster.map { ClusterGateway($0, logger: logger) }
        relay = options.cluster.map { StreamRelay($0, logger: logger) }
        node = options.cluster?.node
        let names = self.apps.keys.sorted()
        served = Dictionary(
            uniqueKeysWithValues: names.enumerated().compactMap { index, name in
                hosted[name].map { (name, ServedApp(host: $0, index: index)) }
            }
        )
        metrics = ServerMetrics(factory, apps: names, version: options.version)
        self.storage = SessionStorage(storage, meter: metrics.storage)
        erasing = storage as? any ErasingStorageEngine
        memoryStorage = storage as? any MemoryHoldingStorage
        self.logger = logger
        logsRequests = logger.logLevel <= .debug
        eventNames = self.apps.mapValues { $0.shape.eventNames }
        self.clock = clock
        bodyBudget = BodyBudget(bytesMax: options.limits.heldBodyBytesMax)
        addresses = StreamAddresses(streamsMax: options.limits.streamsPerAddressMax)
        secret = options.secretKey ?? SecretKey()
        sessionCookies = SessionCookies(
            secret,
            older: options.olderSecretKey,
            isSecure: options.hasSecureCookies || doors.isPublicTLS
        )
        fingerprints = RequestFingerprints(secret, older: options.olderSecretKey)
        // The start replaces it by the secret that the storage keeps.
        let callerSecret = CallerNames.derived(from: secret)
        let limits = try SharedLimits(options.rateLimits, hasCredentials: options.credentials != nil, logger: logger)
        self.limits = limits
        authentication = try options.credentials.map { files throws(ServerError) in
            try Authentication(
                files,
                limits,
                keySource: options.keySource,
                secret: callerSecret,
                node: options.cluster?.node,
                logger: logger
            )
        }
        revocations = authentication.map { _ in RevocationList(in: storage as? any ItemStorage, logger: logger) }
        let sharedNames = apps.flatMap { app in
            app.shared.stores.map { SharedName(app.name, .store, $0.name) }
                + app.shared.values.map { SharedName(app.name, .value, $0.name) }
        }
        sharedEpochs = Dictionary(
            sharedNames.map { ($0, RandomToken.epoch()) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// The URL of the metadata for clients that get tokens; nil without a public URL or a named issuer of tokens.
    var metadataURL: String? {
        guard let url = doors.publicURL, authentication?.snapshot.authenticator.issuerNames.isEmpty == false else {
            return nil
        }
        return url + Resource.resourceMetadata.path
    }

    /// The epoch of a store or a value; a cursor with another epoch belongs to another history.
    func epoch(of shared: SharedName) -> String { sharedEpochs[shared] ?? RandomToken.epoch() }

    /// The loop of the shard to which a session belongs; it stays the same while the server runs.
    func shard(of key: SessionKey) -> Int {
        options.workers == 1 ? 0 : Int(UInt(bitPattern: key.hashValue) % UInt(options.workers))
    }

    /// The loop that feeds the streams of a store or a value.
    func loop(of shared: SharedName) -> Int {
        Int(UInt(bitPattern: shared.hashValue) % UInt(options.workers))
    }

    /// Records if a draining loop is quiet; returns true if all loops are quiet.
    ///
    /// A quiet loop continues to serve its shard until all loops are quiet, because another loop's last request may
    /// still need the shard.
    func record(quiet isQuiet: Bool, loop: Int) -> Bool {
        quietLoops.withLock { loops in
            if isQuiet { loops.insert(loop) } else { loops.remove(loop) }
            return loops.count == options.workers
        }
    }

    /// Logs the option that would allow requests refused for this cause, once for each cause.
    ///
    /// A page cannot read the answer that names the option. Further requests are only counted, so that no page fills
    /// the log.
    func explainOnce(_ cause: RequestRefusalReason) {
        guard let explanation = cause.explanation, explained.withLock({ $0.insert(cause).inserted }) else { return }
        logger.info("\(explanation) Further requests are counted in rivulet_requests_refused_total.")
    }

    /// Logs why a connection was closed before its first request, once for each cause.
    func explainOnce(_ reason: ProxyHeaders.RefusalReason) {
        guard explainedReasons.withLock({ $0.insert(reason).inserted }) else { return }
        logger.warning(
            "A connection was closed: \(reason.rawValue). Further connections are counted in rivulet_connections_refused_total."
        )
    }

    /// Takes back the opening of a ticket, because the client was told to come back.
    func giveBack(_ opening: TicketOpening) {
        guard let node = opening.node else { return authentication?.tickets.giveBack(opening.id) ?? () }
        cluster?.send(.ticketReturn, 0, opening.id.hash, to: node)
    }

    func makeGroupID() -> GroupID {
        GroupID(rawValue: groupCount.add(1, ordering: .relaxed).newValue)
    }
}

extension HTTPLimits {
    /// Takes the limits of HTTP from a server's limits.
    fileprivate init(_ limits: ServerLimits) {
        self.init()
        headerBytesMax = limits.headerBytesMax
        targetBytesMax = limits.targetBytesMax
        bodyBytesMax = limits.bodyBytesMax
        headMilliseconds = limits.headTimeMax.milliseconds
        bodyMilliseconds = limits.bodyTimeMax.milliseconds
        idleMilliseconds = limits.idleTimeMax.milliseconds
    }
}

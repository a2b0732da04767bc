import RivuletAuth
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

extension ServerLoop: RequestPerformer {
    /// Performs a request at the endpoint of its route; the answer comes now or later.
    ///
    /// In a cluster, another node may answer it.
    func perform(_ admitted: AdmittedRequest, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        if let forwarder, try forwarder.takes(admitted, request, exchange) { return }
        try performHere(admitted, request, exchange)
    }

    /// Performs a request at this node.
    func performHere(_ admitted: AdmittedRequest, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let (route, permit) = (admitted.route, admitted.permit)
        // Refused before an answer is made, because too many bytes already wait for clients that do not take them.
        guard !context.holdsTooMuch || !route.isRead(by: request.method) else {
            throw .heldBytesFull
        }
        switch route {
        case .events(let key):
            let events = EventsEndpoint(server: self)
            if request.method == .post {
                try events.dispatch(key, request, permit, exchange)
            } else {
                try events.log(key, request, permit, exchange)
            }
        case .state(let key, let path): try StateEndpoint(server: self).state(key, path, request, permit, exchange)
        case .views(let key, let name): try ViewEndpoint(server: self).view(name, of: key, request, permit, exchange)
        case .sessions(let app): try SessionEndpoint(server: self).sessions(of: app, request, permit, exchange)
        case .session(let key): try SessionEndpoint(server: self).session(key, request, permit, exchange)
        case .reset(let key): try HistoryEndpoint(server: self).reset(key, request, permit, exchange)
        case .restore(let key): try HistoryEndpoint(server: self).restore(key, request, permit, exchange)
        case .fork(let key): try HistoryEndpoint(server: self).fork(key, request, permit, exchange)
        case .changes(let key, let view):
            try ChangesEndpoint(server: self).open(key, view: view, request, permit, exchange)
        case .sharedChanges(let shared): try ChangesEndpoint(server: self).open(shared, request, permit, exchange)
        case .streams: try StreamsEndpoint(server: self).list(request, exchange)
        case .stream(let name): try StreamsEndpoint(server: self).stream(name, request, permit, exchange)
        case .store(let shared): try StoreEndpoint(server: self).store(shared, request, permit, exchange)
        case .item(let shared, let id): try StoreEndpoint(server: self).item(id, of: shared, request, permit, exchange)
        case .operations(let shared):
            try StoreEndpoint(server: self).performOperations(on: shared, request, permit, exchange)
        case .value(let shared): try ValueEndpoint(server: self).value(shared, request, permit, exchange)
        case .toggle(let shared): try ValueEndpoint(server: self).toggle(shared, request, permit, exchange)
        case .secret(let app, let name): try SecretEndpoint(server: self).secret(name, of: app, request, exchange)
        case .health: ServerEndpoint(server: self).health(exchange)
        case .readiness: ServerEndpoint(server: self).readiness(exchange)
        case .cluster: try ClusterEndpoint(server: self).cluster(request, exchange)
        case .metrics: try MetricsEndpoint(server: self).metrics(exchange)
        case .openAPI: ServerEndpoint(server: self).openAPI(request, exchange)
        case .problems: ProblemEndpoint(server: self).page(ProblemPages.list, request, exchange)
        case .problem(let type): ProblemEndpoint(server: self).page(ProblemPages.page(of: type), request, exchange)
        case .caller: CallerEndpoint(server: self).caller(permit, exchange)
        case .login: try LoginEndpoint(server: self).login(request, permit, exchange)
        case .tickets: try TicketEndpoint(server: self).make(request, admitted, exchange)
        case .resourceMetadata: try CallerEndpoint(server: self).resourceMetadata(request, exchange)
        case .revocations: try RevocationsEndpoint(server: self).revocations(request, exchange)
        case .revocation(let id): try RevocationsEndpoint(server: self).revocation(id, request, exchange)
        case .apps: AppEndpoint(server: self).apps(exchange)
        case .app(let name): try AppEndpoint(server: self).document(\.description, of: name, request, exchange)
        case .types(let name): try AppEndpoint(server: self).document(\.types, of: name, request, exchange)
        case .file(let path): try FileEndpoint(server: self).file(path, request, exchange)
        }
    }

    func ask(_ question: TicketQuestion, reply: @escaping (Result<PeerOpening, CredentialError>) -> Void) {
        guard let tickets else { return reply(.failure(.ticket(.unknown))) }
        tickets.ask(question, reply: reply)
    }

    func willAnswer() { streams.flushSingle() }

    func refuseStream(_ id: ConnectionID, seconds: Int) { streams.answerLimited(id, seconds: seconds) }
}

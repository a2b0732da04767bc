import Crypto
package import RivuletAccess
package import RivuletAuth
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// Decides about a request that is not sent, as the server decides about one, and finds the grants that decide.
///
/// No app is hosted, so the rules of a `GuardedApp` are not asked, and every app name is one.
package struct PolicyCheck: Sendable {
    /// A grant, and the part of the policy or of the credential that has it.
    package struct Source: Sendable {
        /// Such as `the role "reader"`.
        package let location: String
        package let grant: Grant
    }

    /// A decision.
    package struct Decision: Sendable {
        package let isAllowed: Bool
        /// 200 for an allowed request, or else 401 or 403.
        package let status: Int
        /// The grants that allow the request together, none of which can be left out; empty if it is denied.
        package let grants: [Source]
        /// The missing permission as a JSON object; nil if the request is allowed, or needs any credential.
        package let needs: String?
        /// Conditions, each as a line without a point at its end.
        package let notes: [String]
    }

    /// The characters of a name that stands for the session of an anonymous caller.
    private static let anonymousName = String(repeating: "a", count: PseudonymKey.characters)

    private let context: ServerContext
    private let principal: Principal?
    private let caller: Caller
    /// The grants of the caller, in the order of the policy and then of the credential.
    package let sources: [Source]

    /// Takes the caller of these claims, or an anonymous caller for nil.
    ///
    /// `me` of the claims' caller is another name than at the server, which has a secret of its own.
    ///
    /// - Throws: a `ServerError` if a claim is at fault.
    package init(_ policy: AccessPolicy, of principal: Principal?) throws(ServerError) {
        context = try StateServer(storage: MemoryStorageEngine()).makeContext(workers: 1, clock: ContinuousClock())
        self.principal = principal
        let isAnonymous = principal == nil
        if let principal {
            let names = PseudonymKey(.init(size: .bits256))
            caller = Caller(
                subject: principal.subject,
                issuer: principal.issuer,
                me: names.name(issuer: principal.issuer, subject: principal.subject),
                roles: principal.roles,
                claims: principal.claims
            )
        } else {
            caller = .anonymous(me: Self.anonymousName)
        }
        let granted = policy.locatedGrants(roles: principal?.roles ?? [], isAnonymous: isAnonymous)
        let own = (principal?.grants ?? []).map { Source(location: "\"authorization_details\"", grant: $0) }
        sources = granted.map { Source(location: $0.location, grant: $0.grant) } + own
    }

    /// Decides about a request; `event` is the name of the event that it dispatches.
    ///
    /// - Throws: a `ServerError` for a request that no server performs: an unknown resource, method or key path.
    package func decide(method: String, target: String, event: String?) throws(ServerError) -> Decision {
        let request = try Self.request(method, target, limits: context.httpLimits)
        let asked = try Asked(request, event: event, by: caller, in: context)
        do throws(Problem) {
            let notes = try asked.check(identity(with: sources), in: context)
            return Decision(isAllowed: true, status: 200, grants: deciding(asked), needs: nil, notes: notes)
        } catch {
            guard error.isDenial else { throw ServerError("\(method) \(target): \(error.detail)") }
            return Decision(isAllowed: false, status: error.status, grants: [], needs: missing(asked), notes: [])
        }
    }

    /// The caller with some of its grants.
    private func identity(with sources: some Sequence<Source>) -> Identity {
        Identity(principal, caller, sources.map(\.grant))
    }

    private func allows(_ asked: Asked, _ sources: [Source]) -> Bool {
        do throws(Problem) {
            _ = try asked.check(identity(with: sources), in: context)
            return true
        } catch {
            return !error.isDenial
        }
    }

    /// The fewest of the caller's grants that allow a request which all of them allow.
    ///
    /// Grants only add, so the last grant of the shortest list that is enough is needed.
    private func deciding(_ asked: Asked) -> [Source] {
        var needed: [Source] = []
        var rest = sources[...]
        while !allows(asked, needed), !rest.isEmpty {
            var (enough, tooFew) = (rest.count, 0)
            while enough - tooFew > 1 {
                let middle = (enough + tooFew) / 2
                if allows(asked, rest.prefix(middle) + needed) { enough = middle } else { tooFew = middle }
            }
            needed.insert(rest[rest.startIndex + enough - 1], at: 0)
            rest = rest.prefix(enough - 1)
        }
        return needed
    }

    /// The permission that a denied request lacks; nil if any credential would do.
    private func missing(_ asked: Asked) -> String? {
        // An anonymous caller gets 401 without it, so another caller with the same grants asks.
        let other = caller.isAnonymous ? Caller(subject: "a", me: Self.anonymousName) : caller
        do throws(Problem) {
            _ = try asked.check(Identity(principal, other, sources.map(\.grant)), in: context)
            return nil
        } catch {
            return error.members.first { $0.name == "needs" }.map { String(decoding: $0.json, as: UTF8.self) }
        }
    }

    /// Parses the request as the server does.
    private static func request(
        _ method: String,
        _ target: String,
        limits: HTTPLimits
    ) throws(ServerError) -> HTTPRequest {
        for text in [method, target] where text.isEmpty || !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw ServerError("a request is a method and a path, as in: GET /v1/apps/todos/sessions/x/state")
        }
        var connection = HTTPConnection()
        let bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        switch connection.receive(bytes.span, limits: limits) {
        case .admit(let request, _), .request(let request): return request
        case .refuse(let refusal): throw ServerError("\(method) \(target): \(refusal.detail)")
        case .wait, .sendContinue, .close: throw ServerError("\(method) \(target) is no request")
        }
    }
}

extension Problem {
    /// True if a permission is missing.
    fileprivate var isDenial: Bool { status == 401 || status == 403 }
}

/// A request, with the checks that its endpoint makes after the first decision.
private struct Asked: Sendable {
    let route: Route
    let request: HTTPRequest
    let event: String?

    init(
        _ request: HTTPRequest,
        event: String?,
        by caller: Caller,
        in context: ServerContext
    ) throws(ServerError) {
        var segments = request.pathSegments
        if Admission.isOfCaller(segments), let me = caller.me { segments[4] = me }
        do throws(Problem) {
            route = try Route(segments: segments)
            let methods = context.methods(of: route)
            guard methods.has(request.method) else {
                throw try context.refusal(of: request.method, route, has: methods)
            }
        } catch {
            throw ServerError("\(request.method.name) \(request.path): \(error.detail)")
        }
        (self.request, self.event) = (request, event)
        guard event == nil || isDispatch else {
            throw ServerError("--event is for POST of events and PUT of a key path; leave it out here")
        }
    }

    private var isReading: Bool { request.method == .get || request.method == .head }

    private var isDispatch: Bool {
        switch route {
        case .events, .state: !isReading
        default: false
        }
    }

    /// Decides as the server does; returns conditions.
    ///
    /// - Throws: 401 or 403, or 400 for a query that the server refuses.
    func check(_ identity: Identity, in context: ServerContext) throws(Problem) -> [String] {
        let permit = try Permit.decide(identity, route, request.method, in: context)
        if isDispatch, let key = route.sessionKey { return try checkDispatch(permit, key) }
        switch route {
        case .state(let key, let path):
            let isPast = request.queryValue("version") != nil
            let mask = try permit.mask(for: isPast ? .history : .read, at: path, of: key)
            return mask.grants(path) ? [] : [Self.masked]
        case .events: return permit.access.history.isAll ? [] : [Self.masked]
        case .views(let key, let name):
            let views = try permit.views(named: name, of: key)
            return name == nil && !views.isAll ? [Self.masked] : []
        case .changes(let key, let view): return try checkStream(permit, key, view, in: context)
        case .sessions(let app):
            guard isReading else { return ["the id of the new session must match a granted pattern"] }
            switch try permit.scope(ofList: request.queryValue("owner"), of: app) {
            case .all: return []
            case .matching: return ["the list has granted sessions only"]
            case .owner: return ["the list has the caller's own sessions only"]
            }
        case .fork(let key):
            try permit.checkFork(of: key, isPast: request.queryValue("version") != nil)
            return ["the copy also needs \"create\""]
        case .store(let shared):
            if !isReading { try permit.checkAllItems(.write, of: shared) }
            return permit.items.isAll ? [] : [Self.masked]
        case .operations(let shared): try permit.checkAllItems(.write, of: shared)
        case .sharedChanges(let shared) where shared.kind == .store: try permit.checkAllItems(.read, of: shared)
        case .item(let shared, let id): try permit.check(item: id, of: shared, request.method)
        case .stream where !identity.grants.allows(.operate, app: nil):
            return ["the stream must be one of the same caller"]
        default: break
        }
        return []
    }

    private static let masked = "the answer leaves out what is not granted"

    private func checkDispatch(_ permit: Permit, _ key: SessionKey) throws(Problem) -> [String] {
        guard let sender = permit.sender else { return [] }
        var notes = sender.mayCreate ? [] : ["a session that does not exist also needs \"create\""]
        if let event {
            guard sender.events.contains(event) else {
                throw .denied(sender.caller, Need(.dispatch, app: key.app, session: key.id, event: event))
            }
        } else if let names = sender.events.list {
            let quoted = names.map(ForeignText.quoted).joined(separator: ", ")
            notes.append("the event must be one of \(quoted); name it with --event")
        }
        return notes
    }

    private func checkStream(
        _ permit: Permit,
        _ key: SessionKey,
        _ view: String?,
        in context: ServerContext
    ) throws(Problem) -> [String] {
        if let view { _ = try permit.views(named: view, of: key) }
        let paths = request.queryItems.filter { $0.name == "path" }.map(\.value)
        let topic = StreamTopic(
            view: view,
            paths: try context.streamPaths(paths),
            format: request.queryValue("format").flatMap(StreamFormat.init) ?? .changes
        )
        let pathsMax = context.options.sessionLimits.pathsPerStreamMax
        return try permit.topic(topic, of: key, pathsMax: pathsMax).isMasked ? [Self.masked] : []
    }
}

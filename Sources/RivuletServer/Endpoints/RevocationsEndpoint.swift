import Logging
import RivuletAuth
import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

/// The revocations: their list, additions, and taking one back.
///
/// Source: <Documentation/Security.md#revocations>.
struct RevocationsEndpoint {
    let server: ServerLoop

    // MARK: - All

    /// GET and POST of `/v1/revocations`.
    func revocations(_ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let list = try list()
        guard request.method == .post else { return try show(list, request, exchange) }
        _ = try Query(request, known: [])
        let now = Int(WallClock.milliseconds() / 1_000)
        let (authenticator, _) = try authentication().snapshot
        let revocation = try Self.revocation(of: request, authenticator, at: now)
        let (peers, logger) = (server.core.peers, server.context.logger)
        let respond = Responder(server: server, exchange: exchange).later { (response: Response) in response }
        let lifetime = authenticator.lifetimeSecondsMax(of: revocation, among: list.count)
        list.add(revocation, lifetimeSecondsMax: lifetime, at: now) { result in
            switch result {
            case .success(let record):
                let facts: Logger.Metadata = ["revocation": "\(record.id)", "kind": "\(record.kind)"]
                logger.notice("credentials were revoked", metadata: facts)
                for peer in peers { peer.postReply { $0.review.endRevoked() } }
                let location = HTTPField("Location", "/v1/revocations/\(record.id)")
                respond(.json(record.shown.json, status: .created, fields: [location]))
            case .failure(let error): respond(Response(error))
            }
        }
    }

    private func show(_ list: RevocationList, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let query = try Query(request, known: ["after", "limit"])
        let limit = try query.integer("limit", in: 1...1_000) ?? 100
        let (records, hasMore) = list.page(after: query["after"], limit: limit)
        var members = [JSONValue.Member(name: "revocations", value: .array(records.map(\.shown)))]
        if hasMore, let last = records.last { members.append(.init(name: "next", value: .string(last.id))) }
        server.send(.json(JSONValue.object(members).json), to: exchange)
    }

    // MARK: - One

    /// GET and DELETE of `/v1/revocations/{revocation}`.
    func revocation(_ id: String, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let list = try list()
        _ = try Query(request, known: [])
        guard request.method == .delete else {
            guard let record = list.record(id: id) else { throw Self.unknown(id) }
            return server.send(.json(record.shown.json), to: exchange)
        }
        let logger = server.context.logger
        let respond = Responder(server: server, exchange: exchange).later { (response: Response) in response }
        list.remove(id: id) { result in
            switch result {
            case .success(true):
                logger.notice("a revocation was taken back", metadata: ["revocation": "\(id)"])
                respond(Response(.noContent))
            case .success(false): respond(Response(Self.unknown(id)))
            case .failure(let error): respond(Response(error))
            }
        }
    }

    // MARK: - Parts of a request

    private func authentication() throws(Problem) -> Authentication {
        guard let authentication = server.context.authentication else { throw Self.noCredentials }
        return authentication
    }

    private func list() throws(Problem) -> RevocationList {
        guard let list = server.context.revocations else { throw Self.noCredentials }
        return list
    }

    private static func revocation(
        of request: HTTPRequest,
        _ authenticator: Authenticator,
        at now: Int
    ) throws(Problem) -> Revocation {
        try JSONBody.checkType(request.headers["content-type"])
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: request.body)
        } catch {
            throw Problem(error)
        }
        do throws(RevocationError) {
            return try Revocation(reading: value, soleIssuer: authenticator.soleIssuer, at: now)
        } catch {
            throw Problem(.invalidBody, "\(error) Nothing has changed.")
        }
    }

    private static var noCredentials: Problem {
        Problem(.notFound, "this server asks for no credentials, so there are none to revoke")
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(.notFound, "there is no revocation \"\(id)\"; GET /v1/revocations lists them")
    }
}

extension Problem {
    /// 507: the list of revocations takes no more.
    static var revocationsFull: Problem {
        Problem(
            .revocationsFull,
            "The list has \(Revocations.countMax) revocations, and takes no more. DELETE some that are not needed. Nothing has changed, "
                + "and the credential is still valid."
        )
    }
}

extension Response {
    /// The answer to a change of the list that has failed.
    fileprivate init(_ error: RevocationList.ChangeError) {
        switch error {
        case .full: self.init(.revocationsFull)
        case .storage(let error): self.init(refusing: .storage(error))
        }
    }
}

extension Revocations.Record {
    /// The kind of the revoked credentials, for the log.
    fileprivate var kind: String {
        switch revocation {
        case .token: "token"
        case .subject: "subject"
        case .apiKey: "key"
        }
    }

    /// The record as clients get it, with times of RFC 3339.
    fileprivate var shown: JSONValue {
        .object(
            (json.members ?? []).map { member in
                guard let seconds = member.value.integerValue else { return member }
                return .init(name: member.name, value: .string(Timestamp.text(milliseconds: Int64(seconds) * 1_000)))
            }
        )
    }
}

import RivuletEngine
import RivuletHTTP
import RivuletSessions
import RivuletStores

extension ServerLoop {
    /// Sends the answer that a result becomes, from whatever thread; `epoch` is that of the resource, nil: it has no versions.
    func reply<Value: Sendable>(
        to exchange: Exchange,
        _ epoch: String?,
        _ response: @escaping @Sendable (Value) -> Response
    ) -> SharedReply<Value> {
        Responder(server: self, exchange: exchange).later { result in
            switch result {
            case .success(let value): response(value)
            case .failure(let error): Response(refusing: error, epoch: epoch)
            }
        }
    }
}

extension SharedCursor {
    /// The versions that a change asks for; nil: any will do.
    ///
    /// - Throws: 400 for an `If-Match` without a tag, and for `If-None-Match`, which asks for something that there always is.
    static func expected(of request: HTTPRequest, epoch: String) throws(Problem) -> [UInt64]? {
        guard request.headers["if-none-match"] == nil else {
            throw Problem(
                .invalidCondition,
                "If-None-Match is for reads and for PUT and DELETE of an item; send none. Nothing has changed"
            )
        }
        return try expected(request.tags("if-match"), epoch: epoch)
    }
}

extension Response {
    /// The two fields that say where a store or a value stands.
    static func fields(_ version: UInt64, epoch: String) -> [HTTPField] {
        Response.fields(tag: "\"\(SharedCursor(epoch: epoch, version: version))\"", version: version)
    }

    /// The answer to a change: the one given, or none of its body when the client wants little.
    func minimal(if request: HTTPRequest) -> Response {
        guard HTTPPreferences(request.headers.list(of: "prefer")).wantsMinimal else { return self }
        let kept = fields.filter { $0.name != "Content-Type" && $0.name != "Cache-Control" }
        return Response(.noContent, fields: kept + [DispatchWish.minimalApplied])
    }

    /// The answer to a read of what has this tag: 304 when its reader has it already.
    func reading(tag: String, unless condition: String?) -> Response {
        guard let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) else { return self }
        return Response(.notModified, fields: fields.filter { $0.name != "Content-Type" && $0.name != "Cache-Control" })
    }
}

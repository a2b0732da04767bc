import RivuletEngine
import RivuletHTTP
import RivuletSessions
import RivuletStores

extension ServerLoop {
    /// Returns the closure that sends the answer to a result; any thread may call it.
    ///
    /// `epoch` is the epoch of the resource; nil if the resource has no versions. `showsValue` is false for a caller
    /// that may write the resource and not read it: its refusals then name no current value.
    func reply<Value: Sendable>(
        to exchange: Exchange,
        _ epoch: String?,
        showsValue: Bool = true,
        _ response: @escaping @Sendable (Value) -> Response
    ) -> SharedReply<Value> {
        Responder(server: self, exchange: exchange).later { result in
            switch result {
            case .success(let value): response(value)
            case .failure(let error) where !showsValue && error.namesValue: Response(.conditionFailed)
            case .failure(let error): Response(refusing: error, epoch: epoch)
            }
        }
    }
}

extension SharedError {
    /// True if the answer has the resource's current value or its tag.
    fileprivate var namesValue: Bool {
        switch self {
        case .moved, .itemMoved: true
        default: false
        }
    }
}

extension Problem {
    /// 412 without the current value, for a caller that may not read it.
    fileprivate static var conditionFailed: Problem {
        Problem(.preconditionFailed, "the condition does not hold; nothing has changed")
    }
}

extension SharedCursor {
    /// The versions that a change requires; nil if it allows any version.
    ///
    /// - Throws: 400 for an `If-Match` without a tag, and for `If-None-Match`, because a store or a value always
    ///   exists.
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
    /// The two fields with the position of a store or a value.
    static func fields(_ version: UInt64, epoch: String) -> [HTTPField] {
        Response.fields(tag: "\"\(SharedCursor(epoch: epoch, version: version))\"", version: version)
    }

    /// This answer to a change; it loses its body if the client prefers a minimal answer.
    func minimal(if request: HTTPRequest) -> Response {
        guard HTTPPreferences(request.headers.list(of: "prefer")).wantsMinimal else { return self }
        let kept = fields.filter { $0.name != "Content-Type" && $0.name != "Cache-Control" }
        return Response(.noContent, fields: kept + [DispatchOptions.minimalApplied])
    }

    /// This answer to a read of a resource with the tag; 304 if the client has the resource already.
    func reading(tag: String, unless condition: String?) -> Response {
        guard let condition, HTTPEntityTag.matchesWeakly(condition, tag: tag) else { return self }
        return Response(.notModified, fields: fields.filter { $0.name != "Content-Type" && $0.name != "Cache-Control" })
    }
}

import RivuletHTTP
import RivuletJSON
import RivuletSessions
import RivuletStores

extension ServerLoop {
    /// POST S/events: one event, an array as one transaction, or lines that are a transaction each.
    func dispatchEvents(_ key: SessionKey, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        let app = try app(key.app)
        let wish = try DispatchWish(request, action: "events")
        let contentType = request.headers["content-type"]
        if contentType != JSONBody.usualType, EventLines.isType(contentType) {
            let lines = try EventLines(request.body, wish, linesMax: context.options.limits.linesPerRequestMax)
            let trace = connections[exchange.connection]?.request?.trace
            return withExistingSession(key, of: app, exchange) { session, owner in
                LineDispatch(lines, wish, to: session, on: owner, exchange, trace).run()
            }
        }
        try JSONBody.checkType(contentType)
        let events = DispatchRequest(body: request.body, expected: wish.expected, isStrict: wish.isStrict)
        dispatch(events, wish, to: key, of: app, exchange)
    }

    /// PUT S/state/{key path}: the event that the path's binding makes of the value.
    func writeState(
        _ key: SessionKey,
        _ path: JSONPointer,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try app(key.app)
        // An element's id may be none, as in a request to read it.
        try app.check(path)
        let wish = try DispatchWish(request, action: "state\(path)")
        try JSONBody.checkType(request.headers["content-type"])
        let value = DispatchRequest(
            body: request.body,
            boundPath: path,
            expected: wish.expected,
            isStrict: wish.isStrict
        )
        dispatch(value, wish, to: key, of: app, exchange)
    }

    func dispatch(
        _ request: DispatchRequest,
        _ wish: DispatchWish,
        to key: SessionKey,
        of app: any HostedApp,
        _ exchange: Exchange
    ) {
        withExistingSession(key, of: app, exchange) { session, owner in
            let sent = request.boundPath == nil ? request.body : []
            guard let claim = wish.claim(body: request.body, owner.context.prints) else {
                return session.dispatch(request) { result in
                    owner.count(result, of: app.name)
                    owner.send(result, of: sent, to: exchange) {
                        KeptResponse($0, isMinimal: wish.isMinimal).response()
                    }
                }
            }
            session.dispatch(request, once: claim) { result in
                owner.count(result, of: app.name)
                owner.send(result, of: sent, to: exchange) { answer in
                    guard let kept = KeptResponse(answer.body) else {
                        return Response(
                            Problem(
                                .keptAnswerUnreadable,
                                "The answer kept under this Idempotency-Key cannot be read. The event took effect when it came first. Read the session to see its effect."
                            ),
                            cause: UnreadableKeptAnswer()
                        )
                    }
                    return kept.response(isReplay: answer.isReplay)
                }
            }
        }
    }
}

/// An idempotency record whose answer is none.
private struct UnreadableKeptAnswer: LoggableError {
    var logText: String { "the answer of an idempotency record cannot be read; `rivulet check` names damaged sessions" }
}

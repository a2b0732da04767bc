import RivuletBase
import RivuletSessions

/// The dispatch of one request as one transaction.
struct Dispatch: SessionAct {
    let scope = SessionScope.usable
    let request: DispatchRequest
    let wish: DispatchWish
    /// The place of the app among those that loops count by.
    let appIndex: Int

    /// A dispatch to an app of this server.
    init(_ request: DispatchRequest, _ wish: DispatchWish, to app: ServedApp) {
        (self.request, self.wish, appIndex) = (request, wish, app.index)
    }

    func act(on session: Session, _ responder: Responder) {
        // Nearly every dispatch has no key.
        guard wish.key == nil else { return actOnce(on: session, responder) }
        let (index, isMinimal, core) = (appIndex, wish.isMinimal, responder.server.core)
        let named = namedBody
        session.dispatch(request) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(KeptResponse(answer, isMinimal: isMinimal).response())
            case .failure(let error): responder.send(Response(refusing: error, of: named))
            }
        }
    }

    private func actOnce(on session: Session, _ responder: Responder) {
        let core = responder.server.core
        guard let claim = wish.claim(body: request.body, core.context.prints) else { return }
        let (index, named) = (appIndex, namedBody)
        session.dispatch(request, once: claim) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(Self.response(to: answer))
            case .failure(let error): responder.send(Response(refusing: error, of: named))
            }
        }
    }

    /// The body where it names the event that an error is about; empty where it is a value for a key path.
    private var namedBody: [UInt8] { request.boundPath == nil ? request.body : [] }

    private static func response(to answer: OnceAnswer) -> Response {
        if let kept = KeptResponse(answer.body) { return kept.response(isReplay: answer.isReplay) }
        return Response(
            Problem(
                .keptAnswerUnreadable,
                "The idempotency record of this key cannot be read. The event took effect when it came first. Read the session to see its effect."
            ),
            cause: UnreadableKeptAnswer()
        )
    }
}

/// An idempotency record whose answer cannot be decoded.
private struct UnreadableKeptAnswer: LoggableError {
    var logText: String { "the answer of an idempotency record cannot be read; `rivulet check` names damaged sessions" }
}

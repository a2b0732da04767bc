import RivuletBase
import RivuletSessions

/// The dispatch of one request as one transaction.
struct Dispatch: SessionAct {
    var scope: SessionScope { options.scope }
    let request: DispatchRequest
    let options: DispatchOptions
    /// The app's index in the counters of the loops.
    let appIndex: Int

    /// Makes a dispatch to an app of this server.
    init(_ request: DispatchRequest, _ options: DispatchOptions, to app: ServedApp) {
        (self.request, self.options, appIndex) = (request, options, app.index)
    }

    func act(on session: Session, _ responder: Responder) {
        let creation: CreationCharge?
        do throws(Problem) {
            creation = try responder.charge(session, to: options.creator)
        } catch {
            return responder.send(Response(error))
        }
        // Nearly every dispatch has no key.
        guard options.key == nil else { return actOnce(on: session, responder, creation) }
        let (index, isMinimal, core) = (appIndex, options.isMinimal, responder.server.core)
        let named = namedBody
        session.dispatch(request) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(RecordedResponse(answer, isMinimal: isMinimal).response())
            case .failure(let error):
                creation?.giveBack()
                responder.send(Response(refusing: error, of: named))
            }
        }
    }

    private func actOnce(on session: Session, _ responder: Responder, _ creation: CreationCharge?) {
        let core = responder.server.core
        guard let reservation = options.reservation(body: request.body, core.context.fingerprints) else { return }
        let (index, named) = (appIndex, namedBody)
        session.dispatch(request, once: reservation) { result in
            core.counters.count(result, of: index)
            switch result {
            case .success(let answer): responder.send(Self.response(to: answer))
            case .failure(let error):
                creation?.giveBack()
                responder.send(Response(refusing: error, of: named))
            }
        }
    }

    /// The body, if it names the event of an error; empty if it is a value for a key path.
    private var namedBody: [UInt8] { request.boundPath == nil ? request.body : [] }

    private static func response(to answer: OnceAnswer) -> Response {
        if let kept = RecordedResponse(answer.body) { return kept.response(isReplay: answer.isReplay) }
        return Response(
            Problem(
                .keptAnswerUnreadable,
                "The idempotency record of this key cannot be read. The event took effect at the first request. Read the session to see its effect."
            ),
            cause: UnreadableIdempotencyRecord()
        )
    }
}

/// An idempotency record with an answer that cannot be decoded.
private struct UnreadableIdempotencyRecord: LoggableError {
    var logText: String { "the answer of an idempotency record cannot be read; `rivulet check` names damaged sessions" }
}

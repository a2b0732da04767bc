import RivuletEngine
import RivuletJSON

/// Events that replace the state as a whole: a reset, and a restored version.
extension Session {
    /// Queues an engine event after all queued work.
    ///
    /// A restore first reads the stored fields of its version, which never change.
    func replace(
        _ event: EngineEvent,
        _ request: DispatchRequest,
        recorder: IdempotencyRecorder?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        recordUse()
        switch event {
        case .reset: enqueue(Replacement(event: event, document: []), request, recorder, reply)
        case .restored(let version):
            document(at: version) { [self] document in
                switch document {
                case .success(let document):
                    enqueue(Replacement(event: event, document: document), request, recorder, reply)
                case .failure(let error): reply(.failure(error))
                }
            }
        }
    }

    private func enqueue(
        _ replacement: Replacement,
        _ request: DispatchRequest,
        _ recorder: IdempotencyRecorder?,
        _ reply: @escaping SessionReply<DispatchAnswer>
    ) {
        let bytes = request.body.count
        do throws(SessionError) {
            try machine.admit(bytes: bytes + replacement.document.count)
        } catch {
            return reply(.failure(error))
        }
        let dispatch = QueuedDispatch(
            .replacement(replacement),
            expected: request.expected,
            isStrict: request.isStrict,
            sender: request.sender,
            recorder: recorder,
            bodyBytes: bytes,
            reply: reply
        )
        dispatch.document = machine.hold(bytes: replacement.document.count)
        machine.enqueue(dispatch)
        drive()
    }

    // MARK: - The turn of the event

    /// Makes the new state, a large one on a work thread; the events after the dispatch wait.
    func replace(by replacement: Replacement, _ dispatch: QueuedDispatch) {
        // From here on, the document is not part of the waiting bytes, which limit the events that arrive.
        machine.releaseDocument(of: dispatch)
        let head = machine.head
        let job = state.replacing(head, by: replacement, settles: machine.isHeadVisible)
        workOnHead(bytes: max(machine.headSize.bytes, replacement.document.count), job) { session, replaced in
            session.didReplace(head, dispatch, replaced)
        }
    }

    private func didReplace(
        _ head: OpaqueBox,
        _ dispatch: QueuedDispatch,
        _ replaced: Result<ReplacedState, JSONError>
    ) {
        guard !machine.isRetired else { return reject(dispatch, SessionMachine.retiredError) }
        // Storage failed for earlier events and the head was rolled back, so the new state is made again.
        guard machine.head === head else { return reduce(dispatch) }
        do throws(SessionError) {
            let replaced = try replaced.mapError { error in
                SessionError.unreadable(key, detail: "the version that is to be restored does not decode: \(error)")
            }.get()
            let step = replaced.step()
            try check(step, of: dispatch)
            machine.accept(try pending(dispatch, step, size: try size(measured: replaced.size)))
        } catch {
            reject(dispatch, error)
        }
    }
}

// Owns the driving of connections: bytes in, requests out, deadlines.

import Logging
import RivuletEventLoop
import RivuletHTTP
import RivuletSessions

extension ServerLoop: LoopDelegate {
    func connectionDidOpen(_ id: ConnectionID, peer: PeerAddress) {
        connections.open(id, from: peer.ip)
        counters.connectionAccepted()
        armDeadline(id)
    }

    func connection(_ id: ConnectionID, didReceive bytes: Span<UInt8>) {
        let limits = context.httpLimits
        guard let action = connections.update(id, { $0.http.receive(bytes, limits: limits) }) else { return }
        take(action, on: id)
        if !bodies.isEmpty { bodyDidGrow(id) }
    }

    func connectionDidEnd(_ id: ConnectionID) {
        let limits = context.httpLimits
        guard let action = connections.update(id, { $0.http.peerEnded(limits: limits) }) else { return }
        take(action, on: id)
    }

    func connectionDidDrain(_ id: ConnectionID) {
        streamDidDrain(id)
        let wasCongested = connections.update(id) { entry in
            guard entry.isCongested else { return false }
            entry.isCongested = false
            entry.due = 0
            return true
        }
        if wasCongested == true { proceed(id) }
    }

    func connectionDidClose(_ id: ConnectionID, reason: CloseReason) {
        if let timer = connections.update(id, { $0.timer }) ?? nil { deadlines.cancel(timer) }
        connections.close(id)
        _ = bodies.end(id)
        forgetStream(id, .peer)
    }

    func loopWillSleep() -> Bool {
        flushSink()
        let hasDue = runDeadlines()
        shedStreams()
        let hasUnwritten = flushStreams()
        hasFlushedSingle = false
        // What streams asked for meanwhile may be another loop's to answer.
        flushSink()
        countTurn()
        return hasDue || hasUnwritten
    }

    func loopDidRefuseConnection(_ cause: AcceptFailure) {
        counters.connectionRefused(RefusalCause(cause))
        context.logger.warning("a connection was turned away", metadata: ["cause": "\(cause)"])
    }

    /// Does what the connection's state machine says, as long as requests that were sent ahead are answered at once.
    func take(_ action: HTTPConnection.Action, on id: ConnectionID) {
        var action = action
        while true {
            // Nearly every action is this one, and a request is large: the loop makes no copy of it.
            while case .request(let request) = action {
                if begin(request, on: id) { handle(request, on: id) } else { performAdmitted(request, on: id) }
                guard isDone(id) else { return settle(id) }
                action = nextAction(id)
            }
            guard case .admit(let request, let framing) = action else { return finish(action, on: id) }
            _ = begin(request, on: id)
            if let next = admit(request, framing, on: id) {
                action = next
            } else {
                guard isDone(id) else { return settle(id) }
                action = nextAction(id)
            }
        }
    }

    /// Ends the turn of a request; true when it is answered, and the client takes its answers.
    private func isDone(_ id: ConnectionID) -> Bool {
        let isAnswered = connections.update(id) { entry in
            entry.isInTurn = false
            return entry.request == nil && !entry.isStream
        }
        return isAnswered == true && !isCongested(id)
    }

    /// Notes a request; false when it was noted by its head, and now has its body.
    private func begin(_ request: HTTPRequest, on id: ConnectionID) -> Bool {
        let traits = ConnectionTable.RequestTraits(
            version: request.version,
            method: MethodLabel(request.method),
            isKeepAlive: request.isKeepAlive,
            headers: request.headers
        )
        guard connections.begin(id, traits) else { return false }
        if request.hasTraceParent || context.logsRequests { prepareLog(request.headers, of: id) }
        return true
    }

    /// Does what the connection's state machine says when no request is at hand.
    private func finish(_ action: HTTPConnection.Action, on id: ConnectionID) {
        switch action {
        case .request, .admit, .wait: break
        case .sendContinue: write(HTTPConnection.continueLine, to: id)
        case .refuse(let refusal): refuse(refusal, on: id)
        case .close: closeGently(id)
        }
        // The rest of a refused body has been read away: no further request is taken from this connection.
        if isDraining, connections.update(id, { $0.http.deadline == .idle }) == true { closeGently(id) }
        settle(id)
    }

    /// Goes on after an answer that did not come at once.
    func proceed(_ id: ConnectionID) {
        guard connections.update(id, { $0.isInTurn }) == false, !isCongested(id) else { return }
        take(nextAction(id), on: id)
    }

    /// Whether too much waits for this client; its next request is then taken when that is gone.
    private func isCongested(_ id: ConnectionID) -> Bool {
        let unsentBytes = wire.unsentBytes(id)
        guard unsentBytes > context.options.limits.unsentBytesMax else { return false }
        let due = loop.nowMilliseconds + context.options.limits.idleTimeMax.milliseconds
        watch(id, until: due)
        return connections.update(id) { entry in
            entry.isCongested = true
            entry.unsentBytes = unsentBytes
            entry.due = due
            return true
        } ?? false
    }

    private func nextAction(_ id: ConnectionID) -> HTTPConnection.Action {
        let limits = context.httpLimits
        let isKeepAlive = !isDraining
        return connections.update(id) { $0.http.responseFinished(isKeepAlive: isKeepAlive, limits: limits) } ?? .wait
    }

    /// Reads or stops reading, and sets the time that bounds the connection.
    func settle(_ id: ConnectionID) {
        guard let wantsReading = connections.update(id, { $0.http.wantsReading }) else { return }
        if wantsReading { wire.resumeReading(id) } else { wire.pauseReading(id) }
        armDeadline(id)
    }

    private func armDeadline(_ id: ConnectionID) {
        let limits = context.httpLimits
        let now = loop.nowMilliseconds
        let due = connections.update(id) { entry in
            entry.arm(now: now, limits: limits)
            return entry.due
        }
        if let due, due != 0 { watch(id, until: due) }
    }

    private func refuse(_ refusal: HTTPRefusal, on id: ConnectionID) {
        if bodies.end(id) != nil, refusal.status == .contentTooLarge { counters.requestRefused(.body) }
        var traits = ConnectionTable.RequestTraits(version: .http11, method: .other, isKeepAlive: false)
        if let origin = refusal.origin { traits.constantFields = context.doors.fields(forOrigin: origin) }
        if context.logsRequests { traits.trace = .random() }
        _ = connections.update(id) { [traits] entry in
            // A request that is refused while its body comes has traits of its own.
            if entry.request == nil { entry.request = traits }
            entry.request?.isKeepAlive = false
        }
        answer(id, Response(Problem(ProblemType(refusal.kind), refusal.detail)))
    }

    // MARK: - Draining

    /// Takes no more connections and requests; what was accepted is answered first.
    func drain() {
        guard !isDraining else { return }
        isDraining = true
        loop.stopListening()
        shard.drain()
        endSharedStreams()
        endStreamsInTurn()
        var idle: [ConnectionID] = []
        connections.forEach { id, entry in
            if entry.http.deadline == .idle { idle.append(id) }
        }
        for id in idle { closeGently(id) }
    }

    /// Whether nothing is left to be answered.
    var isQuiet: Bool { connections.count == 0 && shard.isQuiet }
}

import RivuletBase
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

/// Drives the connections of one loop: bytes in, requests out, answers in their order, and deadlines.
///
/// Each event comes with its connection, which the loop has found. An answer that is made later finds its connection
/// once, by id.
final class ConnectionDriver {
    /// The most connections that are visited in one turn because of their deadlines.
    static let deadlinesPerTurnMax = 256
    /// The most answers with one shared body that are sent in one turn.
    private static let joinedPerTurnMax = 256

    let bodies: BodyDriver
    let core: LoopCore
    private let admission: Admission
    private let deadlines: DeadlineTimers
    private let table: ConnectionTable
    /// The PROXY headers that are expected; nil if the server expects none.
    private let proxyHeaders: ProxyHeaders?
    private var coder: AnswerCoder
    private var writer: AnswerWriter
    /// The loop of the connections, which outlives them.
    private unowned var performer: (any RequestPerformer)?

    init(_ core: LoopCore, _ table: ConnectionTable) {
        self.core = core
        self.table = table
        bodies = BodyDriver(core)
        admission = Admission(core)
        proxyHeaders = ProxyHeaders(core.context.options)
        deadlines = DeadlineTimers(core.loop)
        coder = AnswerCoder(bytesMin: core.context.options.limits.compressedBytesMin)
        writer = AnswerWriter(core.context.doors)
    }

    /// Sets the performer of the requests; call it once, before the first connection.
    func attach(to performer: any RequestPerformer) {
        self.performer = performer
        bodies.attach { [weak self] id, step in
            guard let self, let connection = self[id] else { return }
            carryOut(step, on: connection)
        }
    }

    var context: ServerContext { core.context }
    var now: UInt64 { core.loop.nowMilliseconds }

    // MARK: - Connections

    /// The connection of this id; nil once it has closed.
    subscript(id: ConnectionID) -> ClientConnection? { table[id] }

    /// The number of open connections.
    var count: Int { table.count }

    /// All connections, in the order of their slots.
    var all: some Sequence<ClientConnection> { table.all }

    func didOpen(_ id: ConnectionID, peer: PeerAddress) {
        guard admit(peer.ip) else {
            core.counters.connectionRefused(.limit)
            return core.transport.close(id, .local)
        }
        let connection = ClientConnection(id, from: peer.ip)
        table.open(connection)
        core.counters.connectionAccepted()
        if let proxyHeaders { return expectHeader(of: connection, in: proxyHeaders) }
        armDeadline(connection)
    }

    func didReceive(_ bytes: Span<UInt8>, on connection: ClientConnection) {
        if let proxyHeaders, proxyHeaders.isExpected(from: connection.id) {
            return readHeader(bytes, of: connection, in: proxyHeaders)
        }
        take(connection.receive(bytes, limits: context.httpLimits), on: connection)
        if !bodies.isEmpty { bodyDidGrow(connection) }
    }

    func didEnd(_ connection: ClientConnection) {
        take(connection.peerEnded(limits: context.httpLimits), on: connection)
    }

    func didDrain(_ connection: ClientConnection) {
        if connection.didDrain() { proceed(connection) }
    }

    func didClose(_ connection: ClientConnection) {
        deadlines.cancel(connection)
        table.close(connection)
        proxyHeaders?.forget(connection.id)
        _ = bodies.end(connection.id)
        if let limiter = core.limiter, !context.doors.trusts(connection.address) {
            limiter.close(connection.address)
        }
    }

    /// Counts a connection of an address; false if the address has as many as it may.
    ///
    /// The connections of a proxy belong to many clients, so they are not counted.
    func admit(_ address: PeerAddress.IP) -> Bool {
        guard let limiter = core.limiter, !context.doors.trusts(address) else { return true }
        return limiter.open(address)
    }

    // MARK: - Ends

    /// Closes the connection once the client has taken everything, or its time for that is over.
    func closeGently(_ connection: ClientConnection) {
        core.transport.closeAfterFlush(connection.id, within: context.options.limits.idleTimeMax)
    }

    /// Closes the connections that wait for a request.
    func closeIdle() {
        for connection in all.filter({ $0.deadline == .idle }) { closeGently(connection) }
    }

    // MARK: - Requests

    /// Carries out the actions of the connection's state machine, as long as requests that were sent ahead are answered
    /// at once.
    private func take(_ action: HTTPConnection.Action, on connection: ClientConnection) {
        var action = action
        while true {
            // Nearly every action is this one, and a request is large. This loop makes no copy of it.
            while case .request(let request) = action {
                if begin(request, on: connection) {
                    handle(request, on: connection)
                } else {
                    performAdmitted(request, on: connection)
                }
                guard endTurn(of: connection) else { return settle(connection) }
                action = nextAction(connection)
            }
            guard case .admit(let request, let framing) = action else { return finish(action, on: connection) }
            _ = begin(request, on: connection)
            if let next = admit(request, framing, on: connection) {
                action = next
            } else {
                guard endTurn(of: connection) else { return settle(connection) }
                action = nextAction(connection)
            }
        }
    }

    /// Ends the turn of a request; true if it is answered, and the client takes its answers.
    private func endTurn(of connection: ClientConnection) -> Bool { connection.endTurn() && !isCongested(connection) }

    /// Records a request; false if it was recorded when its head came, and its body is complete now.
    private func begin(_ request: HTTPRequest, on connection: ClientConnection) -> Bool {
        guard !connection.hasRequest else { return false }
        var traits = RequestTraits(
            version: request.version,
            method: MethodLabel(request.method),
            isKeepAlive: request.isKeepAlive,
            headers: request.headers
        )
        if request.hasTraceParent || context.logsRequests { core.log.prepare(&traits, request.headers) }
        connection.begin(traits)
        return true
    }

    /// Decides about a complete request, and performs it.
    private func handle(_ request: HTTPRequest, on connection: ClientConnection) {
        let length = request.body.count
        do throws(Problem) {
            switch try admission.verdict(on: request, length == 0 ? .none : .length(length), connection) {
            case .perform(let admitted): try perform(admitted, request, on: connection)
            case .answer(let response): answer(connection, response)
            case .refuseStream(let seconds): performer?.refuseStream(connection.id, seconds: seconds)
            case .ask(let question): ask(question, request, on: connection)
            }
        } catch {
            answer(connection, Response(error))
        }
    }

    /// Decides about a request again when another node has answered about its ticket.
    private func ask(_ question: TicketQuestion, _ request: HTTPRequest, on connection: ClientConnection) {
        performer?.ask(question) { [weak self, id = connection.id] opened in
            guard let self, let connection = self[id], connection.hasRequest else { return }
            connection.amendRequest { $0.openedTicket = opened }
            handle(request, on: connection)
        }
    }

    /// Decides about a request with a body that is still to come.
    ///
    /// - Returns: The connection's next action; nil if the request is answered already.
    private func admit(
        _ request: HTTPRequest,
        _ framing: HTTPHead.Framing,
        on connection: ClientConnection
    ) -> HTTPConnection.Action? {
        do throws(Problem) {
            switch try admission.verdict(on: request, framing, connection) {
            case .answer(let response): refuseBody(of: connection, response)
            // The question is for requests without a body.
            case .ask: break
            case .refuseStream(let seconds):
                connection.refuseBody(limits: context.httpLimits)
                performer?.refuseStream(connection.id, seconds: seconds)
            case .perform(let admitted):
                // The other resources of an app are looked up when the body is complete.
                if let name = admitted.route.app { _ = try core.lookup.app(name) }
                let step = try bodies.begin(connection.id, admitted, framing, heldBytes: connection.heldBodyBytes)
                _ = connection.endTurn()
                if case .read = step { return connection.admitted(limits: context.httpLimits) }
                carryOut(step, on: connection)
                return .wait
            }
        } catch {
            refuseBody(of: connection, Response(error))
        }
        return nil
    }

    /// Performs a request that was admitted by its head.
    private func performAdmitted(_ request: HTTPRequest, on connection: ClientConnection) {
        guard var admitted = bodies.end(connection.id) else { return }
        connection.resume()
        do throws(Problem) {
            try admission.confirm(&admitted, request.method, on: connection)
            if admitted.hasUncountedBody {
                try admission.charge(bytes: request.body.count, of: request, admitted.permit, on: connection)
            }
            try perform(admitted, request, on: connection)
        } catch {
            answer(connection, Response(error))
        }
    }

    private func perform(
        _ admitted: AdmittedRequest,
        _ request: HTTPRequest,
        on connection: ClientConnection
    ) throws(Problem) {
        try performer?.perform(admitted, request, Exchange(loop: core.index, connection: connection.id))
    }

    /// Carries out an action of the connection's state machine that has no request.
    private func finish(_ action: HTTPConnection.Action, on connection: ClientConnection) {
        switch action {
        case .request, .admit, .wait: break
        case .sendContinue: _ = core.transport.write(connection.id, HTTPConnection.continueLine)
        case .refuse(let error): refuse(error, on: connection)
        case .close: closeGently(connection)
        }
        // The rest of a refused body has been read and dropped. No further request is taken from this connection.
        if core.isDraining, connection.deadline == .idle { closeGently(connection) }
        settle(connection)
    }

    /// Continues after an answer that did not come at once.
    private func proceed(_ connection: ClientConnection) {
        guard !connection.isInTurn, !isCongested(connection) else { return }
        take(nextAction(connection), on: connection)
    }

    private func nextAction(_ connection: ClientConnection) -> HTTPConnection.Action {
        connection.responseFinished(isKeepAlive: !core.isDraining, limits: context.httpLimits)
    }

    /// Resumes or pauses reading, and sets the connection's deadline.
    private func settle(_ connection: ClientConnection) {
        if connection.wantsReading {
            core.transport.resumeReading(connection.id)
        } else {
            core.transport.pauseReading(connection.id)
        }
        armDeadline(connection)
    }

    /// Refuses a head or a body that cannot be read.
    private func refuse(_ error: HTTPError, on connection: ClientConnection) {
        if bodies.end(connection.id) != nil, error.status == .contentTooLarge {
            core.counters.requestRefused(.body)
        }
        var traits = RequestTraits(version: .http11, method: .other, isKeepAlive: false)
        if let origin = error.origin { traits.constantFields = context.doors.fields(forOrigin: origin) }
        if context.logsRequests { traits.trace = .random() }
        connection.refuse(traits)
        answer(connection, Response(Problem(ProblemType(error.kind), error.detail)))
    }

    /// Answers a request without reading its body.
    private func refuseBody(of connection: ClientConnection, _ response: Response) {
        connection.refuseBody(limits: context.httpLimits)
        answer(connection, response)
    }

    // MARK: - Bodies

    private func bodyDidGrow(_ connection: ClientConnection) {
        let step = bodies.didGrow(connection.id, heldBytes: connection.heldBodyBytes, due: connection.due)
        if let step { carryOut(step, on: connection) }
    }

    /// Carries out the next step of a connection with a body.
    private func carryOut(_ step: BodyStep, on connection: ClientConnection) {
        switch step {
        case .read:
            connection.disarm()
            take(connection.admitted(limits: context.httpLimits), on: connection)
            bodyDidGrow(connection)
        case .wait(let due): limit(connection, until: due)
        case .pause(let due): pauseBody(true, of: connection, until: due)
        case .resume(let due): pauseBody(false, of: connection, until: due)
        case .refuse(let problem):
            connection.disarm()
            refuseBody(of: connection, Response(problem))
            settle(connection)
        }
    }

    private func pauseBody(_ isPaused: Bool, of connection: ClientConnection, until due: UInt64) {
        connection.pauseBody(isPaused)
        settle(connection)
        limit(connection, until: due)
    }

    /// Refuses the stalled bodies that `BodyDriver` finds.
    func shedStalledBodies(_ refused: Set<BodyBudget.Share> = []) {
        bodies.shedStalled(refused) { id, detail in
            if let connection = self[id] { take(connection.bodyStalled(detail), on: connection) }
        }
    }

    // MARK: - Answers

    /// Answers the request under way, if there is one, and continues with the bytes that the client has sent meanwhile.
    // Not inlined, because each caller would make a copy of the traits.
    @inline(never)
    func answer(_ connection: ClientConnection, _ response: Response) {
        guard let request = connection.takeRequest() else { return }
        guard response.pendingProblem == nil else { return answerRefused(connection, response, to: request) }
        code(response, to: request, on: connection)
    }

    // Not inlined, so that an answer that is no refusal avoids the copies.
    @inline(never)
    private func answerRefused(_ connection: ClientConnection, _ response: Response, to request: RequestTraits) {
        if let charge = request.bodyCharge { core.limiter?.giveBack(charge) }
        let recorded = response.pendingProblem.map { core.log.recorded($0, in: response, for: request) } ?? response
        code(recorded, to: request, on: connection)
    }

    private func code(_ response: Response, to request: RequestTraits, on connection: ClientConnection) {
        switch coder.code(response, for: request) {
        case .ready(let response): send(response, to: request, on: connection)
        case .later(let compression):
            connection.putBack(request)
            compress(compression, for: connection.id)
        case .joining(let compression, let isRead):
            connection.putBack(request)
            compression.join(connection.id, response, isRead: isRead)
        }
    }

    /// Compresses the rest of an answer in further turns, and sends it; in this turn if the loop's mailbox is full.
    private func compress(_ compression: Compression, for id: ConnectionID) {
        let loopBound = LoopBound((self, compression), to: core.loop)
        let isPosted = loopBound.post { driver, compression in
            // If all connections that wait for the answer have closed, the compression ends.
            guard driver[id] != nil || compression.joined.contains(where: { driver[$0.connection] != nil }) else {
                return driver.coder.abandon(compression)
            }
            compression.step()
            if compression.isDone { driver.finish(compression, for: id) } else { driver.compress(compression, for: id) }
        }
        guard !isPosted else { return }
        while !compression.isDone { compression.step() }
        finish(compression, for: id)
    }

    private func finish(_ compression: Compression, for id: ConnectionID) {
        send(coder.finish(compression), to: id)
        sendJoined(compression, from: 0)
    }

    /// Sends the answers with the same body, as many as one turn allows, and the others in further turns.
    private func sendJoined(_ compression: Compression, from start: Int) {
        let end = min(start + Self.joinedPerTurnMax, compression.joined.count)
        for (id, response, isRead) in compression.joined[start..<end] {
            send(compression.result(of: response, isRead: isRead), to: id)
        }
        guard end < compression.joined.count else { return }
        let loopBound = LoopBound((self, compression), to: core.loop)
        let isPosted = loopBound.post { driver, compression in driver.sendJoined(compression, from: end) }
        if !isPosted { sendJoined(compression, from: end) }
    }

    private func send(_ response: Response, to id: ConnectionID) {
        guard let connection = self[id], let request = connection.takeRequest() else { return }
        send(response, to: request, on: connection)
    }

    private func send(_ response: Response, to request: RequestTraits, on connection: ClientConnection) {
        core.counters.requestAnswered(request.method, response.status)
        if context.logsRequests { core.log.logAnswer(response.status, to: request) }
        let isKeepAlive = connection.admitsMore(after: response.status) && request.isKeepAlive && !core.isDraining
        let isChallenge = context.authentication != nil && response.status == .unauthorized
        let answer = isChallenge ? response.naming(metadata: context.metadataURL) : response
        let bytes = writer.bytes(of: answer, to: request, isKeepAlive: isKeepAlive)
        performer?.willAnswer()
        if let block = response.body.block, !request.isHead, !response.status.forbidsBody {
            _ = core.transport.write(connection.id, bytes, [block])
        } else {
            _ = core.transport.write(connection.id, bytes)
        }
        proceed(connection)
        if !isKeepAlive { closeGently(connection) }
    }

    /// Makes a stream the answer to the request under way.
    ///
    /// - Returns: The head's bytes; nil if no request is under way.
    func beginStream(_ connection: ClientConnection, _ fields: [HTTPField]) -> [UInt8]? {
        guard let request = connection.beginStream(limits: context.httpLimits) else { return nil }
        core.counters.requestAnswered(request.method, .ok)
        if context.logsRequests { core.log.logAnswer(.ok, to: request) }
        return writer.streamHead(fields, to: request)
    }

    // MARK: - Times

    /// Visits a connection at this time, unless it is visited earlier.
    func watch(_ connection: ClientConnection, until due: UInt64) { deadlines.watch(connection, until: due) }

    /// Sets a deadline other than that of the connection's HTTP state.
    func limit(_ connection: ClientConnection, until due: UInt64) {
        connection.limit(until: due)
        watch(connection, until: due)
    }

    func armDeadline(_ connection: ClientConnection) {
        connection.arm(now: now, limits: context.httpLimits)
        if connection.due != 0 { watch(connection, until: connection.due) }
    }

    /// Visits the connections with fired timers, as many as a turn allows; true if there are more.
    func runDeadlines(_ visit: (_ connection: ClientConnection, _ now: UInt64) -> Void) -> Bool {
        let now = now
        return deadlines.run(most: Self.deadlinesPerTurnMax, now: now) { id in
            guard let connection = table[id] else { return }
            connection.timerDidFire()
            visit(connection, now)
        }
    }

    /// Acts on the deadline of a connection, if it has passed.
    func deadlineDidPass(_ connection: ClientConnection, now: UInt64) {
        guard connection.due != 0 else { return }
        guard connection.due <= now else { return watch(connection, until: connection.due) }
        if proxyHeaders?.isExpected(from: connection.id) == true { return refuse(connection, .late) }
        if connection.isCongested { return closeUnlessMoving(connection) }
        if bodies.isWaiting(connection.id) {
            if let step = bodies.giveUp(connection.id) { carryOut(step, on: connection) }
            return
        }
        take(connection.deadlinePassed(limits: context.httpLimits), on: connection)
    }

    // MARK: - Slow clients

    private var patienceDue: UInt64 { now + context.options.limits.idleTimeMax.milliseconds }

    /// Returns true if too many bytes wait for this client; its next request then waits until they are gone.
    private func isCongested(_ connection: ClientConnection) -> Bool {
        let unsentBytes = core.transport.unsentBytes(connection.id)
        guard unsentBytes > context.options.limits.unsentBytesMax else { return false }
        connection.congest(unsentBytes, until: patienceDue)
        watch(connection, until: connection.due)
        return true
    }

    /// Closes a connection that has taken nothing of its answer since the last check.
    private func closeUnlessMoving(_ connection: ClientConnection) {
        let due = patienceDue
        guard connection.isMoving(core.transport.unsentBytes(connection.id), until: due) else {
            return core.transport.close(connection.id, .timedOut)
        }
        watch(connection, until: due)
    }
}

package import Logging
internal import RivuletBase
package import RivuletCluster
internal import RivuletEventLoop

/// The connection of a node to one of the servers of a NATS cluster, made again whenever it ends.
///
/// A message is refused while there is no connection, so that the caller knows that it was not sent. A request that
/// has no answer when the connection ends has the outcome `unknown`. Only the configured servers are used, because the
/// addresses that servers name of each other are often internal.
package final class NATSConnection: @unchecked Sendable {
    // SAFETY: used on the loop's thread only.

    enum Phase: Equatable {
        case stopped
        /// No connection; the next attempt begins after a pause.
        case waiting
        case connecting
        /// The connection is made, and the server has not accepted the client yet.
        case greeting
        case connected
        /// The server is about to stop: requests still get their answers, and new ones are refused.
        case draining
    }

    let nats: NATSLoop
    let options: NATSOptions
    let logger: Logger
    private(set) var phase = Phase.stopped
    /// The server of the present connection or attempt.
    private(set) var server: NATSServer
    /// The description of the connected server.
    package internal(set) var info: NATSServerInfo?
    /// The reason that there is no connection, or that the present one ends soon.
    ///
    /// It is `incompatible` if the server tried last must not be used, and the text names the remedy.
    package private(set) var problem: LogError?
    /// The most bytes of a message with its headers, as the last server has said.
    package internal(set) var messageBytesMax = 1_048_576

    private(set) var servers: NATSServerList
    private(set) var id: ConnectionID?
    private var parser = NATSParser()
    private var outbound: [UInt8] = []
    private var isFlushPlanned = false
    private var requests = NATSRequests()
    private var subscriptions: [UInt64: Subscription] = [:]
    private var nextSubscription: UInt64 = 1
    private var observers: [(Bool) -> Void] = []
    private var timer: TimerID?
    private var lastReceived: UInt64 = 0
    private var connectedSince: UInt64 = 0
    private var generation = 0
    private var lastLogged: LogError?

    private struct Subscription {
        let subject: String
        let deliver: (NATSMessage) -> Void
    }

    /// A subscription of this connection, which lasts over reconnections.
    package struct SubscriptionID: Hashable, Sendable {
        let rawValue: UInt64
    }

    package init(on loop: NATSLoop, options: NATSOptions, logger: Logger) {
        (nats, self.options, self.logger, server) = (loop, options, logger, options.servers[0])
        let order = options.isShuffled ? options.servers.shuffled() : options.servers
        servers = NATSServerList(order, limits: options.limits)
    }

    package var isConnected: Bool { phase == .connected || phase == .draining }

    /// The connected server as text; nil without connection.
    package var serverName: String? { isConnected ? server.description : nil }

    /// Begins to connect.
    package func start() {
        nats.loop.assertOnLoop()
        guard phase == .stopped else { return }
        connectToNext()
    }

    /// Ends the connection for good; what waits to be sent is still sent.
    package func stop() {
        guard phase != .stopped else { return }
        flush()
        let id = id
        disconnect(nil, then: .stopped)
        if let id { nats.loop.closeAfterFlush(id, within: options.limits.connectTime) }
    }

    /// Calls a closure whenever a connection is made (true) or ends (false).
    package func observe(_ report: @escaping (Bool) -> Void) { observers.append(report) }

    // MARK: Messages

    /// Sends a message; nil if it is on its way, and otherwise the reason that it was certainly not sent.
    package func publish(
        _ subject: String,
        reply: String? = nil,
        headers: NATSHeaders = NATSHeaders(),
        payload: [UInt8]
    ) -> LogError? {
        nats.loop.assertOnLoop()
        guard phase == .connected, let id else {
            // Always "unavailable": another server may be usable, whatever is wrong with the one tried last.
            return .unavailable(detail: problem.map(Self.text) ?? "The connection to NATS is not ready.")
        }
        let bytes = headers.bytes.count + payload.count
        guard bytes <= messageBytesMax else { return .tooLarge(limitBytes: messageBytesMax - headers.bytes.count) }
        let waiting = outbound.count + nats.loop.unsentBytes(id)
        guard waiting + bytes <= options.limits.outboundBytesMax else {
            return .unavailable(detail: "\(waiting) bytes wait for the NATS server \(server), which reads too slowly.")
        }
        NATSEncoder.publish(subject, reply: reply, headers: headers, payload: payload, into: &outbound)
        planFlush()
        return nil
    }

    /// Sends a message and waits for answers until `handle` returns true.
    ///
    /// An outcome other than an answer is the last one. The deadline is for all answers together.
    package func request(
        _ subject: String,
        headers: NATSHeaders = NATSHeaders(),
        payload: [UInt8],
        within time: Duration,
        handle: @escaping (NATSOutcome) -> Bool
    ) {
        let token = requests.takeToken()
        let isFull = requests.count >= options.limits.requestsMax
        let refusal =
            isFull
            ? LogError.unavailable(detail: "\(requests.count) requests to NATS wait for their answers.")
            : publish(subject, reply: requests.subject(of: token), headers: headers, payload: payload)
        if let refusal { return nats.afterCall { _ = handle(.refused(refusal)) } }
        let timer = nats.loop.schedule(after: time) { [weak self] in
            self?.end(token, .unknown(detail: "NATS has not answered on \(subject) within \(time)."))
        }
        requests.add(token, timer, handle)
    }

    /// Delivers the messages of a subject from now on, also after reconnections.
    package func subscribe(_ subject: String, _ deliver: @escaping (NATSMessage) -> Void) -> SubscriptionID {
        nats.loop.assertOnLoop()
        nextSubscription += 1
        subscriptions[nextSubscription] = Subscription(subject: subject, deliver: deliver)
        if isConnected {
            NATSEncoder.subscribe(subject, as: nextSubscription, into: &outbound)
            planFlush()
        }
        return SubscriptionID(rawValue: nextSubscription)
    }

    package func unsubscribe(_ subscription: SubscriptionID) {
        guard subscriptions.removeValue(forKey: subscription.rawValue) != nil, isConnected else { return }
        NATSEncoder.unsubscribe(subscription.rawValue, into: &outbound)
        planFlush()
    }

    private func end(_ token: UInt64, _ outcome: NATSOutcome) {
        guard let handle = requests.handler(of: token) else { return }
        if let timer = requests.remove(token) { nats.loop.cancel(timer) }
        _ = handle(outcome)
        endDrain()
    }

    private func deliver(_ message: NATSMessage) {
        guard message.subscription == Self.inboxSubscription else {
            subscriptions[message.subscription]?.deliver(message)
            return
        }
        guard let token = requests.token(of: message), let handle = requests.handler(of: token) else { return }
        // The server answers so when nothing listens on the subject: no stream has a leader for it.
        // Source: <https://docs.nats.io/nats-concepts/core-nats/reqreply#no-responders>
        if message.headers.status == 503, message.payload.isEmpty {
            return end(token, .refused(.unavailable(detail: "NATS has no leader for \(Self.subject(of: message)).")))
        }
        guard handle(.answer(message)) else { return }
        if let timer = requests.remove(token) { nats.loop.cancel(timer) }
        endDrain()
    }

    private static func subject(of message: NATSMessage) -> String { message.headers["Nats-Subject"] ?? "the request" }

    // MARK: Connecting

    private static let inboxSubscription: UInt64 = 1

    private func connectToNext() {
        generation += 1
        let attempt = generation
        var random = SystemRandomNumberGenerator()
        let (server, pause) = servers.nextAttempt(using: &random)
        (self.server, phase) = (server, .waiting)
        setTimer(after: pause) { [weak self] in
            guard let self, attempt == generation else { return }
            phase = .connecting
            nats.connect(
                host: server.host,
                port: server.port,
                within: options.limits.connectTime,
                handler: self
            ) { [weak self] result in
                guard let self, attempt == generation else {
                    if case .success(let id) = result { self?.nats.loop.close(id) }
                    return
                }
                switch result {
                case .success(let id): didConnect(id)
                case .failure(let error):
                    disconnect(.unavailable(detail: "The NATS server \(server) cannot be reached: \(error)."))
                }
            }
        }
    }

    private func didConnect(_ id: ConnectionID) {
        (self.id, phase, parser, outbound) = (id, .greeting, NATSParser(), [])
        lastReceived = nats.loop.nowMilliseconds
        setTimer(after: options.limits.connectTime) { [weak self] in
            guard let self else { return }
            disconnect(.unavailable(detail: "The NATS server \(server) accepts connections but does not answer."))
        }
    }

    /// Presents the client with all its subscriptions; the answer to the PING shows that the server has taken both.
    func greet(_ info: NATSServerInfo) throws(LogError) {
        var connect = NATSConnectOptions(name: options.name)
        do throws(NATSCredentialsError) {
            switch server.login {
            case .password(let user, let password): (connect.user, connect.password) = (user, password)
            case .token(let token): connect.token = token
            case nil: try options.credentials.apply(to: &connect, nonce: info.nonce)
            }
        } catch {
            throw .unavailable(detail: error.description)
        }
        NATSEncoder.connect(connect, into: &outbound)
        NATSEncoder.subscribe(requests.inbox + "*", as: Self.inboxSubscription, into: &outbound)
        for (id, subscription) in subscriptions.sorted(by: { $0.key < $1.key }) {
            NATSEncoder.subscribe(subscription.subject, as: id, into: &outbound)
        }
        NATSEncoder.ping(into: &outbound)
        planFlush()
    }

    /// Takes the server's acceptance.
    func didGreet() {
        (phase, problem, lastLogged) = (.connected, nil, nil)
        connectedSince = nats.loop.nowMilliseconds
        logger.info("connected to the NATS server \(server), version \(info?.version ?? "?")")
        ping()
        for observer in observers { observer(true) }
    }

    /// Checks the connection, and does so again after the interval.
    private func ping() {
        setTimer(after: options.limits.pingInterval) { [weak self] in
            guard let self else { return }
            let silence = nats.loop.nowMilliseconds - lastReceived
            guard silence < options.limits.silenceMax.milliseconds else {
                return disconnect(.unavailable(detail: "The NATS server \(server) was silent for \(silence) ms."))
            }
            if connectedSince + options.limits.pauseMax.milliseconds <= nats.loop.nowMilliseconds { servers.didLast() }
            NATSEncoder.ping(into: &outbound)
            planFlush()
            ping()
        }
    }

    /// Goes to another server when the outstanding requests have their answers, or after a time.
    func drain() {
        guard phase == .connected, servers.count > 1 else { return }
        logger.info("the NATS server \(server) is about to stop; connecting to another")
        phase = .draining
        problem = .unavailable(detail: "The NATS server \(server) is about to stop.")
        setTimer(after: options.limits.drainTime) { [weak self] in self?.disconnect(self?.problem) }
        endDrain()
    }

    private func endDrain() {
        guard phase == .draining, requests.count == 0 else { return }
        nats.afterCall { [weak self] in
            guard let self, phase == .draining, requests.count == 0 else { return }
            disconnect(problem)
        }
    }

    /// Ends the present connection or attempt, and every request; then the next attempt begins.
    func disconnect(_ problem: LogError?, then next: Phase = .waiting) {
        guard phase != .stopped else { return }
        let wasConnected = isConnected
        if let timer = timer { nats.loop.cancel(timer) }
        generation += 1
        if let id, next != .stopped { nats.loop.close(id) }
        (id, phase, timer, outbound, info) = (nil, next, nil, [], nil)
        self.problem = problem ?? .unavailable(detail: "The connection to NATS was stopped.")
        if let problem, problem != lastLogged {
            // The attempts that follow fail for as long as the servers are away. A server that is refused needs an
            // operator.
            var level: Logger.Level = wasConnected ? .warning : .debug
            if case .incompatible = problem { level = .warning }
            logger.log(level: level, "no connection to NATS: \(Self.text(of: problem))")
            lastLogged = problem
        }
        if wasConnected { for observer in observers { observer(false) } }
        for request in requests.removeAll() {
            nats.loop.cancel(request.timer)
            nats.afterCall {
                _ = request.handle(.unknown(detail: "The connection to NATS has ended before the answer."))
            }
        }
        if next == .waiting { connectToNext() }
    }

    private static func text(of problem: LogError) -> String {
        switch problem {
        case .unavailable(let detail), .full(let detail), .incompatible(let detail), .lost(let detail): detail
        case .tooLarge(let limit): "A message has more than \(limit) bytes."
        }
    }

    private func setTimer(after time: Duration, _ job: @escaping () -> Void) {
        if let timer { nats.loop.cancel(timer) }
        timer = nats.loop.schedule(after: time, job)
    }

    // MARK: Bytes

    private func planFlush() {
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        nats.afterCall { [weak self] in self?.flush() }
    }

    /// Writes the commands of the turn at once.
    private func flush() {
        isFlushPlanned = false
        guard let id, !outbound.isEmpty else { return }
        _ = nats.loop.write(id, exchange(&outbound, with: []))
    }

    private func take(_ message: NATSServerMessage) throws(LogError) {
        switch message {
        case .ping:
            NATSEncoder.pong(into: &outbound)
            planFlush()
        case .pong: if phase == .greeting, info != nil { didGreet() }
        case .ok: break
        case .message(let message): deliver(message)
        case .info(let info): try take(info)
        case .error(let text): try takeError(text)
        }
    }

    fileprivate func receive(_ bytes: Span<UInt8>, from id: ConnectionID) {
        guard id == self.id else { return }
        lastReceived = nats.loop.nowMilliseconds
        parser.append(bytes)
        do {
            // A message's receiver may stop the connection.
            while id == self.id, let message = try parser.next() { try take(message) }
        } catch let error as LogError {
            disconnect(error)
        } catch {
            disconnect(.unavailable(detail: "\(server) is no NATS server, or has a fault: \(error)"))
        }
    }
}

extension NATSConnection: NATSLoopHandler {
    func didReceive(_ bytes: Span<UInt8>, from id: ConnectionID) { receive(bytes, from: id) }

    func didEnd(_ id: ConnectionID) {
        guard id == self.id else { return nats.loop.close(id) }
        disconnect(.unavailable(detail: "The NATS server \(server) has ended the connection."))
    }

    func didClose(_ id: ConnectionID, reason: CloseReason) {
        guard id == self.id else { return }
        disconnect(.unavailable(detail: "The connection to the NATS server \(server) was lost: \(reason)."))
    }
}

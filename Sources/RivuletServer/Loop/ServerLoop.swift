import Logging
import RivuletEngine
import RivuletEventLoop
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// What one event loop serves.
///
/// Everything here is on the loop's thread; other loops reach it by `Confined.post`.
///
/// This file takes requests apart and sends answers; `+Routes` finds them, `+Streams` carries the streams.
final class ServerLoop {
    let index: Int
    let loop: EventLoop
    /// What carries the connections: the loop itself, but in tests without sockets.
    ///
    /// Set before the first connection.
    var wire: any ConnectionWire
    let context: ServerContext
    /// All loops of the server in the order of their indices; set before the first connection.
    var peers: [Confined<ServerLoop>] = []
    var connections = ConnectionTable()
    /// The requests whose bodies are being read.
    var bodies = BodiesUnderWay()
    /// Whether bodies without progress are looked for soon.
    var isWatchingStalls = false
    var streams = StreamTable()
    /// Makes the bytes of their events.
    let coder: StreamCoder
    /// The times at which connections are looked at again.
    var deadlines: ConnectionTimers
    /// When the loop is awake for the next of them, in milliseconds of its clock.
    var deadlineWake = UInt64.max
    /// Who follows the stores and values that this loop feeds.
    var sharedGroups: [SharedKey: SharedGroup] = [:]
    var isDraining = false
    /// Whether a single stream was written to before an answer in this turn.
    var hasFlushedSingle = false
    /// The host that a request named last and that the server answers for; empty before the first.
    var acceptedHost: [UInt8] = []
    /// What has happened here since it was published last.
    var counters: LoopCounters
    /// What this loop held then.
    var publishedGauges = LoopGauges()
    var quotas: LogQuotas
    private var date = DateField()
    /// What compresses answers here.
    var gzipStreams = GzipStreams()
    /// The bytes of an answer before they are written; kept for its capacity.
    private var output: [UInt8] = []

    private lazy var sink = ShardSink(self)
    private(set) lazy var shard = SessionShard(
        environment: SessionEnvironment(
            executor: loop,
            storage: context.storage,
            limits: context.options.sessionLimits,
            logger: context.logger,
            wallClock: { WallClock.milliseconds() },
            uptime: { [loop] in .milliseconds(Int64(clamping: loop.nowMilliseconds)) },
            schedule: { [loop] delay, job in _ = loop.schedule(after: delay, job) },
            clock: context.clock,
            sink: sink,
            slowEvents: SlowEvents(
                timeMin: context.options.sessionLimits.slowEventTimeMin,
                logger: context.logger,
                now: { Self.coarseMilliseconds() }
            ),
            makeGroupID: context.makeGroupID
        )
    )

    init(index: Int, loop: EventLoop, context: ServerContext) {
        self.index = index
        self.loop = loop
        coder = StreamCoder(context.heldBytes)
        deadlines = ConnectionTimers(time: loop.nowMilliseconds)
        wire = loop
        self.context = context
        quotas = LogQuotas(context.options.limits)
        counters = LoopCounters(apps: context.appIndices.count)
    }

    /// Runs the job on the loop that owns the session.
    func onShard(of key: SessionKey, _ job: @escaping @Sendable (ServerLoop) -> Void) {
        onLoop(context.shard(of: key), job)
    }

    /// Runs the job on a loop, at once when it is this one.
    func onLoop(_ target: Int, _ job: @escaping @Sendable (ServerLoop) -> Void) {
        if target == index { job(self) } else { peers[target].post(job) }
    }

    // MARK: - Answers

    /// Sends the answer to the request under way, from whatever loop it was made on.
    func send(_ response: Response, to exchange: Exchange) {
        onLoop(exchange.loop) { $0.answer(exchange.connection, response) }
    }

    /// Writes the answer and goes on with what the client has sent meanwhile.
    // Not within its callers, each of which would make a copy of the traits.
    @inline(never)
    func answer(_ id: ConnectionID, _ response: Response) {
        guard let request = connections.takeRequest(id) else { return }
        guard response.refusal == nil else { return answerRefused(id, response, to: request) }
        guard let response = coded(response, for: request, on: id) else { return }
        send(response, to: id, of: request)
    }

    // Apart: an answer that is no refusal is not to pay for the copies.
    @inline(never)
    private func answerRefused(_ id: ConnectionID, _ response: Response, to request: ConnectionTable.RequestTraits) {
        let noted = response.refusal.map { self.noted($0, in: response, for: request) } ?? response
        guard let response = coded(noted, for: request, on: id) else { return }
        send(response, to: id, of: request)
    }

    /// The same for an answer that has been compressed meanwhile.
    func answerCoded(_ id: ConnectionID, _ response: Response) {
        guard let request = connections.takeRequest(id) else { return }
        send(response, to: id, of: request)
    }

    private func send(_ response: Response, to id: ConnectionID, of request: ConnectionTable.RequestTraits) {
        counters.requestAnswered(request.method, response.status)
        if context.logsRequests { logAnswer(response.status, to: request) }
        let isKeepAlive = request.isKeepAlive && !isDraining
        output.removeAll(keepingCapacity: true)
        let framing: HTTPBodyFraming = response.status.forbidsBody ? .none : .length(response.body.count)
        // Few answers have fields of their request: the others are not to pay for a copy.
        let fields = request.fields.isEmpty ? response.fields : response.fields + request.fields
        let head = HTTPResponseHead(response.status, fields: fields, framing: framing)
        head.append(
            to: &output,
            version: request.version,
            date: date.bytes(),
            constant: request.constantFields ?? context.doors.ownFields,
            isKeepAlive: isKeepAlive
        )
        if !request.isHead, !response.status.forbidsBody { output.append(contentsOf: response.body) }
        flushSingleStream()
        write(output, to: id)
        proceed(id)
        if !isKeepAlive { closeGently(id) }
    }

    /// Tells the other loops what this turn has brought about for their streams.
    func flushSink() { sink.flush() }

    /// Makes the head of an event stream, which is the answer to the request under way; nil when there is none.
    ///
    /// The body is chunked where `isChunked` of the connection said so before, so that a client tells a cut from an end.
    func streamHead(_ id: ConnectionID, fields: [HTTPField], isCompressed: Bool) -> [UInt8]? {
        let limits = context.httpLimits
        let underWay = connections.update(id) { entry in
            if entry.request != nil {
                _ = entry.http.streamStarted(limits: limits)
                entry.isStream = true
            }
            return entry.request.take()
        }
        guard let request = underWay ?? nil else { return nil }
        counters.requestAnswered(request.method, .ok)
        if context.logsRequests { logAnswer(.ok, to: request) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        let all = fields + (isCompressed ? [HTTPField("Content-Encoding", "gzip")] : []) + request.fields
        HTTPResponseHead(.ok, fields: all, framing: .chunked)
            .append(
                to: &bytes,
                version: request.version,
                date: date.bytes(),
                constant: request.constantFields ?? context.doors.ownFields,
                isKeepAlive: false
            )
        return bytes
    }

    /// Whether the request under way can have a chunked answer, which is what HTTP/1.0 does not know.
    func isChunked(_ id: ConnectionID) -> Bool { connections.update(id) { $0.request?.version == .http11 } ?? false }

    func write(_ bytes: [UInt8], to id: ConnectionID) {
        _ = wire.write(id, bytes)
    }

    /// Closes once the client has everything, or has had its time to take it.
    func closeGently(_ id: ConnectionID) {
        wire.closeAfterFlush(id, within: context.options.limits.idleTimeMax)
    }
}

// Part of Rivulet. See README.md for the architecture.
// Owns one loop of the server: its connections, its shard of sessions, its streams.

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
    var streams = StreamTable()
    /// Streams whose unsent bytes passed the limit: they stand at a cursor and come back when their socket drains.
    var behind: [ConnectionID: StreamTable.Leaver] = [:]
    /// Who follows the stores and values that this loop feeds.
    var sharedGroups: [SharedKey: SharedGroup] = [:]
    var isDraining = false
    private var date = DateField()
    /// The bytes of an answer before they are written; kept for its capacity.
    private var output: [UInt8] = []

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
            sink: ShardSink(self),
            makeGroupID: context.makeGroupID
        )
    )

    init(index: Int, loop: EventLoop, context: ServerContext) {
        self.index = index
        self.loop = loop
        wire = loop
        self.context = context
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
    func answer(_ id: ConnectionID, _ response: Response) {
        let underWay = connections.update(id) { entry in
            defer { entry.request = nil }
            return entry.request
        }
        guard let request = underWay ?? nil else { return }
        let isKeepAlive = request.isKeepAlive && !isDraining
        output.removeAll(keepingCapacity: true)
        let framing: HTTPBodyFraming = response.status.forbidsBody ? .none : .length(response.body.count)
        // Few answers have fields of their request: the others are not to pay for a copy.
        let fields = request.fields.isEmpty ? response.fields : response.fields + request.fields
        let head = HTTPResponseHead(response.status, fields: fields, framing: framing)
        head.append(to: &output, version: request.version, date: date.bytes(), isKeepAlive: isKeepAlive)
        if !request.isHead, !response.status.forbidsBody { output.append(contentsOf: response.body) }
        write(output, to: id)
        proceed(id)
        if !isKeepAlive { closeGently(id) }
    }

    /// Writes the head of an event stream; its body lasts until the connection closes.
    func beginStream(_ id: ConnectionID, fields: [HTTPField]) {
        let limits = context.httpLimits
        let underWay = connections.update(id) { entry in
            defer { entry.request = nil }
            if entry.request != nil {
                _ = entry.http.streamStarted(limits: limits)
                entry.isStream = true
            }
            return entry.request
        }
        guard let request = underWay ?? nil else { return }
        var bytes: [UInt8] = []
        HTTPResponseHead(.ok, fields: fields + request.fields, framing: .untilClose)
            .append(to: &bytes, version: request.version, date: date.bytes(), isKeepAlive: false)
        write(bytes, to: id)
        wire.resumeReading(id)
    }

    func write(_ bytes: [UInt8], to id: ConnectionID) {
        _ = wire.write(id, bytes)
    }

    /// Closes once the client has everything, or has had its time to take it.
    func closeGently(_ id: ConnectionID) {
        wire.closeAfterFlush(id, within: context.options.limits.idleTimeMax)
    }
}

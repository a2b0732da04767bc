import RivuletEventLoop
import RivuletHTTP

/// One open connection of a loop.
///
/// Each event finds its connection once, and passes it on by reference. The properties are ordered so that an idle connection takes 152 bytes.
final class ClientConnection {
    let id: ConnectionID
    /// The address of the client, or of the proxy in front of it.
    let address: PeerAddress.IP
    private var http = HTTPConnection()
    /// Whether the driver is in this connection's turn, so that an answer given at once does not start another.
    private(set) var isInTurn = false
    /// Whether the client takes its answers so slowly that its next request waits until the socket drains.
    private(set) var isCongested = false
    /// Whether its last answer is a stream, after which no further request is handed out.
    private var isStream = false
    /// The deadline that `due` belongs to.
    private var armed: HTTPDeadline?
    /// The bytes that waited for a congested client when it was looked at last.
    private var unsentBytes: UInt32 = 0
    /// The connection's place in the wheel of deadlines.
    private var timer: TimerID?
    /// The request whose answer is under way.
    private(set) var request: RequestTraits?
    /// When the current deadline passes, in milliseconds of the loop's clock; 0 for none.
    private(set) var due: UInt64 = 0
    /// When the timer fires; `due` may be later by now.
    private var timerDue: UInt64 = 0
    /// The open stream that the connection carries.
    private(set) var stream: OpenStream?

    init(_ id: ConnectionID, from address: PeerAddress.IP) {
        self.id = id
        self.address = address
    }

    // MARK: - Reading

    var deadline: HTTPDeadline? { http.deadline }
    var wantsReading: Bool { http.wantsReading }
    var heldBodyBytes: Int { http.heldBodyBytes }

    func receive(_ bytes: Span<UInt8>, limits: HTTPLimits) -> HTTPConnection.Action {
        http.receive(bytes, limits: limits)
    }

    func peerEnded(limits: HTTPLimits) -> HTTPConnection.Action { http.peerEnded(limits: limits) }

    func deadlinePassed(limits: HTTPLimits) -> HTTPConnection.Action { http.deadlinePassed(limits: limits) }

    /// Reads the body of the head that was given last.
    func admitted(limits: HTTPLimits) -> HTTPConnection.Action { http.admitted(limits: limits) }

    func bodyStalled(_ detail: String) -> HTTPConnection.Action { http.bodyStalled(detail) }

    /// Stops or goes on with reading the body under way.
    func pauseBody(_ isPaused: Bool) { http.isBodyPaused = isPaused }

    // MARK: - Requests

    /// Whether a request's answer is under way.
    var hasRequest: Bool { request != nil }

    /// Begins a request and its turn.
    func begin(_ traits: consuming RequestTraits) {
        request = traits
        resume()
    }

    /// Begins the turn of a request whose body is complete now.
    ///
    /// The deadline that the request met is done with, also when the next one is of the same kind.
    func resume() {
        isInTurn = true
        disarm()
    }

    /// Ends the turn; returns whether the connection may take another request.
    func endTurn() -> Bool {
        isInTurn = false
        return request == nil && !isStream
    }

    /// Changes the traits of the request under way, if there is one.
    func amendRequest(_ change: (inout RequestTraits) -> Void) {
        guard var traits = request.take() else { return }
        change(&traits)
        request = traits
    }

    /// Ends the request under way, and returns its traits; nil when there is none.
    func takeRequest() -> RequestTraits? { request.take() }

    /// Puts back the request that `takeRequest` returned: its answer comes later.
    func putBack(_ traits: consuming RequestTraits) { request = traits }

    /// Refuses the request under way without reading the rest of its body.
    func refuseBody(limits: HTTPLimits) {
        if !http.refused(limits: limits) { request?.isKeepAlive = false }
    }

    /// Refuses what cannot be read; a request that is refused while its body comes keeps its own traits.
    func refuse(_ traits: consuming RequestTraits) {
        if request == nil { request = traits }
        request?.isKeepAlive = false
    }

    /// Says that the answer is written.
    func responseFinished(isKeepAlive: Bool, limits: HTTPLimits) -> HTTPConnection.Action {
        http.responseFinished(isKeepAlive: isKeepAlive, limits: limits)
    }

    // MARK: - Streams

    /// Whether the request under way can have a chunked answer, which HTTP/1.0 does not know.
    var takesChunks: Bool { request?.version == .http11 }

    /// True if the client of the current request accepts gzip.
    var takesGzip: Bool { HTTPAccept.accepts(encoding: "gzip", in: request?.headers?.list(of: "accept-encoding")) }

    /// Makes a stream the answer to the request under way, and returns the request's traits; nil when there is none.
    ///
    /// No further request is handed out then, also when the stream only says `bye`.
    func beginStream(limits: HTTPLimits) -> RequestTraits? {
        guard request != nil else { return nil }
        _ = http.streamStarted(limits: limits)
        isStream = true
        return request.take()
    }

    /// Sets or forgets the stream that the connection carries; only `StreamTable` calls it.
    func carry(_ stream: OpenStream?) { self.stream = stream }

    // MARK: - Times

    /// Sets the time that bounds the connection, when another one does than before.
    func arm(now: UInt64, limits: HTTPLimits) {
        let deadline = http.deadline
        guard deadline != armed else { return }
        armed = deadline
        due = deadline.map { now + limits.milliseconds(of: $0) } ?? 0
    }

    /// Removes the time that bounds the connection; the next `arm` sets one.
    func disarm() {
        armed = nil
        due = 0
    }

    /// Bounds the connection by another time than that of its HTTP deadline.
    func limit(until due: UInt64) { self.due = due }

    /// Whether the connection is looked at by this time.
    ///
    /// A later deadline leaves the timer where it is: when it fires too early, it is set again.
    func isScheduled(by due: UInt64) -> Bool { timer != nil && timerDue <= due }

    /// Puts the connection into the wheel.
    func schedule(in timers: inout ConnectionTimers, at due: UInt64) {
        if let timer { timers.cancel(timer) }
        timer = timers.schedule(at: due, id)
        timerDue = due
    }

    /// Says that the timer has fired.
    func timerDidFire() { timer = nil }

    /// Takes the connection out of the wheel.
    func cancelTimer(in timers: inout ConnectionTimers) {
        if let timer { timers.cancel(timer) }
        timer = nil
    }

    // MARK: - Congestion

    /// Lets the next request wait until the client has taken what it was sent.
    func congest(_ bytes: Int, until due: UInt64) {
        isCongested = true
        unsentBytes = UInt32(clamping: bytes)
        self.due = due
    }

    /// Ends the congestion; false when there was none.
    func didDrain() -> Bool {
        guard isCongested else { return false }
        isCongested = false
        due = 0
        return true
    }

    /// Notes the bytes that wait now; true, with another deadline, when they have become fewer.
    func isMoving(_ bytes: Int, until due: UInt64) -> Bool {
        let bytes = UInt32(clamping: bytes)
        defer { unsentBytes = bytes }
        guard bytes < unsentBytes else { return false }
        self.due = due
        return true
    }
}

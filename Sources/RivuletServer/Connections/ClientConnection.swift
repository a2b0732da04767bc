import RivuletEventLoop
import RivuletHTTP

/// One open connection of a loop.
///
/// Each event finds its connection once, and passes it by reference. The properties are ordered so that an idle
/// connection takes 152 bytes.
final class ClientConnection {
    let id: ConnectionID
    /// The address of the peer: the client, or the proxy in front of it.
    ///
    /// A PROXY header replaces the proxy's address. `Doors.clientAddress` finds the client of a request.
    private(set) var address: PeerAddress.IP
    private var http: HTTPConnection {
        _read { yield unsafe storedHTTP }
        _modify { yield unsafe &storedHTTP }
    }
    // SAFETY: one loop has the connection, and no method of the HTTP state calls other code, so accesses never overlap.
    // A request uses the state about eight times; a check would cost as much as most of these calls.
    @exclusivity(unchecked) private var storedHTTP = HTTPConnection()
    /// True if the driver is in this connection's turn, so that an answer given at once does not start another turn.
    private(set) var isInTurn = false
    /// True if the client takes its answers so slowly that its next request waits until the socket drains.
    private(set) var isCongested = false
    /// True if its last answer is a stream, after which no further request is passed on.
    private var isStream = false
    /// The deadline to which `due` belongs.
    private var armed: HTTPDeadline?
    /// The number of bytes that waited for a congested client at the last check.
    private var unsentBytes: UInt32 = 0
    /// The connection's entry in the timer wheel.
    private var timer: TimerID?
    /// The number of its answers that were 401 since its last valid credential.
    private var unauthorizedCount: UInt8 {
        _read { yield unsafe storedUnauthorizedCount }
        _modify { yield unsafe &storedUnauthorizedCount }
    }
    // SAFETY: one loop has the connection, and no use calls other code, so accesses never overlap. Each request of a
    // caller resets the count.
    @exclusivity(unchecked) private var storedUnauthorizedCount: UInt8 = 0
    /// The request that is being answered.
    private(set) var request: RequestTraits?
    /// The time of the current deadline, in milliseconds of the loop's clock; 0 for none.
    private(set) var due: UInt64 = 0
    /// The time at which the timer fires; `due` may be later by now.
    private var timerDue: UInt64 = 0
    /// The open stream that the connection carries.
    private(set) var stream: OpenStream?

    init(_ id: ConnectionID, from address: PeerAddress.IP) {
        self.id = id
        self.address = address
    }

    /// The answers 401 without a valid credential between them after which the connection closes.
    static let unauthorizedMax: UInt8 = 5

    /// Takes the address of the client that the proxy has named before the first request.
    func replaceAddress(with address: PeerAddress.IP) { self.address = address }

    // MARK: - Reading

    var deadline: HTTPDeadline? { http.deadline }
    var wantsReading: Bool { http.wantsReading }
    var heldBodyBytes: Int { http.heldBodyBytes }

    func receive(_ bytes: Span<UInt8>, limits: HTTPLimits) -> HTTPConnection.Action {
        http.receive(bytes, limits: limits)
    }

    func peerEnded(limits: HTTPLimits) -> HTTPConnection.Action { http.peerEnded(limits: limits) }

    func deadlinePassed(limits: HTTPLimits) -> HTTPConnection.Action { http.deadlinePassed(limits: limits) }

    /// Begins to read the body of the head that was returned last.
    func admitted(limits: HTTPLimits) -> HTTPConnection.Action { http.admitted(limits: limits) }

    func bodyStalled(_ detail: String) -> HTTPConnection.Action { http.bodyStalled(detail) }

    /// Pauses or continues the reading of the body under way.
    func pauseBody(_ isPaused: Bool) { http.isBodyPaused = isPaused }

    // MARK: - Requests

    /// True if a request's answer is under way.
    var hasRequest: Bool { request != nil }

    /// Begins a request and its turn.
    func begin(_ traits: consuming RequestTraits) {
        request = traits
        resume()
    }

    /// Begins the turn of a request with a body that is complete now.
    ///
    /// The deadline of the request's arrival is removed, even if the next deadline is of the same kind.
    func resume() {
        isInTurn = true
        disarm()
    }

    /// Ends the turn; returns true if the connection may take another request.
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

    /// Ends the request under way, and returns its traits; nil if there is none.
    func takeRequest() -> RequestTraits? { request.take() }

    /// Puts back the request that `takeRequest` returned, because its answer comes later.
    func putBack(_ traits: consuming RequestTraits) { request = traits }

    /// Refuses the request under way without reading the rest of its body.
    func refuseBody(limits: HTTPLimits) {
        if !http.refused(limits: limits) { request?.isKeepAlive = false }
    }

    /// Refuses bytes that cannot be read; a request that is refused while its body arrives keeps its own traits.
    func refuse(_ traits: consuming RequestTraits) {
        if request == nil { request = traits }
        request?.isKeepAlive = false
    }

    /// Records that a request has a valid credential.
    func didVerifyCredential() { unauthorizedCount = 0 }

    /// Records the status of an answer; returns false if the connection is to close after it.
    ///
    /// A client that sends one bad credential after the other needs a new connection for each few of them, also if it
    /// asks for files between them.
    func admitsMore(after status: HTTPStatus) -> Bool {
        guard status == .unauthorized else { return true }
        unauthorizedCount = min(unauthorizedCount, Self.unauthorizedMax) + 1
        return unauthorizedCount < Self.unauthorizedMax
    }

    /// Records that the answer is written, and returns the next action.
    func responseFinished(isKeepAlive: Bool, limits: HTTPLimits) -> HTTPConnection.Action {
        http.responseFinished(isKeepAlive: isKeepAlive, limits: limits)
    }

    // MARK: - Streams

    /// True if the request under way can have a chunked answer, which HTTP/1.0 does not know.
    var takesChunks: Bool { request?.version == .http11 }

    /// True if the client of the current request accepts gzip.
    var takesGzip: Bool { HTTPAccept.accepts(encoding: "gzip", in: request?.headers?.list(of: "accept-encoding")) }

    /// Makes a stream the answer to the request under way, and returns the request's traits; nil if there is none.
    ///
    /// No further request is passed on after that, even if the stream has a single `bye`.
    func beginStream(limits: HTTPLimits) -> RequestTraits? {
        guard request != nil else { return nil }
        _ = http.streamStarted(limits: limits)
        isStream = true
        return request.take()
    }

    /// Sets or removes the stream that the connection carries; only `StreamTable` calls it.
    func carry(_ stream: OpenStream?) { self.stream = stream }

    // MARK: - Times

    /// Sets the connection's deadline to that of its HTTP state, if the kind of the deadline has changed.
    func arm(now: UInt64, limits: HTTPLimits) {
        let deadline = http.deadline
        guard deadline != armed else { return }
        armed = deadline
        due = deadline.map { now + limits.milliseconds(of: $0) } ?? 0
    }

    /// Removes the connection's deadline; the next `arm` sets one.
    func disarm() {
        armed = nil
        due = 0
    }

    /// Sets a deadline other than that of the HTTP state.
    func limit(until due: UInt64) { self.due = due }

    /// True if the connection's timer fires by this time.
    ///
    /// A later deadline leaves the timer as it is. A timer that fires too early is set again.
    func isScheduled(by due: UInt64) -> Bool { timer != nil && timerDue <= due }

    /// Puts the connection into the timer wheel.
    func schedule(in timers: inout ConnectionTimers, at due: UInt64) {
        if let timer { timers.cancel(timer) }
        timer = timers.schedule(at: due, id)
        timerDue = due
    }

    /// Records that the timer has fired.
    func timerDidFire() { timer = nil }

    /// Takes the connection out of the timer wheel.
    func cancelTimer(in timers: inout ConnectionTimers) {
        if let timer { timers.cancel(timer) }
        timer = nil
    }

    // MARK: - Congestion

    /// Makes the next request wait until the client has taken the bytes that were sent to it.
    func congest(_ bytes: Int, until due: UInt64) {
        isCongested = true
        unsentBytes = UInt32(clamping: bytes)
        self.due = due
    }

    /// Ends the congestion; false if there was none.
    func didDrain() -> Bool {
        guard isCongested else { return false }
        isCongested = false
        due = 0
        return true
    }

    /// Records the bytes that wait now; if there are fewer than before, sets another deadline and returns true.
    func isMoving(_ bytes: Int, until due: UInt64) -> Bool {
        let bytes = UInt32(clamping: bytes)
        defer { unsentBytes = bytes }
        guard bytes < unsentBytes else { return false }
        self.due = due
        return true
    }
}

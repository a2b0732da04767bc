/// The state machine of one connection: which request is being read, and whether the next one may be handed out.
///
/// It does no I/O and has no clock. Its driver, after every call:
/// 1. does what the action says, in a loop as long as `responseFinished` gives another request;
/// 2. reads or stops reading as `wantsReading` says, which bounds what waits behind a slow response;
/// 3. re-arms its timer when `deadline` differs from the one armed: two equal deadlines always have another one, or
///    none, between them.
///
/// Requests are handed out one at a time, so responses go out in the order of their requests. The outcome does not
/// depend on how the bytes are cut into reads. An idle or streaming connection holds no heap memory.
///
/// The driver decides about a body before the body is read: a head whose body is still to come is given as `admit`. A body of at most
/// `HTTPLimits.refusedBodyBytesMax` that has arrived together with its head is there already, so its request is given at once.
/// Source: RFC 9112 sections 2.2, 6, 9.3.
package struct HTTPConnection: Sendable {
    /// What the driver does next.
    package enum Action: Sendable {
        /// Nothing: more bytes, or the response under way, come first.
        case wait
        /// Decide about a request by its head, whose body is still to be read: call `admitted`, or `refused` and then answer it.
        ///
        /// The connection reads nothing until then.
        ///
        /// Apart, so that the other actions are no larger for it.
        indirect case admit(HTTPRequest, HTTPHead.Framing)
        /// Route it; call `responseFinished`, `streamStarted` or `closed` when its response is written.
        case request(HTTPRequest)
        /// Write `HTTPConnection.continueLine`: the peer waits for it before it sends the body.
        case sendContinue
        /// Answer with this problem, say `Connection: close`, and close with a linger.
        case refuse(HTTPRefusal)
        /// Close, once everything written before has gone out.
        case close
    }

    /// The bytes for `sendContinue`.
    package static let continueLine: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private enum State: Sendable {
        /// The state while no byte of a request has arrived.
        case idle
        /// The state while a head has begun but not ended.
        indirect case head(HTTPInput, HTTPHeadScanner)
        /// The state while the driver decides about a head; the bytes that have arrived of its body wait in the input.
        indirect case admitting(HTTPHead, HTTPInput)
        /// The state while an admitted body is not complete.
        indirect case body(HTTPRequest, HTTPBodyDecoder)
        /// The state while a request is with its route; what has arrived behind it waits in the input.
        case responding(isKeepAlive: Bool, HTTPInput)
        /// The state while the rest of a refused request's body is read away; `isAnswered` says whether its response is written.
        case dropping(remaining: Int, isAnswered: Bool)
        /// The state while an event stream is open; counts the bytes that the peer has sent into it.
        case streaming(ignoredBytes: Int)
        /// The state after a refusal or a close.
        case closed
    }

    private var state = State.idle
    /// Whether the driver lets the body under way wait: neither its reading nor its time goes on.
    package var isBodyPaused = false
    /// Whether the peer has ended its side: what has arrived is still answered, then the connection is closed.
    private var hasPeerEnded = false

    /// A new connection, waiting for its first request.
    package init() {}

    /// The time that bounds the connection now; nil while a response or stream is under way and once it is closed.
    package var deadline: HTTPDeadline? {
        switch state {
        case .idle: .idle
        case .head: .head
        case .body: isBodyPaused ? nil : .body
        case .dropping(_, isAnswered: true): .body
        case .admitting, .responding, .dropping(_, isAnswered: false), .streaming, .closed: nil
        }
    }

    /// False while the driver decides about a head or lets its body wait, and while bytes of a next request wait behind the response under way.
    package var wantsReading: Bool {
        switch state {
        case .responding(_, let input): input.isEmpty
        case .admitting: false
        case .body: !isBodyPaused
        case .idle, .head, .dropping, .streaming, .closed: true
        }
    }

    /// The bytes of a body under way that have arrived.
    package var heldBodyBytes: Int {
        switch state {
        case .admitting(_, let input): input.count
        case .body(let request, _): request.body.count
        case .idle, .head, .responding, .dropping, .streaming, .closed: 0
        }
    }

    /// Takes bytes as they arrive, in any cut; bytes after a close are ignored.
    package mutating func receive(_ bytes: Span<UInt8>, limits: HTTPLimits) -> Action {
        guard !bytes.isEmpty else { return .wait }
        switch state {
        case .idle:
            return readHead(bytes, of: nil, HTTPHeadScanner(), limits)
        case .head(var input, let scanner):
            state = .idle
            input.append(bytes)
            return readHead(input, scanner, limits)
        case .admitting(let head, var input):
            state = .idle
            input.append(bytes)
            state = .admitting(head, input)
            return .wait
        case .body(let request, let decoder):
            state = .idle
            return readBody(bytes, of: nil, request, decoder, limits)
        case .responding(let isKeepAlive, var input):
            state = .idle
            input.append(bytes)
            guard input.count <= limits.pipelinedBytesMax else { return close() }
            state = .responding(isKeepAlive: isKeepAlive, input)
            return .wait
        case .dropping(let remaining, let isAnswered):
            return drop(bytes, remaining, isAnswered, limits)
        case .streaming(let ignoredBytes):
            return ignore(ignoredBytes + bytes.count, limits)
        case .closed:
            return .wait
        }
    }

    /// Says that the body of the head given last may be read.
    ///
    /// - Returns: What to do next; `sendContinue` when the peer waits for it, `refuse` when the body is larger than any may be.
    package mutating func admitted(limits: HTTPLimits) -> Action {
        guard case .admitting(let head, let input) = state else { return .wait }
        state = .idle
        isBodyPaused = false
        do {
            let decoder = try HTTPBodyDecoder(head.framing, limits)
            let bytes = input.bytes.span.extracting(input.start...)
            let action = readBody(bytes, of: input, head.request, decoder, limits)
            guard case .wait = action, head.expectsContinue, input.isEmpty else { return endIfPeerEnded(action) }
            return endIfPeerEnded(.sendContinue)
        } catch {
            return refuse(error)
        }
    }

    /// Says that the head given last, or the body under way, is refused: the rest of the body is read away, or else the response has to end
    /// the connection.
    ///
    /// A declared body of at most `HTTPLimits.refusedBodyBytesMax` is read away. A peer that waits for `100 Continue`, and has sent nothing
    /// of its body, may send it or not: where its next request would begin is unknown. Source: RFC 9110 section 10.1.1.
    ///
    /// - Returns: Whether the connection can be kept; when not, the response says `Connection: close`.
    package mutating func refused(limits: HTTPLimits) -> Bool {
        if case .body = state { state = .responding(isKeepAlive: false, HTTPInput()) }
        guard case .admitting(let head, let input) = state else { return false }
        guard case .length(let count) = head.framing, count <= limits.refusedBodyBytesMax, head.request.isKeepAlive,
            !head.expectsContinue || !input.isEmpty
        else {
            state = .responding(isKeepAlive: false, HTTPInput())
            return false
        }
        state =
            input.count < count
            ? .dropping(remaining: count - input.count, isAnswered: false)
            : .responding(isKeepAlive: true, input.dropping(count))
        return true
    }

    /// Says that the response to the last request is written; gives the next request if it has arrived already.
    ///
    /// - Parameters:
    ///   - isKeepAlive: False when the response said `Connection: close` or lasts until the close.
    ///   - limits: The limits for what waits behind this response.
    /// - Returns: What to do next; `wait` when no further request is complete.
    package mutating func responseFinished(isKeepAlive: Bool = true, limits: HTTPLimits) -> Action {
        switch state {
        case .responding(let wasKeepAlive, let input):
            guard wasKeepAlive && isKeepAlive else { return close() }
            state = .idle
            return endIfPeerEnded(input.isEmpty ? .wait : readHead(input, HTTPHeadScanner(), limits))
        case .dropping(let remaining, isAnswered: false):
            guard isKeepAlive else { return close() }
            state = .dropping(remaining: remaining, isAnswered: true)
            return endIfPeerEnded(.wait)
        case .streaming, .closed:
            return close()
        case .idle, .head, .admitting, .body, .dropping:
            preconditionFailure("responseFinished in state \(stateName): no request has been handed out")
        }
    }

    /// Says that the response under way is an event stream: nothing follows it on this connection.
    package mutating func streamStarted(limits: HTTPLimits) -> Action {
        switch state {
        case .responding(_, let input):
            return ignore(input.count, limits)
        case .closed:
            return .close
        case .idle, .head, .admitting, .body, .dropping, .streaming:
            preconditionFailure("streamStarted in state \(stateName): no request has been handed out")
        }
    }

    /// Says that the time of `deadline` has passed; a stale call changes nothing.
    package mutating func deadlinePassed(limits: HTTPLimits) -> Action {
        switch state {
        case .idle, .dropping(_, isAnswered: true): return close()
        case .head(let input, let scanner):
            let late = HTTPRefusal(
                .requestTimeout,
                "The request's head did not arrive within \(limits.text(of: .head)) (headTimeMax). Nothing has changed. Send the request again."
            )
            return refuse(scanner.refusal(limits) ?? late, head: input, scanner)
        case .body:
            return refuseBody(
                "The request's body did not arrive within \(limits.text(of: .body)) (bodyTimeMax). Nothing has changed. Send the request again."
            )
        case .admitting, .responding, .dropping, .streaming, .closed: return .wait
        }
    }

    /// Says that the body under way makes too little progress: refuses it with 408 and this explanation.
    package mutating func bodyStalled(_ detail: String) -> Action { refuseBody(detail) }

    /// Says that the peer has ended its side; a response under way is still written and then ends the connection.
    package mutating func peerEnded(limits: HTTPLimits) -> Action {
        hasPeerEnded = true
        switch state {
        case .head(let input, let scanner):
            guard let refusal = scanner.refusal(limits) else { return close() }
            return refuse(refusal, head: input, scanner)
        case .admitting, .responding, .dropping(_, isAnswered: false): return .wait
        case .idle, .body, .dropping, .streaming, .closed: return close()
        }
    }

    /// Says that the connection is closed: whatever it held is released, and later calls do nothing.
    package mutating func closed() { state = .closed }

    private mutating func readHead(_ input: HTTPInput, _ scanner: HTTPHeadScanner, _ limits: HTTPLimits) -> Action {
        readHead(input.bytes.span.extracting(input.start...), of: input, scanner, limits)
    }

    /// Reads a head from `bytes`, which are the unread part of `input`, or of the loop's buffer when that is nil.
    private mutating func readHead(
        _ bytes: Span<UInt8>,
        of input: HTTPInput?,
        _ scanner: HTTPHeadScanner,
        _ limits: HTTPLimits
    ) -> Action {
        var scanner = scanner
        do throws(HTTPRefusal) {
            guard let range = try scanner.scan(bytes, limits) else {
                state = .head(input ?? HTTPInput(bytes), scanner)
                return .wait
            }
            let block = [UInt8](copying: bytes.extracting(range))
            var parser = HTTPHeadParser(block: block, lineCount: scanner.lineCount)
            let head = try parser.parse(limits)
            return begin(head, bytes.extracting(range.upperBound...), of: input?.dropping(range.upperBound), limits)
        } catch {
            return refuse(error.answering(head: bytes.extracting(scanner.read)))
        }
    }

    /// Gives a request that is complete with its head, or its head; `rest` is what has arrived behind that, as in `readHead`.
    private mutating func begin(
        _ head: consuming HTTPHead,
        _ rest: Span<UInt8>,
        of input: HTTPInput?,
        _ limits: HTTPLimits
    ) -> Action {
        let framing = head.framing
        switch framing {
        case .none:
            state = .responding(isKeepAlive: head.request.isKeepAlive, input ?? HTTPInput(rest))
            return .request(head.request)
        case .length(let count)
        where count <= rest.count && count <= min(limits.refusedBodyBytesMax, limits.bodyBytesMax):
            head.request.body = [UInt8](copying: rest.extracting(..<count))
            let next = input?.dropping(count) ?? HTTPInput(rest.extracting(count...))
            state = .responding(isKeepAlive: head.request.isKeepAlive, next)
            return .request(head.request)
        case .length, .chunked:
            let request = head.request
            state = .admitting(head, input ?? HTTPInput(rest))
            return .admit(request, framing)
        }
    }

    private mutating func readBody(
        _ bytes: Span<UInt8>,
        of input: HTTPInput?,
        _ request: HTTPRequest,
        _ decoder: HTTPBodyDecoder,
        _ limits: HTTPLimits
    ) -> Action {
        var request = request
        var decoder = decoder
        do {
            guard let consumed = try decoder.decode(bytes, into: &request.body, limits) else {
                state = .body(request, decoder)
                return .wait
            }
            let rest = input?.dropping(consumed) ?? HTTPInput(bytes.extracting(consumed...))
            state = .responding(isKeepAlive: request.isKeepAlive, rest)
            return .request(request)
        } catch {
            return refuse(error.answering(request.headers))
        }
    }

    /// Reads away what `bytes` hold of a refused request's body.
    private mutating func drop(
        _ bytes: Span<UInt8>,
        _ remaining: Int,
        _ isAnswered: Bool,
        _ limits: HTTPLimits
    ) -> Action {
        guard bytes.count >= remaining else {
            state = .dropping(remaining: remaining - bytes.count, isAnswered: isAnswered)
            return .wait
        }
        let rest = bytes.extracting(remaining...)
        guard isAnswered else {
            state = .responding(isKeepAlive: true, HTTPInput(rest))
            return .wait
        }
        state = .idle
        return rest.isEmpty ? .wait : readHead(rest, of: nil, HTTPHeadScanner(), limits)
    }

    private mutating func ignore(_ byteCount: Int, _ limits: HTTPLimits) -> Action {
        guard byteCount <= limits.streamInputBytesMax else { return close() }
        state = .streaming(ignoredBytes: byteCount)
        return .wait
    }

    private mutating func endIfPeerEnded(_ action: Action) -> Action {
        guard hasPeerEnded else { return action }
        switch action {
        case .wait, .sendContinue: return close()
        case .admit, .request, .refuse, .close: return action
        }
    }

    private mutating func refuse(_ refusal: HTTPRefusal, head input: HTTPInput, _ scanner: HTTPHeadScanner) -> Action {
        refuse(refusal.answering(head: input.bytes.span.extracting(input.start...).extracting(scanner.read)))
    }

    private mutating func refuseBody(_ detail: String) -> Action {
        guard case .body(let request, _) = state else { return .wait }
        return refuse(HTTPRefusal(.requestTimeout, detail).answering(request.headers))
    }

    private mutating func refuse(_ refusal: HTTPRefusal) -> Action {
        state = .closed
        return .refuse(refusal)
    }

    private mutating func close() -> Action {
        state = .closed
        return .close
    }

    private var stateName: String {
        switch state {
        case .idle: "idle"
        case .head: "head"
        case .admitting: "admitting"
        case .body: "body"
        case .responding: "responding"
        case .dropping: "dropping"
        case .streaming: "streaming"
        case .closed: "closed"
        }
    }
}

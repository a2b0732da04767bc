/// The state machine of one connection: it reads requests, and passes on one request at a time.
///
/// It does no I/O and has no clock. After every call, its driver:
/// 1. executes the action, in a loop as long as `responseFinished` returns another request;
/// 2. reads or stops reading as `wantsReading` requires, which bounds the bytes that wait behind a slow response;
/// 3. re-arms its timer if `deadline` differs from the armed one; an equal value is still the same deadline, because a
///    new deadline of the same kind never follows directly.
///
/// Requests are passed on one at a time, so responses have the order of their requests. The outcome does not depend on
/// the division of the bytes into reads. An idle or streaming connection has no heap memory.
///
/// The driver decides about a body before the body is read: if the body is incomplete, the head is passed as `admit`.
/// If a body of at most `HTTPLimits.refusedBodyBytesMax` has arrived together with its head, its request is passed on
/// at once. Source: RFC 9112 sections 2.2, 6, 9.3.
package struct HTTPConnection: Sendable {
    /// The next action of the driver.
    package enum Action: Sendable {
        /// No action: the connection waits for more bytes, or for the current response.
        case wait
        /// Decide about a request before its body is read: call `admitted`, or call `refused` and then answer it.
        ///
        /// The connection reads nothing until then. The case is indirect, so that it does not make the other actions
        /// larger.
        indirect case admit(HTTPRequest, HTTPHead.Framing)
        /// Route the request; call `responseFinished`, `streamStarted` or `closed` when its response is written.
        case request(HTTPRequest)
        /// Write `HTTPConnection.continueLine`, which the peer waits for before it sends the body.
        case sendContinue
        /// Answer with this problem and `Connection: close`, then close with a linger.
        case refuse(HTTPError)
        /// Close the connection after all written bytes are sent.
        case close
    }

    /// The bytes for `sendContinue`.
    package static let continueLine: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private enum State: Sendable {
        /// The state while no byte of a request has arrived.
        case idle
        /// The state while a head is incomplete.
        indirect case head(HTTPInput, HTTPHeadScanner)
        /// The state while the driver decides about a head; received bytes of its body wait in the input.
        indirect case admitting(HTTPHead, HTTPInput)
        /// The state while an admitted body is not complete.
        indirect case body(HTTPRequest, HTTPBodyDecoder)
        /// The state while a request is with its route; bytes received after it wait in the input.
        case responding(isKeepAlive: Bool, HTTPInput)
        /// The state while the rest of a refused request's body is read and discarded; `isAnswered` is true if its
        /// response is written.
        case dropping(remaining: Int, isAnswered: Bool)
        /// The state while an event stream is open, with the count of bytes that the peer has sent into it.
        case streaming(ignoredBytes: Int)
        /// The state after a refusal or a close.
        case closed
    }

    private var state = State.idle
    /// True if the driver has paused the current body; then it is not read, and its deadline does not apply.
    package var isBodyPaused = false
    /// True if the peer has ended its side; received requests are still answered, then the connection is closed.
    private var hasPeerEnded = false

    /// Makes a connection that waits for its first request.
    package init() {}

    /// The current deadline of the connection; nil during a response or stream, while the body is paused or decided
    /// about, and after the close.
    package var deadline: HTTPDeadline? {
        switch state {
        case .idle: .idle
        case .head: .head
        case .body: isBodyPaused ? nil : .body
        case .dropping(_, isAnswered: true): .body
        case .admitting, .responding, .dropping(_, isAnswered: false), .streaming, .closed: nil
        }
    }

    /// False while the driver decides about a head or pauses its body, and while bytes of a next request wait behind
    /// the current response.
    package var wantsReading: Bool {
        switch state {
        case .responding(_, let input): input.isEmpty
        case .admitting: false
        case .body: !isBodyPaused
        case .idle, .head, .dropping, .streaming, .closed: true
        }
    }

    /// The number of received bytes of the current body.
    package var heldBodyBytes: Int {
        switch state {
        case .admitting(_, let input): input.count
        case .body(let request, _): request.body.count
        case .idle, .head, .responding, .dropping, .streaming, .closed: 0
        }
    }

    /// Takes received bytes, divided in any way; bytes after a close are ignored.
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

    /// Allows the reading of the body of the last passed head.
    ///
    /// - Returns: The next action; `sendContinue` if the peer waits for it, `refuse` if the body is larger than
    ///   `bodyBytesMax`.
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

    /// Refuses the last passed head, or the current body; the rest of the body is discarded, or the response must end
    /// the connection.
    ///
    /// A declared body of at most `HTTPLimits.refusedBodyBytesMax` is read and discarded. A peer that waits for `100
    /// Continue`, and has sent no byte of its body, may send the body or not. So the beginning of its next request is
    /// unknown, and the connection must end. Source: RFC 9110 section 10.1.1.
    ///
    /// - Returns: True if the connection can be kept; otherwise the response must have `Connection: close`.
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

    /// Records that the response to the last request is written; returns the next request if it was received already.
    ///
    /// - Parameters:
    ///   - isKeepAlive: False if the response had `Connection: close` or lasts until the close.
    ///   - limits: The limits for the bytes that wait behind this response.
    /// - Returns: The next action; `wait` if no further request is complete.
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
            preconditionFailure("responseFinished in state \(stateName): no request is being answered")
        }
    }

    /// Records that the current response is an event stream, after which no response follows on this connection.
    package mutating func streamStarted(limits: HTTPLimits) -> Action {
        switch state {
        case .responding(_, let input):
            return ignore(input.count, limits)
        case .closed:
            return .close
        case .idle, .head, .admitting, .body, .dropping, .streaming:
            preconditionFailure("streamStarted in state \(stateName): no request is being answered")
        }
    }

    /// Records that the time of `deadline` has passed; an outdated call changes nothing.
    package mutating func deadlinePassed(limits: HTTPLimits) -> Action {
        switch state {
        case .idle, .dropping(_, isAnswered: true): return close()
        case .head(let input, let scanner):
            let late = HTTPError(
                .requestTimeout,
                "The request's head did not arrive within \(limits.text(of: .head)) (headTimeMax). Nothing has changed. Send the request again."
            )
            return refuse(scanner.error(limits) ?? late, head: input, scanner)
        case .body:
            return refuseBody(
                "The request's body did not arrive within \(limits.text(of: .body)) (bodyTimeMax). Nothing has changed. Send the request again."
            )
        case .admitting, .responding, .dropping, .streaming, .closed: return .wait
        }
    }

    /// Refuses the current body, which makes too little progress, with 408 and this explanation.
    package mutating func bodyStalled(_ detail: String) -> Action { refuseBody(detail) }

    /// Records that the peer has ended its side; a current response is still written and then ends the connection.
    package mutating func peerEnded(limits: HTTPLimits) -> Action {
        hasPeerEnded = true
        switch state {
        case .head(let input, let scanner):
            guard let error = scanner.error(limits) else { return close() }
            return refuse(error, head: input, scanner)
        case .admitting, .responding, .dropping(_, isAnswered: false): return .wait
        case .idle, .body, .dropping, .streaming, .closed: return close()
        }
    }

    /// Records that the connection is closed; its memory is released, and later calls do nothing.
    package mutating func closed() { state = .closed }

    private mutating func readHead(_ input: HTTPInput, _ scanner: HTTPHeadScanner, _ limits: HTTPLimits) -> Action {
        readHead(input.bytes.span.extracting(input.start...), of: input, scanner, limits)
    }

    /// Reads a head from `bytes`, which are the unread part of `input`, or of the loop's buffer if `input` is nil.
    private mutating func readHead(
        _ bytes: Span<UInt8>,
        of input: HTTPInput?,
        _ scanner: HTTPHeadScanner,
        _ limits: HTTPLimits
    ) -> Action {
        var scanner = scanner
        do throws(HTTPError) {
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

    /// Returns `request` for a request that has arrived completely, and `admit` for any other head.
    ///
    /// `rest` has the bytes after the head. They belong to `input`, as in `readHead`.
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

    /// Discards the part of a refused request's body that `bytes` hold.
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

    private mutating func refuse(_ error: HTTPError, head input: HTTPInput, _ scanner: HTTPHeadScanner) -> Action {
        refuse(error.answering(head: input.bytes.span.extracting(input.start...).extracting(scanner.read)))
    }

    private mutating func refuseBody(_ detail: String) -> Action {
        guard case .body(let request, _) = state else { return .wait }
        return refuse(HTTPError(.requestTimeout, detail).answering(request.headers))
    }

    private mutating func refuse(_ error: HTTPError) -> Action {
        state = .closed
        return .refuse(error)
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

// Part of Rivulet. See README.md for the architecture.
// Owns the life of one HTTP/1.1 connection as a pure state machine: received bytes in, actions out.

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
/// Source: RFC 9112 sections 2.2, 6, 9.3.
package struct HTTPConnection: Sendable {
    /// What the driver does next.
    package enum Action: Sendable {
        /// Nothing: more bytes, or the response under way, come first.
        case wait
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
        /// The state while a head is complete but its body is not.
        indirect case body(HTTPRequest, HTTPBodyDecoder)
        /// The state while a request is with its route; what has arrived behind it waits in the input.
        case responding(isKeepAlive: Bool, HTTPInput)
        /// The state while an event stream is open; counts the bytes that the peer has sent into it.
        case streaming(ignoredBytes: Int)
        /// The state after a refusal or a close.
        case closed
    }

    private var state = State.idle
    /// Whether the peer has ended its side: what has arrived is still answered, then the connection is closed.
    private var hasPeerEnded = false

    /// A new connection, waiting for its first request.
    package init() {}

    /// The time that bounds the connection now; nil while a response or stream is under way and once it is closed.
    package var deadline: HTTPDeadline? {
        switch state {
        case .idle: .idle
        case .head: .head
        case .body: .body
        case .responding, .streaming, .closed: nil
        }
    }

    /// False while bytes of a next request wait behind the response under way.
    package var wantsReading: Bool {
        switch state {
        case .responding(_, let input): input.isEmpty
        case .idle, .head, .body, .streaming, .closed: true
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
        case .body(let request, let decoder):
            state = .idle
            return readBody(bytes, of: nil, request, decoder, limits)
        case .responding(let isKeepAlive, var input):
            state = .idle
            input.append(bytes)
            guard input.count <= limits.pipelinedBytesMax else { return close() }
            state = .responding(isKeepAlive: isKeepAlive, input)
            return .wait
        case .streaming(let ignoredBytes):
            return ignore(ignoredBytes + bytes.count, limits)
        case .closed:
            return .wait
        }
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
        case .streaming, .closed:
            return close()
        case .idle, .head, .body:
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
        case .idle, .head, .body, .streaming:
            preconditionFailure("streamStarted in state \(stateName): no request has been handed out")
        }
    }

    /// Says that the time of `deadline` has passed; a stale call changes nothing.
    package mutating func deadlinePassed() -> Action {
        switch state {
        case .idle: close()
        case .head: refuse(HTTPRefusal(.requestTimeout, "the request's head did not arrive in time"))
        case .body: refuse(HTTPRefusal(.requestTimeout, "the request's body did not arrive in time"))
        case .responding, .streaming, .closed: .wait
        }
    }

    /// Says that the peer has ended its side; a response under way is still written and then ends the connection.
    package mutating func peerEnded() -> Action {
        hasPeerEnded = true
        switch state {
        case .responding: return .wait
        case .idle, .head, .body, .streaming, .closed: return close()
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
        do {
            guard let range = try scanner.scan(bytes, limits) else {
                state = .head(input ?? HTTPInput(bytes), scanner)
                return .wait
            }
            let block = [UInt8](copying: bytes.extracting(range))
            var parser = HTTPHeadParser(block: block, lineCount: scanner.lineCount)
            let head = try parser.parse(limits)
            let decoder = try HTTPBodyDecoder(head.framing, limits)
            let rest = bytes.extracting(range.upperBound...)
            let action = readBody(rest, of: input?.dropping(range.upperBound), head.request, decoder, limits)
            guard case .wait = action, head.expectsContinue, rest.isEmpty else { return action }
            return .sendContinue
        } catch {
            return refuse(error)
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
            return refuse(error)
        }
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
        case .request, .refuse, .close: return action
        }
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
        case .body: "body"
        case .responding: "responding"
        case .streaming: "streaming"
        case .closed: "closed"
        }
    }
}

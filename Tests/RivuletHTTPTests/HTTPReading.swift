// Owns the reading of raw request text in tests, with the text cut in several ways.

import RivuletHTTP
import Testing

/// The result of reading a peer's bytes, if every request is answered at once.
struct HTTPReading: Equatable {
    /// One line for each request: "GET /a?b HTTP/1.1 [host: x] body".
    ///
    /// A request that is refused at its head is "refused /a", followed by " close" if that ends the connection.
    var requests: [String] = []
    var refusal: HTTPError?
    var isClosed = false

    /// The result of reading `text`, which must be the same for all cuts: whole, and in pieces of 1, 7 and 64 bytes.
    ///
    /// The driver refuses the requests for `refusedPath` at their heads.
    static func of(
        _ text: String,
        limits: HTTPLimits = HTTPLimits(),
        refusing refusedPath: String = ""
    ) -> HTTPReading {
        of(Array(text.utf8), limits: limits, refusing: refusedPath)
    }

    static func of(
        _ bytes: [UInt8],
        limits: HTTPLimits = HTTPLimits(),
        refusing refusedPath: String = ""
    ) -> HTTPReading {
        let whole = HTTPReading(bytes, cut: max(bytes.count, 1), limits, refusedPath)
        for cut in [1, 7, 64] {
            #expect(HTTPReading(bytes, cut: cut, limits, refusedPath) == whole, "cut into \(cut)")
        }
        return whole
    }

    private init(_ bytes: [UInt8], cut: Int, _ limits: HTTPLimits, _ refusedPath: String) {
        var connection = HTTPConnection()
        for start in stride(from: 0, to: bytes.count, by: cut) {
            let part = bytes[start..<min(start + cut, bytes.count)]
            var action = connection.receive(Array(part).span, limits: limits)
            while let next = answer(action, on: &connection, limits, refusedPath) { action = next }
            if case .refuse(let refusal) = action { self.refusal = refusal }
            if case .close = action { isClosed = true }
        }
    }

    /// Does what a driver does with a request or a head; nil if the action is neither.
    private mutating func answer(
        _ action: HTTPConnection.Action,
        on connection: inout HTTPConnection,
        _ limits: HTTPLimits,
        _ refusedPath: String
    ) -> HTTPConnection.Action? {
        switch action {
        case .request(let request):
            requests.append(request.path == refusedPath ? "refused \(request.path)" : Self.line(request))
            return connection.responseFinished(limits: limits)
        case .admit(let request, _):
            #expect(!connection.wantsReading && connection.deadline == nil)
            guard request.path == refusedPath else { return connection.admitted(limits: limits) }
            let isKept = connection.refused(limits: limits)
            requests.append("refused \(request.path)\(isKept ? "" : " close")")
            return connection.responseFinished(isKeepAlive: isKept, limits: limits)
        case .wait, .sendContinue, .refuse, .close:
            return nil
        }
    }

    private static func line(_ request: HTTPRequest) -> String {
        let version = request.version == .http11 ? "1.1" : "1.0"
        let headers = request.headers.all.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        let target = request.path + (request.query.map { "?" + $0 } ?? "")
        let body = String(decoding: request.body, as: UTF8.self)
        return "\(request.method.name) \(target) HTTP/\(version) [\(headers)]\(body.isEmpty ? "" : " " + body)"
    }
}

/// Reads `text`, which must be one request.
func oneRequest(_ text: String, limits: HTTPLimits = HTTPLimits()) throws -> HTTPRequest {
    var connection = HTTPConnection()
    let action = connection.receiveAdmitting(Array(text.utf8), limits: limits)
    guard case .request(let request) = action else {
        throw NoRequest(action: "\(action)")
    }
    return request
}

extension HTTPConnection {
    /// Takes bytes, and reads the body of a head that they complete.
    mutating func receiveAdmitting(_ bytes: [UInt8], limits: HTTPLimits) -> Action {
        let action = receive(bytes.span, limits: limits)
        guard case .admit = action else { return action }
        return admitted(limits: limits)
    }
}

/// The text is not the request that was expected.
struct NoRequest: Error {
    let action: String
}

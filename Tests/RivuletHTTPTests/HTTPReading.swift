// Part of Rivulet. See README.md for the architecture.
// Owns the reading of raw request text in tests, in several cuts.

import RivuletHTTP
import Testing

/// What a connection made of the bytes of a peer, every request having been answered at once.
struct HTTPReading: Equatable {
    /// One line per request: "GET /a?b HTTP/1.1 [host: x] body".
    var requests: [String] = []
    var refusal: HTTPRefusal?
    var isClosed = false

    /// What is made of `text`, which must not depend on how it is cut: whole, by single bytes, by sevens.
    static func of(_ text: String, limits: HTTPLimits = HTTPLimits()) -> HTTPReading {
        of(Array(text.utf8), limits: limits)
    }

    static func of(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> HTTPReading {
        let whole = HTTPReading(bytes, cut: max(bytes.count, 1), limits: limits)
        for cut in [1, 7, 64] { #expect(HTTPReading(bytes, cut: cut, limits: limits) == whole, "cut into \(cut)") }
        return whole
    }

    private init(_ bytes: [UInt8], cut: Int, limits: HTTPLimits) {
        var connection = HTTPConnection()
        for start in stride(from: 0, to: bytes.count, by: cut) {
            let part = bytes[start..<min(start + cut, bytes.count)]
            var action = connection.receive(Array(part).span, limits: limits)
            while case .request(let request) = action {
                requests.append(Self.line(request))
                action = connection.responseFinished(limits: limits)
            }
            if case .refuse(let refusal) = action { self.refusal = refusal }
            if case .close = action { isClosed = true }
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

/// The one request that `text` is.
func oneRequest(_ text: String, limits: HTTPLimits = HTTPLimits()) throws -> HTTPRequest {
    var connection = HTTPConnection()
    let action = connection.receive(Array(text.utf8).span, limits: limits)
    guard case .request(let request) = action else {
        throw NoRequest(action: "\(action)")
    }
    return request
}

/// Text was expected to be a request, and is not.
struct NoRequest: Error {
    let action: String
}

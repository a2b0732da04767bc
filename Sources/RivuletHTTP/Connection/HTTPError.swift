/// The error of a request that is refused before it reaches a route.
///
/// The connection cannot be used afterwards, because the beginning of the next request is unknown. Write the answer,
/// then close with a linger, so that the answer is not lost to a reset while the peer still sends.
package struct HTTPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error in a request, named after the status of its answer.
    package enum Kind: Sendable {
        case badRequest, requestTimeout, contentTooLarge, uriTooLong, expectationFailed, requestHeaderFieldsTooLarge
        case notImplemented, httpVersionNotSupported
    }

    package let kind: Kind
    /// The error in one sentence, without bytes of the request.
    package let detail: String
    /// The page's origin as in the request, for an answer that the page may read; nil if the request has none or
    /// several.
    package private(set) var origin: String?

    /// Makes an error of a kind with an explanation.
    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// The status of the answer.
    package var status: HTTPStatus {
        switch kind {
        case .badRequest: .badRequest
        case .requestTimeout: .requestTimeout
        case .contentTooLarge: .contentTooLarge
        case .uriTooLong: .uriTooLong
        case .expectationFailed: .expectationFailed
        case .requestHeaderFieldsTooLarge: .requestHeaderFieldsTooLarge
        case .notImplemented: .notImplemented
        case .httpVersionNotSupported: .httpVersionNotSupported
        }
    }

    package var description: String { "\(status.code) \(status.reason): \(detail)" }

    /// Returns the same error with the origin from these header lines.
    func answering(_ headers: HTTPHeaders) -> HTTPError { answering(origins: headers.values(of: "origin")) }

    /// Returns the same error with the origin from a head, or from the part of a head that was read.
    ///
    /// The lines of the head may be malformed.
    func answering(head: Span<UInt8>) -> HTTPError {
        let head = [UInt8](copying: head)
        guard let end = head.lastIndex(of: ASCII.lineFeed) else { return self }
        let isBlank: (UInt8) -> Bool = { $0 == ASCII.space || $0 == ASCII.tab || $0 == ASCII.carriageReturn }
        let origins = head[..<end].split(separator: ASCII.lineFeed).dropFirst().compactMap { line -> String? in
            let name = "origin:".utf8
            guard line.prefix(name.count).map(ASCII.lowercased).elementsEqual(name) else { return nil }
            var value = line.dropFirst(name.count).drop(while: isBlank)
            while let last = value.last, isBlank(last) { value.removeLast() }
            return String(decoding: value, as: UTF8.self)
        }
        return answering(origins: origins)
    }

    private func answering(origins: [String]) -> HTTPError {
        guard origins.count == 1 else { return self }
        var error = self
        error.origin = origins[0]
        return error
    }

    /// Returns the 414 for a target over its limit.
    static func targetTooLong(_ limits: HTTPLimits) -> HTTPError {
        HTTPError(
            .uriTooLong,
            "The request target is longer than \(limits.targetBytesMax) bytes (targetBytesMax). Nothing has changed. Send a shorter one."
        )
    }

    /// Returns a 400 with an explanation.
    static func malformed(_ detail: String) -> HTTPError { HTTPError(.badRequest, detail) }
}

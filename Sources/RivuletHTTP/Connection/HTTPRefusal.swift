/// A request that was refused before it reached a route.
///
/// The connection cannot be used afterwards: where the next request would begin is unknown. Write the answer, then
/// close with a linger, so that the answer is not lost to a reset while the peer still sends.
package struct HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a request, named after the status of its answer.
    package enum Kind: Sendable {
        case badRequest, requestTimeout, contentTooLarge, uriTooLong, expectationFailed, requestHeaderFieldsTooLarge
        case notImplemented, httpVersionNotSupported
    }

    package let kind: Kind
    /// What was wrong, in one sentence that quotes no bytes of the request.
    package let detail: String
    /// The page's origin as the request has it, for an answer that the page may read; nil without one, or with several.
    package private(set) var origin: String?

    /// A refusal of this kind with this explanation.
    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail
    }

    /// The status to answer with.
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

    /// The same refusal of a request with these header lines.
    func answering(_ headers: HTTPHeaders) -> HTTPRefusal { answering(origins: headers.values(of: "origin")) }

    /// The same refusal of a request with this head, or with as much of it as was read; its lines may be wrong.
    func answering(head: Span<UInt8>) -> HTTPRefusal {
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

    private func answering(origins: [String]) -> HTTPRefusal {
        guard origins.count == 1 else { return self }
        var refusal = self
        refusal.origin = origins[0]
        return refusal
    }

    /// The 414 for a target over its limit.
    static func targetTooLong(_ limits: HTTPLimits) -> HTTPRefusal {
        HTTPRefusal(
            .uriTooLong,
            "The request target is longer than \(limits.targetBytesMax) bytes (targetBytesMax). Nothing has changed. Send a shorter one."
        )
    }

    /// A 400 with this explanation.
    static func malformed(_ detail: String) -> HTTPRefusal { HTTPRefusal(.badRequest, detail) }
}

/// A response head, ready to be written.
package struct HTTPResponseHead: Sendable {
    package var status: HTTPStatus
    /// The fields in the order they are written.
    ///
    /// `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` are written by `append` and must not be among
    /// them.
    package var fields: [HTTPField]
    package var framing: HTTPBodyFraming

    /// A head with these parts.
    package init(_ status: HTTPStatus, fields: [HTTPField] = [], framing: HTTPBodyFraming) {
        self.status = status
        self.fields = fields
        self.framing = framing
    }

    /// Appends the head's bytes, with the empty line that ends it, to `output`.
    ///
    /// - Parameters:
    ///   - output: The bytes so far.
    ///   - version: The version of the request. HTTP/1.0 is told `Connection: keep-alive`, and its bodies cannot be
    ///     chunked: they last until the close.
    ///   - date: The value of `Date`, from `HTTPDate`; made once a second by the caller. Empty writes no `Date`.
    ///   - constant: Whole field lines, each with its line end, which were made once for many answers.
    ///   - isKeepAlive: Whether the connection stays open after this response; ignored when the body lasts until the close.
    /// - Returns: The framing that was written. Keep the connection only if `isKeepAlive` holds and this is not
    ///   `untilClose`.
    @discardableResult
    package func append(
        to output: inout [UInt8],
        version: HTTPVersion = .http11,
        date: [UInt8] = [],
        constant: [UInt8] = [],
        isKeepAlive: Bool = true
    ) -> HTTPBodyFraming {
        let framing = framingOnTheWire(version)
        output.append(addingCapacity: byteCountMax(date: date) + constant.count) { output in
            output.append(copying: "HTTP/1.1 ")
            output.append(decimal: Int(status.code))
            output.append(ASCII.space)
            output.append(copying: status.reason)
            output.appendLineEnd()
            if !date.isEmpty {
                output.append(copying: "Date: ")
                output.append(copying: date.span)
                output.appendLineEnd()
            }
            output.append(copying: constant.span)
            for field in fields { output.append(field: field) }
            output.append(framing: framing)
            if !isKeepAlive || framing == .untilClose {
                output.append(copying: "Connection: close\r\n")
            } else if version == .http10 {
                output.append(copying: "Connection: keep-alive\r\n")
            }
            output.appendLineEnd()
        }
        return framing
    }

    /// The most bytes that everything but the fields, the date and the reason phrase takes.
    private static let fixedByteCountMax = 128

    private func byteCountMax(date: [UInt8]) -> Int {
        var count = Self.fixedByteCountMax + status.reason.utf8.count + date.count
        for field in fields { count += field.name.utf8.count + field.value.utf8.count + 4 }
        return count
    }

    private func framingOnTheWire(_ version: HTTPVersion) -> HTTPBodyFraming {
        if status.code < 200 || status.code == 204 { return .none }
        return framing == .chunked && version == .http10 ? .untilClose : framing
    }
}

extension [UInt8] {
    /// Appends a non-negative number in decimal digits.
    mutating func append(decimal value: Int) {
        append(addingCapacity: 20) { $0.append(decimal: value) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a non-negative number in decimal digits, for which there has to be room.
    fileprivate mutating func append(decimal value: Int) {
        if value >= 10 { append(decimal: value / 10) }
        append(UInt8(ascii: "0") + UInt8(value % 10))
    }

    fileprivate mutating func appendLineEnd() {
        append(ASCII.carriageReturn)
        append(ASCII.lineFeed)
    }

    fileprivate mutating func append(field: HTTPField) {
        append(copying: field.name)
        append(UInt8(ascii: ":"))
        append(ASCII.space)
        append(copying: field.value)
        appendLineEnd()
    }

    fileprivate mutating func append(framing: HTTPBodyFraming) {
        switch framing {
        case .length(let count):
            append(copying: "Content-Length: ")
            append(decimal: count)
            appendLineEnd()
        case .chunked:
            append(copying: "Transfer-Encoding: chunked\r\n")
        case .untilClose, .none:
            break
        }
    }
}

/// How the end of a response body is told.
///
/// Source: RFC 9112 section 6.
package enum HTTPBodyFraming: Hashable, Sendable {
    /// `Content-Length`; also what `HEAD` and 304 say of the body they do not carry.
    case length(Int)
    /// `Transfer-Encoding: chunked`; each part goes out through `HTTPChunk`. HTTP/1.0 gets `untilClose` instead.
    case chunked
    /// The body ends when the connection does; says `Connection: close`.
    case untilClose
    /// No body and no length: 1xx, 204, and a 304 that says nothing of the body.
    case none
}

/// The head of a response.
package struct HTTPResponseHead: Sendable {
    package var status: HTTPStatus
    /// The fields in the order in which they are written.
    ///
    /// `Date`, `Content-Length`, `Transfer-Encoding` and `Connection` are written by `append` and must not be among
    /// them.
    package var fields: [HTTPField]
    package var framing: HTTPBodyFraming

    /// Makes a head of these parts.
    package init(_ status: HTTPStatus, fields: [HTTPField] = [], framing: HTTPBodyFraming) {
        self.status = status
        self.fields = fields
        self.framing = framing
    }

    /// Appends the head's bytes, with the empty line that ends it, to `output`.
    ///
    /// - Parameters:
    ///   - output: The bytes so far.
    ///   - version: The version of the request. HTTP/1.0 gets `Connection: keep-alive`. A body for HTTP/1.0 cannot be
    ///     chunked, so it lasts until the close.
    ///   - date: The value of `Date`, from `HTTPDate`; the caller makes it once a second. If it is empty, no `Date` is
    ///     written.
    ///   - constant: Complete field lines, each with its line end, which are made once for many answers.
    ///   - isKeepAlive: True if the connection stays open after this response; ignored if the body lasts until the
    ///     close.
    /// - Returns: The framing that was written. Keep the connection only if `isKeepAlive` is true and the framing is
    ///   not `untilClose`.
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

    /// The maximum number of bytes of the head without the fields, the date and the reason phrase.
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
    /// Appends a non-negative number in decimal digits, for which there must be room.
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

/// The way in which the end of a response body is determined.
///
/// Source: RFC 9112 section 6.
package enum HTTPBodyFraming: Hashable, Sendable {
    /// `Content-Length`; an answer to `HEAD` and a 304 can have this field too, although they have no body.
    case length(Int)
    /// `Transfer-Encoding: chunked`; each part is written by `HTTPChunk`, and HTTP/1.0 gets `untilClose` instead.
    case chunked
    /// The body ends with the connection; the head has `Connection: close`.
    case untilClose
    /// No body and no length: 1xx, 204, and a 304 without a length.
    case none
}

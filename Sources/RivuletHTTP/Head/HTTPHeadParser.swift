/// The parser of one complete head, which `HTTPHeadScanner` has accepted.
///
/// So lines end in CR LF, tab is the only other control byte, and the last line is empty. A head that two servers could
/// read differently is refused. Source: RFC 9112 sections 3, 5, 6; RFC 9110 section 5.6.
struct HTTPHeadParser {
    private var block: [UInt8]
    private var offset = 0
    private var lines: [HTTPHeaders.Line] = []
    private var facts = HTTPHeadFacts()

    /// Makes a parser of `block`, which has `lineCount` lines before its empty one.
    init(block: [UInt8], lineCount: Int) {
        self.block = block
        lines.reserveCapacity(lineCount - 1)
    }

    /// Parses the head.
    ///
    /// - Throws: 400, 413, 414, 417, 501 or 505.
    mutating func parse(_ limits: HTTPLimits) throws(HTTPError) -> HTTPHead {
        let method = try parseMethod(limits)
        let target = try parseTarget(limits)
        let version = try parseVersion()
        while block[offset] != ASCII.carriageReturn { try parseHeader() }
        var location = try HTTPTargetParser.parse(block, target, method)
        let (framing, isKeepAlive) = try facts.conclude(version)
        if location.authority == nil { location.authority = facts.host }
        let request = HTTPRequest(
            method: method,
            version: version,
            headers: HTTPHeaders(block: block, lines: lines),
            isKeepAlive: isKeepAlive,
            hasPageFields: facts.hasPageFields,
            hasTraceParent: facts.hasTraceParent,
            location: location
        )
        let expectsContinue = facts.expectsContinue && version == .http11 && framing != .none
        return HTTPHead(request: request, framing: framing, expectsContinue: expectsContinue)
    }

    private mutating func parseMethod(_ limits: HTTPLimits) throws(HTTPError) -> HTTPMethod {
        while ASCII.isToken(block[offset]) { offset += 1 }
        guard offset > 0, block[offset] == ASCII.space else {
            throw .malformed("the request line does not begin with a method and a space")
        }
        guard offset <= limits.methodBytesMax else { throw HTTPError(.notImplemented, "the method is not known") }
        let name = String(decoding: block[..<offset], as: UTF8.self)
        guard name != "CONNECT" else { throw HTTPError(.notImplemented, "this server is not a proxy") }
        offset += 1
        return HTTPMethod(name)
    }

    private mutating func parseTarget(_ limits: HTTPLimits) throws(HTTPError) -> Range<Int> {
        let start = offset
        var index = start
        while block[index] > ASCII.space && block[index] < ASCII.delete { index += 1 }
        offset = index
        guard block[offset] == ASCII.space, offset > start else {
            throw .malformed("the request target has a byte that must be escaped, or is not followed by a version")
        }
        guard offset - start <= limits.targetBytesMax else {
            throw .targetTooLong(limits)
        }
        offset += 1
        return start..<offset - 1
    }

    private mutating func parseVersion() throws(HTTPError) -> HTTPVersion {
        let start = offset
        while block[offset] != ASCII.carriageReturn { offset += 1 }
        let end = offset
        offset += 2
        guard end - start == 8, ASCII.isEqual(block, start..<start + 5, "HTTP/"), block[start + 6] == UInt8(ascii: "."),
            ASCII.isDigit(block[start + 5]), ASCII.isDigit(block[start + 7])
        else { throw .malformed("the request line does not end in an HTTP version") }
        guard block[start + 5] == UInt8(ascii: "1") else {
            guard !block.starts(with: "PRI * HTTP/2.0".utf8) else {
                throw .malformed("HTTP/2 with prior knowledge is not served here")
            }
            throw HTTPError(.httpVersionNotSupported, "only HTTP/1.1 and HTTP/1.0 are served")
        }
        return block[start + 7] == UInt8(ascii: "0") ? .http10 : .http11
    }

    private mutating func parseHeader() throws(HTTPError) {
        let name = try parseName()
        let value = parseValue()
        lines.append(
            HTTPHeaders.Line(
                nameStart: UInt16(name.lowerBound),
                nameCount: UInt16(name.count),
                valueStart: UInt16(value.lowerBound),
                valueCount: UInt16(value.count)
            )
        )
        try facts.record(block, name: name, value: value)
    }

    private mutating func parseName() throws(HTTPError) -> Range<Int> {
        let start = offset
        var index = start
        let characters = ASCII.tokenCharacters
        while block[index] < 128 {
            let lowercased = characters[Int(block[index])]
            if lowercased == 0 { break }
            if lowercased != block[index] { block[index] = lowercased }
            index += 1
        }
        offset = index
        guard block[offset] == UInt8(ascii: ":"), offset > start else { throw nameError(from: start) }
        offset += 1
        return start..<offset - 1
    }

    private mutating func parseValue() -> Range<Int> {
        var start = offset
        while isBlank(block[start]) { start += 1 }
        var end = start
        while block[end] != ASCII.carriageReturn { end += 1 }
        offset = end
        while end > start && isBlank(block[end - 1]) { end -= 1 }
        offset += 2
        return start..<end
    }

    private func nameError(from start: Int) -> HTTPError {
        guard isBlank(block[offset]) else {
            return .malformed("a header line has no name, or a name with a byte that is not allowed in names")
        }
        return offset == start
            ? .malformed("a header line begins with white space: line folding is not allowed")
            : .malformed("white space comes between a header name and its colon")
    }

    private func isBlank(_ byte: UInt8) -> Bool { byte == ASCII.space || byte == ASCII.tab }
}

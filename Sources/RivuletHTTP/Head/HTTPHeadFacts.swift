/// The facts from header lines that the framing and the answer depend on, gathered while the lines are parsed.
struct HTTPHeadFacts {
    private(set) var expectsContinue = false
    /// The position of the value of `Host`; nil if there is none.
    private(set) var host: Range<Int>?
    /// True if there is an `Origin` or a `Sec-Fetch-Site` line.
    private(set) var hasPageFields = false
    /// True if there is a `traceparent` line.
    private(set) var hasTraceParent = false
    private var contentLength: Int?
    private var hasTransferEncoding = false
    private var saysClose = false
    private var saysKeepAlive = false

    /// Records one line; `name` is in lower case.
    ///
    /// - Throws: 400, 417 or 501 for a line that is invalid itself or occurs twice.
    mutating func record(_ block: [UInt8], name: Range<Int>, value: Range<Int>) throws(HTTPError) {
        switch name.count {
        case 4 where ASCII.isEqual(block, name, "host"): try recordHost(block, value)
        case 6 where ASCII.isEqual(block, name, "expect"): try recordExpectation(block[value])
        case 6 where ASCII.isEqual(block, name, "origin"): hasPageFields = true
        case 10 where ASCII.isEqual(block, name, "connection"): recordConnection(block[value])
        case 11 where ASCII.isEqual(block, name, TraceParent.fieldName): hasTraceParent = true
        case 14 where ASCII.isEqual(block, name, "content-length"): try recordLength(block[value])
        case 14 where ASCII.isEqual(block, name, "sec-fetch-site"): hasPageFields = true
        case 17 where ASCII.isEqual(block, name, "transfer-encoding"): try recordCoding(block[value])
        default: break
        }
    }

    /// Returns the body's framing, and true if the connection persists, after all lines are recorded.
    ///
    /// - Throws: 400 for a missing host, or for a framing that two servers could read differently.
    func conclude(_ version: HTTPVersion) throws(HTTPError) -> (HTTPHead.Framing, isKeepAlive: Bool) {
        if version == .http11 && host == nil { throw .malformed("an HTTP/1.1 request must have a Host header") }
        let isKeepAlive = !saysClose && (version == .http11 || saysKeepAlive)
        guard hasTransferEncoding else {
            return (contentLength.map { $0 == 0 ? .none : .length($0) } ?? .none, isKeepAlive)
        }
        guard version == .http11 else { throw .malformed("HTTP/1.0 has no Transfer-Encoding") }
        guard contentLength == nil else {
            throw .malformed("a request must not have both Transfer-Encoding and Content-Length")
        }
        return (.chunked, isKeepAlive)
    }

    private mutating func recordHost(_ block: [UInt8], _ value: Range<Int>) throws(HTTPError) {
        guard host == nil else { throw .malformed("the request has more than one Host header") }
        guard value.isEmpty || HTTPTargetParser.isAuthority(block[value]) else {
            throw .malformed("the Host header is malformed")
        }
        host = value
    }

    /// Source: RFC 9110 section 10.1.1.
    private mutating func recordExpectation(_ value: ArraySlice<UInt8>) throws(HTTPError) {
        guard isEqual(value, "100-continue") else {
            throw HTTPError(.expectationFailed, "the only expectation that can be met is 100-continue")
        }
        expectsContinue = true
    }

    /// Source: RFC 9110 section 7.6.1.
    private mutating func recordConnection(_ value: ArraySlice<UInt8>) {
        for option in value.split(separator: UInt8(ascii: ",")) {
            let option = trimmed(option)
            if isEqual(option, "close") { saysClose = true }
            if isEqual(option, "keep-alive") { saysKeepAlive = true }
        }
    }

    /// Records the length; any repetition is refused, even of the same number.
    ///
    /// Source: RFC 9110 section 8.6.
    private mutating func recordLength(_ value: ArraySlice<UInt8>) throws(HTTPError) {
        guard contentLength == nil else { throw .malformed("the request has more than one Content-Length") }
        guard !value.isEmpty, value.allSatisfy(ASCII.isDigit) else {
            throw .malformed("Content-Length is not a number in decimal digits")
        }
        contentLength = value.reduce(0) { length, digit in
            let (tenfold, overflows) = length.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) = tenfold.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            return overflows || overflowsToo ? Int.max : sum
        }
    }

    /// Source: RFC 9112 section 6.1.
    private mutating func recordCoding(_ value: ArraySlice<UInt8>) throws(HTTPError) {
        guard !hasTransferEncoding else { throw .malformed("the request has more than one Transfer-Encoding") }
        hasTransferEncoding = true
        guard !isEqual(value, "chunked") else { return }
        let codings = value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map(trimmed)
        guard codings.allSatisfy({ $0.first.map(ASCII.isToken) ?? false }) else {
            throw .malformed("Transfer-Encoding is malformed")
        }
        guard !codings.dropLast().contains(where: { isEqual($0, "chunked") }), !codings.contains(where: isParametrised)
        else { throw .malformed("chunked must be the last transfer coding, occur once, and have no parameters") }
        throw HTTPError(.notImplemented, "the only transfer coding that can be read is chunked")
    }

    private func isParametrised(_ coding: ArraySlice<UInt8>) -> Bool {
        let name = coding.prefix(while: ASCII.isToken)
        return isEqual(name, "chunked") && name.count < coding.count
    }

    private func isEqual(_ bytes: ArraySlice<UInt8>, _ lowercased: String) -> Bool {
        guard bytes.count == lowercased.utf8.count else { return false }
        return bytes.lazy.map(ASCII.lowercased).elementsEqual(lowercased.utf8)
    }

    private func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isBlank: (UInt8) -> Bool = { $0 == ASCII.space || $0 == ASCII.tab }
        var result = bytes.drop(while: isBlank)
        while let last = result.last, isBlank(last) { result.removeLast() }
        return result
    }
}

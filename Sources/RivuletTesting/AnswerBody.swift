/// Removes the framing from the body of an answer.
///
/// The parser is strict: a chunk of a server under test that is not exactly as in RFC 9112 §7.1, or that has an
/// extension, is an error. The trailer section of the last chunk must be empty.
struct AnswerBody {
    private enum State {
        /// The state of a body that lasts until the close, or as long as `Content-Length` says.
        case plain
        /// The state while the line with the size of a chunk is read.
        case size
        /// The state while the content of a chunk is read.
        case content(remaining: Int)
        /// The state while the line end behind a chunk's content is due; `isLast` is true for the chunk without
        /// content.
        case lineEnd(isLast: Bool)
        /// The state behind the last chunk.
        case ended
    }

    private var state: State
    private var unread: [UInt8] = []

    /// Reads the body that belongs to a head.
    init(of head: TestAnswer) {
        state = head[field: "transfer-encoding"] == "chunked" ? .size : .plain
    }

    /// True if the body would be incomplete if the connection ended now.
    var isCut: Bool {
        switch state {
        case .plain, .ended: false
        case .size, .content, .lineEnd: true
        }
    }

    /// Returns the content of these bytes.
    ///
    /// - Throws: ``TestClientError`` for malformed framing.
    mutating func content(of bytes: some Collection<UInt8>) throws(TestClientError) -> [UInt8] {
        unread += bytes
        var content: [UInt8] = []
        while !unread.isEmpty {
            switch state {
            case .plain:
                content += unread
                unread = []
            case .size:
                guard let size = try takeSize() else { return content }
                state = size == 0 ? .lineEnd(isLast: true) : .content(remaining: size)
            case .content(let remaining):
                let part = unread.prefix(remaining)
                content += part
                unread.removeFirst(part.count)
                let rest = remaining - part.count
                state = rest == 0 ? .lineEnd(isLast: false) : .content(remaining: rest)
            case .lineEnd(let isLast):
                guard unread.count >= 2 else { return content }
                guard unread.starts(with: Self.lineEnd) else {
                    throw malformed("no line end follows a chunk")
                }
                unread.removeFirst(2)
                state = isLast ? .ended : .size
            case .ended:
                throw malformed("more bytes follow the last chunk")
            }
        }
        return content
    }

    private static let lineEnd = Array("\r\n".utf8)
    private static let sizeDigitsMax = 15

    /// Returns the size of the chunk that begins; nil while its line is incomplete.
    private mutating func takeSize() throws(TestClientError) -> Int? {
        guard let end = unread.firstRange(of: Self.lineEnd) else {
            guard unread.count <= Self.sizeDigitsMax + 1 else { throw malformed("a chunk has no valid size") }
            return nil
        }
        let digits = unread[..<end.lowerBound]
        let isHexadecimal = digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        guard isHexadecimal, digits.count <= Self.sizeDigitsMax,
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw malformed("a chunk has no valid size") }
        unread.removeFirst(end.upperBound)
        return size
    }

    private func malformed(_ what: String) -> TestClientError {
        TestClientError("\(what): \(String(decoding: unread.prefix(40), as: UTF8.self).debugDescription)")
    }
}

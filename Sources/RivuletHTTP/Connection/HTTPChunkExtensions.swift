/// A check of the bytes between a chunk's size and the end of its line.
///
/// Source: RFC 9112 section 7.1.1.
struct HTTPChunkExtensions: Sendable {
    private enum State: Sendable {
        /// The state before a semicolon; white space is allowed.
        case start
        /// The state before a name; white space is allowed.
        case beforeName
        /// The state within a name.
        case name
        /// The state after a name and white space.
        case afterName
        /// The state before a value; white space is allowed.
        case beforeValue
        /// The state within a value that is a token.
        case token
        /// The state within quotes.
        case quoted
        /// The state after a backslash within quotes.
        case escaped
        /// The state after a value, or after white space that follows a value.
        case afterValue(isBlank: Bool)
    }

    private var state = State.start

    /// Takes the next byte; returns false if it is the carriage return that ends the line.
    ///
    /// - Throws: 400.
    mutating func take(_ byte: UInt8) throws(HTTPError) -> Bool {
        if byte == ASCII.carriageReturn {
            guard isComplete else { throw .malformed("a chunk extension is not complete at the end of its line") }
            return false
        }
        guard let next = next(byte) else {
            throw .malformed("a chunk extension is malformed")
        }
        state = next
        return true
    }

    /// True if the line may end here.
    private var isComplete: Bool {
        switch state {
        case .name, .token, .afterValue(isBlank: false): true
        default: false
        }
    }

    private func next(_ byte: UInt8) -> State? {
        let isBlank = byte == ASCII.space || byte == ASCII.tab
        switch state {
        case .start:
            if isBlank { return .start }
            return byte == UInt8(ascii: ";") ? .beforeName : nil
        case .beforeName:
            if isBlank { return .beforeName }
            return ASCII.isToken(byte) ? .name : nil
        case .name, .afterName:
            if isBlank { return .afterName }
            switch byte {
            case UInt8(ascii: "="): return .beforeValue
            case UInt8(ascii: ";"): return .beforeName
            default:
                if case .name = state, ASCII.isToken(byte) { return .name }
                return nil
            }
        case .beforeValue:
            if isBlank { return .beforeValue }
            if byte == UInt8(ascii: "\"") { return .quoted }
            return ASCII.isToken(byte) ? .token : nil
        case .token:
            return ASCII.isToken(byte) ? .token : afterValue(byte)
        case .quoted:
            switch byte {
            case UInt8(ascii: "\""): return .afterValue(isBlank: false)
            case UInt8(ascii: "\\"): return .escaped
            default: return ASCII.isText(byte) ? .quoted : nil
            }
        case .escaped: return ASCII.isText(byte) ? .quoted : nil
        case .afterValue: return afterValue(byte)
        }
    }

    private func afterValue(_ byte: UInt8) -> State? {
        switch byte {
        case ASCII.space, ASCII.tab: .afterValue(isBlank: true)
        case UInt8(ascii: ";"): .beforeName
        default: nil
        }
    }
}

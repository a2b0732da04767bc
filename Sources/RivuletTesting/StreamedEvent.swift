public import RivuletJSON

/// One server-sent event.
public struct StreamedEvent: Hashable, Sendable {
    /// The event's name, such as `change`; `message` if it has none.
    public var name = "message"
    /// The reader's cursor after the event; nil if the event has none.
    public var id: String?
    /// The data, its lines joined by line feeds.
    public var data = ""

    /// The data as JSON.
    ///
    /// - Throws: `JSONError` if it is not JSON.
    public func json() throws -> JSONValue { try JSONValue(parsing: data) }
}

/// Parses server-sent events.
///
/// The parser knows only the line feed as a line end, because the server writes no other.
/// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>
struct StreamParser {
    private var unread: [UInt8] = []

    mutating func add(_ bytes: some Collection<UInt8>) { unread += bytes }

    /// Returns the next whole event; nil if more bytes are needed.
    mutating func next() -> StreamedEvent? {
        while let block = takeBlock() {
            if let event = Self.event(of: block) { return event }
        }
        return nil
    }

    /// Removes and returns the lines before the next empty line.
    private mutating func takeBlock() -> [Substring]? {
        let newline = UInt8(ascii: "\n")
        let end = unread.indices.dropLast().first { unread[$0] == newline && unread[$0 + 1] == newline }
        guard let end else { return nil }
        let text = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 2)
        return text.split(separator: "\n")
    }

    /// Returns the event; nil for comments, and for lines without data.
    private static func event(of lines: [Substring]) -> StreamedEvent? {
        var event = StreamedEvent()
        var data: [Substring] = []
        for line in lines where !line.hasPrefix(":") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            let value = (parts.count == 2 ? parts[1] : "").trimmingOneSpace
            switch parts.first {
            case "event": event.name = String(value)
            case "id": event.id = String(value)
            case "data": data.append(value)
            default: break
            }
        }
        event.data = data.joined(separator: "\n")
        return data.isEmpty ? nil : event
    }
}

extension Substring {
    /// The text without the one space that may follow a colon.
    fileprivate var trimmingOneSpace: Substring { hasPrefix(" ") ? dropFirst() : self }
}

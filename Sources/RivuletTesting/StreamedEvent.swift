public import RivuletJSON

/// One server-sent event.
public struct StreamedEvent: Hashable, Sendable {
    /// The event's name, as `change`; `message` when it has none.
    public var name = "message"
    /// The cursor that it brings the reader to; nil when it has none.
    public var id: String?
    /// The data, its lines joined by line feeds.
    public var data = ""

    /// The data as JSON.
    ///
    /// - Throws: `JSONError` when it is none.
    public func json() throws -> JSONValue { try JSONValue(parsing: data) }
}

/// Takes server-sent events out of bytes.
///
/// Of line ends it knows the line feed only, which is what the server writes.
/// Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>
struct StreamParser {
    private var unread: [UInt8] = []

    mutating func add(_ bytes: some Collection<UInt8>) { unread += bytes }

    /// The next whole event; nil when more bytes are needed.
    mutating func next() -> StreamedEvent? {
        while let block = takeBlock() {
            if let event = Self.event(of: block) { return event }
        }
        return nil
    }

    /// The lines before the next empty one.
    private mutating func takeBlock() -> [Substring]? {
        let newline = UInt8(ascii: "\n")
        let end = unread.indices.dropLast().first { unread[$0] == newline && unread[$0 + 1] == newline }
        guard let end else { return nil }
        let text = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeFirst(end + 2)
        return text.split(separator: "\n")
    }

    /// The event; nil for comments, and for what has no data.
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
    /// Without the one space that may stand behind a colon.
    fileprivate var trimmingOneSpace: Substring { hasPrefix(" ") ? dropFirst() : self }
}

/// One event of an event stream.
///
/// A client's parser returns exactly `event`, `id` and `data`, except that every line end inside `data` (LF, CR or CR
/// LF) arrives as one LF. Source: <https://html.spec.whatwg.org/multipage/server-sent-events.html>.
package struct ServerSentEvent: Hashable, Sendable {
    /// The event's name, to which listeners subscribe; nil is "message".
    package var event: String?
    /// The id that the client sends back as `Last-Event-ID`; nil leaves the client's last id unchanged.
    package var id: String?
    /// The payload; text of any number of lines.
    ///
    /// Clients do not dispatch an event without data.
    package var data: [UInt8]

    /// Makes an event of these parts.
    package init(event: String? = nil, id: String? = nil, data: [UInt8]) {
        self.event = event
        self.id = id
        self.data = data
    }

    /// Appends the event, with the empty line that ends it, to `output`.
    package func append(to output: inout [UInt8]) {
        Self.append(event: event, id: id, data: data.span, to: &output)
    }

    /// Appends one event to `output`.
    ///
    /// CR, LF and NUL within `event` or `id` are left out, because the format cannot represent them.
    package static func append(event: String?, id: String?, data: Span<UInt8>, to output: inout [UInt8]) {
        output.append(addingCapacity: byteCountMax(event: event, id: id, data: data)) { output in
            append(event: event, id: id, data: data, to: &output)
        }
    }

    /// Appends one event to memory that has room for `byteCountMax`.
    package static func append(event: String?, id: String?, data: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        appendFields(event: event, id: id, to: &output)
        appendData(data, to: &output)
        output.append(ASCII.lineFeed)
    }

    /// Returns the maximum number of bytes of an event.
    package static func byteCountMax(event: String?, id: String?, data: Span<UInt8>) -> Int {
        var lines = 1
        if data.hasControl {
            for index in data.indices where isLineEnd(data[index]) { lines += 1 }
        }
        return fieldsByteCountMax(event: event, id: id) + lines * ("data: ".utf8.count + 1) + data.count + 1
    }

    private static func fieldsByteCountMax(event: String?, id: String?) -> Int {
        (event?.utf8.count ?? 0) + (id?.utf8.count ?? 0) + "event: ".utf8.count + "id: ".utf8.count + 2
    }

    /// Appends the beginning of an event; its data and the empty line that ends it must follow.
    ///
    /// CR, LF and NUL within `event` or `id` are left out, because the format cannot represent them.
    package static func append(event: String?, id: String?, to output: inout [UInt8]) {
        output.append(addingCapacity: fieldsByteCountMax(event: event, id: id)) { output in
            appendFields(event: event, id: id, to: &output)
        }
    }

    private static func appendFields(event: String?, id: String?, to output: inout OutputSpan<UInt8>) {
        if let event { appendField("event: ", event, to: &output) }
        if let id { appendField("id: ", id, to: &output) }
    }

    /// Appends a comment line and an empty line, the heartbeat of a quiet stream; clients ignore it.
    package static func append(comment: String, to output: inout [UInt8]) {
        output.append(addingCapacity: comment.utf8.count + 4) { output in
            appendField(comment.isEmpty ? ":" : ": ", comment, to: &output)
            output.append(ASCII.lineFeed)
        }
    }

    /// Appends the time that a client waits before it reconnects, in milliseconds, and an empty line.
    package static func append(retryMilliseconds: Int, to output: inout [UInt8]) {
        precondition(retryMilliseconds >= 0, "retry of \(retryMilliseconds) ms cannot be written: only digits are read")
        output.append(contentsOf: "retry: ".utf8)
        output.append(decimal: retryMilliseconds)
        output.append(ASCII.lineFeed)
        output.append(ASCII.lineFeed)
    }

    private static func appendField(_ name: String, _ value: String, to output: inout OutputSpan<UInt8>) {
        output.append(copying: name)
        let bytes = value.utf8.span
        if bytes.hasControl {
            for index in bytes.indices where !isUnfit(bytes[index]) { output.append(bytes[index]) }
        } else {
            output.append(copying: bytes)
        }
        output.append(ASCII.lineFeed)
    }

    /// Returns true if a field of one line cannot have the byte.
    private static func isUnfit(_ byte: UInt8) -> Bool {
        byte == ASCII.lineFeed || byte == ASCII.carriageReturn || byte == 0
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == ASCII.lineFeed || byte == ASCII.carriageReturn }

    private static func appendData(_ data: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        // The JSON that this process writes never has control characters.
        guard data.hasControl else { return appendDataLine(data, to: &output) }
        var start = 0
        var index = 0
        while index < data.count {
            let byte = data[index]
            guard isLineEnd(byte) else {
                index += 1
                continue
            }
            appendDataLine(data.extracting(start..<index), to: &output)
            let isPair = byte == ASCII.carriageReturn && index + 1 < data.count && data[index + 1] == ASCII.lineFeed
            index += isPair ? 2 : 1
            start = index
        }
        appendDataLine(data.extracting(start..<data.count), to: &output)
    }

    private static func appendDataLine(_ line: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        output.append(copying: "data: ")
        output.append(copying: line)
        output.append(ASCII.lineFeed)
    }
}

import RivuletBase
import RivuletEventLoop
import RivuletJSON
import RivuletSessions

/// The facts about one open stream at one moment.
struct StreamDescription: Sendable {
    let name: StreamName
    let source: StreamSource
    /// The time of its start, in milliseconds since 1970.
    let opened: Int64
    let state: SubscriberState.Phase
    /// The number of bytes that were written to it and that the kernel has not taken.
    let unsentBytes: Int
    let isCompressed: Bool

    var json: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        encode(into: &writer)
        return writer.bytes
    }

    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("stream")
        writer.string(name.description)
        if let node = name.node {
            writer.key("node")
            writer.string(node)
        }
        switch source {
        case .session(let key, let topic): encode(key, topic, into: &writer)
        case .shared(let shared):
            writer.key("app")
            writer.string(shared.app)
            writer.key(shared.kind == .store ? "store" : "value")
            writer.string(shared.name)
        }
        writer.key("opened")
        writer.string(Timestamp.text(milliseconds: opened))
        writer.key("state")
        writer.string("\(state)")
        writer.key("unsent")
        writer.integer(unsentBytes)
        writer.key("gzip")
        writer.bool(isCompressed)
        writer.endObject()
    }

    private func encode(_ key: SessionKey, _ topic: StreamTopic, into writer: inout JSONWriter) {
        writer.key("app")
        writer.string(key.app)
        writer.key("session")
        writer.string(key.id)
        if let view = topic.view {
            writer.key("view")
            writer.string(view)
        }
        writer.key("paths")
        writer.beginArray()
        for path in topic.paths { writer.string(path.description) }
        writer.endArray()
        writer.key("format")
        writer.string(topic.format.rawValue)
        if let interval = topic.interval {
            writer.key("interval")
            writer.integer(interval.milliseconds)
        }
    }
}

/// A page of the list of all streams.
struct StreamPage: Sendable {
    private let limit: Int
    private let after: StreamName?
    private var streams: [StreamDescription] = []
    /// True if there are more streams than the page takes.
    private var hasMore = false

    init(limit: Int, after: StreamName?) {
        self.limit = limit
        self.after = after
    }

    /// True if no further stream changes the page.
    var isFull: Bool { hasMore }

    /// True if a stream comes after the position at which the page begins.
    func wants(_ name: StreamName) -> Bool {
        guard let after, after.loop == name.loop else { return true }
        return name.connection.slot > after.connection.slot
    }

    mutating func add(_ stream: StreamDescription) {
        if streams.count < limit { streams.append(stream) } else { hasMore = true }
    }

    var json: [UInt8] {
        var writer = JSONWriter(capacity: 64 + streams.count * 256)
        writer.beginObject()
        writer.key("streams")
        writer.beginArray()
        for stream in streams { stream.encode(into: &writer) }
        writer.endArray()
        if hasMore, let last = streams.last {
            writer.key("next")
            writer.string(last.name.description)
        }
        writer.endObject()
        return writer.bytes
    }
}

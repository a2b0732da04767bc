import RivuletEventLoop
import RivuletSessions

/// An answer of a source to the streams of another node's loop.
enum RelayEvent: Sendable {
    /// The first or further events of the streams that share a request.
    case join(ask: UInt64, StreamSlot, FirstEvents, cursor: String)
    case deliver(StreamBlock, cursor: String, GroupID)
    /// The end of a group, which its source has removed already.
    case end(GroupID, StreamEvent.ByeReason)
    case refuse(ask: UInt64, RelayRefusal)

    init(_ message: StreamMessage) {
        self =
            switch message {
            case .join(let join): .join(ask: join.stream.connection, join.slot, join.first, cursor: join.cursor)
            case .deliver(let block, let cursor, let group): .deliver(block, cursor: cursor, group)
            case .end(let group, let reason): .end(group, reason)
            case .refuse(let stream, let error): .refuse(ask: stream.connection, RelayRefusal(error))
            }
    }

    fileprivate enum Kind: UInt8 {
        case join, deliver, end, refuse
    }

    fileprivate enum Slot: UInt8 {
        case group, more, waiting
    }
}

/// Writes the events of a turn for one node.
///
/// Bytes that several events share are written once: with the first of them. Later events name them by their number.
struct RelayBatchWriter {
    private var writer = RelayWriter()
    private var numbers: [ObjectIdentifier: Int] = [:]

    /// The bytes after which a batch takes no further event.
    static let bytesMax = 1_048_576

    var bytes: [UInt8] { writer.bytes }
    var isEmpty: Bool { writer.bytes.isEmpty }
    var isFull: Bool { writer.bytes.count >= Self.bytesMax }

    mutating func add(_ event: RelayEvent, for loop: Int) {
        writer.add(count: loop)
        switch event {
        case .join(let ask, let slot, let first, let cursor):
            writer.add(byte: RelayEvent.Kind.join.rawValue)
            writer.add(ask)
            add(slot)
            writer.add(first.head)
            writer.add(count: first.body.count)
            for text in first.body { add(text.plain, of: text) }
            writer.add(count: first.start.rawValue)
            writer.add(cursor)
        case .deliver(let block, let cursor, let group):
            writer.add(byte: RelayEvent.Kind.deliver.rawValue)
            writer.add(group.rawValue)
            writer.add(cursor)
            add(block.bytes(isChunked: false), of: block.identity)
        case .end(let group, let reason):
            writer.add(byte: RelayEvent.Kind.end.rawValue)
            writer.add(group.rawValue)
            writer.add(reason.rawValue)
        case .refuse(let ask, let refusal):
            writer.add(byte: RelayEvent.Kind.refuse.rawValue)
            writer.add(ask)
            refusal.write(to: &writer)
        }
    }

    private mutating func add(_ slot: StreamSlot) {
        switch slot {
        case .group(let group):
            writer.add(byte: RelayEvent.Slot.group.rawValue)
            writer.add(group.rawValue)
        case .more: writer.add(byte: RelayEvent.Slot.more.rawValue)
        case .waiting: writer.add(byte: RelayEvent.Slot.waiting.rawValue)
        }
    }

    /// `owner` holds the bytes, and is alive while the batch is written.
    private mutating func add(_ bytes: SharedBytes, of owner: AnyObject) {
        if let number = numbers[ObjectIdentifier(owner)] { return writer.add(count: number) }
        writer.add(count: numbers.count)
        numbers[ObjectIdentifier(owner)] = numbers.count
        writer.add(bytes)
    }
}

/// A batch of events, read for the loops of this node.
struct RelayBatch: Sendable {
    /// The events by the index of their loop.
    private(set) var events: [Int: [RelayEvent]] = [:]

    /// The bytes of an event that others may share, in the forms that were needed.
    private struct Shared {
        let bytes: ArraySlice<UInt8>
        var text: StreamText?
        var block: StreamBlock?
    }

    init(_ bytes: [UInt8], account: SharedBytes.Account) throws(RelayError) {
        var reader = RelayReader(bytes[...])
        var shared: [Shared] = []
        while !reader.isAtEnd {
            let loop = try reader.number(atMost: RelayRequestMessage.loopsMax - 1)
            events[loop, default: []].append(try Self.event(&reader, &shared, account))
        }
    }

    private static func event(
        _ reader: inout RelayReader,
        _ shared: inout [Shared],
        _ account: SharedBytes.Account
    ) throws(RelayError) -> RelayEvent {
        switch RelayEvent.Kind(rawValue: try reader.byte()) {
        case .join:
            let (ask, slot, head) = (try reader.number(), try slot(&reader), Array(try reader.bytes()))
            var body: [StreamText] = []
            for _ in 0..<(try reader.count()) {
                let index = try share(&reader, &shared)
                let text = shared[index].text ?? StreamText(Array(shared[index].bytes), account: account)
                shared[index].text = text
                body.append(text)
            }
            let number = try reader.number(atMost: StreamStart.count - 1)
            guard let start = StreamStart(rawValue: number) else {
                throw RelayError("no stream starts in the way \(number)")
            }
            let first = FirstEvents(head: head, body: body, start: start)
            return .join(ask: ask, slot, first, cursor: try reader.text())
        case .deliver:
            let (group, cursor) = (GroupID(rawValue: try reader.number()), try reader.text())
            let index = try share(&reader, &shared)
            let bytes = Array(shared[index].bytes)
            guard !bytes.isEmpty else { throw RelayError("an event has no bytes") }
            let block = shared[index].block ?? StreamBlock(bytes.span, account: account)
            shared[index].block = block
            return .deliver(block, cursor: cursor, group)
        case .end:
            return .end(GroupID(rawValue: try reader.number()), try reader.choice(of: StreamEvent.ByeReason.self))
        case .refuse: return .refuse(ask: try reader.number(), try RelayRefusal(&reader))
        case nil: throw RelayError("there is no such kind of events")
        }
    }

    private static func slot(_ reader: inout RelayReader) throws(RelayError) -> StreamSlot {
        switch RelayEvent.Slot(rawValue: try reader.byte()) {
        case .group: return .group(GroupID(rawValue: try reader.number()))
        case .more: return .more
        case .waiting: return .waiting
        case nil: throw RelayError("there is no such slot")
        }
    }

    /// Reads the number of shared bytes, and the bytes if they come for the first time; returns the number.
    private static func share(_ reader: inout RelayReader, _ shared: inout [Shared]) throws(RelayError) -> Int {
        let index = try reader.number(atMost: shared.count)
        if index == shared.count { shared.append(Shared(bytes: try reader.bytes())) }
        return index
    }
}

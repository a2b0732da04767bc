import RivuletCluster
import RivuletSessions
import Synchronization

/// A log of one partition, with everything that was ever written to it.
final class ModelLog {
    struct Message {
        let logged: LoggedMessage
        let frame: Frame
        let writer: UInt64
    }

    let coder: FrameCoder
    /// The messages that were not cut, oldest first.
    private(set) var messages: [Message] = []
    /// All messages, also those that were cut.
    private(set) var history: [Message] = []
    private(set) var base: PartitionBase?
    private var last = LogPosition.start
    var isFull = false
    /// True if the log has lost messages that it had answered.
    private(set) var isDamaged = false
    /// The content after all messages.
    private(set) var content = SimulatedContent()
    private var assembler = FrameAssembler()
    /// The number of each client's operation in the log, and its place.
    private(set) var places: [Int: LogPosition] = [:]
    /// The places of the operations that changed their session.
    private(set) var changes: [Int: LogPosition] = [:]
    /// The errors of the log itself.
    private(set) var violations: [String] = []
    var didAppend: (LoggedMessage) -> Void = { _ in }

    init(_ coder: FrameCoder) { self.coder = coder }

    var ends: LogEnds {
        LogEnds(first: messages.first?.logged.position ?? .start, last: messages.last?.logged.position ?? .start)
    }

    func append(_ bytes: [UInt8], after expected: LogPosition, by writer: UInt64) -> LogAppendOutcome {
        let end = ends.last
        guard expected == end else { return .moved(last: end) }
        guard !isFull else { return .refused(.full(detail: "full")) }
        guard let frame = try? coder.decode(bytes) else {
            violations.append("a frame cannot be read")
            return .refused(.unavailable(detail: "unreadable"))
        }
        // Positions grow with gaps.
        last = LogPosition(rawValue: last.rawValue + 1 + frame.nonce % 2)
        let logged = LoggedMessage(position: last, previous: end, bytes: bytes)
        let message = Message(logged: logged, frame: frame, writer: writer)
        messages.append(message)
        history.append(message)
        note(message)
        didAppend(logged)
        return .committed(last)
    }

    private func note(_ message: Message) {
        let place = message.logged.position
        let hash = coder.hash(message.logged.bytes)
        let positioned = PositionedFrame(position: place, frame: message.frame, hash: hash)
        guard let whole = try? assembler.add(positioned) else { return }
        let outcomes = content.apply(whole)
        for (operation, outcome) in zip(whole.frame.operations, outcomes) {
            guard let id = ModelOperation.id(of: operation) else { continue }
            if places[id] != nil, !isDamaged { violations.append("the operation \(id) is in the log twice") }
            places[id] = place
            switch outcome {
            case .created(.created(_)), .appended(.committed(_)): changes[id] = place
            default: break
            }
        }
    }

    func read(after position: LogPosition) -> [LoggedMessage] {
        var begin = messages.count
        while begin > 0, messages[begin - 1].logged.position > position { begin -= 1 }
        return messages[begin...].prefix(16).map(\.logged)
    }

    func cut(before position: LogPosition) {
        // The base has the message of its own place, too.
        guard let base, position.rawValue <= base.position.rawValue + 1 else {
            violations.append("I7: the log is cut at \(position.rawValue), above its base")
            return removeAll(before: position)
        }
        removeAll(before: position)
    }

    private func removeAll(before position: LogPosition) {
        if let end = messages.last?.logged.position, end < position {
            // A log that has lost its end keeps its last message, as `PartitionLog` promises.
            guard !isDamaged else { return messages.removeFirst(messages.count - 1) }
            violations.append("I7: the last message \(end.rawValue) is cut")
        }
        messages.removeAll { $0.logged.position < position }
    }

    func put(_ new: PartitionBase) {
        if let base, base.position >= new.position { return }
        base = new
    }

    /// Loses a message between the first and the last one, as a damaged disk does.
    func lose(_ number: Int) {
        guard messages.count > 2 else { return }
        isDamaged = true
        messages.remove(at: 1 + number % (messages.count - 2))
    }

    /// Loses the last messages, and uses their places again.
    func truncate(_ count: Int) {
        guard messages.count > count else { return }
        isDamaged = true
        messages.removeLast(count)
        last = ends.last
    }
}

/// Frames as numbers, so that a simulation does not spend its time on bytes.
final class ModelFrames: Sendable {
    private let frames = Mutex<[Frame]>([])
    /// The bytes that make a message as long as that of a small frame.
    private static let padding = [UInt8](repeating: 0, count: 62)

    var coder: FrameCoder {
        FrameCoder(
            encode: { [self] frame in
                let number = frames.withLock { frames in
                    frames.append(frame)
                    return frames.count - 1
                }
                return [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)] + Self.padding
            },
            decode: { [self] bytes throws(FrameError) in
                guard bytes.count == 64 else { throw .damaged("no frame") }
                return frames.withLock { $0[Int(bytes[0]) << 8 | Int(bytes[1])] }
            },
            hash: { bytes in FrameHash(high: UInt64(bytes[0]) << 8 | UInt64(bytes[1]), low: 1) }
        )
    }
}

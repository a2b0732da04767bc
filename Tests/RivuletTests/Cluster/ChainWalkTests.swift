import Rivulet
import RivuletCluster
import Testing

@Suite struct ChainWalkTests {
    /// Makes a log of frames, each of one claim, at every second place.
    private func log(_ count: Int, after link: FrameLink = .start, from place: UInt64 = 2) -> [LoggedMessage] {
        var (link, place, previous) = (link, place, LogPosition.start)
        return (0..<count).map { _ in
            let frame = Frame(
                cluster: "c",
                partition: .first,
                previous: link,
                term: link.term + 1,
                nonce: 1,
                operations: [.claim(Claim(node: "a", incarnation: 1, build: "1", schemas: [:]))]
            )
            let bytes = FrameCodec.encode(frame)
            defer {
                link = FrameLink(number: frame.number, term: frame.term, hash: FrameCodec.hash(of: bytes))
                (previous, place) = (LogPosition(rawValue: place), place + 2)
            }
            return LoggedMessage(position: LogPosition(rawValue: place), previous: previous, bytes: bytes)
        }
    }

    private func link(of message: LoggedMessage) throws -> FrameLink {
        let frame = try FrameCodec.decode(message.bytes)
        return FrameLink(number: frame.number, term: frame.term, hash: FrameCodec.hash(of: message.bytes))
    }

    private func walk(_ messages: [LoggedMessage], base: LogPosition? = nil) -> (walk: ChainWalk, fault: String?) {
        var walk = ChainWalk(cluster: "c", base: base)
        for message in messages {
            if let fault = walk.take(message) { return (walk, fault) }
        }
        return (walk, nil)
    }

    private func base(_ place: UInt64, _ link: FrameLink) -> ReplicaPosition {
        ReplicaPosition(cluster: "c", position: LogPosition(rawValue: place), link: link, outcomes: 0)
    }

    @Test func `a whole log is one chain`() {
        let (walk, fault) = walk(log(4))
        #expect(fault == nil)
        #expect(walk.fault(of: nil) == nil)
        #expect(walk.frameCount == 4)
        #expect((walk.firstPosition.rawValue, walk.position.rawValue) == (2, 8))
    }

    @Test func `a lost message is found`() {
        var messages = log(4)
        messages.remove(at: 2)
        #expect(walk(messages).fault == "the message 8 follows the message 6, which the log has lost")
    }

    @Test func `a message of another chain is found`() {
        let (one, other) = (log(2), log(1, after: FrameLink(number: 2, term: 9, hash: .none), from: 6))
        let fork = LoggedMessage(position: LogPosition(rawValue: 6), previous: nil, bytes: other[0].bytes)
        #expect(walk(one + [fork]).fault == "the message 6 (frame 3, term 10) does not follow the frame 2")
    }

    @Test func `a message that is no frame, or of another cluster, is found`() {
        let noise = LoggedMessage(position: LogPosition(rawValue: 2), previous: nil, bytes: [1, 2, 3])
        #expect(walk([noise]).fault?.hasPrefix("the message 2 is no frame") == true)
        var walk = ChainWalk(cluster: "other", base: nil)
        let fault = walk.take(log(1)[0])
        #expect(fault == "the message 2 is of another cluster, c")
    }

    @Test func `a log without its beginning needs a base`() throws {
        let messages = log(5)
        let rest = Array(messages[2...])
        let cut = walk(rest, base: LogPosition(rawValue: 6)).walk
        #expect(cut.fault(of: nil) == "the log begins with the frame 3, and there is no base before it")
        #expect(cut.fault(of: base(6, try link(of: messages[2]))) == nil)
        let earlier = try link(of: messages[0])
        #expect(cut.fault(of: base(2, earlier)) == "the log begins with the frame 3, and the base ends with 1")
    }

    @Test func `a base of another chain is found`() throws {
        let messages = log(3)
        let whole = walk(messages, base: LogPosition(rawValue: 4)).walk
        #expect(whole.fault(of: base(4, try link(of: messages[1]))) == nil)
        let foreign = FrameLink(number: 2, term: 2, hash: FrameHash(high: 1, low: 1))
        #expect(whole.fault(of: base(4, foreign)) == "the base at 4 is not of this log's frames")
        let last = walk(messages, base: LogPosition(rawValue: 6)).walk
        #expect(last.fault(of: base(6, try link(of: messages[2]))) == nil)
    }

    @Test func `an empty log with a base is a fault`() {
        let empty = ChainWalk(cluster: "c", base: LogPosition(rawValue: 4))
        #expect(empty.fault(of: base(4, .start)) == "the log is empty, and there is a base")
        #expect(empty.fault(of: nil) == nil)
    }
}

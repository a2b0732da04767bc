// Checks that operations come back from frames of a limited size.

import ClusterModels
import RivuletCluster
import RivuletSessions
import RivuletStores
import Testing

@Suite struct FrameSplitterTests {
    private let splitter = FrameSplitter(frameBytesMax: 1_024, cluster: "cluster")

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `all operations come back in order, from frames within the limit`(seed: UInt64) throws {
        var random = RandomOperations(seed: seed)
        let operations = (0..<30).map { index in index % 7 == 3 ? large(random.number(5_000)) : random.any() }
        let contents = splitter.contents(of: operations)
        #expect(contents.reduce(0) { $0 + $1.completedCount } == operations.count)
        var assembler = FrameAssembler()
        var found: [Operation] = []
        for (index, frame) in frames(of: contents).enumerated() {
            #expect(FrameCodec.encode(frame.frame).count <= 1_024)
            guard let whole = try assembler.add(frame) else {
                #expect(frame.frame.isContinued)
                continue
            }
            #expect(whole.position.rawValue == UInt64(index + 1))
            #expect(whole.frame.number == frame.frame.number)
            #expect(whole.hash == frame.hash)
            #expect(whole.frame.part == nil)
            found += whole.frame.operations
        }
        #expect(found == operations)
        #expect(!assembler.isUnfinished)
    }

    @Test func `small operations share a frame, up to the last byte`() {
        let release = Operation.release(to: "")
        let count = splitter.contentBytesMax / (release.byteCount + 4)
        let fitting = Array(repeating: release, count: count)
        #expect(splitter.contents(of: fitting) == [FrameContent(operations: fitting)])
        #expect(splitter.contents(of: fitting + [release]).map(\.operations.count) == [count, 1])
        #expect(splitter.contents(of: []).isEmpty)
    }

    @Test func `empty frames between parts change nothing`() throws {
        var assembler = FrameAssembler()
        var whole: [PositionedFrame] = []
        for content in splitter.contents(of: [large(3_000)]) {
            for frame in frames(of: [content, FrameContent(operations: [])]) {
                if let frame = try assembler.add(frame) { whole.append(frame) }
            }
        }
        #expect(whole.map(\.frame.operations) == [[large(3_000)], []])
    }

    @Test func `a claim voids the parts before it, and the earlier owner's next part is refused`() throws {
        let parts = frames(of: splitter.contents(of: [large(3_000)]))
        var assembler = FrameAssembler()
        #expect(try assembler.add(parts[0]) == nil)
        #expect(assembler.isUnfinished)
        let claim = Claim(node: "b", incarnation: 1, build: "", schemas: [:])
        let claimed = frames(of: [FrameContent(operations: [.claim(claim)])], term: 2)[0]
        #expect(try assembler.add(claimed) == claimed)
        #expect(!assembler.isUnfinished)
        #expect(throws: FrameError.self) { try assembler.add(parts[1]) }
    }

    @Test func `an owner gives an operation up by writing another one`() throws {
        let parts = frames(of: splitter.contents(of: [large(3_000)]))
        let small = frames(of: splitter.contents(of: [.release(to: "")]))[0]
        var assembler = FrameAssembler()
        #expect(try assembler.add(parts[0]) == nil)
        #expect(try assembler.add(small) == small)
        #expect(try assembler.add(parts[0]) == nil)
        // The first part of the same operation begins it anew.
        #expect(try assembler.add(parts[0]) == nil)
        #expect(throws: FrameError.self) { try assembler.add(parts[2]) }
    }

    @Test func `an operation of more bytes than allowed is damaged at its first part`() {
        let part = OperationPart(total: Operation.bytesMax + 1, offset: 0, bytes: [1])
        var assembler = FrameAssembler()
        let frame = frames(of: [FrameContent(operations: [], part: part)])[0]
        #expect(throws: FrameError.self) { try assembler.add(frame) }
    }

    @Test func `a whole operation of an unknown kind asks for an upgrade`() {
        let part = OperationPart(total: 1, offset: 0, bytes: [33])
        var assembler = FrameAssembler()
        let frame = frames(of: [FrameContent(operations: [], part: part)])[0]
        #expect(throws: FrameError.newer("it has an operation of kind 33, for sequences of clients")) {
            try assembler.add(frame)
        }
    }

    private func large(_ count: Int) -> Operation {
        let document = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        return .items(collection: "a", changes: [.put(key: "k", document: document)], time: 1, itemsMax: 9)
    }

    private func frames(of contents: [FrameContent], term: UInt64 = 1) -> [PositionedFrame] {
        contents.enumerated().map { index, content in
            let frame = Frame(
                cluster: "cluster",
                partition: .first,
                previous: FrameLink(number: UInt64(index), term: term, hash: .none),
                term: term,
                nonce: .max,
                operations: content.operations,
                part: content.part
            )
            let hash = FrameCodec.hash(of: FrameCodec.encode(frame))
            return PositionedFrame(position: LogPosition(rawValue: UInt64(index + 1)), frame: frame, hash: hash)
        }
    }
}

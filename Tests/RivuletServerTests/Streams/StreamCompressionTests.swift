// Checks that each compressed stream is one gzip body, independent of the streams that share its blocks.

import RivuletEventLoop
import SeededRandom
import Testing

@testable import RivuletServer

@Suite struct StreamCompressionTests {
    private func event(_ number: Int) -> [UInt8] {
        let value = String(repeating: "value \(number) ", count: number % 7 == 0 ? 200 : 2)
        return Array("event: change\nid: c\(number)\ndata: {\"version\":\(number),\"value\":\"\(value)\"}\n\n".utf8)
    }

    @Test func `the checksums of two parts give that of the whole, and the second one can be recovered`() {
        let (first, second) = (Array("hello, ".utf8), Array("world".utf8))
        var whole = GzipTally(first.span)
        whole.append(GzipTally(second.span))
        let both = first + second
        #expect(whole == GzipTally(both.span))
        #expect(whole.after(GzipTally(first.span)) == GzipTally(second.span))
        #expect(whole.after(whole) == GzipTally())
        #expect(whole.after(GzipTally()) == whole)
    }

    @Test func `blocks of any kind in a row are one gzip body`() throws {
        let compressor = try #require(StreamCompressor())
        var (body, text, tally) = (StreamCompressor.head, [UInt8](), GzipTally())
        var before: [UInt8] = []
        for number in 1...30 {
            let event = event(number)
            switch number % 3 {
            case 0: body += compressor.independent(event.span)
            case 1: body += compressor.chained(event.span, after: before.span)
            default: body += StreamCompressor.stored(event.span)
            }
            text += event
            tally.append(GzipTally(event.span))
            before = event
        }
        #expect(gunzip(body + tally.trailer) == text)
        #expect(body.count < text.count / 2)
    }

    @Test func `a change like the previous one shrinks to a quarter, and a large one is stored in several blocks`()
        throws
    {
        let compressor = try #require(StreamCompressor())
        let (first, second) = (event(1), event(2))
        #expect(compressor.chained(second.span, after: first.span).count < second.count / 2)
        let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let stored = StreamCompressor.stored(large.span)
        #expect(stored.count == large.count + 5 * 4)
        #expect(gunzip(StreamCompressor.head + stored + GzipTally(large.span).trailer) == large)
    }

    @Test func `a long text that was compressed whole can begin a body like any other block`() throws {
        let compressor = try #require(StreamCompressor())
        let long = (1...20_000).flatMap { Array("event \($0)\n".utf8) }
        let (last, next) = (event(1), event(2))
        let (beginning, text) = (long + last, long + last + next)
        let compressed = StreamCompressor.whole(beginning.span)
        let whole = try #require(compressed)
        let body = StreamCompressor.head + whole + compressor.chained(next.span, after: last.span)
        #expect(gunzip(body + GzipTally(text.span).trailer) == text)
        #expect(body.count < text.count / 3)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a compressed stream always has the text of a plain stream`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var streams = Streams()
        streams.bytesMax = 3_000
        streams.isCompressed = true
        /// The streams with chunked bodies. A group may have both kinds.
        var chunked: Set<UInt32> = []
        /// The text that each stream must get.
        var texts: [UInt32: [UInt8]] = [:]
        var number = 0
        for _ in 0..<200 {
            let slot = UInt32.random(in: 1...6, using: &random)
            switch Int.random(in: 0...9, using: &random) {
            case 0...3:
                number += 1
                for (slot, stream) in texts where streams.stream(slot)?.outside == nil {
                    texts[slot] = stream + event(number)
                }
                streams.deliver(event(number), "c\(number)")
            case 4, 5: streams.flush(budget: Int.random(in: 1...8, using: &random))
            case 6 where texts[slot] == nil:
                texts[slot] = []
                streams.isChunked = Bool.random(using: &random)
                chunked.remove(slot)
                if streams.isChunked { chunked.insert(slot) }
                streams.join(slot, cursor: "c\(number)")
            case 7 where texts[slot] != nil: streams.transport.room[streams.id(slot)] = 0
            case 8 where texts[slot] != nil: _ = streams.drain(slot)
            case 9 where texts[slot] != nil && streams.phase(slot) == .live:
                streams.flush()
                guard streams.phase(slot) == .live else { continue }
                let heartbeat = Heartbeat()
                let bytes = heartbeat.bytes(isCompressed: true, isChunked: chunked.contains(slot))
                _ = streams.transport.write(streams.id(slot), bytes)
                streams.table.recordWrite(try #require(streams.stream(slot)), of: heartbeat.tally, now: 1)
                texts[slot, default: []] += Array(":\n\n".utf8)
            default: break
            }
            try endThoseBehind(&streams, &texts, chunked, seed)
        }
        streams.flush()
        try endThoseBehind(&streams, &texts, chunked, seed)
        for slot in texts.keys {
            _ = streams.drain(slot)
            let removed = streams.remove(slot)
            let leaver = try #require(removed)
            let content = try content(of: slot, in: streams, isChunked: chunked.contains(slot))
            let body = StreamCompressor.head + content + leaver.trailer
            let isSame = gunzip(body) == texts[slot]
            #expect(isSame, "seed \(seed)")
        }
    }

    /// The bytes that were sent on a stream, without the framing of chunks.
    private func content(of slot: UInt32, in streams: Streams, isChunked: Bool) throws -> [UInt8] {
        let bytes = streams.transport.bytes(of: streams.id(slot))
        guard isChunked else { return bytes }
        let body = try #require(dechunked(bytes))
        #expect(!body.isEnded)
        return body.content
    }

    /// Ends the slow streams.
    ///
    /// Their bodies are a beginning of the text of a plain stream.
    private func endThoseBehind(
        _ streams: inout Streams,
        _ texts: inout [UInt32: [UInt8]],
        _ chunked: Set<UInt32>,
        _ seed: UInt64
    ) throws {
        for slot in texts.keys where streams.stream(slot)?.outside != nil {
            let removed = streams.remove(slot)
            let leaver = try #require(removed)
            let content = try content(of: slot, in: streams, isChunked: chunked.contains(slot))
            let body = StreamCompressor.head + content + leaver.trailer
            let text = try #require(gunzip(body))
            let isBeginning = texts[slot]?.starts(with: text) == true
            #expect(isBeginning, "seed \(seed)")
            texts[slot] = nil
            streams.transport.forget(streams.id(slot))
        }
    }
}

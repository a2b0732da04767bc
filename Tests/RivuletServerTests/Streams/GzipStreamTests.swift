// Checks that zlib restores a text that was compressed in parts.

import CZlib
import RivuletEventLoop
import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct GzipStreamTests {
    /// The content of a gzip member; nil if it is not complete.
    private func inflated(_ bytes: [UInt8], count: Int) -> [UInt8]? {
        var stream = unsafe z_stream()
        var input = bytes
        // SAFETY: the stream stays in this frame, between init and end.
        return unsafe withUnsafeMutablePointer(to: &stream) { stream in
            guard unsafe inflateInit2_(stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
                return nil
            }
            defer { unsafe inflateEnd(stream) }
            var isWhole = false
            let output = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { output, produced in
                unsafe input.withUnsafeMutableBufferPointer { input in
                    unsafe stream.pointee.next_in = input.baseAddress
                    unsafe stream.pointee.avail_in = UInt32(input.count)
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(output.count)
                    isWhole = unsafe inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
                    produced = unsafe output.count - Int(stream.pointee.avail_out)
                }
            }
            return isWhole ? output : nil
        }
    }

    /// Compressible or incompressible bytes.
    private func bytes(_ count: Int, isRandom: Bool) -> [UInt8] {
        var state: UInt64 = 7
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56) % (isRandom ? 255 : 7)
        }
    }

    @Test(arguments: [1, 1_000, 16_384, 32_768, 32_769, 100_000, 1_000_000], [false, true])
    func `the compressed parts decompress to the whole text`(_ count: Int, _ isRandom: Bool) throws {
        let stream = try #require(GzipStream())
        let whole = bytes(count, isRandom: isRandom)
        // The second round uses a stream that was used before.
        for _ in 0..<2 {
            var output: [UInt8] = []
            for start in stride(from: 0, to: count, by: GzipStreams.sliceBytes) {
                let end = min(start + GzipStreams.sliceBytes, count)
                let isTaken = stream.append(whole.span.extracting(start..<end), isLast: end == count, to: &output)
                #expect(isTaken)
            }
            #expect(inflated(output, count: count) == whole)
            stream.reset()
        }
    }

    @Test func `a compressor that stopped in the middle is like new after a reset`() throws {
        let stream = try #require(GzipStream())
        var output: [UInt8] = []
        let isTaken = stream.append(bytes(40_000, isRandom: true).span, isLast: false, to: &output)
        #expect(isTaken)
        stream.reset()
        output = []
        let whole = bytes(5_000, isRandom: false)
        let isWholeTaken = stream.append(whole.span, isLast: true, to: &output)
        #expect(isWholeTaken)
        #expect(inflated(output, count: 5_000) == whole)
    }

    @Test func `a loop compresses a limited number of answers at once`() {
        var streams = GzipStreams()
        var taken: [GzipStream] = []
        while let stream = streams.take() { taken.append(stream) }
        #expect(taken.count == GzipStreams.underWayMax)
        streams.giveBack(taken[0])
        let again = streams.take()
        #expect(again === taken[0])
    }

    @Test func `a large answer is compressed in several steps, with the same result`() throws {
        var streams = GzipStreams()
        let taken = streams.take()
        let stream = try #require(taken)
        let body = bytes(3 * GzipStreams.sliceBytes + 1, isRandom: false)
        let compression = Compression(of: .json(body), isRead: true, with: stream)
        var steps = 0
        while !compression.isDone {
            compression.step()
            steps += 1
        }
        #expect(steps == 4)
        #expect(inflated(compression.result.body.bytes, count: body.count) == body)
    }

    @Test func `an answer that does not shrink is sent uncompressed`() throws {
        let stream = try #require(GzipStream())
        let body = bytes(2_000, isRandom: true)
        let compression = Compression(of: .json(body), isRead: true, with: stream)
        compression.step()
        #expect(compression.isDone && compression.result.body.bytes == body)
        #expect(!compression.result.fields.contains { $0.name == "Content-Encoding" })
    }

    @Test func `a body that many answers share is compressed once`() throws {
        var coder = AnswerCoder(bytesMin: 1_000)
        let plain = bytes(2 * GzipStreams.sliceBytes + 1, isRandom: false)
        let shared = SharedBody(plain, account: SharedBytes.Account())
        var response = Response.json([], tag: "\"t\"", version: 1)
        response.body = .shared(shared)
        var connection = HTTPConnection()
        let head = "GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n"
        guard case .request(let sent) = connection.receive(Array(head.utf8).span, limits: HTTPLimits()) else {
            Issue.record("no request")
            return
        }
        let request = RequestTraits(version: .http11, method: .get, isKeepAlive: true, headers: sent.headers)
        guard case .later(let compression) = coder.code(response, for: request),
            case .joining(let joined, isRead: true) = coder.code(response, for: request)
        else {
            Issue.record("not compressed in further turns")
            return
        }
        #expect(joined === compression)
        while !compression.isDone { compression.step() }
        let first = coder.finish(compression)
        guard case .ready(let later) = coder.code(response, for: request) else {
            Issue.record("compressed a second time")
            return
        }
        #expect(inflated(first.body.bytes, count: plain.count) == plain)
        #expect(later.body.block === first.body.block && first.body.block != nil)
        #expect(later.fields.contains { $0.name == "ETag" && $0.value == "\"t-gzip\"" })
    }
}

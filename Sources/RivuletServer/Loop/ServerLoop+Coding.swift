import RivuletEngine
import RivuletEventLoop
import RivuletHTTP

/// The compressors of one loop.
struct GzipStreams {
    /// The most answers that are compressed at once on a loop, 268 KB each; further ones go out as they are.
    static let underWayMax = 16
    /// The most bytes that are compressed in one turn of the loop: a quarter of a millisecond.
    static let sliceBytes = 32_768

    /// One that was used before.
    private var idle: GzipStream?
    private(set) var underWay = 0

    /// One for an answer; nil when there are too many, or no memory.
    mutating func take() -> GzipStream? {
        guard underWay < Self.underWayMax, let stream = idle ?? GzipStream() else { return nil }
        idle = nil
        underWay += 1
        return stream
    }

    /// Takes one back.
    mutating func giveBack(_ stream: GzipStream) {
        underWay -= 1
        stream.reset()
        idle = stream
    }
}

extension ServerLoop {
    /// What is sent of the answer: as it is, compressed, or, nil, later, when it has been compressed in further turns.
    func coded(_ response: Response, for request: ConnectionTable.RequestTraits, on id: ConnectionID) -> Response? {
        guard let headers = request.headers else { return response }
        if response.status == .notModified { return AnswerCoding.unchanged(response, for: headers) }
        let bytesMin = context.options.limits.compressedBytesMin
        guard AnswerCoding.isWanted(response, by: headers, bytesMin: bytesMin), let stream = gzipStreams.take() else {
            return AnswerCoding.isNegotiated(response, bytesMin: bytesMin) ? AnswerCoding.varying(response) : response
        }
        let isRead = request.method == .get || request.method == .head
        let compression = Compression(of: response, isRead: isRead, with: stream)
        compression.step()
        guard !compression.isDone else { return finish(compression) }
        // The request is under way still.
        _ = connections.update(id) { $0.request = request }
        goOn(with: compression, for: id)
        return nil
    }

    private func goOn(with compression: Compression, for id: ConnectionID) {
        let confined = Confined((self, compression), to: loop)
        confined.post { loop, compression in
            // Nobody waits for it any more.
            guard loop.connections.isOpen(id) else { return loop.gzipStreams.giveBack(compression.stream) }
            compression.step()
            guard compression.isDone else { return loop.goOn(with: compression, for: id) }
            loop.answerCoded(id, loop.finish(compression))
        }
    }

    private func finish(_ compression: Compression) -> Response {
        gzipStreams.giveBack(compression.stream)
        return compression.result
    }
}

/// One answer on its way through a compressor.
final class Compression {
    let stream: GzipStream
    private let response: Response
    private let isRead: Bool
    private var output: [UInt8] = []
    private var taken = 0
    private var hasFailed = false

    /// An answer whose body is not empty, and a stream at its beginning.
    init(of response: Response, isRead: Bool, with stream: GzipStream) {
        self.response = response
        self.isRead = isRead
        self.stream = stream
    }

    var isDone: Bool { hasFailed || taken == response.body.count }

    /// Compresses as much as one turn has time for.
    func step() {
        let end = min(taken + GzipStreams.sliceBytes, response.body.count)
        hasFailed = !stream.append(response.body, taken..<end, to: &output)
        taken = end
    }

    /// The answer as it is sent: as it was where compression has failed or gains nothing.
    var result: Response {
        let isSmaller = !hasFailed && output.count < response.body.count
        return isSmaller
            ? AnswerCoding.compressed(response, output, isRead: isRead) : AnswerCoding.varying(response)
    }
}

import RivuletHTTP

/// Compresses the answers of one loop.
struct AnswerCoder {
    /// What becomes of an answer.
    enum Coding {
        /// It is sent now, in this form.
        case ready(Response)
        /// It is sent when it has been compressed in further turns.
        case later(Compression)
    }

    private let bytesMin: Int
    private var streams = GzipStreams()

    /// Compresses answers of at least so many bytes.
    init(bytesMin: Int) { self.bytesMin = bytesMin }

    /// Begins to make the form of an answer that its request takes.
    mutating func code(_ response: Response, for request: RequestTraits) -> Coding {
        guard let headers = request.headers else { return .ready(response) }
        if response.status == .notModified { return .ready(AnswerCoding.unchanged(response, for: headers)) }
        guard AnswerCoding.isWanted(response, by: headers, bytesMin: bytesMin), let stream = streams.take() else {
            return .ready(
                AnswerCoding.isNegotiated(response, bytesMin: bytesMin) ? AnswerCoding.varying(response) : response
            )
        }
        let isRead = request.method == .get || request.method == .head
        let compression = Compression(of: response, isRead: isRead, with: stream)
        compression.step()
        return compression.isDone ? .ready(finish(compression)) : .later(compression)
    }

    /// Ends a compression, and returns the answer; its compressor is free again.
    mutating func finish(_ compression: Compression) -> Response {
        streams.giveBack(compression.stream)
        return compression.result
    }

    /// Ends a compression whose connection has closed.
    mutating func abandon(_ compression: Compression) { streams.giveBack(compression.stream) }
}

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

import RivuletEventLoop
import RivuletHTTP

/// Compresses the answers of one loop.
struct AnswerCoder {
    /// The next step for an answer.
    enum Coding {
        /// It is sent now, in this form.
        case ready(Response)
        /// It is sent when it has been compressed in later turns of the loop.
        case later(Compression)
        /// It waits for the compression of another answer with the same body; `isRead` is true if it answers a read.
        case joining(Compression, isRead: Bool)
    }

    private let bytesMin: Int
    private var streams = GzipStreams()
    /// The compressions under way of bodies that many answers share.
    private var shared: [ObjectIdentifier: Compression] = [:]

    /// Makes a coder that compresses answers of at least this many bytes.
    init(bytesMin: Int) { self.bytesMin = bytesMin }

    /// Begins to make the form of an answer that its client accepts.
    mutating func code(_ response: Response, for request: RequestTraits) -> Coding {
        guard let headers = request.headers else { return .ready(response) }
        if response.status == .notModified { return .ready(AnswerCoding.unchanged(response, for: headers)) }
        let isWanted = AnswerCoding.isWanted(response, by: headers, bytesMin: bytesMin)
        let isRead = request.method == .get || request.method == .head
        if isWanted, case .shared(let body) = response.body {
            switch body.compressed {
            case .made(let block)?: return .ready(AnswerCoding.compressed(response, .block(block), isRead: isRead))
            case .notSmaller?: return .ready(AnswerCoding.varying(response))
            case nil: break
            }
            if let compression = shared[ObjectIdentifier(body)] { return .joining(compression, isRead: isRead) }
        }
        guard isWanted, let stream = streams.take() else {
            return .ready(
                AnswerCoding.isNegotiated(response, bytesMin: bytesMin) ? AnswerCoding.varying(response) : response
            )
        }
        let compression = Compression(of: response, isRead: isRead, with: stream)
        compression.step()
        guard !compression.isDone else { return .ready(finish(compression)) }
        if case .shared(let body) = response.body { shared[ObjectIdentifier(body)] = compression }
        return .later(compression)
    }

    /// Ends a compression, and returns the answer; the compressor is free again.
    mutating func finish(_ compression: Compression) -> Response {
        abandon(compression)
        return compression.result
    }

    /// Ends a compression after all its connections have closed.
    mutating func abandon(_ compression: Compression) {
        if case .shared(let body) = compression.response.body { shared[ObjectIdentifier(body)] = nil }
        streams.giveBack(compression.stream)
    }
}

/// The compressors of one loop.
struct GzipStreams {
    /// The most answers that a loop compresses at once, 268 KB each; further answers are sent uncompressed.
    static let underWayMax = 16
    /// The most bytes that are compressed in one turn of the loop: a quarter of a millisecond.
    static let sliceBytes = 32_768

    /// A free compressor of an earlier answer; nil if there is none.
    private var idle: GzipStream?
    private(set) var underWay = 0

    /// Returns a compressor for an answer; nil if too many are in use, or if there is no memory.
    mutating func take() -> GzipStream? {
        guard underWay < Self.underWayMax, let stream = idle ?? GzipStream() else { return nil }
        idle = nil
        underWay += 1
        return stream
    }

    /// Takes a compressor back.
    mutating func giveBack(_ stream: GzipStream) {
        underWay -= 1
        stream.reset()
        idle = stream
    }
}

/// The compression of one answer, and the other answers that have the same body.
final class Compression {
    let stream: GzipStream
    let response: Response
    /// The other answers with the same body, which are sent when the compression is done.
    private(set) var joined: [(connection: ConnectionID, response: Response, isRead: Bool)] = []
    private let isRead: Bool
    private var output: [UInt8] = []
    private var taken = 0
    private var hasFailed = false

    /// Makes the compression of an answer that has a body; `stream` is at its start.
    init(of response: Response, isRead: Bool, with stream: GzipStream) {
        self.response = response
        self.isRead = isRead
        self.stream = stream
    }

    var isDone: Bool { hasFailed || taken == response.body.count }

    /// Adds an answer with the same body.
    func join(_ connection: ConnectionID, _ response: Response, isRead: Bool) {
        joined.append((connection, response, isRead))
    }

    /// Compresses as many bytes as one turn allows.
    func step() {
        response.body.withBytes { bytes in
            let end = min(taken + GzipStreams.sliceBytes, bytes.count)
            let part = bytes.extracting(taken..<end)
            hasFailed = !stream.append(part, isLast: end == bytes.count, to: &output)
            taken = end
        }
    }

    /// The answer as it is sent.
    var result: Response { result(of: response, isRead: isRead) }

    /// Returns an answer with this body, ready to be sent.
    ///
    /// It is uncompressed if the compression has failed or saves nothing.
    func result(of response: Response, isRead: Bool) -> Response {
        let isSmaller = !hasFailed && output.count < response.body.count
        guard case .shared(let body) = response.body else {
            return isSmaller
                ? AnswerCoding.compressed(response, .own(output), isRead: isRead) : AnswerCoding.varying(response)
        }
        switch body.compressed(as: isSmaller ? output : nil) {
        case .made(let block): return AnswerCoding.compressed(response, .block(block), isRead: isRead)
        case .notSmaller: return AnswerCoding.varying(response)
        }
    }
}

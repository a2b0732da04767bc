import RivuletHTTP
import RivuletStores

/// Makes the bytes of answers.
struct AnswerWriter {
    /// The most bytes of memory that are kept between two answers; a larger buffer is not kept.
    private static let keptBytesMax = 65_536

    private let doors: Doors
    private var date = DateField()
    /// The bytes of an answer; the buffer is kept for its capacity.
    private var output: [UInt8] = []

    init(_ doors: Doors) { self.doors = doors }

    /// The bytes of an answer, without a body that other answers share.
    mutating func bytes(of response: Response, to request: RequestTraits, isKeepAlive: Bool) -> [UInt8] {
        output.removeAll(keepingCapacity: true)
        let framing: HTTPBodyFraming = response.status.forbidsBody ? .none : .length(response.body.count)
        // Few requests add fields to their answer. Without such fields, nothing is copied.
        let fields = request.fields.isEmpty ? response.fields : response.fields + request.fields
        HTTPResponseHead(response.status, fields: fields, framing: framing)
            .append(
                to: &output,
                version: request.version,
                date: date.bytes(),
                constant: request.constantFields ?? doors.ownFields,
                isKeepAlive: isKeepAlive
            )
        if case .own(let body) = response.body, !request.isHead, !response.status.forbidsBody {
            output.append(contentsOf: body)
        }
        guard output.capacity > Self.keptBytesMax else { return output }
        return exchange(&output, with: [])
    }

    /// The bytes of an event stream's head; the body is chunked for HTTP/1.1, and lasts until the close for HTTP/1.0.
    mutating func streamHead(_ fields: [HTTPField], to request: RequestTraits) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        HTTPResponseHead(.ok, fields: fields + request.fields, framing: .chunked)
            .append(
                to: &bytes,
                version: request.version,
                date: date.bytes(),
                constant: request.constantFields ?? doors.ownFields,
                isKeepAlive: false
            )
        return bytes
    }
}

/// The current time as HTTP writes it.
///
/// Source: RFC 9110 §6.6.1.
struct DateField {
    private var second: Int64 = 0
    private var text: [UInt8] = []

    mutating func bytes() -> [UInt8] {
        let now = WallClock.seconds()
        if now != second {
            second = now
            text = Array(HTTPDate(secondsSince1970: now).text.utf8)
        }
        return text
    }
}

/// Received bytes that must outlive the loop's read buffer: an incomplete head, or bytes that wait behind a request.
///
/// A read moves `start`, so that many small requests are taken from one buffer without copies.
struct HTTPInput: Sendable {
    private(set) var bytes: [UInt8]
    private(set) var start = 0

    /// Makes an empty input.
    init() { bytes = [] }

    /// Copies `span`; an empty one takes no memory.
    init(_ span: Span<UInt8>) { bytes = span.isEmpty ? [] : [UInt8](copying: span) }

    /// The number of unread bytes.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// Returns the input without its next `count` bytes; an empty one takes no memory.
    consuming func dropping(_ count: Int) -> HTTPInput {
        start += count
        if isEmpty {
            bytes = []
            start = 0
        }
        return self
    }

    /// Appends received bytes; bytes that were read before are released first.
    mutating func append(_ span: Span<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(copying: span)
    }
}

/// Received bytes that have to outlive the loop's read buffer: a head that arrives in parts, or what waits in line.
///
/// Reading moves `start`, so that taking many small requests from one buffer copies none of them.
struct HTTPInput: Sendable {
    private(set) var bytes: [UInt8]
    private(set) var start = 0

    /// No bytes.
    init() { bytes = [] }

    /// A copy of `span`; an empty one holds no memory.
    init(_ span: Span<UInt8>) { bytes = span.isEmpty ? [] : [UInt8](copying: span) }

    /// The number of unread bytes.
    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    /// What is left after `count` more bytes; holds no memory when that is nothing.
    consuming func dropping(_ count: Int) -> HTTPInput {
        start += count
        if isEmpty {
            bytes = []
            start = 0
        }
        return self
    }

    /// Appends received bytes; the bytes read before are released first.
    mutating func append(_ span: Span<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(copying: span)
    }
}

// Part of Rivulet. See README.md for the architecture.
// Owns the copy of a span's bytes into an array, without pointers.

extension [UInt8] {
    /// A copy of `span`.
    package init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends a copy of `span`.
    package mutating func append(copying span: Span<UInt8>) {
        append(addingCapacity: span.count) { output in
            for index in span.indices { output.append(span[index]) }
        }
    }
}

// This file owns the operations that copy or compare many bytes of a span at once.

extension [UInt8] {
    /// Makes a copy of `span`.
    package init(copying span: Span<UInt8>) {
        self = []
        append(copying: span)
    }

    /// Appends a copy of `span`.
    package mutating func append(copying span: Span<UInt8>) {
        // This is several times as fast as a copy byte by byte.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a copy of `span`, for which there must be room.
    package mutating func append(copying span: Span<UInt8>) {
        precondition(span.count <= freeCapacity, "there is no room for \(span.count) bytes")
        unsafe withUnsafeMutableBufferPointer { buffer, count in
            unsafe span.withUnsafeBufferPointer { source in
                guard let first = source.baseAddress, let start = buffer.baseAddress else { return }
                // SAFETY: the memory after `count` is free, and there is room.
                unsafe (start + count).initialize(from: first, count: source.count)
            }
            count += span.count
        }
    }

    /// Appends the text as UTF-8, for which there must be room.
    mutating func append(copying text: String) {
        let utf8 = text.utf8
        append(copying: utf8.span)
    }
}

extension Span<UInt8> {
    /// Returns true if another span has the same bytes; compares eight at once.
    func hasBytes(of other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { theirs in
                var index = 0
                while index + 8 <= mine.count {
                    let word = unsafe mine.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                    guard unsafe theirs.loadUnaligned(fromByteOffset: index, as: UInt64.self) == word else {
                        return false
                    }
                    index += 8
                }
                while index < mine.count {
                    guard unsafe mine[index] == theirs[index] else { return false }
                    index += 1
                }
                return true
            }
        }
    }

    /// Returns true if another span has the same bytes; compares 32 at once, for long values.
    ///
    /// It is not part of `hasBytes`, which is inlined where short texts are compared.
    func hasManyBytes(of other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        let end = count & ~31
        return unsafe withUnsafeBytes { mine in
            unsafe other.withUnsafeBytes { theirs in
                var differences = SIMD4<UInt64>()
                var index = 0
                while index < end {
                    let words = unsafe mine.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self)
                    differences |= words ^ (unsafe theirs.loadUnaligned(fromByteOffset: index, as: SIMD4<UInt64>.self))
                    index += 32
                }
                return differences == SIMD4<UInt64>()
            }
        } && extracting(end...).hasBytes(of: other.extracting(end...))
    }

    /// True if any byte is an ASCII control character other than DEL; checks eight at once.
    var hasControl: Bool {
        var index = 0
        let isFound = unsafe withUnsafeBytes { bytes in
            while index + 8 <= bytes.count {
                let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                // The subtraction of 0x20 sets the high bit of a byte below 0x20; a high bit that was set before is
                // ignored.
                guard (word &- 0x2020_2020_2020_2020) & ~word & 0x8080_8080_8080_8080 == 0 else { return true }
                index += 8
            }
            return false
        }
        guard !isFound else { return true }
        while index < count {
            guard self[index] >= 0x20 else { return true }
            index += 1
        }
        return false
    }
}

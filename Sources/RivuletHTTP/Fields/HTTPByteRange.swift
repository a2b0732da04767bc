/// The part that a `Range` field requests of a representation of known length.
///
/// Source: RFC 9110 sections 14.1.2 and 14.2.
package enum HTTPByteRange: Hashable, Sendable {
    /// The bytes in this range.
    case part(Range<Int>)
    /// One range without any byte of the representation.
    case unsatisfiable
    /// The whole representation, for another unit, several ranges, or an invalid field, each of which a server may
    /// ignore.
    case whole

    /// Reads the field for a representation of `length` bytes.
    package init(_ field: String, length: Int) {
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else {
            self = .whole
            return
        }
        let text = parts[1].filter { $0 != " " && $0 != "\t" }
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(ASCII.isDigit) }),
            !(ends[0].isEmpty && ends[1].isEmpty)
        else {
            self = .whole
            return
        }
        // A number that is too large for Int lies after the end of every representation.
        let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
        if ends[0].isEmpty {
            self = last == 0 || length == 0 ? .unsatisfiable : .part(max(length - last, 0)..<length)
        } else if !ends[1].isEmpty, last < first {
            self = .whole
        } else {
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        }
    }
}

/// Counts the events of a dispatch before its body is decoded.
enum EventCount {
    /// The number of events in a body: the elements of an array, and 1 for any other text.
    ///
    /// The result for a text that is no JSON is a number of at least 1.
    static func count(in body: ArraySlice<UInt8>) -> Int {
        var bytes = body.makeIterator()
        guard let first = next(&bytes), first == UInt8(ascii: "[") else { return 1 }
        var (depth, commas) = (1, 0)
        while depth > 0, let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\""): skipString(&bytes)
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            case UInt8(ascii: ",") where depth == 1: commas += 1
            default: break
            }
        }
        return commas + 1
    }

    /// The number of events in lines, of which each is an event or an array.
    static func count(in lines: [ArraySlice<UInt8>]) -> Int { lines.reduce(0) { $0 + count(in: $1) } }

    /// The next byte that is no white space.
    private static func next(_ bytes: inout ArraySlice<UInt8>.Iterator) -> UInt8? {
        while let byte = bytes.next() {
            guard byte == 0x20 || (0x09...0x0D).contains(byte) else { return byte }
        }
        return nil
    }

    /// Skips the rest of a string and its quotation mark.
    private static func skipString(_ bytes: inout ArraySlice<UInt8>.Iterator) {
        while let byte = bytes.next(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { _ = bytes.next() }
        }
    }
}

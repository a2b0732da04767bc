import RivuletHTTP

/// Header fields.
///
/// Their bytes may be anything but line ends.
enum FieldFuzz {
    static func fault(inFields bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        _ = HTTPAccept.accepts(type: "application/json", in: text)
        _ = HTTPAccept.preferredType(of: ["text/html", "application/json"], in: text)
        for length in [0, 1, 100] { _ = HTTPByteRange(text, length: length) }
        _ = HTTPIdempotencyKey(text)
        _ = HTTPMediaType(text)
        _ = HTTPPreferences(text)
        if let date = HTTPDate(text), HTTPDate(date.text) != date { return "\(date) is read back as another date" }
        for tag in HTTPEntityTag.list(text) ?? [] where !HTTPEntityTag.matchesWeakly(text, tag: tag) {
            return "\(tag) does not match its own list"
        }
        return nil
    }

    static func fault(inCookies bytes: [UInt8]) -> String? {
        let text = String(decoding: bytes, as: UTF8.self)
        let fields = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let values = HTTPCookies.values(of: "rivulet", in: fields)
        return values.allSatisfy { !$0.utf8.contains(UInt8(ascii: ";")) } ? nil : "\(values)"
    }
}

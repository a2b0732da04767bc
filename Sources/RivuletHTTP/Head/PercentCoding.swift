/// The percent coding of URLs.
///
/// Source: RFC 3986 section 2.1.
package enum PercentCoding {
    /// Returns the decoded text of `bytes`; malformed escapes stay as they are, and bytes that are not UTF-8 are
    /// replaced.
    package static func decodedString(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(UInt8(ascii: "%")) else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: decoded(bytes, plusIsSpace: false), as: UTF8.self)
    }

    /// Returns the same as `decodedString`, except that "+" is a space, as in queries.
    ///
    /// Source: <https://url.spec.whatwg.org/#urlencoded-parsing>.
    package static func decodedFormString(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: decoded(bytes, plusIsSpace: true), as: UTF8.self)
    }

    /// Returns `text` with every byte escaped that is not unreserved, as one path segment or one query value.
    package static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if ASCII.isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(ASCII.upperHexDigit(byte >> 4))
                bytes.append(ASCII.upperHexDigit(byte & 0xF))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the decoded bytes of `bytes`.
    static func decoded(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let high = ASCII.hexValue(bytes[index + 1]), let low = ASCII.hexValue(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return result
    }
}

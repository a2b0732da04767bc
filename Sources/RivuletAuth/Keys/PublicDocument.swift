import RivuletJSON

/// The usual forms of public keys and key sets, which are no secrets.
enum PublicDocument {
    /// The beginnings of OpenSSH keys, of SSH2 keys, and of texts in UTF-16.
    private static let beginnings: [[UInt8]] =
        ["ssh-", "ecdsa-", "sk-ssh-", "sk-ecdsa-", "---- BEGIN"].map { Array($0.utf8) }
        + [[0xFF, 0xFE], [0xFE, 0xFF]]

    /// Returns true if the bytes are JSON, DER, base64 of DER, an SSH key, or a text in UTF-16.
    ///
    /// One of 65,536 random secrets looks like DER.
    static func isLikely(_ bytes: [UInt8]) -> Bool {
        beginnings.contains { bytes.starts(with: $0) } || isJSON(bytes) || isDER(bytes) || isDERInBase64(bytes)
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        guard let value = try? JSONValue(parsing: bytes) else { return false }
        return value.members != nil || value.elements != nil
    }

    /// Returns true if the bytes are one SEQUENCE.
    ///
    /// Source: <https://www.itu.int/rec/T-REC-X.690-202102-I> (sections 8.1.3 and 8.9)
    private static func isDER(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 2, bytes[0] == 0x30 else { return false }
        if bytes[1] < 0x80 { return bytes.count == 2 + Int(bytes[1]) }
        let lengthBytes = Int(bytes[1] & 0x7F)
        guard (1...3).contains(lengthBytes), bytes.count > 2 + lengthBytes else { return false }
        let length = bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
        return bytes.count == 2 + lengthBytes + length
    }

    private static func isDERInBase64(_ bytes: [UInt8]) -> Bool {
        let text: [UInt8] = bytes.compactMap { byte in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="), UInt8(ascii: "\n"), UInt8(ascii: "\r"): nil
            default: byte
            }
        }
        return Base64URL.decode(text[...]).map(isDER) ?? false
    }
}

import RivuletSessions

/// Entity tags that change when the content does.
enum ContentTag {
    /// The 64-bit FNV-1a hash and the length; it distinguishes contents, but an attacker can find collisions.
    static func hash(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(String(hash, radix: 36))-\(String(bytes.count, radix: 36))"
    }

    /// The tag of a past value: `"epoch.version-hash"`.
    ///
    /// The hash is needed because other migrations or other defaults give a version another value under the same epoch.
    static func past(_ answer: StateAnswer) -> String {
        "\(answer.cursor.tag.dropLast())-\(hash(of: answer.value))\""
    }

    /// The cursor in a tag, without the hash of a past value; nil if the tag has no cursor.
    static func cursor(in tag: Substring) -> Cursor? {
        let text = tag.dropFirst().dropLast()
        return Cursor(text) ?? text.firstIndex(of: "-").flatMap { Cursor(text[..<$0]) }
    }
}

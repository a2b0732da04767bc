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

    /// The tag of the part of a resource that a mask leaves; it names the mask, so that another mask gets no 304.
    ///
    /// A mask without a name leaves the whole resource, which has the tag itself.
    static func masked(_ tag: String, by name: String) -> String {
        name.isEmpty ? tag : "\(tag.dropLast())\(maskMark)\(name)\""
    }

    private static let maskMark = "-m"
    /// The characters of a mask's mark and name.
    ///
    /// A cursor and a hash of a past value never end in so long a text that begins with the mark.
    private static let maskCharacters = 15

    /// The text of a tag, or a cursor that was taken from one, without the name of the caller's mask.
    static func unmasked(_ text: Substring) -> Substring {
        text.suffix(maskCharacters).hasPrefix(maskMark) ? text.dropLast(maskCharacters) : text
    }

    /// The cursor in a tag, without the name of a mask and the hash of a past value; nil if the tag has no cursor.
    static func cursor(in tag: Substring) -> Cursor? {
        let text = unmasked(tag.dropFirst().dropLast())
        return Cursor(text) ?? text.firstIndex(of: "-").flatMap { Cursor(text[..<$0]) }
    }
}

import RivuletJSON

/// Texts of callers and of files, in lines of the log and in one-line errors.
///
/// No text can end the line, or change the direction of the text after it.
package enum ForeignText {
    /// The most characters that a line quotes.
    package static let quotedCharactersMax = 100
    /// The most characters of an error that a line contains.
    package static let lineCharactersMax = 500

    /// Returns the text as a JSON string, cut after ``quotedCharactersMax`` characters.
    package static func quoted(_ text: String) -> String {
        escaped(JSONValue.string(cut(text, to: quotedCharactersMax)).description)
    }

    /// Returns the text of an error as a part of one line, cut after ``lineCharactersMax`` characters.
    package static func line(_ text: String) -> String { escaped(cut(text, to: lineCharactersMax)) }

    /// Returns the whole text without a character that could end a line or change its direction.
    package static func visible(_ text: String) -> String { escaped(text) }

    /// Returns true if the text has a character that is not visible by itself.
    ///
    /// Such are control characters, marks of direction, and separators of lines and paragraphs.
    package static func hasControls(_ text: String) -> Bool { text.unicodeScalars.contains(where: isControl) }

    /// Returns true if the text has a control character, such as a zero or the end of a line.
    ///
    /// Marks of direction and joiners are none: words of many languages need them.
    package static func hasControlCharacter(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    private static func cut(_ text: String, to count: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: count, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    private static func escaped(_ text: String) -> String {
        guard hasControls(text) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard isControl(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return escaped
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

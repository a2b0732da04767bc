import RivuletJSON

/// Texts of callers and of files, in lines of the log.
enum ForeignText {
    /// The most characters that a line quotes.
    static let quotedCharactersMax = 100

    /// Returns the text as a JSON string, cut after ``quotedCharactersMax`` characters.
    static func quoted(_ text: String) -> String {
        let scalars = text.unicodeScalars
        var shown = String(String.UnicodeScalarView(scalars.prefix(quotedCharactersMax)))
        if scalars.count > quotedCharactersMax { shown += "…" }
        return JSONValue.string(shown).description
    }
}

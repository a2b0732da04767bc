import RivuletHTTP
import RivuletJSON

/// The pages about the types of problems.
enum ProblemPages {
    /// The list of all types; made for its first request.
    static let list = file(title: "Problems", listBody)
    private static let pages = Dictionary(
        uniqueKeysWithValues: ProblemType.allCases.map { ($0, file(title: $0.title, body(of: $0))) }
    )

    /// The page of a type.
    static func page(of type: ProblemType) -> StaticFile { pages[type] ?? list }

    private static var listBody: String {
        let rows = ProblemType.allCases.map { type in
            "<tr><td>\(type.status)<td><a href=\"\(type.page)\">\(type.rawValue)</a><td>\(escaped(type.title))\n"
        }
        return "<p>The <code>type</code> of a problem document leads to one of these pages.\n"
            + "<table>\n<tr><th>Status<th>Type<th>Title\n\(rows.joined())</table>\n"
    }

    private static func body(of type: ProblemType) -> String {
        let row = ProblemTable.row(of: type)
        return """
            <p>Status \(type.status) \(HTTPStatus(UInt16(type.status)).reason). Type <code>\(type.address)</code>.
            <h2>Cause</h2>
            <p>\(text(row.cause))
            <h2>Remedy</h2>
            <p>\(text(row.remedy))
            <h2>Example</h2>
            <pre><code>\(escaped(example(of: type)))</code></pre>
            <p><a href="/problems">All problems</a>

            """
    }

    /// The document with a line for each member.
    private static func example(of type: ProblemType) -> String {
        let lines = (type.example.members ?? []).map { member in
            "  \(json(.string(member.name))): \(json(member.value))"
        }
        return "{\n\(lines.joined(separator: ",\n"))\n}"
    }

    private static func json(_ value: JSONValue) -> String { String(decoding: value.json, as: UTF8.self) }

    /// Turns text with backquotes around code into HTML.
    private static func text(_ text: String) -> String {
        escaped(text).split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.isMultiple(of: 2) ? String($1) : "<code>\($1)</code>" }.joined()
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func file(title: String, _ body: String) -> StaticFile {
        let page = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(title))</title>
            <h1>\(escaped(title))</h1>
            \(body)
            """
        return StaticFile(contentType: "text/html; charset=utf-8", lastModified: nil, bytes: Array(page.utf8))
    }
}

extension ProblemType {
    /// The type in a few words, the same in each document.
    var title: String { ProblemTable.row(of: self).title }
}

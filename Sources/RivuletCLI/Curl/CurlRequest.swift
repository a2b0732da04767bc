/// One request that curl sends.
struct CurlRequest {
    var method = "GET"
    var url: String
    /// The header fields; a later field does not replace an earlier one of the same name.
    var fields: [(name: String, value: String)] = []
    /// The pieces of the body, of at most ``pieceBytesMax``; nil for a request without one.
    var body: [String]?
    /// True if HTTP/2 is offered; curl takes HTTP/1.1 if the server does not speak it.
    var offersHTTP2 = true
    /// True if curl unpacks gzip, and asks for it.
    var isCompressed = false
    /// The seconds after which curl gives up.
    var secondsMax = 10

    /// The most bytes of a piece of the body; curl refuses lines of 100 KiB and more.
    static let pieceBytesMax = 65_536

    /// The text for `curl --config -`.
    ///
    /// The request goes to curl's standard input, because other users of the machine can see arguments, and the request
    /// may have a token. Source: <https://curl.se/docs/manpage.html#-K>.
    var configuration: String {
        var lines = [
            "silent", "show-error", "include", "no-buffer", "globoff", "path-as-is", "connect-timeout = 5",
            "max-time = \(secondsMax)", "proto = \"=http,https\"", offersHTTP2 ? "http2" : "http1.1",
            "request = \(Self.quoted(method))", "url = \(Self.quoted(url))",
        ]
        if isCompressed { lines.append("compressed") }
        lines += fields.map { "header = \(Self.quoted("\($0.name): \($0.value)"))" }
        if let body {
            // An empty field keeps curl from waiting for 100.
            lines.append("header = \"Expect:\"")
            // curl joins the pieces with "&".
            lines += body.map { "data-raw = \(Self.quoted($0))" }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// True if the text can be a part of a URL or of a field: visible ASCII and spaces.
    static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

    /// A text in quotes, without bytes that are not plain.
    ///
    /// A line break would begin another option. Texts from answers are in requests too, and the server is not trusted.
    private static func quoted(_ text: String) -> String {
        let plain = text.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }
        let escaped = String(String.UnicodeScalarView(plain)).replacing("\\", with: "\\\\").replacing(
            "\"",
            with: "\\\""
        )
        return "\"\(escaped)\""
    }
}

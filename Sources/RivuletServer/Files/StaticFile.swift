import RivuletHTTP

/// A file's bytes in each encoding, with the header values of its answer.
struct StaticFile: Sendable {
    /// Files below this many bytes are not worth compressing.
    private static let compressedBytesMin = 256

    let contentType: String
    /// A strong entity tag of the plain bytes, with its quotes.
    let tag: String
    /// The HTTP date of the last change; nil for content that the server itself makes when it starts.
    let lastModified: String?
    let bytes: [UInt8]
    /// The gzip form; nil if it is not clearly smaller.
    let compressed: [UInt8]?

    init(contentType: String, lastModified: String?, bytes: [UInt8]) {
        self.contentType = contentType
        self.lastModified = lastModified
        self.bytes = bytes
        tag = "\"\(ContentTag.hash(of: bytes))\""
        compressed = Self.compressed(bytes)
    }

    /// The tag of the compressed form, which is another representation and so needs another tag.
    ///
    /// Source: RFC 9110 §8.8.3.3.
    var compressedTag: String { tag.dropLast() + "-gzip\"" }

    /// The media type by a file name's extension.
    static func contentType(of name: String) -> String {
        switch name.split(separator: ".").last?.lowercased() {
        case "html": "text/html; charset=utf-8"
        case "js", "mjs": "text/javascript; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "json", "map": "application/json"
        case "svg": "image/svg+xml"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        case "webp": "image/webp"
        case "ico": "image/x-icon"
        case "woff2": "font/woff2"
        case "wasm": "application/wasm"
        case "txt", "md": "text/plain; charset=utf-8"
        default: "application/octet-stream"
        }
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= compressedBytesMin, let compressed = GzipStream.smallest(bytes) else { return nil }
        return compressed.count < bytes.count * 9 / 10 ? compressed : nil
    }
}

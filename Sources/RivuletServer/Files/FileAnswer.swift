import RivuletHTTP

/// A file and the request that it answers.
struct FileAnswer {
    private let file: StaticFile
    private let request: HTTPRequest
    private let pageFields: [HTTPField]

    /// Makes the answer with a file; `pageFields` are added if the file is a page.
    init(_ file: StaticFile, _ request: HTTPRequest, pageFields: [HTTPField] = []) {
        self.file = file
        self.request = request
        self.pageFields = file.contentType.hasPrefix("text/html") ? pageFields : []
    }

    /// The answer; it has a part of the file if the request asks for a part.
    ///
    /// A part is always a range of the uncompressed bytes, even if the client accepts a compression. Source: RFC 9110
    /// §14.2.
    /// - Throws: 416 for a range that the file does not have.
    func response() throws(Problem) -> Response {
        let acceptsRanges = HTTPField("Accept-Ranges", "bytes")
        guard request.method == .get, let field = request.headers["range"], isRangeWanted else {
            return wholeResponse.adding(acceptsRanges)
        }
        let range: Range<Int>
        switch HTTPByteRange(field, length: file.bytes.count) {
        case .whole: return wholeResponse.adding(acceptsRanges)
        case .part(let part): range = part
        case .unsatisfiable:
            throw Problem(
                .rangeNotSatisfiable,
                "the file has \(file.bytes.count) bytes, and Range asks for none of them",
                fields: [HTTPField("Content-Range", "bytes */\(file.bytes.count)"), acceptsRanges]
            )
        }
        if isUnchanged(tag: file.tag) { return notModified(tag: file.tag).adding(acceptsRanges) }
        let contentRange = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(file.bytes.count)"
        var response = Response(
            .partialContent,
            fields: fields(tag: file.tag) + content,
            body: Array(file.bytes[range])
        )
        response.fields += [HTTPField("Content-Range", contentRange), acceptsRanges]
        response.isCoded = true
        return response
    }

    /// The answer with the whole file.
    var wholeResponse: Response {
        let acceptsGzip = HTTPAccept.accepts(encoding: "gzip", in: request.headers.list(of: "accept-encoding"))
        let compressed = acceptsGzip ? file.compressed : nil
        let tag = compressed == nil ? file.tag : file.compressedTag
        if isUnchanged(tag: tag) { return notModified(tag: tag) }
        var response = Response(.ok, fields: fields(tag: tag) + content, body: compressed ?? file.bytes)
        if compressed != nil { response.fields.append(HTTPField("Content-Encoding", "gzip")) }
        response.isCoded = true
        return response
    }

    private func notModified(tag: String) -> Response {
        var response = Response(.notModified, fields: fields(tag: tag))
        response.isCoded = true
        return response
    }

    /// The fields that a 304 has as well.
    private func fields(tag: String) -> [HTTPField] {
        [
            HTTPField("ETag", tag), HTTPField("Cache-Control", "no-cache"), HTTPField("Vary", "Accept-Encoding"),
        ] + pageFields + (file.lastModified.map { [HTTPField("Last-Modified", $0)] } ?? [])
    }

    /// The fields that describe the body.
    private var content: [HTTPField] { [HTTPField("Content-Type", file.contentType)] }

    /// True if `Range` applies: `If-Range` is absent, or is the tag of the uncompressed bytes or their exact date.
    ///
    /// Source: RFC 9110 §13.1.5.
    private var isRangeWanted: Bool {
        guard let condition = request.headers["if-range"] else { return true }
        return condition == file.tag || condition == file.lastModified
    }

    /// True if `If-None-Match` matches, or, without that field, if `If-Modified-Since` is no earlier than the file.
    ///
    /// Source: RFC 9110 §13.2.2.
    private func isUnchanged(tag: String) -> Bool {
        if let condition = request.headers.list(of: "if-none-match") {
            return HTTPEntityTag.matchesWeakly(condition, tag: tag)
        }
        guard let since = request.headers["if-modified-since"].flatMap({ HTTPDate($0) }),
            let changed = file.lastModified.flatMap({ HTTPDate($0) })
        else { return false }
        return changed.secondsSince1970 <= since.secondsSince1970
    }
}

extension Response {
    fileprivate func adding(_ field: HTTPField) -> Response {
        var response = self
        response.fields.append(field)
        return response
    }
}

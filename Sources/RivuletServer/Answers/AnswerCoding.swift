import RivuletHTTP

/// The content coding of answers that are made for a request; files are coded when they are loaded.
///
/// Source: RFC 9110 §8.4, §8.8.3.3, §12.5.3, §12.5.5.
enum AnswerCoding {
    /// The suffix of a compressed form's tag; each form needs a tag of its own.
    ///
    /// No cursor and no item's tag ends with this suffix by itself.
    static let suffix = "-gzip"

    /// True if the answer's form depends on the codings that the request accepts.
    static func isNegotiated(_ response: Response, bytesMin: Int) -> Bool {
        response.body.count >= bytesMin && isCompressible(response)
    }

    /// True if answers of this kind are compressed.
    private static func isCompressible(_ response: Response) -> Bool {
        guard !response.isCoded, response.status != .partialContent, !response.status.forbidsBody else { return false }
        guard let type = response.fields.first(where: { $0.name == "Content-Type" })?.value else { return false }
        return type.hasPrefix("application/json") || type.hasPrefix("application/problem+json")
            || type.hasPrefix("application/x-ndjson") || type.hasPrefix("text/plain")
    }

    /// True if the answer is to be compressed for a client that sent these headers.
    static func isWanted(_ response: Response, by headers: HTTPHeaders, bytesMin: Int) -> Bool {
        guard !response.body.isEmpty else { return false }
        if response.body.count < bytesMin {
            // Nearly every answer ends here. A client that refuses the plain form has to say so with a weight.
            guard let field = headers.bytes(of: "accept-encoding"), field.contains(UInt8(ascii: ";")) else {
                return false
            }
            guard HTTPAccept.refuses(encoding: "identity", in: headers.list(of: "accept-encoding")) else {
                return false
            }
        }
        return isCompressible(response)
            && HTTPAccept.accepts(encoding: "gzip", in: headers.list(of: "accept-encoding"))
    }

    /// The answer with a compressed body, and the fields that describe it.
    static func compressed(_ response: Response, _ body: ResponseBody, isRead: Bool) -> Response {
        var response = varying(response)
        response.body = body
        response.isCoded = true
        response.fields.append(HTTPField("Content-Encoding", "gzip"))
        // In any other answer, the tag belongs to a value that is read separately, and not to this body.
        if isRead, response.status == .ok { response.tagForCompressed() }
        return response
    }

    /// The answer with a `Vary` field, so that caches know that other clients may get another form.
    static func varying(_ response: Response) -> Response {
        var response = response
        if let index = response.fields.firstIndex(where: { $0.name == "Vary" }) {
            guard !response.fields[index].value.contains("Accept-Encoding") else { return response }
            response.fields[index] = HTTPField("Vary", response.fields[index].value + ", Accept-Encoding")
        } else {
            response.fields.append(HTTPField("Vary", "Accept-Encoding"))
        }
        return response
    }

    /// A 304 with the tag of the compressed form, if the client names such a tag and still accepts gzip.
    static func unchanged(_ response: Response, for headers: HTTPHeaders) -> Response {
        guard !response.isCoded, let condition = headers.list(of: "if-none-match"), condition.contains(suffix + "\"")
        else { return response }
        var response = varying(response)
        if HTTPAccept.accepts(encoding: "gzip", in: headers.list(of: "accept-encoding")) {
            response.tagForCompressed()
        }
        return response
    }

    /// The tags of a condition, without the suffix of compressed forms.
    static func plainTags(_ field: String?) -> String? {
        guard let field, field.contains(suffix + "\"") else { return field }
        return field.replacing(suffix + "\"", with: "\"")
    }

    /// A cursor, without the suffix and without the name of a mask, if the client has taken it from a tag.
    static func plainCursor(_ text: String?) -> String? {
        guard let text, text.contains("-") else { return text }
        return String(ContentTag.unmasked(text.hasSuffix(suffix) ? text.dropLast(suffix.count) : text[...]))
    }
}

extension Response {
    /// Changes the tag to that of the compressed form.
    fileprivate mutating func tagForCompressed() {
        guard let index = fields.firstIndex(where: { $0.name == "ETag" }), fields[index].value.hasSuffix("\"") else {
            return
        }
        fields[index] = HTTPField("ETag", fields[index].value.dropLast() + AnswerCoding.suffix + "\"")
    }
}

extension HTTPRequest {
    /// The tags that a condition names, without the suffix of compressed forms; nil without the field.
    func tags(_ name: String) -> String? { AnswerCoding.plainTags(headers.list(of: name)) }
}

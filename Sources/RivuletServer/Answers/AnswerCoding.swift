import RivuletHTTP

/// The content coding of answers that are made for a request; files have theirs from the start.
///
/// Source: RFC 9110 §8.4, §8.8.3.3, §12.5.3, §12.5.5.
enum AnswerCoding {
    /// What a tag of the compressed form ends with: another form, so another tag.
    ///
    /// No cursor and no item's tag ends so by itself.
    static let suffix = "-gzip"

    /// Whether the answer's form depends on what the request accepts.
    static func isNegotiated(_ response: Response, bytesMin: Int) -> Bool {
        response.body.count >= bytesMin && isCompressible(response)
    }

    /// Whether the answer is of a kind that is compressed.
    private static func isCompressible(_ response: Response) -> Bool {
        guard !response.isCoded, response.status != .partialContent, !response.status.forbidsBody else { return false }
        guard let type = response.fields.first(where: { $0.name == "Content-Type" })?.value else { return false }
        return type.hasPrefix("application/json") || type.hasPrefix("application/problem+json")
            || type.hasPrefix("application/x-ndjson") || type.hasPrefix("text/plain")
    }

    /// Whether the answer is to be compressed for a client that sent these headers.
    static func isWanted(_ response: Response, by headers: HTTPHeaders, bytesMin: Int) -> Bool {
        guard !response.body.isEmpty else { return false }
        if response.body.count < bytesMin {
            // Nearly every answer ends here: a client that takes no plain form has to say so with a weight.
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

    /// The answer with another body, and fields that say so.
    static func compressed(_ response: Response, _ body: ResponseBody, isRead: Bool) -> Response {
        var response = varying(response)
        response.body = body
        response.isCoded = true
        response.fields.append(HTTPField("Content-Encoding", "gzip"))
        // A tag in any other answer is that of what was read before, or will be.
        if isRead, response.status == .ok { response.tagForCompressed() }
        return response
    }

    /// The answer with the field that tells caches that others may get another form.
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

    /// A 304 in the name of the form that its reader has.
    static func unchanged(_ response: Response, for headers: HTTPHeaders) -> Response {
        guard !response.isCoded, let condition = headers.list(of: "if-none-match"), condition.contains(suffix + "\"")
        else { return response }
        var response = varying(response)
        if HTTPAccept.accepts(encoding: "gzip", in: headers.list(of: "accept-encoding")) {
            response.tagForCompressed()
        }
        return response
    }

    /// The tags of a condition without what tells the forms of one value apart.
    static func plainTags(_ field: String?) -> String? {
        guard let field, field.contains(suffix + "\"") else { return field }
        return field.replacing(suffix + "\"", with: "\"")
    }

    /// A cursor that a client has taken from a tag.
    static func plainCursor(_ text: String?) -> String? {
        guard let text, text.hasSuffix(suffix) else { return text }
        return String(text.dropLast(suffix.count))
    }
}

extension Response {
    /// Makes the tag that of the compressed form.
    fileprivate mutating func tagForCompressed() {
        guard let index = fields.firstIndex(where: { $0.name == "ETag" }), fields[index].value.hasSuffix("\"") else {
            return
        }
        fields[index] = HTTPField("ETag", fields[index].value.dropLast() + AnswerCoding.suffix + "\"")
    }
}

extension HTTPRequest {
    /// The tags that a condition names, in whatever form their reader has what they are of; nil without the field.
    func tags(_ name: String) -> String? { AnswerCoding.plainTags(headers.list(of: name)) }
}

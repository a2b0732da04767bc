// Checks the answers that are compressed, and the fields that describe the compression.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct AnswerCodingTests {
    private let large = Response.json(Array(repeating: 0x20, count: 1_024), fields: [HTTPField("ETag", "\"c\"")])
    private let small = Response.json(Array(repeating: 0x20, count: 1_023))

    private func headers(_ lines: String...) throws -> HTTPHeaders {
        var connection = HTTPConnection()
        let text = (["GET / HTTP/1.1", "Host: localhost"] + lines).joined(separator: "\r\n") + "\r\n\r\n"
        guard case .request(let request) = connection.receive(Array(text.utf8).span, limits: HTTPLimits()) else {
            throw Problem(.malformedRequest, "no request")
        }
        return request.headers
    }

    private func isWanted(_ response: Response, _ field: String) throws -> Bool {
        AnswerCoding.isWanted(response, by: try headers("Accept-Encoding: \(field)"), bytesMin: 1_024)
    }

    private func value(_ name: String, of response: Response) -> String? {
        response.fields.first { $0.name == name }?.value
    }

    @Test(arguments: [
        ("gzip", true), ("br, gzip", true), ("gzip;q=0.001", true), ("*", true), ("*;q=0.5", true), ("GZIP", true),
        ("gzip;q=0", false), ("*;q=0", false), ("gzip;q=0, *", false), ("br", false), ("identity", false), ("", false),
        ("gzip;q=0.5, identity", false), ("gzip, identity;q=0.5", true), ("identity;q=0, gzip", true),
    ])
    func `a large answer is compressed if gzip has at least the weight of identity`(_ field: String, _ is: Bool) throws
    {
        #expect(try isWanted(large, field) == `is`)
    }

    @Test(arguments: [("gzip", false), ("gzip;q=1", false), ("identity;q=0, gzip", true), ("*;q=0, gzip", true)])
    func `a small answer is compressed only if the client accepts nothing else`(_ field: String, _ is: Bool) throws {
        #expect(try isWanted(small, field) == `is`)
    }

    @Test func `without Accept-Encoding no answer is compressed`() throws {
        #expect(try !AnswerCoding.isWanted(large, by: headers(), bytesMin: 1_024))
    }

    @Test func `an answer that is encoded, is empty, or is an image is not compressed`() throws {
        var coded = large
        coded.isCoded = true
        let image = Response(.ok, fields: [HTTPField("Content-Type", "image/png")], body: large.body.bytes)
        let part = Response(.partialContent, fields: large.fields, body: large.body.bytes)
        for response in [coded, image, part, Response(.noContent), Response(.ok, body: large.body.bytes)] {
            #expect(try !isWanted(response, "gzip"))
            #expect(!AnswerCoding.isNegotiated(response, bytesMin: 1_024))
        }
    }

    @Test(arguments: [
        "application/json", "application/problem+json", "application/x-ndjson", "text/plain; version=0.0.4",
    ])
    func `every kind of text is compressed`(_ type: String) throws {
        let response = Response(.ok, fields: [HTTPField("Content-Type", type)], body: large.body.bytes)
        #expect(try isWanted(response, "gzip"))
    }

    @Test func `the compressed form of a read has its own tag`() {
        let read = AnswerCoding.compressed(large, .own([1]), isRead: true)
        #expect(value("ETag", of: read) == "\"c-gzip\"")
        #expect(value("Vary", of: read) == "Accept-Encoding")
        #expect(value("Content-Encoding", of: read) == "gzip")
        #expect(value("ETag", of: AnswerCoding.compressed(large, .own([1]), isRead: false)) == "\"c\"")
        var refused = large
        refused.status = .preconditionFailed
        #expect(value("ETag", of: AnswerCoding.compressed(refused, .own([1]), isRead: true)) == "\"c\"")
    }

    @Test func `one Vary field has all request fields that an answer depends on`() {
        let response = Response(.ok, fields: [HTTPField("Vary", "Accept")])
        let varying = AnswerCoding.varying(AnswerCoding.varying(response))
        #expect(varying.fields == [HTTPField("Vary", "Accept, Accept-Encoding")])
    }

    @Test func `a 304 has the tag that the client sent`() throws {
        let unchanged = Response(.notModified, fields: [HTTPField("ETag", "\"c\"")])
        func tag(_ lines: String...) throws -> String? {
            var all = ""
            for line in lines { all += all.isEmpty ? line : "\r\n" + line }
            return value("ETag", of: AnswerCoding.unchanged(unchanged, for: try headers(all)))
        }
        #expect(try tag("If-None-Match: \"c-gzip\"", "Accept-Encoding: gzip") == "\"c-gzip\"")
        #expect(try tag("If-None-Match: W/\"c-gzip\"", "Accept-Encoding: gzip") == "\"c-gzip\"")
        #expect(try tag("If-None-Match: \"c\"", "Accept-Encoding: gzip") == "\"c\"")
        #expect(try tag("If-None-Match: \"c-gzip\"", "Accept: */*") == "\"c\"")
    }

    @Test func `conditions and cursors accept the tags of both forms`() {
        #expect(AnswerCoding.plainTags("\"a.1.b-0-gzip\", W/\"x-gzip\", \"y\"") == "\"a.1.b-0\", W/\"x\", \"y\"")
        #expect(AnswerCoding.plainTags(nil) == nil)
        #expect(AnswerCoding.plainCursor("a.1.b-0-gzip") == "a.1.b-0")
        #expect(AnswerCoding.plainCursor("a.1.b-0") == "a.1.b-0")
    }
}

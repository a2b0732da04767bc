// Checks the places in which a request may have a credential.

import RivuletHTTP
import Testing

@testable import RivuletServer

@Suite struct CredentialsTests {
    private func request(_ fields: [String], target: String = "/v1/me") throws -> HTTPRequest {
        var connection = HTTPConnection()
        let lines = ["GET \(target) HTTP/1.1", "Host: localhost"] + fields
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n"
        guard case .request(let request) = connection.receive(Array(text.utf8).span, limits: HTTPLimits()) else {
            throw ServerError("no request: \(text)")
        }
        return request
    }

    private func header(_ values: String...) throws -> String {
        let request = try request(values.map { "Authorization: \($0)" })
        do throws(Problem) {
            switch try Credentials.header(of: request) {
            case .none: return "none"
            case .malformed: return "malformed"
            case .token(let bytes): return String(decoding: bytes, as: UTF8.self)
            }
        } catch {
            return "\(error.status)"
        }
    }

    @Test func `the scheme is in any case, and spaces before the token are skipped`() throws {
        #expect(try header("Bearer a.b.c") == "a.b.c")
        #expect(try header("bEARER   a.b.c") == "a.b.c")
        #expect(try header() == "none")
    }

    @Test(arguments: [
        "Bearer", "Bearer ", "Basic YTpi", "Bearera", "Bearer a b", "Bearer a,b c", "Bearer\ta", "Bearer \u{E4}",
        "a.b.c", "Bearer a\tb",
    ])
    func `another header is malformed and never anonymous`(_ value: String) throws {
        #expect(try header(value) == "malformed")
    }

    @Test func `two headers are 400, also if they are equal`() throws {
        #expect(try header("Bearer a", "Bearer a") == "400")
        #expect(try header("Basic a", "Bearer a") == "400")
    }

    private func cookie(_ values: [String], isLoopback: Bool = true) throws -> Credentials.Found {
        Credentials.cookie(of: try request(values.map { "Cookie: \($0)" }), isLoopback: isLoopback)
    }

    @Test func `the cookie for TLS comes first, and the other one is read on loopback only`() throws {
        #expect(try cookie(["a=1; __Host-rivulet=x; rivulet-token=y"]) == .token(Array("x".utf8)))
        #expect(try cookie(["rivulet-token=y"]) == .token(Array("y".utf8)))
        #expect(try cookie(["rivulet-token=y"], isLoopback: false) == .none)
        #expect(try cookie(["rivulet-session=y"]) == .none)
    }

    @Test func `an empty cookie and two cookies of one name are malformed`() throws {
        #expect(try cookie(["__Host-rivulet="]) == .malformed)
        #expect(try cookie(["__Host-rivulet=x; __Host-rivulet=y"]) == .malformed)
        #expect(try cookie(["__Host-rivulet=x", "__Host-rivulet=x"]) == .malformed)
    }

    @Test(arguments: ["/v1/me?access_token=x", "/v1/me?a=1&authorization=x", "/v1/me?%61ccess_token=x"])
    func `a credential in the URL is 400`(_ target: String) throws {
        let request = try request([], target: target)
        #expect(throws: Problem.self) { try Credentials.refuse(in: request.queryItems) }
    }
}

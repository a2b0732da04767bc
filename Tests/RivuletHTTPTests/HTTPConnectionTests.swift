// Owns the tests of the connection's life: order, deadlines, ends.

import RivuletHTTP
import Testing

@Suite struct HTTPConnectionTests {
    private let limits = HTTPLimits()
    private let get = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"

    /// A short name of an action.
    private func name(_ action: HTTPConnection.Action) -> String {
        switch action {
        case .wait: "wait"
        case .admit(let request, _): "admit \(request.path)"
        case .request(let request): request.path
        case .sendContinue: "continue"
        case .refuse(let refusal): "\(refusal.status.code)"
        case .close: "close"
        }
    }

    private func receive(_ text: String, _ connection: inout HTTPConnection) -> String {
        name(connection.receiveAdmitting(Array(text.utf8), limits: limits))
    }

    private func finish(_ connection: inout HTTPConnection, isKeepAlive: Bool = true) -> String {
        name(connection.responseFinished(isKeepAlive: isKeepAlive, limits: limits))
    }

    @Test func `pipelined requests are returned one after the other`() {
        var connection = HTTPConnection()
        let three = get + "POST /2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + "GET /3 HTTP/1.1\r\nHo"
        #expect(receive(three, &connection) == "/1")
        #expect(!connection.wantsReading)
        #expect(finish(&connection) == "/2")
        #expect(finish(&connection) == "wait")
        #expect(connection.wantsReading)
        #expect(connection.deadline == .head)
        #expect(receive("st: h\r\n\r\n", &connection) == "/3")
        #expect(finish(&connection) == "wait")
        #expect(connection.deadline == .idle)
    }

    @Test func `many requests are parsed the same, whether they come in one read or in pieces`() {
        let reading = HTTPReading.of(String(repeating: get, count: 200))
        #expect(reading.requests.count == 200)
        #expect(reading.refusal == nil && !reading.isClosed)
    }

    @Test func `bytes after an unanswered request wait for its response`() {
        var connection = HTTPConnection()
        #expect(receive(get, &connection) == "/1")
        #expect(connection.wantsReading)
        #expect(receive("GET /2 HTTP/1.1\r\n", &connection) == "wait")
        #expect(receive("Host: h\r\n\r\n", &connection) == "wait")
        #expect(finish(&connection) == "/2")
        #expect(finish(&connection) == "wait")
    }

    @Test func `too many bytes after an unanswered request close the connection`() {
        var connection = HTTPConnection()
        #expect(receive(get, &connection) == "/1")
        let flood = [UInt8](repeating: 0x41, count: limits.pipelinedBytesMax)
        #expect(name(connection.receive(flood.span, limits: limits)) == "wait")
        #expect(receive("A", &connection) == "close")
        #expect(finish(&connection) == "close")
    }

    @Test func `a request after the last one of a connection is not returned`() {
        var connection = HTTPConnection()
        let last = "GET /1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
        #expect(receive(last + get, &connection) == "/1")
        #expect(finish(&connection) == "close")
        #expect(receive(get, &connection) == "wait")
    }

    @Test func `a response that ends the connection closes it`() {
        var connection = HTTPConnection()
        #expect(receive(get + get, &connection) == "/1")
        #expect(finish(&connection, isKeepAlive: false) == "close")
        #expect(connection.deadline == nil)
    }

    @Test func `a refusal after a request is sent after the request's response`() {
        var connection = HTTPConnection()
        #expect(receive(get + "nonsense\r\n\r\n", &connection) == "/1")
        #expect(finish(&connection) == "400")
    }

    @Test func `each wait has its deadline`() {
        var connection = HTTPConnection()
        #expect(connection.deadline == .idle)
        #expect(receive("P", &connection) == "wait")
        #expect(connection.deadline == .head)
        #expect(receive("OST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", &connection) == "wait")
        #expect(connection.deadline == .body)
        #expect(receive("x", &connection) == "/1")
        #expect(connection.deadline == nil)
        #expect(finish(&connection) == "wait")
        #expect(connection.deadline == .idle)
        #expect(limits.milliseconds(of: .idle) == 75_000)
        #expect(limits.milliseconds(of: .head) == 10_000)
        #expect(limits.milliseconds(of: .body) == 30_000)
    }

    // MARK: - Heads

    private let head = "POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: "

    private func receiveHead(_ text: String, _ connection: inout HTTPConnection) -> String {
        name(connection.receive(Array(text.utf8).span, limits: limits))
    }

    private func admit(_ connection: inout HTTPConnection) -> String { name(connection.admitted(limits: limits)) }

    private func refuse(_ connection: inout HTTPConnection) -> Bool { connection.refused(limits: limits) }

    @Test func `a head is returned before its body, and no body is read until the head is admitted`() {
        var connection = HTTPConnection()
        #expect(receiveHead(head + "5\r\n\r\nab", &connection) == "admit /1")
        #expect(!connection.wantsReading && connection.deadline == nil)
        #expect(receiveHead("cd", &connection) == "wait")
        #expect(name(connection.deadlinePassed(limits: limits)) == "wait")
        #expect(admit(&connection) == "wait")
        #expect(connection.wantsReading && connection.deadline == .body)
        guard case .request(let request) = connection.receive(Array("e".utf8).span, limits: limits) else {
            Issue.record("no request")
            return
        }
        #expect(request.body == Array("abcde".utf8))
    }

    @Test(arguments: ["0\r\n\r\n", "3\r\n\r\nabc", "3\r\n\r\nabcGET"])
    func `a request without a body, or with its whole body, is returned at once`(rest: String) {
        var connection = HTTPConnection()
        #expect(receiveHead(head + rest, &connection) == "/1")
    }

    @Test func `the body of a refused head is discarded and the connection kept, in pieces of any size`() {
        let refused = head.replacing("/1 ", with: "/no ")
        let last = head + "1\r\n\r\nx"
        let body = String(repeating: "y", count: limits.refusedBodyBytesMax)
        let text = get + refused + "\(body.utf8.count)\r\n\r\n" + body + refused + "3\r\n\r\nGET" + get + last
        let reading = HTTPReading.of(text, refusing: "/no")
        let starts = ["GET /1 HTTP/", "refused /no", "refused /no", "GET /1 HTTP/", "POST /1 HTTP"]
        #expect(reading.requests.map { String($0.prefix(12)) } == starts)
        #expect(reading.refusal == nil && !reading.isClosed)
    }

    @Test func `a refused head with a larger or a chunked body ends the connection, in pieces of any size`() {
        let refused = head.replacing("/1 ", with: "/no ")
        let large = HTTPReading.of(get + refused + "\(limits.refusedBodyBytesMax + 1)\r\n\r\nx" + get, refusing: "/no")
        #expect(large.requests.count == 2 && large.requests.last == "refused /no close" && large.isClosed)
        let chunked = "POST /no HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        let other = HTTPReading.of(chunked + get, refusing: "/no")
        #expect(other.requests == ["refused /no close"] && other.isClosed)
    }

    @Test func `a refused peer that waits for 100 Continue does not get it, and its connection ends`() {
        let waiting = head.replacing("/1 HTTP/1.1", with: "/1 HTTP/1.1\r\nExpect: 100-continue")
        var silent = HTTPConnection()
        #expect(receiveHead(waiting + "5\r\n\r\n", &silent) == "admit /1")
        // The server cannot know if the body follows.
        #expect(!refuse(&silent))
        #expect(finish(&silent, isKeepAlive: false) == "close")
        var sending = HTTPConnection()
        #expect(receiveHead(waiting + "5\r\n\r\na", &sending) == "admit /1")
        #expect(refuse(&sending))
        #expect(finish(&sending) == "wait")
        #expect(receive("bcde" + get, &sending) == "/1")
    }

    @Test func `the rest of a refused body has the deadline of a body`() {
        var connection = HTTPConnection()
        #expect(receiveHead(head + "5\r\n\r\n", &connection) == "admit /1")
        #expect(refuse(&connection))
        #expect(connection.deadline == nil && connection.wantsReading)
        #expect(receive("ab", &connection) == "wait")
        #expect(finish(&connection) == "wait")
        #expect(connection.deadline == .body)
        var late = connection
        #expect(name(late.deadlinePassed(limits: limits)) == "close")
        var gone = connection
        #expect(name(gone.peerEnded(limits: limits)) == "close")
        #expect(receive("cde", &connection) == "wait")
        #expect(connection.deadline == .idle)
    }

    @Test func `a request after a refused body waits for the refusal's response`() {
        var connection = HTTPConnection()
        #expect(receiveHead(head + "5\r\n\r\n", &connection) == "admit /1")
        #expect(refuse(&connection))
        #expect(receive("abcde" + get, &connection) == "wait")
        #expect(!connection.wantsReading)
        #expect(finish(&connection) == "/1")
    }

    @Test func `a peer that ends before the decision about its head is closed if its body is incomplete`() {
        var connection = HTTPConnection()
        #expect(receiveHead(head + "5\r\n\r\n", &connection) == "admit /1")
        #expect(name(connection.peerEnded(limits: limits)) == "wait")
        #expect(admit(&connection) == "close")
    }

    // MARK: - Deadlines and ends

    @Test(arguments: [
        ("", "close"), ("GET", "408"), ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", "408"),
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "wait"),
    ])
    func `at a deadline a connection closes silently or answers 408`(text: String, expected: String) {
        var connection = HTTPConnection()
        _ = receive(text, &connection)
        #expect(name(connection.deadlinePassed(limits: limits)) == expected)
        if expected != "wait" { #expect(receive(get, &connection) == "wait") }
    }

    @Test(arguments: ["", "GET", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"])
    func `a peer that ends before its request is complete is closed`(text: String) {
        var connection = HTTPConnection()
        _ = receive(text, &connection)
        #expect(name(connection.peerEnded(limits: limits)) == "close")
    }

    @Test func `a head beyond a limit is refused for the limit when no more bytes come`() {
        let text = "GET /\(String(repeating: "a", count: limits.targetBytesMax + 99)) HTTP/1.1\r\nOrigin: http://a\r\n"
        var (late, ended) = (HTTPConnection(), HTTPConnection())
        #expect(receive(text, &late) == "wait" && receive(text, &ended) == "wait")
        let actions = [late.deadlinePassed(limits: limits), ended.peerEnded(limits: limits)]
        for case .refuse(let refusal) in actions { #expect(refusal.origin == "http://a") }
        #expect(actions.map(name) == ["414", "414"])
    }

    @Test func `a peer that ends after its requests gets all responses`() {
        var connection = HTTPConnection()
        #expect(receive(get + get + "GET", &connection) == "/1")
        #expect(name(connection.peerEnded(limits: limits)) == "wait")
        #expect(finish(&connection) == "/1")
        #expect(finish(&connection) == "close")
    }

    @Test func `a stream ignores bytes of its peer, up to a limit`() {
        var connection = HTTPConnection()
        #expect(receive(get + "GET", &connection) == "/1")
        #expect(name(connection.streamStarted(limits: limits)) == "wait")
        #expect(connection.wantsReading)
        #expect(connection.deadline == nil)
        #expect(receive(get, &connection) == "wait")
        #expect(name(connection.deadlinePassed(limits: limits)) == "wait")
        let flood = [UInt8](repeating: 0x41, count: limits.streamInputBytesMax)
        #expect(name(connection.receive(flood.span, limits: limits)) == "close")
    }

    @Test func `a stream ends with its peer or with its response`() {
        var ended = HTTPConnection()
        #expect(receive(get, &ended) == "/1")
        #expect(name(ended.streamStarted(limits: limits)) == "wait")
        #expect(name(ended.peerEnded(limits: limits)) == "close")
        var finished = HTTPConnection()
        #expect(receive(get, &finished) == "/1")
        #expect(name(finished.streamStarted(limits: limits)) == "wait")
        #expect(finish(&finished) == "close")
    }

    @Test func `a closed connection ignores every call`() {
        var connection = HTTPConnection()
        #expect(receive(get, &connection) == "/1")
        connection.closed()
        #expect(receive(get, &connection) == "wait")
        #expect(finish(&connection) == "close")
        #expect(name(connection.streamStarted(limits: limits)) == "close")
        #expect(name(connection.deadlinePassed(limits: limits)) == "wait")
    }

    @Test func `an idle connection is small`() {
        #expect(MemoryLayout<HTTPConnection>.stride <= 32)
    }
}

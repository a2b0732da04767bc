// Checks the log lines about requests.

import CounterFixture
import Foundation
import Logging
import RivuletSessions
import Synchronization
import Testing

@testable import RivuletServer

@Suite struct RequestLogTests {
    private let lines = LogLines()

    private func start(
        _ level: Logger.Level = .info,
        refusalLinesPerSecondMax: Int = 100,
        storage: any StorageEngine = MemoryStorageEngine(),
        slowEventTimeMin: Duration = .seconds(60)
    ) throws -> RunningServer {
        var options = ServerOptions()
        options.sessionLimits.slowEventTimeMin = slowEventTimeMin
        options.limits.refusalLinesPerSecondMax = refusalLinesPerSecondMax
        let server = StateServer(options: options, storage: storage, logger: lines.logger(level: level))
        try server.host(TallyApp())
        return try server.start(isListening: false, clock: ContinuousClock())
    }

    /// Sends requests on one connection that the last request closes.
    ///
    /// Returns all answers.
    private func send(_ text: String, to server: RunningServer) async -> String {
        await server.exchange(text)
    }

    private func post(_ body: String, _ headers: String = "", isLast: Bool = true) -> String {
        "POST /v1/apps/tally/sessions/canary/events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(headers)"
            + "\(isLast ? "Connection: close\r\n" : "")Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test(
        arguments: [
            (#"{"add":"canary"}"#, "app=tally event=add kind=invalid status=422"),
            (#"{"canary":1}"#, "app=tally kind=invalid status=422"),
            (#"{"rename":""}"#, "app=tally event=rename kind=rejected status=422"),
            (#"[{"add":1},{"rename":""}]"#, "app=tally event=rename kind=rejected status=422"),
            (#"{"canary"#, "app=tally kind=invalid status=400"),
        ]
    )
    func `a refused dispatch is logged with names that the server has`(_ body: String, _ fields: String) async throws {
        let server = try start()
        defer { server.stop() }
        _ = await send(post(body), to: server)
        let line = try #require(lines.all.first)
        #expect(line.hasPrefix("info a dispatch was refused \(fields) trace_id=") && lines.all.count == 1)
        let trace = try #require(line.split(separator: "=").last)
        #expect(trace.count == 32 && trace.allSatisfy(\.isHexDigit))
    }

    @Test func `each refused line of a dispatch has a log line with the trace of its request`() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let server = try start()
        defer { server.stop() }
        let body = #"{"rename":""}"# + "\n" + #"{"canary":1}"# + "\n"
        let head = "POST /v1/apps/tally/sessions/canary/events HTTP/1.1\r\nHost: localhost\r\n"
        let fields = "Content-Type: application/x-ndjson\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n"
        let traced = "traceparent: 00-\(trace)-00f067aa0ba902b7-00\r\n"
        let answer = await send(head + fields + traced + "\r\n" + body, to: server)
        #expect(answer.components(separatedBy: #""trace_id":"\#(trace)""#).count == 3)
        #expect(lines.all.count == 2 && lines.all.allSatisfy { $0.hasSuffix(" trace_id=\(trace)") })
    }

    @Test func `a malformed head has a log line with the trace of its problem`() async throws {
        let server = try start(.debug)
        defer { server.stop() }
        let answer = await send("GET / HTTP/1.1\r\nBad Name: canary\r\n\r\n", to: server)
        let line = try #require(lines.all.first { $0.hasPrefix("debug request ") })
        let trace = try #require(line.split(separator: " trace_id=").last)
        #expect(trace.count == 32 && answer.contains(#""trace_id":"\#(trace)""#))
    }

    @Test func `an event that takes as long as the limit has a log line`() async throws {
        let server = try start(slowEventTimeMin: .zero)
        _ = await send(post(#"{"add":1}"#), to: server)
        server.stop()
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1 && line.hasPrefix("warning an event was slow") && !line.contains("canary"))
        #expect(line.contains("app=tally event=add limit=0 milliseconds="))
    }

    @Test func `lines beyond the limit are counted`() async throws {
        let server = try start(refusalLinesPerSecondMax: 2)
        let refused = post(#"{"rename":""}"#, isLast: false)
        _ = await send(String(repeating: refused, count: 6) + post(#"{"rename":""}"#), to: server)
        server.stop()
        let counted = lines.all.filter { $0.hasPrefix("info more dispatches were refused left_out=") }
        #expect(!counted.isEmpty && lines.all.count < 7)
    }

    @Test func `an accepted dispatch has a log line at level debug only`() async throws {
        let quiet = try start()
        _ = await send(post(#"{"add":1}"#), to: quiet)
        quiet.stop()
        #expect(lines.all.isEmpty)
        let server = try start(.debug)
        defer { server.stop() }
        _ = await send(post(#"{"add":1}"#), to: server)
        let line = try #require(lines.all.first { $0.hasPrefix("debug request ") })
        #expect(line.contains(" method=POST ") && line.contains(" status=200 ") && line.contains(" trace_id="))
        #expect(line.contains(" route=/v1/apps/{app}/sessions/{session}/events ") && !line.contains("canary"))
    }

    @Test func `a trace is in the answer, in the problem and in all log lines of its request`() async throws {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let server = try start(.debug)
        defer { server.stop() }
        let answer = await send(post(#"{"rename":""}"#, "traceparent: 00-\(trace)-00f067aa0ba902b7-00\r\n"), to: server)
        #expect(answer.contains("\r\ntraceparent: 00-\(trace)-") && answer.contains(#""trace_id":"\#(trace)""#))
        #expect(lines.all.count == 2 && lines.all.allSatisfy { $0.contains("trace_id=\(trace)") })
    }

    @Test func `the answer to a request without a trace has none`() async throws {
        let server = try start()
        defer { server.stop() }
        let answer = await send(post(#"{"rename":""}"#), to: server)
        #expect(!answer.contains("traceparent") && !answer.contains("trace_id"))
    }
}

@Suite struct EventNameTests {
    @Test(
        arguments: [
            (#""reset""#, "reset"), (#" { "add" : 1}"#, "add"), (#"{"add"#, "add"), (#"["reset"]"#, nil), ("", nil),
            ("{", nil),
            ("1", nil), (#""a\u0062""#, nil), (#"{"# + String(repeating: "a", count: 200), nil),
            ("\"" + String(repeating: "a", count: 200) + "\"", nil),
        ] as [(String, String?)]
    )
    func `the name is the string or the first key`(_ body: String, _ name: String?) {
        #expect(EventName.first(in: Array(body.utf8)) == name)
    }
}

@Suite struct LineQuotaTests {
    @Test func `a limited number of lines passes in a second, and the others are counted`() {
        var quota = LineQuota(linesMax: 2)
        #expect([quota.admit(), quota.admit(), quota.admit(), quota.admit()] == [true, true, false, false])
        #expect(quota.renew() == 2)
        #expect(quota.renew() == 0)
        #expect(quota.admit() == true)
    }
}

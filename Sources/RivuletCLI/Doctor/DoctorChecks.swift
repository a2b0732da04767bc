import RivuletBase
import RivuletServer

/// The checks of a deployment, one after the other.
struct DoctorChecks {
    /// The longest time from the head of a stream to its first event.
    ///
    /// The server sends both at once, so a proxy that needs longer holds the event back.
    static let firstEventTimeMax = Duration.seconds(3)
    /// The longest time to the head of a stream.
    static let headTimeMax = Duration.seconds(5)
    /// A time in which a quiet stream has a comment, with room for delays.
    static let commentTimeMax = Duration.seconds(17)
    /// The size of the body that the proxy must pass on.
    ///
    /// It is just below the server's own default limit of 1 MiB.
    static let bodyBytes = 1_000_000
    private static let bodyPieces = 20
    /// A cursor that no session has; a stream that resumes there begins with `reset`.
    static let foreignCursor = "00000000.0"

    let origin: String
    let token: String?
    let watchTime: Duration
    /// Receives each line of the report.
    let report: (String) -> Void
    /// The path of the stream to watch; nil if none is known.
    private var stream: String?
    /// The path of an app; nil if none is known.
    private var app: String?
    /// The field `Server` of the first answer, which may name the proxy.
    private var server: String?
    private(set) var faultCount = 0

    init(
        origin: String,
        stream: String?,
        token: String?,
        watchTime: Duration,
        report: @escaping (String) -> Void
    ) {
        (self.origin, self.stream, self.token) = (origin, stream, token)
        (self.watchTime, self.report) = (watchTime, report)
    }

    /// Runs all checks.
    mutating func run() {
        guard reaches() else { return }
        add(finding(version))
        do throws(CurlError) {
            try findApp()
        } catch {
            add(.fault("apps", "\(error)", .reachable))
        }
        add(finding(host))
        add(finding(foreignHost))
        add(finding(forwardedProtocol))
        add(finding(caching))
        add(finding(bodies))
        for path in OperatorResources.paths { add(finding { () throws(CurlError) in try operators(path) }) }
        watch()
    }

    /// True if the address answers at all; the other checks say nothing otherwise.
    private mutating func reaches() -> Bool {
        do throws(CurlError) {
            let answer = try ask("/healthz")
            server = answer["server"]
            guard answer.status == 200 else {
                add(.fault("reachable", "/healthz is \(answer.status), not 200", .reachable))
                return false
            }
            add(.ok("reachable", "/healthz is 200"))
            return true
        } catch {
            add(.fault("reachable", "\(error)", .reachable))
            return false
        }
    }

    /// Returns the finding of a check, or the error of curl.
    private func finding(_ check: () throws(CurlError) -> DoctorFinding) -> DoctorFinding {
        do throws(CurlError) {
            return try check()
        } catch {
            return .fault("request", "\(error)", .reachable)
        }
    }

    private mutating func add(_ finding: DoctorFinding) {
        if case .fault = finding.verdict { faultCount += 1 }
        report(finding.line(server: server))
    }

    // MARK: - Requests

    private func request(_ path: String, _ fields: [(name: String, value: String)] = []) -> CurlRequest {
        let credential = token.map { [(name: "Authorization", value: "Bearer \($0)")] } ?? []
        return CurlRequest(url: origin + path, fields: credential + fields, offersHTTP2: isTLS)
    }

    private func ask(
        _ path: String,
        _ fields: [(name: String, value: String)] = []
    ) throws(CurlError) -> CurlAnswer {
        try CurlProcess.answer(to: request(path, fields))
    }

    private var isTLS: Bool { origin.hasPrefix("https://") }

    // MARK: - Checks of single answers

    private func version() throws(CurlError) -> DoctorFinding {
        guard isTLS else {
            return .fault("protocol", "the address has no TLS, and browsers speak HTTP/2 with TLS only", .tls)
        }
        let version = try ask("/healthz").version
        guard version == "HTTP/2" || version == "HTTP/3" else {
            return .fault("protocol", "the proxy speaks \(version) only", .http2)
        }
        return .ok("protocol", version)
    }

    /// Finds an app, and a stream if none was given.
    private mutating func findApp() throws(CurlError) {
        let answer = try ask("/v1/apps")
        guard answer.status == 200 else { return }
        let parts = answer.text.split(separator: "\"name\":\"", maxSplits: 1)
        guard parts.count == 2, let name = parts[1].split(separator: "\"").first else { return }
        app = "/v1/apps/\(name)"
        stream = stream ?? "/v1/apps/\(name)/sessions/doctor/changes"
    }

    private func host() throws(CurlError) -> DoctorFinding {
        let answer = try ask("/v1/me", [("Origin", origin)])
        switch answer.status {
        case 421: return .fault("host", "the server does not answer for the host that the proxy passes on (421)", .host)
        case 403 where answer.text.contains("cross-site"):
            return .fault("host", "the server takes its own pages for pages of another site (403)", .host)
        case 200: return .ok("host", "requests of the server's own pages are served")
        case 401: return .ok("host", "requests of the server's own pages reach it; the credential is refused (401)")
        default: return .fault("host", "/v1/me is \(answer.status)", .host)
        }
    }

    private func foreignHost() throws(CurlError) -> DoctorFinding {
        let answer: CurlAnswer
        do throws(CurlError) {
            answer = try ask("/v1/me", [("Host", "doctor.invalid")])
        } catch {
            return .ok("other hosts", "refused by the proxy")
        }
        let isServed = answer.status == 401 || (answer.status == 200 && answer.text.contains("\"subject\""))
        guard isServed else { return .ok("other hosts", "refused (\(answer.status))") }
        return .fault("other hosts", "a request for the host doctor.invalid is served (\(answer.status))", .foreignHost)
    }

    /// Looks at the cookie of a new caller, and at the metadata of the server.
    private func forwardedProtocol() throws(CurlError) -> DoctorFinding {
        let subject = "client's protocol"
        guard isTLS else { return .skipped(subject, "the address has no TLS") }
        let metadata = try ask("/.well-known/oauth-protected-resource")
        if metadata.status == 200, metadata.text.contains("\"resource\":\"http://") {
            return .fault(subject, "the server's metadata names it with http", .forwardedProtocol)
        }
        guard let app else { return .skipped(subject, "/v1/apps is not readable; give --token-file") }
        let path = "\(app)/sessions/me"
        // Without a credential, because only an anonymous caller gets the cookie.
        let spoofed: [(name: String, value: String)] = [(name: "X-Forwarded-Proto", value: "http")]
        for fields in [[], spoofed] {
            let answer = try CurlProcess.answer(to: CurlRequest(url: origin + path, fields: fields))
            guard let cookie = answer["set-cookie"] else {
                return .skipped(subject, "the server gives anonymous callers no cookie")
            }
            guard cookie.contains("; Secure") else {
                let cause =
                    fields.isEmpty
                    ? "the server does not know that its clients use TLS" : "the client's own field reaches the server"
                return .fault(subject, "\(cause), and its cookie is not Secure", .forwardedProtocol)
            }
        }
        return .ok(subject, "the server knows that its clients use TLS")
    }

    private func caching() throws(CurlError) -> DoctorFinding {
        let value = try ask("/v1/me")["cache-control"]
        guard let value, value.contains("no-store") else {
            let found = value.map { "\"\($0)\"" } ?? "no Cache-Control"
            return .fault(
                "caching",
                "the server sends no-store, and \(found) arrives: caches may keep answers",
                .caching
            )
        }
        return .ok("caching", "Cache-Control: no-store arrives")
    }

    /// Sends text that is no JSON: the server refuses it, and nothing changes.
    private func bodies() throws(CurlError) -> DoctorFinding {
        let subject = "bodies"
        guard let app else { return .skipped(subject, "/v1/apps is not readable; give --token-file") }
        var post = request("\(app)/sessions/doctor/events", [("Content-Type", "application/json")])
        post.method = "POST"
        let piece = String(repeating: " ", count: Self.bodyBytes / Self.bodyPieces - 1)
        post.body = Array(repeating: piece, count: Self.bodyPieces)
        post.secondsMax = 60
        let answer = try CurlProcess.answer(to: post)
        switch answer.status {
        case 413 where !answer.isProblem:
            return .fault(subject, "a body of \(Self.bodyBytes) bytes is refused by the proxy (413)", .bodies)
        case 400: return .ok(subject, "\(Self.bodyBytes) bytes reach the server")
        default: return .skipped(subject, "a dispatch to the session \"doctor\" is \(answer.status)")
        }
    }

    private func operators(_ path: String) throws(CurlError) -> DoctorFinding {
        let subject = "operators' \(path)"
        let answer = try ask(path)
        let isServed = answer.isProblem ? answer.status != 404 && answer.status != 421 : answer.status < 300
        guard isServed else { return .ok(subject, "not reachable (\(answer.status))") }
        return .fault(subject, "the server answers \(answer.status) to clients", .operators(path))
    }

    // MARK: - Checks of streams

    /// Opens a stream, runs the checks of further streams beside it, and watches it to its end.
    private mutating func watch() {
        guard let path = stream else {
            return add(.skipped("stream", "no stream is known; give --stream and --token-file"))
        }
        var request = request(path)
        // The deadlines below come first.
        request.secondsMax = Int(watchTime.components.seconds) + 120
        do throws(CurlError) {
            var curl = try CurlProcess.start(request)
            guard let began = try begin(&curl, path) else { return }
            add(try secondEvent(&curl))
            add(finding { () throws(CurlError) in try compressed(path) })
            add(finding { () throws(CurlError) in try transformed(path) })
            add(finding { () throws(CurlError) in try resumption(path) })
            add(try end(&curl, began))
        } catch {
            add(.fault("stream", "\(error)", .reachable))
        }
    }

    /// Waits for the first event, and returns its time; nil if the stream cannot be watched.
    private mutating func begin(
        _ curl: inout CurlProcess,
        _ path: String
    ) throws(CurlError) -> ContinuousClock.Instant? {
        let opened = ContinuousClock.now
        let head = try curl.read(until: opened + Self.headTimeMax) { $0.hasHead }
        if head == .ended { throw try curl.failure() }
        guard head == .enough else {
            add(.fault("stream", "no head within \(Self.headTimeMax.components.seconds) s", .buffering))
            return nil
        }
        guard curl.answer.status == 200 else {
            let detail =
                "\(path) is \(curl.answer.status); name a stream that may be read with --stream and --token-file"
            add(.skipped("stream", detail))
            return nil
        }
        if let coding = curl.answer["content-encoding"] {
            add(.fault("compression", "a stream arrives as \(coding), which was not asked for", .compression))
            return nil
        }
        let arrived = ContinuousClock.now
        let event = try curl.read(until: arrived + Self.firstEventTimeMax, Self.hasEvent)
        guard event == .enough else {
            let seconds = Self.firstEventTimeMax.components.seconds
            let cause =
                event == .ended
                ? "the stream was cut before its first event" : "no event within \(seconds) s of the head"
            add(.fault("stream", cause, .buffering))
            return nil
        }
        add(
            .ok(
                "stream",
                "the first event arrives \(opened.duration(to: .now).millisecondsRoundedUp) ms after the request"
            )
        )
        return .now
    }

    /// Changes the paths of the stream, so that it gets another event at once.
    ///
    /// A proxy may send the first event together with the head, and hold back the events after it.
    private func secondEvent(_ curl: inout CurlProcess) throws(CurlError) -> DoctorFinding {
        let subject = "later events"
        guard let link = curl.answer["link"], let end = link.firstIndex(of: ">"), link.hasPrefix("</v1/streams/") else {
            return .skipped(subject, "the stream has no Link")
        }
        var patch = request(String(link[..<end].dropFirst()), [("Content-Type", "application/json")])
        patch.method = "PATCH"
        patch.body = [#"{"paths":["/p"]}"#]
        let sent = ContinuousClock.now
        let answer = try CurlProcess.answer(to: patch)
        guard answer.status == 200 else {
            return .skipped(
                subject,
                "a PATCH of the stream is \(answer.status); give --stream with the stream of a session"
            )
        }
        let outcome = try curl.read(until: .now + Self.firstEventTimeMax) { Self.eventCount($0) >= 2 }
        guard outcome == .enough else {
            return .fault(subject, "no second event within \(Self.firstEventTimeMax.components.seconds) s", .buffering)
        }
        return .ok(
            subject,
            "the second event arrives \(sent.duration(to: .now).millisecondsRoundedUp) ms after its request"
        )
    }

    /// Watches a stream that has begun.
    private func end(
        _ curl: inout CurlProcess,
        _ began: ContinuousClock.Instant
    ) throws(CurlError) -> DoctorFinding {
        let subject = "quiet stream"
        let count = curl.answer.body.count
        let outcome = try curl.read(until: began + watchTime) { _ in false }
        let seconds = Int(began.duration(to: .now).components.seconds)
        if outcome == .ended {
            guard !curl.answer.text.contains("\nevent: bye\n") else {
                return .ok(subject, "the server ended it with bye after \(seconds) s")
            }
            return .fault(subject, "the proxy cuts it after \(seconds) s", .timeOut)
        }
        guard watchTime >= Self.commentTimeMax else { return .ok(subject, "open for \(seconds) s") }
        guard curl.answer.body.count > count else {
            return .fault(subject, "no comment within \(seconds) s, and the server sends one every 15 s", .buffering)
        }
        return .ok(subject, "open for \(seconds) s, with comments")
    }

    /// A stream that the server compresses must arrive event by event.
    private func compressed(_ path: String) throws(CurlError) -> DoctorFinding {
        let subject = "compressed stream"
        var request = request(path)
        request.isCompressed = true
        var curl = try CurlProcess.start(request)
        let outcome = try curl.read(until: .now + Self.firstEventTimeMax, Self.hasEvent)
        guard outcome == .enough else {
            return .fault(subject, "the first event of a stream with gzip does not arrive", .compression)
        }
        return .ok(subject, "the first event arrives")
    }

    /// The server compresses with gzip alone, so another coding is the proxy's.
    private func transformed(_ path: String) throws(CurlError) -> DoctorFinding {
        let subject = "compression"
        var curl = try CurlProcess.start(request(path, [("Accept-Encoding", "br, zstd, deflate")]))
        _ = try curl.read(until: .now + Self.firstEventTimeMax) { $0.hasHead }
        guard let coding = curl.answer["content-encoding"] else {
            return .ok(subject, "streams arrive as the server sends them")
        }
        return .fault(subject, "the proxy compresses streams (\(coding))", .compression)
    }

    /// A stream at a foreign cursor begins with `reset`; without the field it would begin with `snapshot`.
    private func resumption(_ path: String) throws(CurlError) -> DoctorFinding {
        let subject = "Last-Event-ID"
        var curl = try CurlProcess.start(request(path, [("Last-Event-ID", Self.foreignCursor)]))
        let outcome = try curl.read(until: .now + Self.firstEventTimeMax, Self.hasEvent)
        guard outcome == .enough else { return .fault(subject, "a stream that resumes gets no event", .buffering) }
        guard curl.answer.text.contains("event: reset\n") else {
            return .fault(subject, "the field is lost, so no stream resumes after a cut", .lastEventID)
        }
        return .ok(subject, "arrives, so streams resume")
    }

    /// True if the first event has arrived.
    private static func hasEvent(_ answer: CurlAnswer) -> Bool { eventCount(answer) > 0 }

    private static func eventCount(_ answer: CurlAnswer) -> Int { answer.text.ranges(of: "\ndata: ").count }
}

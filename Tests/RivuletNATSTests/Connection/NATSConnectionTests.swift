import Foundation
import InMemoryLogging
import Logging
import RivuletCluster
import RivuletNATS
import Testing

@Suite(.timeLimit(.minutes(1))) struct NATSConnectionTests {
    private func server(_ fake: FakeNATSServer) -> NATSServer { NATSServer(host: "127.0.0.1", port: fake.port) }

    /// Waits until the connection has a problem that begins so, or is connected for an empty text.
    private func problem(_ node: NATSTestNode, _ start: String) async -> LogError {
        while true {
            let problem = await node.onLoop { $0.connection.problem }
            if let problem, "\(problem)".contains(start) { return problem }
            await Task.yield()
        }
    }

    @Test func `an old server is refused with the remedy, and the next one is used`() async throws {
        let old = try FakeNATSServer(info: FakeNATSServer.usual.replacing("2.15.1", with: "2.10.29"))
        let new = try FakeNATSServer()
        defer {
            old.stop()
            new.stop()
        }
        let logs = InMemoryLogHandler()
        let logger = Logger(label: "nats", factory: { _ in logs })
        let node = try NATSTestNode([server(old), server(new)], logger: logger)
        defer { node.stop() }
        await node.connected()
        #expect(await node.onLoop { $0.connection.serverName } == "127.0.0.1:\(new.port)")
        let text = """
            no connection to NATS: The NATS server 127.0.0.1:\(old.port) has version 2.10.29, which may lose \
            acknowledged messages. Upgrade all NATS servers to 2.15.1 or later.
            """
        #expect(logs.entries.map { "\($0.message)" }.contains(text))
        // The client has not presented itself.
        #expect(old.received == "")
    }

    @Test(
        arguments: [
            (
                #""headers":true"#, #""headers":true,"tls_required":true"#,
                "wants TLS, which the NATS client does not have"
            ),
            (#""jetstream":true"#, #""jetstream":false"#, "has no JetStream"),
        ]
    )
    func `a server without what the cluster needs is refused`(
        _ part: String,
        _ other: String,
        _ text: String
    )
        async throws
    {
        let fake = try FakeNATSServer(info: FakeNATSServer.usual.replacing(part, with: other))
        defer { fake.stop() }
        let node = try NATSTestNode([server(fake)])
        defer { node.stop() }
        guard case .incompatible(let detail) = await problem(node, text) else {
            Issue.record("not incompatible")
            return
        }
        #expect(detail.hasPrefix("The NATS server 127.0.0.1:\(fake.port) \(text)"))
    }

    @Test func `a server that sends something else is refused, and tried again`() async throws {
        let fake = try FakeNATSServer(info: "{}\r\nHTTP/1.1 400 Bad Request")
        defer { fake.stop() }
        let node = try NATSTestNode([server(fake)])
        defer { node.stop() }
        while fake.opened < 3 { await Task.yield() }
    }

    @Test func `the first commands have the login of the URL, and a subscription lasts`() async throws {
        let fake = try FakeNATSServer()
        defer { fake.stop() }
        let login = NATSServer.Login.password(user: "u", password: "p")
        let node = try NATSTestNode([NATSServer(host: "127.0.0.1", port: fake.port, login: login)])
        defer { node.stop() }
        await node.onLoop { node in _ = node.connection.subscribe("a.b") { _ in } }
        await node.connected()
        let lines = fake.received.split(separator: "\r\n")
        #expect(lines.first?.hasPrefix("CONNECT {") == true)
        #expect(lines.first?.contains(#""user":"u","pass":"p""#) == true)
        #expect(lines.dropFirst().first?.hasPrefix("SUB _INBOX.") == true)
        #expect(lines.contains("SUB a.b 2"))
        #expect(await node.onLoop { $0.connection.messageBytesMax } == 100)
    }

    @Test func `a request has an unknown outcome when the connection ends, and a later one is refused`() async throws {
        let fake = try FakeNATSServer()
        let node = try NATSTestNode([server(fake)])
        defer { node.stop() }
        await node.connected()
        async let outcome = node.append("1", after: 0)
        while !fake.received.contains("HPUB") { await Task.yield() }
        fake.stop()
        #expect(await outcome == .unknown)
        guard case .refused(.unavailable) = await node.append("1", after: 0) else {
            Issue.record("an append without connection was not refused")
            return
        }
    }

    @Test func `a request without an answer has an unknown outcome at its deadline`() async throws {
        let fake = try FakeNATSServer()
        defer { fake.stop() }
        var limits = NATSLogLimits()
        limits.appendTime = .milliseconds(20)
        let node = try NATSTestNode([server(fake)], logLimits: limits)
        defer { node.stop() }
        await node.connected()
        #expect(await node.append("1", after: 0) == .unknown)
    }

    @Test func `a silent server is given up`() async throws {
        let fake = try FakeNATSServer { $0.contains("CONNECT") ? "PONG\r\n" : "" }
        defer { fake.stop() }
        var limits = NATSLimits()
        (limits.pingInterval, limits.silenceMax) = (.milliseconds(20), .milliseconds(60))
        let node = try NATSTestNode([server(fake)], limits: limits)
        defer { node.stop() }
        await node.connected()
        while fake.opened < 2 { await Task.yield() }
        #expect(fake.received.contains("PING\r\nPING\r\n"))
    }

    @Test func `a server that is about to stop is left when its requests are answered`() async throws {
        let one = try FakeNATSServer()
        let two = try FakeNATSServer()
        defer {
            one.stop()
            two.stop()
        }
        // The threads of other tests may be busy.
        var (limits, logLimits) = (NATSLimits(), NATSLogLimits())
        (limits.drainTime, limits.silenceMax, logLimits.appendTime) = (.seconds(300), .seconds(300), .seconds(300))
        let node = try NATSTestNode([server(one), server(two)], limits: limits, logLimits: logLimits)
        defer { node.stop() }
        await node.connected()
        async let outcome = node.append("1", after: 0)
        while !one.received.contains("HPUB") { await Task.yield() }
        one.send("INFO \(FakeNATSServer.usual.replacing("}", with: ",\"ldm\":true}"))")
        _ = await problem(node, "about to stop")
        #expect(await node.onLoop { $0.connection.isConnected })
        // The reply subject is the third word of the HPUB.
        let words = one.received.split(separator: "HPUB ").last?.split(separator: " ") ?? []
        let reply = try #require(words.dropFirst().first)
        let ack = "{\"stream\":\"\(node.names.logStream(.first))\",\"seq\":5}"
        one.send("MSG \(reply) 1 \(ack.utf8.count)\r\n\(ack)")
        #expect(await outcome == .committed(5))
        while two.opened == 0 { await Task.yield() }
        await node.connected()
        #expect(await node.onLoop { $0.connection.serverName } == "127.0.0.1:\(two.port)")
    }

    @Test func `a buffer of unsent bytes has a limit`() async throws {
        let fake = try FakeNATSServer(info: FakeNATSServer.usual.replacing(":100,", with: ":1000000,"))
        defer { fake.stop() }
        var limits = NATSLimits()
        limits.outboundBytesMax = 2_500_000
        let node = try NATSTestNode([server(fake)], limits: limits)
        defer { node.stop() }
        await node.connected()
        // All in one turn of the loop, in which nothing is sent.
        let results = await node.onLoop { node in
            (0..<3).map { _ in node.connection.publish("a", payload: [UInt8](repeating: 0, count: 1_000_000)) == nil }
        }
        #expect(results == [true, true, false])
    }

    @Test func `messages for a subscription that has ended are dropped`() async throws {
        let node = try NATSTestNode(NATSTestServers.shared.get().list)
        defer { node.stop() }
        await node.connected()
        let (messages, put) = AsyncStream.makeStream(of: String.self)
        await node.onLoop { node in
            let id = node.connection.subscribe("\(node.prefix).a.*") { put.yield($0.subject) }
            _ = node.connection.publish("\(node.prefix).a.1", payload: [])
            _ = node.connection.publish("\(node.prefix).a.2", payload: [])
            node.connection.unsubscribe(id)
            _ = node.connection.publish("\(node.prefix).a.3", payload: [])
            _ = node.connection.subscribe("\(node.prefix).b") { put.yield($0.subject) }
            _ = node.connection.publish("\(node.prefix).b", payload: [])
        }
        var next = messages.makeAsyncIterator()
        #expect(await next.next() == "\(node.prefix).b")
    }
}

@Suite(.timeLimit(.minutes(1))) struct NATSCredentialsTests {
    private let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"

    private func connects(_ servers: NATSTestServers, _ credentials: NATSCredentials) async throws -> Bool {
        let node = try NATSTestNode(servers.list, credentials: credentials)
        defer { node.stop() }
        while true {
            let (isConnected, problem) = await node.onLoop { ($0.connection.isConnected, $0.connection.problem) }
            if isConnected { return true }
            if let problem, "\(problem)".contains("refused the credentials") { return false }
            await Task.yield()
        }
    }

    @Test func `a user proves itself with an NKey, a password or a token`() async throws {
        let key = try NATSCredentials(fileText: seed)
        guard case .nkey(let nkey) = key else { return }
        let users = try NATSTestServers(
            count: 1,
            extra: "authorization { users = [ { nkey: \(nkey.publicKey) }, { user: u, password: p } ] }"
        )
        #expect(try await connects(users, key))
        #expect(try await connects(users, .password(user: "u", password: "p")))
        #expect(try await !connects(users, .password(user: "u", password: "q")))
        #expect(try await !connects(users, .none))
        let tokens = try NATSTestServers(count: 1, extra: "authorization { token: secret }")
        #expect(try await connects(tokens, .token("secret")))
        #expect(try await !connects(tokens, .token("other")))
    }

    /// A user of an operator's account, as nsc makes them; the server trusts the operator.
    @Test func `a user proves itself with a creds file`() async throws {
        let (operatorKey, account, user) = (TestNKey(kind: "O"), TestNKey(kind: "A"), TestNKey(kind: "U"))
        let system = TestNKey(kind: "A")
        let servers = try NATSTestServers(
            count: 1,
            extra: """
                operator: \(try operatorKey.claim(operatorKey, "operator"))
                resolver: MEMORY
                system_account: \(system.publicKey)
                resolver_preload: {
                    \(account.publicKey): \(try operatorKey.claim(account, "account"))
                    \(system.publicKey): \(try operatorKey.claim(system, "account"))
                }
                """
        )
        func file(_ jwt: String, _ seed: String) -> String {
            """
            -----BEGIN NATS USER JWT-----
            \(jwt)
            ------END NATS USER JWT------

            -----BEGIN USER NKEY SEED-----
            \(seed)
            ------END USER NKEY SEED------
            """
        }
        let jwt = try account.claim(user, "user")
        #expect(try await connects(servers, NATSCredentials(fileText: file(jwt, user.seed))))
        #expect(try await !connects(servers, NATSCredentials(fileText: file(jwt, TestNKey(kind: "U").seed))))
        #expect(try await !connects(servers, .none))
    }
}

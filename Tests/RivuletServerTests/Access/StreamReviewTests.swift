// Checks that a revocation or a reload beside the opening or the renewal of a stream leaves no stream with old rights.

import CounterFixture
import Foundation
import RivuletAuth
import RivuletEngine
import RivuletEventLoop
import RivuletJSON
import RivuletSessions
import RivuletStores
import Synchronization
import Testing

@testable import RivuletServer

/// The text that a server has written to its client.
private final class Output: Sendable {
    private let written = Mutex("")

    var text: String { written.withLock { $0 } }

    func append(_ bytes: [UInt8]) { written.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
}

@Suite final class StreamReviewTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("review-\(UUID())")
    private let served: ServerLoop
    private let transport: MemoryTransport
    private var file = APIKeyFile()
    /// The key of the stream's caller, and another key.
    private let (key, other): (APIKey, APIKey)
    private let output = Output()
    private let session = SessionKey(app: "tally", id: "s")

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var random = SystemRandomNumberGenerator()
        let grant = try JSONValue(parsing: Array(#"{"actions": ["read"], "app": "tally", "sessions": ["*"]}"#.utf8))
        key = try file.add(name: nil, grants: [grant], expires: nil, using: &random)
        other = try file.add(name: nil, grants: [grant], expires: nil, using: &random)
        let path = folder.appendingPathComponent("keys.json").path
        let modes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(FileManager.default.createFile(atPath: path, contents: Data(file.bytes), attributes: modes))
        let options = ServerOptions(workers: 1, credentials: CredentialFiles(apiKeys: path))
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(TallyApp())
        let loop = try EventLoop(index: 0)
        served = ServerLoop(index: 0, loop: loop, context: try server.makeContext(workers: 1, clock: ContinuousClock()))
        transport = MemoryTransport(loop: loop, delegate: served)
        served.core.attach([LoopBound(served, to: loop)], transport: transport)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Requests a stream with the key of its caller; its join is under way.
    private func request() -> ConnectionID {
        let id = transport.open { [output] bytes in output.append(bytes ?? []) }
        let fields = "Host: localhost\r\nAccept: text/event-stream\r\nAuthorization: Bearer \(key.text)\r\n"
        transport.receive(id, Array("GET /v1/apps/tally/sessions/s/changes HTTP/1.1\r\n\(fields)\r\n".utf8))
        return id
    }

    /// Answers the join with a first event that has the value `secret`.
    private func join(_ id: ConnectionID) {
        let event = Array("event: snapshot\ndata: {\"values\":\"secret\"}\n\n".utf8)
        let join = StreamJoin(
            stream: StreamID(loop: 0, id),
            slot: .group(GroupID(rawValue: 1)),
            source: .session(session, StreamTopic(paths: [])),
            first: FirstEvents(
                head: [],
                body: [StreamText(event, account: served.context.heldBytes)],
                start: .fresh
            ),
            cursor: "aaaaaaaa.0.bbbb-0"
        )
        served.streams.take(.join(join))
    }

    /// Puts the revocation of a key in force, without the pass over the open streams.
    private func revoke(_ key: APIKey) throws {
        let isInForce = Mutex(false)
        try #require(served.context.revocations).add(.apiKey(id: key.id), lifetimeSecondsMax: 60, at: 0) { result in
            if case .success = result { isInForce.withLock { $0 = true } }
        }
        #expect(isInForce.withLock { $0 })
    }

    /// Replaces the file of keys, and reads it again, without the pass over the open streams.
    private func reload(_ change: (inout APIKeyFile) throws -> Void) throws -> Authenticator {
        try change(&file)
        let path = folder.appendingPathComponent("keys.json").path
        try Data(file.bytes).write(to: URL(fileURLWithPath: path))
        let authentication = try #require(served.context.authentication)
        let generation = authentication.generation
        authentication.reload()
        #expect(authentication.generation == generation + 1)
        return authentication.snapshot.authenticator
    }

    private func identity(of key: APIKey) throws -> Identity {
        try #require(served.context.authentication).snapshot.authenticator.identify(Array(key.text.utf8), at: 0)
    }

    private func credential(of id: ConnectionID) throws -> StreamCredential {
        try #require(served.connections[id]?.stream?.facts.credential)
    }

    /// Opens a stream that has its first event.
    private func open() throws -> ConnectionID {
        let id = request()
        join(id)
        #expect(output.text.contains("secret"))
        return id
    }

    // MARK: - Opening

    @Test func `a stream that is revoked while it is being opened gets a bye and no first event`() throws {
        let id = request()
        try revoke(key)
        join(id)
        expectBye("revoked", of: id)
    }

    @Test func `a stream is opened by no rules that were replaced meanwhile`() throws {
        let id = request()
        _ = try reload { _ in }
        join(id)
        expectBye("expired", of: id)
    }

    private func expectBye(_ reason: String, of id: ConnectionID) {
        let text = output.text
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(text.components(separatedBy: "event: ").count == 2)
        #expect(text.contains("event: bye\ndata: {\"reason\":\"\(reason)\""))
        #expect(!text.contains("secret"))
        #expect(served.connections[id]?.stream == nil)
    }

    // MARK: - Renewing

    @Test func `a revoked credential renews nothing, and the stream keeps its own`() throws {
        let id = try open()
        let newer = try identity(of: other)
        try revoke(other)
        #expect(throws: Problem.self) { try served.review.renew(try #require(served.connections[id]), with: newer) }
        #expect(try credential(of: id).identity.principal?.subject == "key:\(key.id)")
    }

    @Test func `a renewal takes the present rules for a caller that was found before a reload`() throws {
        let id = try open()
        let newer = try identity(of: other)
        let present = try reload { _ in }
        #expect(newer.authenticator != present.number)
        try served.review.renew(try #require(served.connections[id]), with: newer)
        #expect(try credential(of: id).identity.principal?.subject == "key:\(other.id)")
        #expect(try credential(of: id).identity.authenticator == present.number)
    }

    @Test func `a credential whose key is gone renews nothing`() throws {
        let id = try open()
        let newer = try identity(of: other)
        _ = try reload { _ = $0.remove(id: other.id) }
        #expect(throws: Problem.self) { try served.review.renew(try #require(served.connections[id]), with: newer) }
        #expect(try credential(of: id).identity.principal?.subject == "key:\(key.id)")
    }
}

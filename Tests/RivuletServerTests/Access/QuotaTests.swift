// Checks quotas on the wire: the answer beyond a limit, what it leaves, and deletions.

import Foundation
import RivuletAccess
import RivuletAuth
import RivuletBase
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite final class QuotaTests {
    @ObservableState
    struct Notebook: PersistentState {
        var text = ""
    }

    @AppEvent
    enum NotebookEvent {
        case write(String)
    }

    struct NotebookApp: AppDefinition {
        let name = "notebook"
        let defaultState = AppState(t: EmptyTransient(), p: Notebook())
        let quota: StorageQuota

        func reduce(into state: inout AppState<Notebook, EmptyTransient>, event: NotebookEvent) throws {
            switch event {
            case .write(let text): state.p.text = text
            }
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("quota-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server with two API keys, and their texts.
    private func start(_ quota: StorageQuota) throws -> (RunningServer, keys: [String]) {
        var file = APIKeyFile()
        var random = SystemRandomNumberGenerator()
        let grant = try JSONValue(parsing: Array(#"{"actions": ["*"], "app": "*", "sessions": ["*"]}"#.utf8))
        var keys: [String] = []
        for name in ["a", "b"] {
            keys.append(try file.add(name: name, grants: [grant], expires: nil, using: &random).text)
        }
        let path = folder.appendingPathComponent("keys.json").path
        let modes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        #expect(FileManager.default.createFile(atPath: path, contents: Data(file.bytes), attributes: modes))
        var options = ServerOptions()
        options.credentials = CredentialFiles(apiKeys: path)
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(NotebookApp(quota: quota))
        return (try server.start(isListening: false, clock: ContinuousClock()), keys)
    }

    private func ask(
        _ server: RunningServer,
        _ key: String,
        _ method: String,
        _ target: String,
        _ body: String = ""
    ) async -> String {
        let content = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        let head = "\(method) /v1/apps/notebook/sessions/\(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        return await server.exchange("\(head)Authorization: Bearer \(key)\r\n\(content)\r\n\(body)")
    }

    @Test func `beyond the sessions of an owner the answer is 507, and a deletion makes room`() async throws {
        let (server, keys) = try start(StorageQuota(ownerSessionsMax: 1))
        defer { server.stop() }
        let event = #"{"write":"tea"}"#
        #expect(await ask(server, keys[0], "POST", "one/events", event).hasPrefix("HTTP/1.1 200"))
        for (method, target, body) in [("POST", "two/events", event), ("PUT", "two", ""), ("POST", "one/fork", "")] {
            let refused = await ask(server, keys[0], method, target, body)
            #expect(refused.hasPrefix("HTTP/1.1 507"))
            #expect(refused.contains(#""type":"/problems/quota""#))
            #expect(refused.contains(#""quota":{"scope":"owner","measure":"sessions","limit":1}"#))
            #expect(refused.contains("ownerSessionsMax") && refused.contains("delete sessions"))
        }
        #expect(await ask(server, keys[0], "GET", "two").hasPrefix("HTTP/1.1 404"))
        // The session that is there takes events, and another owner has a session of its own.
        #expect(await ask(server, keys[0], "POST", "one/events", event).hasPrefix("HTTP/1.1 200"))
        #expect(await ask(server, keys[1], "PUT", "two").hasPrefix("HTTP/1.1 201"))
        #expect(await ask(server, keys[0], "DELETE", "one").hasPrefix("HTTP/1.1 204"))
        #expect(await ask(server, keys[0], "PUT", "three").hasPrefix("HTTP/1.1 201"))
    }

    @Test func `beyond the bytes an event is refused, and every acknowledged event stays`() async throws {
        let (server, keys) = try start(StorageQuota(bytesMax: 20_000))
        defer { server.stop() }
        var acknowledged = 0
        var refusal = ""
        while acknowledged < 100 {
            let text = String(repeating: "x", count: 900) + "\(acknowledged)"
            refusal = await ask(server, keys[0], "POST", "one/events", #"{"write":"\#(text)"}"#)
            guard refusal.hasPrefix("HTTP/1.1 200") else { break }
            acknowledged += 1
        }
        #expect(refusal.hasPrefix("HTTP/1.1 507") && refusal.contains(#""measure":"bytes","limit":20000"#))
        #expect((5..<30).contains(acknowledged))
        let state = await ask(server, keys[0], "GET", "one/state/p/text")
        #expect(state.hasSuffix("x\(acknowledged - 1)\""))
        #expect(await ask(server, keys[0], "GET", "one").contains(#""version":\#(acknowledged),"#))
        // A deletion always succeeds, and makes room.
        #expect(await ask(server, keys[0], "DELETE", "one").hasPrefix("HTTP/1.1 204"))
        #expect(await ask(server, keys[0], "POST", "one/events", #"{"write":"a"}"#).hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a quota below 1 is refused at the start, with the name of the limit`() throws {
        let error = #expect(throws: ServerError.self) { _ = try start(StorageQuota(ownerBytesMax: 0)) }
        #expect(error?.description.contains("ownerBytesMax in the quota of app \"notebook\" is below 1") == true)
    }
}

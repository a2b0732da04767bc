// Checks the rules of an app for its callers: they narrow and widen grants, stamp events and refuse them.

import Foundation
import RivuletAccess
import RivuletAuth
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@testable import RivuletServer

@Suite final class GuardedAppTests {
    @ObservableState
    struct Wall: PersistentState {
        var posts: Keyed<Post> = []
        var secret = "hidden"
    }

    @ObservableState
    struct Post: Identifiable, Equatable, Sendable {
        var id = ""
        var author = ""
    }

    @AppEvent
    enum WallEvent {
        case post(id: String, author: String)
        case remove(String)
        case fail
    }

    struct OtherError: Error {}

    struct WallApp: GuardedApp {
        let name = "wall"
        let defaultState = AppState(t: EmptyTransient(), p: Wall())

        func reduce(into state: inout AppState<Wall, EmptyTransient>, event: WallEvent) throws {
            switch event {
            case .post(let id, let author): state.p.posts.append(Post(id: id, author: author))
            case .remove(let id): state.p.posts.remove(id: id)
            case .fail: break
            }
        }

        func access(of caller: Caller, to session: String, granted: Access) -> Access {
            var access = granted
            if session == "closed" { return .none }
            if !caller.isAnonymous, session == "open" { access = .all }
            access.reads = access.reads.intersection(PathMask([JSONPointer(tokens: ["p", "posts"])]))
            return access
        }

        func admit(
            _ event: WallEvent,
            from caller: Caller,
            state: AppState<Wall, EmptyTransient>
        ) throws -> WallEvent {
            switch event {
            case .post(let id, _): return .post(id: id, author: caller.subject ?? "nobody")
            case .remove(let id):
                guard state.p.posts[id: id]?.author == caller.subject else {
                    throw AccessDenied("only the author removes a post")
                }
                return event
            case .fail: throw OtherError()
            }
        }
    }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("guarded-\(UUID())")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// A server with two API keys, and their texts; without keys if `grants` is nil.
    private func start(grants: String?) throws -> (RunningServer, keys: [String]) {
        var options = ServerOptions()
        var keys: [String] = []
        if let grants {
            var file = APIKeyFile()
            var random = SystemRandomNumberGenerator()
            let grant = try JSONValue(parsing: Array(grants.utf8))
            for name in ["a", "b"] {
                keys.append(try file.add(name: name, grants: [grant], expires: nil, using: &random).text)
            }
            let path = folder.appendingPathComponent("keys.json").path
            #expect(
                FileManager.default.createFile(
                    atPath: path,
                    contents: Data(file.bytes),
                    attributes: [.posixPermissions: 0o600]
                )
            )
            options.credentials = CredentialFiles(apiKeys: path)
        }
        let server = StateServer(options: options, storage: MemoryStorageEngine())
        try server.host(WallApp())
        return (try server.start(isListening: false, clock: ContinuousClock()), keys)
    }

    private func ask(
        _ server: RunningServer,
        _ key: String?,
        _ method: String,
        _ target: String,
        _ body: String = ""
    ) async -> String {
        let bearer = key.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let content = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
        let head = "\(method) /v1/apps/wall/sessions/\(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        return await server.exchange("\(head)\(bearer)\(content)\r\n\(body)")
    }

    @Test func `an event is stamped with its caller, and the log has the stamped event`() async throws {
        let (server, keys) = try start(grants: #"{"actions": ["*"], "app": "wall", "sessions": ["s"]}"#)
        defer { server.stop() }
        let posted = await ask(
            server,
            keys[0],
            "POST",
            "s/events",
            #"[{"post":{"id":"1","author":"forged"}},{"post":{"id":"2","author":"forged"}}]"#
        )
        #expect(posted.hasPrefix("HTTP/1.1 200") && !posted.contains("forged") && posted.contains("\"author\":\"key:"))
        let log = await ask(server, keys[0], "GET", "s/events")
        #expect(!log.contains("forged") && log.contains(#"[{"post":{"id":"1","author":"key:"#))
        let refused = await ask(server, keys[1], "POST", "s/events", #"[{"remove":"2"}]"#)
        #expect(
            refused.hasPrefix("HTTP/1.1 403") && refused.contains("only the author removes a post")
                && refused.contains("\"/0\"")
        )
        #expect(await ask(server, keys[0], "POST", "s/events", #"{"remove":"2"}"#).hasPrefix("HTTP/1.1 200"))
        #expect(await ask(server, keys[0], "POST", "s/events", #""fail""#).hasPrefix("HTTP/1.1 500"))
    }

    @Test func `the app's rule narrows and widens the grants of a session`() async throws {
        let (server, keys) = try start(grants: #"{"actions": ["read"], "app": "wall", "sessions": ["s", "closed"]}"#)
        defer { server.stop() }
        let state = await ask(server, keys[0], "GET", "s/state")
        #expect(state.contains("Rivulet-Masked: ?1") && state.hasSuffix(#"{"p":{"posts":[]}}"#))
        #expect(await ask(server, keys[0], "GET", "s/state/p/secret").hasPrefix("HTTP/1.1 403"))
        #expect(await ask(server, keys[0], "GET", "closed/state").hasPrefix("HTTP/1.1 403"))
        #expect(
            await ask(server, keys[0], "POST", "open/events", #"{"post":{"id":"1","author":""}}"#).hasPrefix(
                "HTTP/1.1 200"
            )
        )
        #expect(await ask(server, nil, "GET", "open/state").hasPrefix("HTTP/1.1 401"))
    }

    @Test func `without credentials every caller is anonymous, and events are admitted all the same`() async throws {
        let (server, _) = try start(grants: nil)
        defer { server.stop() }
        let posted = await ask(server, nil, "POST", "s/events", #"{"post":{"id":"1","author":"forged"}}"#)
        #expect(posted.contains("\"author\":\"nobody\""))
        #expect(await ask(server, nil, "POST", "s/events", #"{"remove":"1"}"#).hasPrefix("HTTP/1.1 403"))
        // The rule for sessions is asked on a server with credentials only.
        #expect(await ask(server, nil, "GET", "closed/state").hasPrefix("HTTP/1.1 200"))
    }
}

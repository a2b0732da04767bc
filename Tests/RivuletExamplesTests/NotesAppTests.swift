// Tests of the example app `notes`: the state of its sessions, and their shared data.

import Foundation
import Rivulet
import RivuletTesting
import Testing

@testable import RivuletExamples

@Suite(.timeLimit(.minutes(1)))
struct NotesAppTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let storage = FaultyStorage()

    private func app(on storage: any ItemStorage) throws -> NotesApp {
        let key = try #require(SealingKey(secret: [UInt8](repeating: 7, count: 32)))
        return NotesApp(storage: storage, keys: SealingKeys(key)) { Self.now }
    }

    private func draft(_ id: String, _ text: String) -> Note {
        Note(id: id, text: text, created: Date(timeIntervalSince1970: 0))
    }

    // MARK: - A session

    @Test func `a published draft is stored as a note, and then discarded`() async throws {
        let store = TestStore(try app(on: storage))
        // The other tests may take all threads for longer than a second.
        store.patience = .seconds(30)
        await store.send(.saveDraft(id: "a", text: "Milk")) { $0.p.drafts.append(draft("a", "Milk")) }
        await store.send(.saveDraft(id: "a", text: "Bread")) { $0.p.drafts[id: "a"]?.text = "Bread" }
        await store.send(.select("a")) { $0.p.selected = "a" }
        await store.send(.publish("a"))
        await store.receive(.discardDraft("a")) { $0.p.drafts.remove(id: "a") }
        await store.finish()
        let notes = try await Store<Note>(storage: storage.collection("notes.notes")).items
        #expect(notes == [Note(id: "a", text: "Bread", created: Self.now)])
    }

    @Test func `only a draft can be published, and a draft needs an id`() async throws {
        let store = TestStore(try app(on: storage))
        await store.send(.publish("x"), expectRejection: #"there is no draft "x""#)
        await store.send(.saveDraft(id: "", text: "x"), expectRejection: "a draft needs an id")
        await store.finish()
    }

    // MARK: - A server

    private let notes = "/v1/apps/notes/stores/notes"
    private let values = "/v1/apps/notes/values"
    private let session = "/v1/apps/notes/sessions/s"

    private func server() throws -> TestServer { TestServer(try app(on: storage), storage: { [storage] in storage }) }

    /// A server with its data in a folder.
    private func server(folder: String) throws -> TestServer {
        let engine = SQLiteStorageEngine(folder: folder)
        return TestServer(try app(on: engine), storage: { engine })
    }

    @Test func `a program hosts the app in the storage of the sessions`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let storage = SQLiteStorageEngine(folder: folder)
        let options = ServerOptions(secretKey: try SecretKey(keptIn: folder))
        let server = StateServer(options: options, storage: storage)
        try server.host(NotesApp(storage: storage, keys: options.sealingKeys))
        #expect(throws: ServerError.self) { try server.host(NotesApp(storage: storage, keys: options.sealingKeys)) }
    }

    private func ids(_ answer: TestAnswer) throws -> [String] {
        try answer.json()["items"]?.elements?.compactMap { $0["id"]?.stringValue } ?? []
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a note that one session publishes is sent to all streams`(_ transport: TestServer.Transport) async throws {
        try await server().run(transport) { client in
            _ = try await client.get(notes)
            let stream = try await client.stream("\(notes)/events")
            #expect(try await stream.next().name == "loaded")
            _ = try await client.post("\(session)/events", json: ["saveDraft": ["id": "a", "text": "Milk"]])
            _ = try await client.post("\(session)/events", json: ["publish": "a"])
            let event = try await stream.next()
            #expect(event.name == "insert")
            #expect(try event.json()["items"]?[0]?["text"] == "Milk")
            #expect(try event.json()["items"]?[0]?["created"] == "2027-01-15T08:00:00Z")
            let list = try await client.get(notes)
            #expect(try ids(list) == ["a"])
            #expect(list[field: "ETag"] == event.id.map { "\"\($0)\"" })
        }
    }

    @Test func `a note that cannot be stored is not published, and stays a draft`() async throws {
        try await server().run { client in
            _ = try await client.post("\(session)/events", json: ["saveDraft": ["id": "a", "text": "Milk"]])
            // The event itself changes nothing, so that the note is the next write.
            storage.failWrites(with: .full(detail: "no space"))
            _ = try await client.post("\(session)/events", json: ["publish": "a"])
            // This request waits for the effect of the previous event.
            _ = try await client.post("\(session)/events", json: ["select": "a"])
            #expect(try await client.get("\(session)/state/p/drafts/a/text").text == #""Milk""#)
            #expect(try ids(await client.get(notes)).isEmpty)
            let body: JSONValue = ["id": "b", "text": "", "created": "2026-01-01T00:00:00Z"]
            storage.failWrites(with: .full(detail: "no space"))
            #expect(try await client.post(notes, json: body).status == 507)
            #expect(try await client.post(notes, json: body).status == 201)
            #expect(try ids(await client.get(notes)) == ["b"])
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `all shared data exists after a restart, and streams begin again`(
        _ transport: TestServer.Transport
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "notes-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cursor = try await server(folder: folder.path).run(transport) { client in
            for id in ["b", "a", "c"] {
                let note: JSONValue = ["id": .string(id), "text": "", "created": "2026-01-01T00:00:00Z"]
                #expect(try await client.post(notes, json: note).status == 201)
            }
            #expect(try await put(client, "\(values)/theme", #""dark""#).status == 200)
            #expect(try await client.send("POST", "\(values)/hapticsEnabled/toggle").text == "true")
            #expect(try await put(client, "/v1/apps/notes/secrets/apiToken", #""s3cret""#).status == 204)
            return try #require(await client.get(notes)[field: "ETag"]).filter { $0 != "\"" }
        }
        try await server(folder: folder.path).run(transport) { client in
            #expect(try ids(await client.get(notes)) == ["b", "a", "c"])
            #expect(try await client.get("\(values)/theme").text == #""dark""#)
            #expect(try await client.get("\(values)/hapticsEnabled").text == "true")
            #expect(try await client.get("/v1/apps/notes/secrets/apiToken").text == #"{"set":true}"#)
            let stream = try await client.stream("\(notes)/events", fields: ["Last-Event-ID": cursor])
            let event = try await stream.next()
            #expect(event.name == "reset")
            #expect(try event.json()["reason"] == "epoch-changed")
            #expect(try event.json()["items"]?.elements?.count == 3)
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a stream resumes at a cursor, with the missed events`(_ transport: TestServer.Transport) async throws {
        try await server().run(transport) { client in
            let list = try await client.get(notes)
            let cursor = try #require(list[field: "ETag"]).filter { $0 != "\"" }
            for id in ["a", "b"] {
                let note: JSONValue = ["id": .string(id), "text": "", "created": "2026-01-01T00:00:00Z"]
                _ = try await client.post(notes, json: note)
            }
            let stream = try await client.stream("\(notes)/events?cursor=\(cursor)")
            #expect(try await stream.next().json()["items"]?[0]?["id"] == "a")
            let second = try await stream.next()
            #expect(try second.json()["items"]?[0]?["id"] == "b")
            let current = try await client.stream("\(notes)/events", fields: ["Last-Event-ID": second.id ?? ""])
            _ = try await client.send("DELETE", "\(notes)/a")
            #expect(try await current.next().name == "remove")
            #expect(try await stream.next().name == "remove")
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `all streams get the current theme, and each theme that is set`(
        _ transport: TestServer.Transport
    ) async throws {
        try await server().run(transport) { client in
            let stream = try await client.stream("\(values)/theme/changes")
            #expect(try await stream.next().json()["value"] == "light")
            for theme in ["dark", "light"] {
                let answer = try await put(client, "\(values)/theme", "\"\(theme)\"")
                let change = try await stream.next()
                #expect(change.name == "change")
                #expect(try change.json()["value"] == .string(theme))
                #expect(answer[field: "ETag"] == change.id.map { "\"\($0)\"" })
            }
        }
    }

    @Test func `two apps that store items in one collection are not hosted together`() throws {
        let server = StateServer(storage: storage)
        try server.host(try app(on: storage))
        let error = #expect(throws: ServerError.self) {
            try server.host(
                OtherApp(stores: [SharedStore("all", Store<Note>(storage: storage.collection("notes.notes")))])
            )
        }
        #expect(error?.description.contains("stored in the same collection, \"notes.notes\"") == true)
        try server.host(OtherApp(stores: [SharedStore("all", Store<Note>(storage: storage.collection("other")))]))
    }

    @Test func `two values with one key in the data folder are not hosted together`() throws {
        let (first, second) = (StoredValue(key: "k", default: 1), StoredValue(key: "k", default: 2))
        let app = OtherApp(values: [SharedValue(first), SharedValue(second, name: "second")])
        #expect(throws: ServerError.self) { try StateServer(storage: storage).host(app) }
        let other = SharedValue<OtherApp>(StoredValue(key: "other", default: 2))
        try StateServer(storage: storage).host(OtherApp(values: [SharedValue(first), other]))
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a cursor of another resource is refused by streams and conditions`(
        _ transport: TestServer.Transport
    ) async throws {
        try await server().run(transport) { client in
            let theme = try #require(await client.get("\(values)/theme")[field: "ETag"])
            let haptics = try #require(await client.get("\(values)/hapticsEnabled")[field: "ETag"])
            let fields = ["Content-Type": "application/json", "If-Match": haptics]
            let target = "\(values)/theme"
            #expect(try await client.send("PUT", target, fields: fields, body: Array(#""x""#.utf8)).status == 412)
            let stream = try await client.stream(
                "\(notes)/events",
                fields: ["Last-Event-ID": theme.filter { $0 != "\"" }]
            )
            let event = try await stream.next()
            #expect(event.name == "reset")
        }
    }

    @Test(arguments: TestServer.Transport.allCases)
    func `a weak tag matches only where weak comparison is allowed`(_ transport: TestServer.Transport) async throws {
        try await server().run(transport) { client in
            let note: JSONValue = ["id": "a", "text": "", "created": "2026-01-01T00:00:00Z"]
            let tag = try #require(await client.post(notes, json: note)[field: "ETag"])
            let target = "\(notes)/a"
            #expect(try await client.send("DELETE", target, fields: ["If-Match": "W/\(tag)"]).status == 412)
            #expect(try await client.send("DELETE", target, fields: ["If-None-Match": "W/\(tag)"]).status == 412)
            #expect(try await client.send("DELETE", target, fields: ["If-None-Match": "W/\"x\""]).status == 204)
        }
    }

    @Test(arguments: ["", "1st", "a b", "a/b", "é"])
    func `a name that cannot be in a URL is not served`(_ name: String) throws {
        let app = OtherApp(stores: [SharedStore(name, Store<Note>.previewStore(items: []))])
        #expect(throws: ServerError.self) { try StateServer(storage: storage).host(app) }
    }

    private nonisolated(nonsending) func put(
        _ client: TestClient,
        _ target: String,
        _ json: String
    ) async throws -> TestAnswer {
        try await client.send("PUT", target, fields: ["Content-Type": "application/json"], body: Array(json.utf8))
    }

    /// An app with shared resources that a test defines.
    private struct OtherApp: SharingApp {
        let name = "other"
        let defaultState = AppState(t: EmptyTransient(), p: Desk())
        var stores: [SharedStore<Self>] = []
        var values: [SharedValue<Self>] = []

        func reduce(into state: inout AppState<Desk, EmptyTransient>, event: NotesEvent) {}
    }
}

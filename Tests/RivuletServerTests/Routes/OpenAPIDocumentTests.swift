// Checks that the OpenAPI document has every resource, under unique names, and nothing else.

import CounterFixture
import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletObservation
import RivuletSessions
import RivuletStores
import Testing

@testable import RivuletServer

@Suite struct OpenAPIDocumentTests {
    @ObservableState
    struct Plot: PersistentState {
        var beds: Keyed<Bed> = []
        var names: [String: Int] = [:]
    }

    @ObservableState
    struct Bed: Identifiable, Equatable, Sendable {
        var id = ""
        var limits = Bounds()
    }

    @AppEvent
    enum PlotEvent {
        case water(id: String, low: Int)

        var persist: Bool { true }
        var isUIEvent: Bool { true }
    }

    struct PlotApp: SharingApp {
        let name = "plot-1"
        let defaultState = AppState(t: EmptyTransient(), p: Plot())
        var bindings: [StateBinding<PlotEvent>] { [StateBinding("/p/beds/*/limits/low", PlotEvent.water)] }

        let stores: [SharedStore<Self>] = [
            SharedStore("plots", Store<[String: String]>.previewStore(items: [], cacheIdentifier: \.description))
        ]
        let values: [SharedValue<Self>] = [
            SharedValue(StoredValue(key: "flag", default: false, storage: MemoryItemStorage { 0 }.collection("values")))
        ]
        let secrets: [SharedSecret<Self>] = [
            SharedSecret(
                SecurelyStoredValue<String>(
                    key: "token",
                    storage: MemoryItemStorage { 0 }.collection("secrets"),
                    keys: nil
                )
            )
        ]

        func reduce(into state: inout AppState<Plot, EmptyTransient>, event: PlotEvent) {}
    }

    /// The path of an app's resource, if it has one.
    ///
    /// `tally` shares nothing between its sessions.
    private func path(of resource: Resource, in app: String) -> String? {
        let path = resource.path.replacing("{app}", with: app)
        let named = path.replacing("{store}", with: "plots").replacing("{value}", with: "flag")
            .replacing("{secret}", with: "token")
        return named == path || app == "plot-1" ? named : nil
    }

    private let document: JSONValue

    init() throws {
        let shapes = [AppHost(PlotApp()).shape, AppHost(TallyApp()).shape]
        document = try OpenAPIDocument(of: shapes, ServerOptions(version: "1.2.3")).json
    }

    private func pathItem(_ path: String) -> JSONValue? { document["paths"]?[path] }

    /// Every object and every array in the value, with the value itself.
    private func all(in value: JSONValue) -> [JSONValue] {
        let below = (value.members?.map(\.value) ?? []) + (value.elements ?? [])
        return [value] + below.flatMap(all)
    }

    @Test(arguments: Resource.allCases)
    func `the document has each resource with all its methods`(_ resource: Resource) throws {
        for app in ["plot-1", "tally"] {
            let path = path(of: resource, in: app)
            let items = try #require(document["paths"]?.members).filter { item in
                resource == .state ? item.name.hasPrefix(path ?? "-") : item.name == path
            }
            let methods = Set(items.flatMap { $0.value.members?.map(\.name) ?? [] }).subtracting(["parameters"])
            let expected = path == nil ? [] : resource.methods.subtracting(.head).list.map { $0.name.lowercased() }
            #expect(methods == Set(expected), "\(path ?? "")")
        }
    }

    @Test(arguments: Resource.allCases)
    func `the path of a resource leads to it`(_ resource: Resource) throws {
        let path = resource.path.replacing("{app}", with: "tally").replacing("{session}", with: "a")
            .replacing("{stream}", with: "0-1-1-a").replacing("{problem}", with: "not-found")
        let segments = path.split(separator: "/").map(String.init)
        #expect(try Route(segments: segments).resource == resource)
    }

    @Test func `each path and each operation id is unique`() throws {
        let paths = try #require(document["paths"]?.members)
        #expect(Set(paths.map(\.name)).count == paths.count)
        let names = paths.flatMap { $0.value.members ?? [] }.compactMap { $0.value["operationId"]?.stringValue }
        #expect(Set(names).count == names.count)
        #expect(names.contains("plot-1.dispatchEvents"))
    }

    @Test func `every reference leads somewhere`() throws {
        let references = all(in: document).compactMap { $0["$ref"]?.stringValue }
        #expect(references.contains("#/components/schemas/tally.Event"))
        for reference in Set(references) {
            #expect(try document.value(at: String(reference.dropFirst())) != nil, "\(reference)")
        }
    }

    @Test func `types of two apps have separate schemas, and a shared document has one`() throws {
        let names = try #require(document["components"]?["schemas"]?.members).map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.contains("plot-1.types.Bounds"))
        #expect(names.contains("tally.types.Bounds"))
        #expect(names.filter { $0 == "DispatchAnswer" }.count == 1)
    }

    @Test func `each key path of a state has its type, and can be written if it is bound`() throws {
        let state = "/v1/apps/plot-1/sessions/{session}/state"
        let low = try #require(pathItem(state + "/p/beds/{element1}/limits/low"))
        #expect(low["put"]?["requestBody"]?["content"]?["application/json"]?["schema"]?["type"] == "integer")
        #expect(low["parameters"]?[1]?["name"] == "element1")
        let schema = low["get"]?["responses"]?["200"]?["content"]?["application/json"]?["schema"]
        #expect(schema?["maximum"] == 1_000)
        let high = try #require(pathItem(state + "/p/beds/{element1}/limits/high"))
        #expect(high["get"] != nil && high["put"] == nil)
    }

    @Test func `an omitted field has no path`() {
        #expect(pathItem("/v1/apps/tally/sessions/{session}/state/p/count") != nil)
        #expect(pathItem("/v1/apps/tally/sessions/{session}/state/p/note") == nil)
    }

    @Test func `an element has a path, and so has each of its fields`() throws {
        let state = "/v1/apps/tally/sessions/{session}/state/p"
        let item = try #require(pathItem("\(state)/items/{element1}"))
        let content = item["get"]?["responses"]?["200"]?["content"]?["application/json"]
        #expect(content?["schema"] == ["$ref": "#/components/schemas/tally.types.Item"])
        #expect(item["parameters"]?.elements?.count == 3)
        #expect(pathItem("\(state)/items/{element1}/title") != nil)
        #expect(pathItem("\(state)/groups/{element1}/items/{element2}") != nil)
        #expect(pathItem("\(state)/count/{element1}") == nil)
    }

    @Test func `every event has an example that the app reads`() throws {
        let post = pathItem("/v1/apps/tally/sessions/{session}/events")?["post"]
        let content = try #require(post?["requestBody"]?["content"]?["application/json"])
        let examples = try #require(content["examples"]?.members)
        #expect(examples.map(\.name) == TallyApp.Event.eventCases.map(\.name))
        for example in examples {
            let bytes = try #require(example.value["value"]).jsonBytes()
            #expect(try TallyApp.Event(jsonBytes: bytes).eventName == example.name)
        }
    }

    @Test func `every status of a problem is in the document`() throws {
        let responses = try #require(document["components"]?["responses"]?.members).map(\.name)
        // The document describes only methods that a path has, so 405 is not among its statuses.
        let statuses = Set(ProblemType.allCases.map(\.status)).subtracting([405]).sorted()
        #expect(responses == statuses.map { "Problem\($0)" })
        let key = SessionKey(app: "tally", id: "a")
        let errors: [SessionError] = [
            .notFound(key), .exists(key), .deleting(key), .rejected("no"), .unrepresentableNumber, .keyUnderWay("k"),
            .keyReused("k"), .keysFull(key, seconds: 1), .overloaded("x"), .draining, .storage(.full(detail: "x")),
            .storage(.tooLarge(limitBytes: 1)), .storage(.closed), .unreadable(key, detail: "x"),
        ]
        for error in errors { #expect(statuses.contains(Problem(error).status)) }
    }

    @Test func `every operation has the statuses of a refused head`() throws {
        for (path, item) in try #require(document["paths"]?.members).map({ ($0.name, $0.value) }) {
            for (method, operation) in try #require(item.members).filter({ $0.name != "parameters" }).map({
                ($0.name, $0.value)
            }) {
                let statuses = Set(try #require(operation["responses"]?.members).map(\.name))
                var expected: Set = ["400", "403", "408", "413", "414", "417", "421", "431", "501", "505"]
                if operation["requestBody"] != nil { expected.formUnion(["415", "503"]) }
                #expect(
                    statuses.isSuperset(of: expected),
                    "\(method) \(path) lacks \(expected.subtracting(statuses).sorted())"
                )
            }
        }
    }

    @Test func `a POST without a body refuses the content types of forms`() throws {
        for path in ["", "/{session}/reset", "/{session}/restore", "/{session}/fork"] {
            let post = pathItem("/v1/apps/tally/sessions\(path)")?["post"]
            let responses = try #require(post?["responses"]?.members?.map(\.name), "\(path)")
            #expect(responses.contains("415"), "\(path)")
        }
    }

    @Test func `every path has the traceparent parameter`() throws {
        for item in try #require(document["paths"]?.members) {
            let parameters = try #require(item.value["parameters"]?.elements)
            #expect(parameters.contains { $0["$ref"] == "#/components/parameters/traceparent" }, "\(item.name)")
        }
    }

    @Test func `the document has the version of the program`() {
        #expect(document["info"]?["version"] == "1.2.3")
        #expect(document["openapi"] == "3.1.0")
    }
}

// Checks streams of views, stores and values on another node, and what they get from the next owner.

import CounterFixture
import RivuletEngine
import RivuletObjects
import RivuletObservation
import RivuletSessions
import RivuletStores
import Testing

@testable import RivuletServer

@ObservableState
struct Board: PersistentState {
    var count = 0
    var title = ""
}

@AppEvent
enum BoardEvent {
    case add(Int)
    case rename(String)
}

final class BoardView: ObservableObject {
    @Published var count: Int

    init(count: Int) { self.count = count }
}

@StateForwarder(
    for: BoardView.self,
    from: AppState<Board, EmptyTransient>.self,
    mapping: [(\AppState<Board, EmptyTransient>.p.count, \BoardView.count)]
)
struct BoardForwarder {}

/// An app with a view, a store and a value.
private struct BoardApp: SharingApp {
    struct Tag: Codable, Sendable, Identifiable {
        var id: String
    }

    let name = "tally"
    let defaultState = AppState(t: EmptyTransient(), p: Board())
    let stores: [SharedStore<Self>]
    let values: [SharedValue<Self>]
    var views: [StateView<AppState<Board, EmptyTransient>>] { [StateView(BoardForwarder.self)] }

    init() {
        let storage = MemoryItemStorage { 0 }
        stores = [SharedStore("tags", Store<Tag>(storage: storage.collection("tags")))]
        values = [SharedValue(StoredValue(key: "size", default: 1, storage: storage.collection("values")))]
    }

    func reduce(into state: inout AppState<Board, EmptyTransient>, event: BoardEvent) {
        switch event {
        case .add(let amount): state.p.count += amount
        case .rename(let title): state.p.title = title
        }
    }
}

@Suite(.timeLimit(.minutes(1))) final class RelaySourceTests {
    private let cluster = ModelCluster()
    private let nodes: [RelayNode]
    private var hasCrashed = false

    init() throws {
        let engine = MemoryStorageEngine()
        nodes = try ["a", "b"].map { [cluster] name in
            try RelayNode(name, in: cluster, engine, host: { try $0.host(BoardApp()) })
        }
        cluster.setOwner("a")
    }

    deinit {
        nodes[1].stop()
        if !hasCrashed { nodes[0].stop() }
    }

    private var owner: RelayNode { nodes[0] }
    private var edge: RelayNode { nodes[1] }

    private func crashOwner() {
        hasCrashed = true
        owner.crash()
        cluster.setOwner("b")
    }

    @Test func `a stream of a view continues with its values from the next owner`() async throws {
        await owner.dispatch(#"{"add":1}"#)
        let view = edge.open("sessions/s/views/BoardView/changes")
        await view.wait(for: "event: snapshot")
        let id = try #require(view.text.split(separator: "id: ").dropFirst().first?.prefix { $0 != "\n" })
        let all = edge.open("sessions/s/views/BoardView/changes?resume=all", fields: "Last-Event-ID: \(id)\r\n")
        await all.wait(for: "retry: ")
        await owner.dispatch(#"{"add":1}"#)
        for stream in [view, all] { await stream.wait(for: "event: change") }
        crashOwner()
        await edge.dispatch(#"{"add":1}"#)
        for stream in [view, all] { await stream.wait(for: ":3}") }
        #expect(Set(view.names) == ["snapshot", "change"])
        #expect(Set(all.names) == ["change"])
    }

    @Test func `a stream without transient fields gets nothing twice from the next owner`() async {
        await owner.dispatch(#"{"add":1}"#)
        let stream = edge.open("sessions/s/changes")
        await stream.wait(for: "event: snapshot")
        await owner.dispatch(#"{"add":1}"#)
        await stream.wait(for: "event: change")
        crashOwner()
        await edge.dispatch(#"{"rename":"b"}"#)
        await stream.wait(for: "\"b\"")
        #expect(stream.names == ["snapshot", "change", "change"])
        #expect(stream.events[2].hasSuffix(#"[{"op":"replace","path":"/p/title","value":"b"}]}"#))
    }

    @Test func `a stream of a store gets the owner's events`() async throws {
        await owner.request("POST /v1/apps/tally/stores/tags", #"{"id":"a"}"#)
        let stream = edge.open("stores/tags/events")
        await stream.wait(for: "\"items\":")
        await owner.request("POST /v1/apps/tally/stores/tags", #"{"id":"b"}"#)
        await stream.wait(for: "event: insert", count: 2)
        #expect(stream.names == ["insert", "insert"])
        let id = try #require(stream.text.split(separator: "id: ").dropFirst().first?.prefix { $0 != "\n" })
        let resumed = edge.open("stores/tags/events", fields: "Last-Event-ID: \(id)\r\n")
        await resumed.wait(for: "event: insert")
        #expect(resumed.events == [stream.events[1]])
    }

    @Test func `a stream of a value gets the owner's changes, and misses none that is lost`() async {
        let stream = edge.open("values/size/changes")
        await stream.wait(for: "event: change")
        await owner.request("PUT /v1/apps/tally/values/size", "2")
        await stream.wait(for: "event: change", count: 2)
        #expect(stream.events[1].hasSuffix(#""value":2}"#))
        cluster.lose { kind, _, _ in kind == 2 }
        await owner.request("PUT /v1/apps/tally/values/size", "3")
        cluster.lose { _, _, _ in false }
        edge.member.loseConnection()
        await stream.wait(for: #""value":3"#)
        #expect(stream.names == ["change", "change", "change"])
    }
}

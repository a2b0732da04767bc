// Checks that readers of an earlier build get the changes that a deployment made without a new schema version.

import Foundation
import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

/// A state in the forms of several builds, all of schema version 1.
@ObservableState
struct Gauge: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9) @ObservationStateIgnored
    var level: Int = 5
}

@ObservableState
struct NarrowGauge: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...3) @ObservationStateIgnored
    var level: Int = 3
}

@ObservableState
struct LabelledGauge: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9) @ObservationStateIgnored
    var level: Int = 5
    var label = "new"
}

@ObservableState
struct FreshGauge: Equatable, Sendable {
    var id = UUID()
    var made = Date(timeIntervalSince1970: 0)
    var level = 5
}

/// Values with JSON in no fixed order.
@ObservableState
struct TaggedGauge: Equatable, Sendable {
    var tags: Set<String> = []
    var colors: [GaugeColor: Int] = [:]
    var box = GaugeBox()
    var level = 5
}

enum GaugeColor: Codable, Hashable, Sendable {
    case red, green, blue, other(Int)
}

struct GaugeBox: Codable, Equatable, Sendable {
    var list: [Int] = []
    var tags: Set<Int> = []
}

protocol LevelState: ObservableState, Equatable, Sendable {
    var level: Int { get set }
}

extension Gauge: LevelState {}
extension NarrowGauge: LevelState {}
extension LabelledGauge: LevelState {}
extension FreshGauge: LevelState {}
extension TaggedGauge: LevelState {}

@AppEvent
enum GaugeEvent {
    case set(Int)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct GaugeApp<State: LevelState>: AppDefinition {
    let name = "tally"
    let makeState: @Sendable () -> State
    var defaultState: State { makeState() }

    init(_ makeState: @escaping @autoclosure @Sendable () -> State) { self.makeState = makeState }

    func reduce(into state: inout State, event: GaugeEvent) {
        switch event {
        case .set(let level): state.level = level
        }
    }
}

@Suite struct VisibleEpochTests {
    private func epoch(_ app: some AppDefinition) -> String { AppHost(app).visibleEpoch(of: "aaaaaaaa") }

    /// A session of the first build at version 1, and its reader's cursor.
    private func harness() throws -> (SessionHarness, cursor: Cursor) {
        let harness = try SessionHarness()
        harness.deploy(GaugeApp(Gauge()))
        return (harness, try harness.dispatch(#"{"set":7}"#).cursor)
    }

    @Test func `the epoch is the same each time that a build computes it`() {
        #expect(epoch(GaugeApp(Gauge())) == epoch(GaugeApp(Gauge())))
        #expect(epoch(GaugeApp(Gauge())) != AppHost(GaugeApp(Gauge())).visibleEpoch(of: "bbbbbbbb"))
    }

    @Test func `the epoch depends on fields, defaults and wrappers`() {
        let epochs = [
            epoch(GaugeApp(Gauge())), epoch(GaugeApp(NarrowGauge())), epoch(GaugeApp(LabelledGauge())),
            epoch(GaugeApp(Gauge(level: 6))), epoch(GaugeApp(LabelledGauge(label: "other"))),
        ]
        #expect(Set(epochs).count == epochs.count)
    }

    @Test func `the epoch does not depend on a default that varies`() {
        #expect(epoch(GaugeApp(FreshGauge())) == epoch(GaugeApp(FreshGauge())))
        #expect(epoch(GaugeApp(FreshGauge())) != epoch(GaugeApp(FreshGauge(level: 6))))
    }

    /// The same elements in two orders, as a set may have them in two processes.
    private static func orders() -> [[Int]] { [Array(0..<24), Array((0..<24).reversed())] }

    /// The epoch of a build with this default.
    private func epoch(of state: TaggedGauge) -> String { epoch(GaugeApp(state)) }

    @Test func `the epoch does not depend on the order of sets and dictionaries`() {
        let tags = Self.orders().map { epoch(of: TaggedGauge(tags: Set($0.map(String.init)))) }
        #expect(Set(tags).count == 1)
        let colors = Self.orders().map { order in
            epoch(of: TaggedGauge(colors: Dictionary(uniqueKeysWithValues: order.map { (.other($0), $0) })))
        }
        #expect(Set(colors).count == 1)
        let boxes = Self.orders().map { epoch(of: TaggedGauge(box: GaugeBox(list: [2, 1], tags: Set($0)))) }
        #expect(Set(boxes).count == 1)
        #expect(Set(tags + colors + boxes).count == 3)
    }

    @Test func `the epoch depends on the members of sets and dictionaries, and on the order of lists`() {
        let tags = Set(Self.orders()[0])
        let epochs = [
            TaggedGauge(), TaggedGauge(tags: ["a", "b"]), TaggedGauge(tags: ["a", "c"]),
            TaggedGauge(colors: [.red: 1, .blue: 2]), TaggedGauge(colors: [.red: 2, .blue: 1]),
            TaggedGauge(box: GaugeBox(list: [1, 2], tags: tags)), TaggedGauge(box: GaugeBox(list: [2, 1], tags: tags)),
            TaggedGauge(box: GaugeBox(list: [1, 2], tags: tags.subtracting([7]))),
        ].map(epoch(of:))
        #expect(Set(epochs).count == epochs.count)
    }

    @Test func `a reader of an unstored default with a set resumes after the session was evicted`() throws {
        let harness = try SessionHarness()
        harness.deploy(GaugeApp(TaggedGauge(tags: Set(Self.orders()[0].map(String.init)))))
        let read = try harness.session().read(.root).get()
        harness.shard.evict(idleFor: .zero)
        #expect(harness.shard.residentCount == 0)
        #expect(try harness.subscribe("", resume: "\(read.cursor)").first.isEmpty)
    }

    @Test func `a reader from before the deployment gets a reset with the new field`() throws {
        let (harness, cursor) = try harness()
        harness.deploy(GaugeApp(LabelledGauge()))
        let joined = try harness.subscribe("", resume: "\(cursor)")
        let reset = try #require(joined.first.first)
        #expect(reset.name == .reset)
        #expect(reset.text.contains(#"{"level":7,"label":"new"}"#))
        #expect(reset.text.contains("epoch-changed"))
        #expect(try harness.subscribe("", resume: "\(joined.cursor)").first.isEmpty)
        harness.restart()
        #expect(try harness.subscribe("", resume: "\(joined.cursor)").first.isEmpty)
    }

    @Test func `a reader from before the deployment gets the value that a narrower wrapper coerced`() throws {
        let (harness, cursor) = try harness()
        harness.deploy(GaugeApp(NarrowGauge()))
        let joined = try harness.subscribe("/level", resume: "\(cursor)")
        let reset = try #require(joined.first.first)
        #expect(reset.name == .reset)
        #expect(reset.text.contains(#""/level":3"#))
    }

    @Test(arguments: [true, false])
    func `a reader of an unstored default that varies gets a reset with the next default`(
        isVarying: Bool
    ) throws {
        let harness = try SessionHarness()
        if isVarying { harness.deploy(GaugeApp(FreshGauge())) } else { harness.deploy(GaugeApp(Gauge())) }
        let read = try harness.session().read(.root).get()
        harness.shard.evict(idleFor: .zero)
        #expect(harness.shard.residentCount == 0)
        let joined = try harness.subscribe("", resume: "\(read.cursor)")
        #expect(joined.first.map(\.name) == (isVarying ? [.reset] : []))
        #expect((joined.cursor.epoch == read.cursor.epoch) == !isVarying)
    }

    @Test func `after a deployment of the same shape, an earlier reader gets no event`() throws {
        let (harness, cursor) = try harness()
        harness.deploy(GaugeApp(Gauge()))
        #expect(try harness.subscribe("/level", resume: "\(cursor)").first.isEmpty)
        try harness.dispatch(#"{"set":8}"#)
        #expect(try harness.subscribe("/level", resume: "\(cursor)").first.map(\.name) == [.change])
    }

    @Test(arguments: [true, false])
    func `a condition from before the deployment does not hold afterwards`(isShort: Bool) throws {
        let (harness, cursor) = try harness()
        let expected = isShort ? Cursor(epoch: cursor.epoch, position: cursor.position, incarnation: nil) : cursor
        if isShort {
            harness.restart()
            #expect(try harness.dispatch(#"{"set":7}"#, expected: [expected]).version == 1)
        }
        harness.deploy(GaugeApp(NarrowGauge()))
        let error = #expect(throws: SessionError.self) { try harness.dispatch(#"{"set":1}"#, expected: [expected]) }
        guard case .precondition(.otherHistory, let current)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try harness.dispatch(#"{"set":1}"#, expected: [current.cursor]).version == 2)
    }

    @Test func `the tag of a version differs between builds that read it differently`() throws {
        let (harness, cursor) = try harness()
        func tag() throws -> String {
            var answer: Result<StateAnswer, SessionError>?
            try harness.session().read(.root, at: 1) { answer = $0 }
            return "\(try harness.wait { answer }.get().cursor)"
        }
        #expect(try tag() == "\(cursor.epoch).1")
        harness.deploy(GaugeApp(Gauge()))
        #expect(try tag() == "\(cursor.epoch).1")
        harness.deploy(GaugeApp(NarrowGauge()))
        #expect(try tag() != "\(cursor.epoch).1")
    }

    @Test func `a retry after a deployment of another shape gets the first answer`() throws {
        let harness = try SessionHarness()
        harness.deploy(GaugeApp(Gauge()))
        let first = try harness.once(#"{"set":7}"#, key: "k")
        harness.deploy(GaugeApp(LabelledGauge()))
        let second = try harness.once(#"{"set":7}"#, key: "k")
        #expect(second.isReplay && second.body == first.body)
    }
}

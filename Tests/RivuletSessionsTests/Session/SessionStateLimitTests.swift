// Checks that the state of a session does not grow without limit.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Synchronization
import Testing

@Suite struct SessionStateLimitTests {
    private static let limit = 10_000

    private func notebook() throws -> SessionHarness {
        let harness = try SessionHarness(limits: SessionLimits(stateBytesMax: Self.limit))
        harness.deploy(NotebookApp())
        return harness
    }

    private func expectFull(_ harness: SessionHarness, _ body: String) throws {
        let result = try harness.wait(for: harness.send(body))
        guard case .failure(.stateFull(harness.key, Self.limit)) = result else {
            Issue.record("expected stateFull, got \(result)")
            return
        }
    }

    @Test func `an event that makes the state too large is refused and changes nothing`() throws {
        let harness = try notebook()
        try harness.dispatch(#"{"write":"a"}"#)
        try harness.subscribe("")
        let before = try harness.session().read(.root).get()
        try expectFull(harness, #"{"write":"\#(letters(10_000))"}"#)
        try expectFull(harness, #"{"sketch":"\#(letters(10_000))"}"#)
        try expectFull(harness, #"{"draft":"\#(letters(10_000))"}"#)
        try expectFull(harness, #"[{"write":"b"},{"add":{"_0":"x","text":"\#(letters(10_000))"}}]"#)
        let after = try harness.session().read(.root).get()
        #expect(after.cursor == before.cursor)
        #expect(after.value == before.value)
        #expect(harness.sink.delivered.isEmpty)
        #expect(try harness.dispatch(#"{"write":"b"}"#).version == 2)
        harness.restart()
        #expect(try harness.value("/p/text") == #""b""#)
    }

    @Test func `a loaded state is measured once, however many events it refuses`() throws {
        let harness = try SessionHarness(limits: SessionLimits(stateBytesMax: Self.limit))
        harness.deploy(ScrollApp())
        try harness.dispatch(#"{"fill":\#(Self.limit - 100)}"#)
        harness.restart()
        try expectFull(harness, #"{"label":"\#(letters(200))"}"#)
        let measured = MeasuredText.encodings.load(ordering: .relaxed)
        for _ in 0..<5 { try expectFull(harness, #"{"label":"\#(letters(200))"}"#) }
        #expect(MeasuredText.encodings.load(ordering: .relaxed) == measured)
        #expect(try harness.dispatch(#"{"label":"short"}"#).version == 2)
    }

    @Test func `a state that elements have filled has room again when an element is removed`() throws {
        let harness = try notebook()
        var count = 0
        while count < Self.limit,
            case .success = try harness.wait(
                for: harness.send(#"{"add":{"_0":"e\#(count)","text":"\#(letters(100))"}}"#)
            )
        {
            count += 1
        }
        let bytes = try harness.value("").utf8.count
        #expect((Self.limit - 200...Self.limit).contains(bytes))
        try harness.dispatch(#"{"drop":"e0"}"#)
        try harness.dispatch(#"{"add":{"_0":"n","text":"\#(letters(100))"}}"#)
        try expectFull(harness, #"{"add":{"_0":"m","text":"\#(letters(100))"}}"#)
        #expect(try harness.value("").utf8.count <= Self.limit)
    }

    @Test func `a value that is written repeatedly adds its size once`() throws {
        let harness = try notebook()
        for _ in 0..<20 { try harness.dispatch(#"{"write":"\#(letters(6_000))"}"#) }
        for _ in 0..<20 { try harness.dispatch(#"{"sketch":"\#(letters(3_000))"}"#) }
        try expectFull(harness, #"{"sketch":"\#(letters(4_000))"}"#)
    }

    @Test func `a change that storage refused does not use up the state's room`() throws {
        let harness = try notebook()
        try harness.dispatch(#"{"write":"a"}"#)
        for _ in 0..<3 {
            harness.storage.failNext(.full(detail: "no space"))
            #expect(throws: SessionError.self) {
                try harness.dispatch(#"{"add":{"_0":"x","text":"\#(letters(6_000))"}}"#)
            }
        }
        try harness.dispatch(#"{"add":{"_0":"y","text":"\#(letters(6_000))"}}"#)
    }

    @Test func `a state that is larger than a new limit is read, and may shrink`() throws {
        let storage = HeldStorage()
        let first = try SessionHarness(storage: storage)
        first.deploy(NotebookApp())
        try first.dispatch(#"{"write":"\#(letters(20_000))"}"#)
        let harness = try SessionHarness(limits: SessionLimits(stateBytesMax: Self.limit), storage: storage)
        harness.deploy(NotebookApp())
        #expect(try harness.value("/p/text").utf8.count == 20_002)
        try expectFull(harness, #"{"sketch":"a"}"#)
        try harness.dispatch(#"{"write":"\#(letters(15_000))"}"#)
        try harness.dispatch(#"{"write":"a"}"#)
        try harness.dispatch(#"{"sketch":"a"}"#)
    }

    @Test func `a session cannot be created with a state that is too large`() throws {
        let harness = try notebook()
        let document = JSONReader(Array(#"{"p":{"text":"\#(letters(10_000))"}}"#.utf8))
        var answer: Result<CreateAnswer, SessionError>?
        harness.shard.find(harness.key, of: harness.app) { found in
            if case .success(let session) = found { session.create(state: document, isStrict: false) { answer = $0 } }
        }
        guard case .failure(.stateFull) = try harness.wait({ answer }) else {
            Issue.record("expected stateFull, got \(String(describing: answer))")
            return
        }
        #expect(try harness.value("/p/text") == #""""#)
        #expect(try harness.ask { harness.storage.load(harness.key, reply: $0) } == nil)
    }
}

/// A text that counts how often it is encoded.
///
/// Only one test uses it.
struct MeasuredText: JSONCodable, Equatable, Sendable {
    static let encodings = Atomic(0)

    var text = ""

    init() {}

    init(json reader: inout JSONReader) throws(JSONError) { text = try String(json: &reader) }

    func encodeJSON(into writer: inout JSONWriter) {
        Self.encodings.add(1, ordering: .relaxed)
        text.encodeJSON(into: &writer)
    }

    static var jsonSchema: JSONSchema { String.jsonSchema }
}

/// A state with a measured text.
@ObservableState
struct Scroll: Equatable, Sendable {
    var contents = MeasuredText()
    var label = ""
}

@AppEvent
enum ScrollEvent {
    case fill(Int)
    case label(String)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct ScrollApp: AppDefinition {
    let name = "tally"
    let defaultState = Scroll()

    func reduce(into state: inout Scroll, event: ScrollEvent) {
        switch event {
        case .fill(let count): state.contents.text = letters(count)
        case .label(let text): state.label = text
        }
    }
}

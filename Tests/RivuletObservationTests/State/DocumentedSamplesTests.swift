// This file owns the samples of Documentation/Wrappers.md and Documentation/Observation.md, compiled and run.

import Observation
import RivuletJSON
import RivuletObservation
import RivuletSchema
import Synchronization
import Testing

// DocumentationTests checks that this file has every sample of those pages, line by line.

@propertyWrapper
struct Trimmed: ObservableWrapperProjected, Equatable, Sendable {
    typealias ProjectedValue = Trimmed

    var wrappedValue: String
    let charactersMax: Int

    /// How many characters more would fit.
    var charactersLeft: Int { charactersMax - wrappedValue.count }

    var projectedValue: Trimmed {
        get { self }
        set { self = newValue }
    }

    static func makeWrapper(from value: String, config charactersMax: Int) -> Trimmed {
        let text = value.drop { $0.isWhitespace }.prefix(charactersMax)
        return Trimmed(wrappedValue: String(text), charactersMax: charactersMax)
    }

    static func jsonSchema(of value: JSONSchema, config charactersMax: Int) -> JSONSchema {
        .annotated(value, [JSONSchema.Annotation("maxLength", .number("\(charactersMax)"))])
    }
}

@ObservableState
struct Draft: Equatable, Sendable {
    @Wrapped(Trimmed.self, 40, projected: true) var title = ""
}

@ObservableState
struct Player: Equatable, Sendable {
    @Wrapped(Clamped.self, 0...100) var volume = 50
    @Wrapped(Boxed.self) var history: [String] = []
    @Wrapped(Omitted.self) var hint: String?
    @Wrapped(Presented.self, projected: true) var draft: Draft?
    @Wrapped(Trimmed.self, 40) var title = ""
}

struct Rounding<Value: BinaryInteger & Sendable>: ObservableWrapper, Equatable, Sendable {
    var wrappedValue: Value

    static func makeWrapper(from value: Value, config step: Value) -> Rounding {
        Rounding(wrappedValue: value - value % step)
    }
}

enum Rounded: WrapperKind {
    typealias Of<Value: BinaryInteger & Sendable> = Rounding<Value>
}

@ObservableState
struct Settings: Equatable, Sendable {
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...5)
    @ObservationStateIgnored
    var priority: Int = 3
}

@ObservableState
struct Note: Equatable, Sendable {
    var text = ""
    var tags: [String] = []
    var isPinned = false
    #if DEBUG
    var edits = 0
    #endif
    let format = 1
    var isEmpty: Bool { text.isEmpty }
    @Transient var isOpen = false
    @ObservationStateIgnored var cachedWidth = 0.0
    @Wrapped(Clamped.self, 1...5) var priority = 3
}

@ObservableState
struct OldWay: Equatable, Sendable {
    private(set) var text: String

    mutating func write(_ text: String) {
        self.text = text
        // What a `didSet` would have done stands here.
    }
}

@ObservableState
struct Review: Equatable, Sendable {
    var reviewer = ""
    var round = 1
}

@ObservableState
enum Phase: Equatable, Sendable {
    case draft
    case review(Review)
    case rejected(reason: String, code: Int = 0)
}

@ObservableState
struct Article: Equatable, Sendable {
    var phase = Phase.draft
    var lastReview = Review()
}

enum Shown: String, CaseIterable, JSONCodable, Sendable { case all, open, done }

@Suite
struct DocumentedSamplesTests {
    @Test
    func `the schema of the documented enum has its values`() {
        #expect(Shown.jsonSchema.document["enum"] == ["all", "open", "done"])
    }

    @Test
    func `the documented wrapper trims, has the number of characters left, and has a schema`() {
        var draft = Draft()
        let recording = ChangeRecorder.record(&draft) { draft in
            draft.title = "  Hello"
            draft.title += ", world"
        }
        #expect(draft.title == "Hello, world")
        #expect(draft.$title.charactersLeft == 28)
        #expect(recording.changes.map(\.text) == [#"/title="Hello, world""#])
        #expect(recording.coercions.isEmpty == false)
        #expect(Draft.jsonSchema.document["properties"]?["title"]?["maxLength"] == 40)
    }

    @Test
    func `the documented fields have their wrappers`() {
        let wrappers = Player._$fields.map { "\($0.name) \($0.wrapper ?? "-") \($0.config ?? "-")" }
        let names = ["volume Clamped 0...100", "history Box -", "hint OmitCoding -", "draft PresentationState -"]
        #expect(wrappers == names + ["title Trimmed 40"])
        #expect(Settings._$fields.map(\.wrapper) == ["Clamped"])
    }

    @Test
    func `the documented state has the documented JSON`() {
        let names = Note._$fields.map(\.name).filter { $0 != "edits" }
        #expect(names == ["text", "tags", "isPinned", "isOpen", "priority"])
        var old = OldWay(text: "a")
        old.write("b")
        #expect(old.json == #"{"text":"b"}"#)
    }

    @Test
    func `the documented ways to observe in process work`() {
        let told = Mutex(0)
        let owner = ObservedState(Note())
        withObservationTracking {
            _ = owner.state.text
        } onChange: {
            told.withLock { $0 += 1 }
        }
        owner.state.isPinned = true  // notifies no observer: only `text` was read
        owner.state.text = "Hello"  // notifies the observer, once
        #expect(told.withLock { $0 } == 1)

        var note = Note()
        var summary = note.observe { note in "\(note.text) (\(note.tags.count))" }
        let recording = ChangeRecorder.record(&note) { $0.tags.append("new") }
        summary.update(to: note, after: recording.changes)
        #expect(summary.value == " (1)")
        #expect(summary.keyPaths == ["/tags", "/text"])
    }

    @Test
    func `the documented enum is tracked by payload`() throws {
        var article = Article(phase: .review(Review()))
        let recording = ChangeRecorder.record(&article) { $0.phase.review?.round += 1 }
        // {"op":"replace","path":"/phase/review/round","value":2}
        article.phase.review = Review(reviewer: "Ada")  // makes it this case
        article.phase.review = nil  // makes it `draft`, the first case without values
        #expect(recording.changes.map(\.text) == ["/phase/review/round=2"])
        #expect(article.phase == .draft)
        let forms: [(Phase, String)] = [
            (.draft, #""draft""#),
            (.review(Review()), #"{"review":{"reviewer":"","round":1}}"#),
            (.rejected(reason: "dull"), #"{"rejected":{"reason":"dull","code":0}}"#),
        ]
        for (phase, json) in forms {
            #expect(phase.json == json)
            #expect(try Phase(jsonBytes: [UInt8](json.utf8)) == phase)
        }
    }

    @Test
    func `the documented traps of derived values exist`() {
        let article = Article()
        let wrong = article.observe { ($0.lastReview.round, $0.lastReview) }
        // ["/lastReview/round"]: a change of the reviewer goes unseen
        let right = article.observe { ($0.lastReview.round, $0.lastReview.reviewer) }
        // ["/lastReview/reviewer", "/lastReview/round"]
        #expect(wrong.keyPaths == ["/lastReview/round"])
        #expect(right.keyPaths == ["/lastReview/reviewer", "/lastReview/round"])

        let compared = article.observe { ($0.lastReview.round, $0.lastReview == Review(reviewer: "Ada")) }
        // ["/lastReview", "/lastReview/round"]
        #expect(compared.keyPaths == ["/lastReview", "/lastReview/round"])
        let alone = article.observe { $0.lastReview == Review(reviewer: "Ada") }
        // ["/lastReview"]
        #expect(alone.keyPaths == ["/lastReview"])
    }
}

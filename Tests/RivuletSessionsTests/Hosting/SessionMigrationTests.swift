// Checks that stored sessions of an earlier schema are read, and that unreadable ones stay as they are.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

/// The state as the first build had it.
@ObservableState
struct FirstShelf: Equatable, Sendable {
    var name = "shelf"
    var number = 1
    var books: Keyed<FirstBook> = []
    var lost: FirstBook?
}

@ObservableState
struct FirstBook: Identifiable, Equatable, Sendable {
    var id: String
    var pages = 1
}

@AppEvent
enum FirstShelfEvent {
    case rename(String)
    case add(String)
    case lose(String)
    case read(String, pages: Int)
    case remove(String)
    case move(String, to: Int)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct FirstShelfApp: AppDefinition {
    let name = "tally"
    var defaultState = FirstShelf()

    func reduce(into state: inout FirstShelf, event: FirstShelfEvent) {
        switch event {
        case .rename(let name): state.name = name
        case .add(let id): state.books.append(FirstBook(id: id))
        case .lose(let id):
            if state.lost == nil { state.lost = FirstBook(id: id) } else { state.lost?.id = id }
        case .read(let id, let pages): state.books[id: id]?.pages = pages
        case .remove(let id): state.books.remove(id: id)
        case .move(let id, let index): state.books.move(id: id, to: index)
        }
    }
}

/// The state of a later build: one field is renamed, one has another type, and the books are in a separate struct.
@ObservableState
struct Shelf: Equatable, Sendable {
    var title = "a shelf"
    var number = "one"
    var contents = Contents()
    var lost: Book?
}

@ObservableState
struct Contents: Equatable, Sendable {
    var books: Keyed<Book> = []
}

@ObservableState
struct Book: Identifiable, Equatable, Sendable {
    var id: String
    var pages = 1
    @ObservableStateWrapper(Clamped<Int>.self, config: 1...5) @ObservationStateIgnored
    var stars: Int = 3
}

@AppEvent
enum ShelfEvent {
    case retitle(String)

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct ShelfApp: AppDefinition {
    let name = "tally"
    var defaultState = Shelf()
    var schemaVersion = 3
    var migrations = [
        StateMigration(from: 2) { document in
            try document.move("/books", to: "/contents/books")
            try document.updateEach("/contents/books") { try $0.set("/stars", to: .number("9")) }
        },
        StateMigration(from: 1) { document in
            try document.move("/name", to: "/title")
            try document.update("/number") { $0 = .string("\($0)") }
        },
    ]

    func reduce(into state: inout Shelf, event: ShelfEvent) {
        switch event {
        case .retitle(let title): state.title = title
        }
    }
}

@Suite struct SessionMigrationTests {
    /// A session of the first build with these events.
    ///
    /// Each event is an entry of its log.
    private func harness(_ events: String..., limits: SessionLimits = SessionLimits()) throws -> SessionHarness {
        let harness = try SessionHarness(limits: limits)
        harness.deploy(FirstShelfApp())
        for event in events { try harness.dispatch(event) }
        return harness
    }

    private func unreadable(_ harness: SessionHarness) throws -> String {
        do {
            _ = try harness.session()
        } catch SessionError.unreadable(_, let detail) {
            return detail
        }
        Issue.record("the session was read")
        return ""
    }

    @Test func `a document of the first version is migrated by every step, in the order of versions`() throws {
        let harness = try harness(#"{"rename":"Poems"}"#, #"{"add":"a"}"#, #"{"read":{"_0":"a","pages":7}}"#)
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""Poems""#)
        #expect(try harness.value("/contents/books") == #"[{"id":"a","pages":7,"stars":5}]"#, "wrappers hold")
        #expect(try harness.value("/number") == #""1""#, "a default that was never written is migrated, too")
    }

    @Test func `a log without a snapshot is replayed by ids`() throws {
        let harness = try harness(
            #"{"add":"a"}"#,
            #"{"add":"b"}"#,
            #"{"add":"c"}"#,
            #"{"move":{"_0":"c","to":0}}"#,
            #"{"remove":"a"}"#,
            #"{"lose":"x"}"#,
            #"{"lose":"y"}"#
        )
        let step = StateMigration(from: 1) { document in
            try document.move("/books", to: "/contents/books")
            try document.set("/number", to: .string("1"))
        }
        harness.deploy(ShelfApp(migrations: [step]))
        #expect(
            try harness.value("/contents/books") == #"[{"id":"c","pages":1,"stars":3},{"id":"b","pages":1,"stars":3}]"#
        )
        #expect(try harness.value("/lost") == #"{"id":"y","pages":1,"stars":3}"#)
    }

    @Test func `a snapshot of an earlier version is migrated with the log after it`() throws {
        var limits = SessionLimits()
        limits.snapshotBytesMin = 1
        let harness = try harness(#"{"rename":"A"}"#, #"{"rename":"B"}"#, #"{"add":"a"}"#, limits: limits)
        #expect(try harness.ask { harness.storage.load(harness.key, reply: $0) }?.snapshot != nil)
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""B""#)
        #expect(try harness.value("/contents/books/a/stars") == "5")
    }

    @Test func `the first event after a migration stores the new shape before its own entry`() throws {
        let harness = try harness(#"{"rename":"A"}"#, #"{"add":"a"}"#)
        harness.deploy(ShelfApp())
        #expect(try harness.dispatch(#"{"retitle":"B"}"#).version == 3)
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        #expect(stored.snapshot?.schema == 3)
        #expect(stored.snapshot?.version == 2)
        #expect(stored.tail.map(\.version) == [3])
        #expect(stored.retained.from == 1, "the earlier log is kept")
        harness.restart()
        #expect(try harness.value("/title") == #""B""#)
        #expect(try harness.value("/contents/books/a/stars") == "5")
    }

    @Test func `reading alone stores nothing`() throws {
        let harness = try harness(#"{"rename":"A"}"#)
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""A""#)
        harness.deploy(FirstShelfApp())
        #expect(try harness.value("/name") == #""A""#)
    }

    @Test func `an event fails when the new shape cannot be stored, and nothing has changed`() throws {
        let harness = try harness(#"{"rename":"A"}"#)
        harness.deploy(ShelfApp())
        harness.storage.failNextCompaction(.full(detail: "no space"))
        #expect(throws: SessionError.self) { try harness.dispatch(#"{"retitle":"B"}"#) }
        #expect(try harness.value("/title") == #""A""#)
        #expect(try harness.dispatch(#"{"retitle":"C"}"#).version == 2)
    }

    @Test func `a session that begins in a later version is stored with that version and its defaults`() throws {
        let harness = try SessionHarness()
        harness.deploy(ShelfApp())
        try harness.dispatch(#"{"retitle":"B"}"#)
        let stored = try #require(try harness.ask { harness.storage.load(harness.key, reply: $0) })
        let document = #"{"title":"a shelf","number":"one","contents":{"books":[]},"lost":null}"#
        #expect(stored.snapshot == StateSnapshot(version: 0, schema: 3, state: Array(document.utf8)))
        harness.restart()
        #expect(try harness.value("/title") == #""B""#)
        #expect(try harness.value("/number") == #""one""#)
    }

    @Test func `a reader from before the migration gets a reset, because its values have another shape`() throws {
        let harness = try harness(#"{"rename":"A"}"#)
        let cursor = try harness.subscribe("/number").cursor
        harness.deploy(ShelfApp())
        let joined = try harness.subscribe("/title", resume: "\(cursor)")
        #expect(joined.first.map(\.name) == [.reset])
        #expect(joined.first[0].text.contains("epoch-changed"))
        let again = try harness.subscribe("/title", resume: "\(joined.cursor)")
        #expect(again.first.isEmpty)
        harness.restart()
        let later = try harness.subscribe("/title", resume: "\(joined.cursor)")
        #expect(later.first.isEmpty, "the cursor is valid after a restart of the same build")
    }

    @Test func `the cursor of an answer is valid for streams and conditions, and is the session's own`() throws {
        let harness = try SessionHarness()
        harness.deploy(ShelfApp())
        let answer = try harness.dispatch(#"{"retitle":"B"}"#)
        #expect(answer.cursor.epoch == (try harness.session().info().epoch))
        #expect(try harness.dispatch(#"{"retitle":"C"}"#, expected: [answer.cursor]).version == 2)
        let joined = try harness.subscribe("/title", resume: "\(answer.cursor)")
        #expect(joined.first.map(\.name) == [.change])
    }

    @Test func `a document of a later version is refused and stays as it is`() throws {
        let harness = try SessionHarness()
        harness.deploy(ShelfApp())
        try harness.dispatch(#"{"retitle":"B"}"#)
        harness.deploy(FirstShelfApp())
        #expect(try unreadable(harness).contains("schema version 3"))
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""B""#)
    }

    @Test func `a failing step is named, and the stored session stays as it is`() throws {
        let harness = try harness(#"{"rename":"A"}"#)
        harness.deploy(ShelfApp(migrations: [StateMigration(from: 1) { _ in throw RejectionError("no such name") }]))
        let detail = try unreadable(harness)
        #expect(detail.contains("from schema version 1") && detail.contains("no such name"))
        harness.deploy(ShelfApp())
        #expect(try harness.value("/title") == #""A""#)
    }

    @Test func `a field that changed its type without a step is named with its path`() throws {
        let harness = try harness(#"{"rename":"A"}"#)
        harness.deploy(ShelfApp(migrations: [StateMigration(from: 1) { try $0.set("/number", to: .number("1")) }]))
        #expect(try unreadable(harness).contains("/number"))
    }
}

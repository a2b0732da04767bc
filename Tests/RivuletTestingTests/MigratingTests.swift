// Checks the test of a migration on one document, and owns the sample of a migration in Documentation/Testing.md.

import RivuletEngine
import RivuletJSON
import RivuletObservation
import RivuletTesting
import Testing

@ObservableState
struct Invoice: PersistentState {
    var version: Int { 2 }
    var total = 0
    var note = "none"
}

@AppEvent
enum InvoiceEvent {
    case empty

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

struct InvoiceApp: AppDefinition {
    let name = "invoice"
    let defaultState = AppState(t: EmptyTransient(), p: Invoice())
    var path = "/p/sum"
    var migrations: [StateMigration] { [StateMigration(from: 1) { [path] in try $0.move(path, to: "/p/total") }] }

    func reduce(into state: inout AppState<Invoice, EmptyTransient>, event: InvoiceEvent) {
        switch event {
        case .empty: state.p.total = 0
        }
    }
}

@Suite struct MigratingTests {
    @Test func `the sum of a stored invoice is its total now`() throws {
        let state = try InvoiceApp().state(migrating: ["p": ["sum": 12]], from: 1)
        #expect(state.p.total == 12)
    }

    @Test func `a field that the document lacks has its default`() throws {
        let state = try InvoiceApp().state(migrating: ["p": ["sum": 12]], from: 1)
        #expect(state.p.note == "none")
        #expect(try InvoiceApp().state(migrating: ["p": ["total": 3]], from: 2).p.total == 3, "no step")
    }

    @Test func `a path that the document lacks fails the test, as it fails a deployment`() {
        let error = #expect(throws: MigrationTestError.self) {
            try InvoiceApp(path: "/sum").state(migrating: ["p": ["sum": 12]], from: 1)
        }
        #expect(error?.description == "step 1→2: /sum was found in 0 of 1 document; paths begin at /p")
    }

    @Test func `a failed step and a document that does not decode have different errors`() {
        let error = #expect(throws: MigrationTestError.self) {
            try InvoiceApp(path: "sum").state(migrating: ["p": ["sum": 12]], from: 1)
        }
        #expect(error?.description.hasPrefix("step 1→2 failed: ") == true)
        #expect(throws: JSONError.self) { try InvoiceApp().state(migrating: ["p": ["sum": "much"]], from: 1) }
    }
}

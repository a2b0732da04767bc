// This file owns the samples of Documentation/Migrations.md, compiled and run.

import Foundation
import Rivulet
import RivuletTesting
import Testing

// DocumentationTests checks that this file has every sample of that page, line by line.

@ObservableState
struct CartItem: Identifiable, Equatable, Sendable {
    var id = ""
    var quantity = 1
}

@AppEvent
enum CartEvent {
    case empty

    var persist: Bool { true }
    var isUIEvent: Bool { true }
}

@ObservableState
struct Cart: PersistentState {
    var version: Int { 2 }
    var total = 0
    var items: Keyed<CartItem> = []
}

struct CartApp: AppDefinition {
    let name = "cart"
    let defaultState = AppState(t: EmptyTransient(), p: Cart())
    let migrations = [
        StateMigration(from: 1) { document in
            try document.move("/p/sum", to: "/p/total")
            try document.updateEach("/p/items") { try $0.move("/count", to: "/quantity") }
        }
    ]

    func reduce(into state: inout AppState<Cart, EmptyTransient>, event: CartEvent) {
        switch event {
        case .empty: state.p.items.removeAll()
        }
    }
}

let unitsRenamed = StateMigration(from: 2) { document in
    try document.updateEach("/p/items") { item in
        try item.update("/unit") { if $0 == "kilo" { $0 = "kg" } }
    }
}

let stockRenamed = StateMigration(from: 3) { document in
    try document.updateEach("/p/prices") { $0 = ["cents": $0] }
    try document.updateEach("/p/stock") { try $0.move("/count", to: "/quantity") }
    try document.remove("/p/stock/tea/reserved", required: false)
}

@Suite struct DocumentedMigrationsTests {
    @Test func `the sample's step moves the sum and each item's count`() throws {
        let document = try JSONValue(parsing: #"{"p":{"sum":12,"items":[{"id":"a","count":2}]}}"#)
        let state = try CartApp().state(migrating: document, from: 1)
        #expect(state.p == Cart(total: 12, items: [CartItem(id: "a", quantity: 2)]))
    }

    @Test func `a step edits each value of a dictionary, whatever the keys are`() throws {
        var document = try JSONValue(
            parsing: #"{"p":{"prices":{"tea":3,"coffee":4},"stock":{"tea":{"count":12}}}}"#
        )
        let expected: JSONValue = [
            "p": ["prices": ["tea": ["cents": 3], "coffee": ["cents": 4]], "stock": ["tea": ["quantity": 12]]]
        ]
        try stockRenamed.migrate(&document)
        #expect(document == expected)
    }

    @Test func `a dictionary with keys that are not strings is an array, and each visits keys and values`() throws {
        var document: JSONValue = ["stock": ["tea", ["count": 1], "coffee", ["count": 2]]]
        try document.updateEach("/stock") { try $0.move("/count", to: "/quantity") }
        #expect(document == ["stock": ["tea", ["quantity": 1], "coffee", ["quantity": 2]]])
    }

    @Test func `a step renames an enum's raw value in place`() throws {
        var document: JSONValue = ["p": ["items": [["unit": "kilo"], ["unit": "piece"], ["id": "c"]]]]
        let expected: JSONValue = ["p": ["items": [["unit": "kg"], ["unit": "piece"], ["id": "c"]]]]
        try unitsRenamed.migrate(&document)
        #expect(document == expected)
    }

    @Test func `an app's schema version is that of its stored half`() {
        #expect(CartApp().schemaVersion == 2)
    }

    @Test func `a migration from the current version, or two from one, cannot be hosted`() throws {
        struct OddApp: AppDefinition {
            let name = "odd"
            let defaultState = Cart()
            let schemaVersion: Int
            let migrations: [StateMigration]

            func reduce(into state: inout Cart, event: CartEvent) {}
        }
        let server = StateServer(storage: MemoryStorageEngine())
        let step = StateMigration(from: 2) { _ in }
        for app in [
            OddApp(schemaVersion: 2, migrations: [step]), OddApp(schemaVersion: 3, migrations: [step, step]),
            OddApp(schemaVersion: 0, migrations: []),
        ] {
            #expect(throws: ServerError.self) { try server.host(app) }
        }
        try server.host(OddApp(schemaVersion: 3, migrations: [step]))
    }

    /// The sample, which names one of the reader's folders.
    private func check(_ server: StateServer) throws {
        let report = try server.check(SQLiteStorageInspection(folder: "./data")) { session, reason in
            print("\(session): \(reason)")
        } onUnreadableItem: { place, reason in
            print("\(place): \(reason)")
        }
        for line in report.lines { print(line) }
        if !report.isClean { exit(1) }
    }

    @Test func `a folder without a database cannot be checked`() {
        let server = StateServer(storage: MemoryStorageEngine())
        #expect(throws: StorageError.self) {
            try server.check(SQLiteStorageInspection(folder: NSTemporaryDirectory() + "/no-such-folder")) { _, _ in }
        }
    }
}

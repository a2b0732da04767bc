// This file owns the tests of fields with unordered elements: an equal value is no change.

import FoundationEssentials
import RivuletJSON
import RivuletObservation
import Testing

enum Drink: String, Codable, CaseIterable { case tea, coffee, juice, milk, water }

struct Order: Codable, Equatable, Sendable {
    var drinks: Set<Drink>
}

@ObservableState
struct Bar: Equatable {
    var drinks = Set(Drink.allCases)
    var prices: [Drink: Int] = [:]
    var owners: [UUID: Int] = [:]
    var order = Order(drinks: Set(Drink.allCases))
    var tables: [Int: String] = [:]
}

@Suite
struct UnorderedFieldTests {
    /// An equal set that probably has another order of its elements.
    private func reordered<Element>(_ elements: Set<Element>) -> Set<Element> {
        var copy = Set<Element>(minimumCapacity: 1_000)
        for element in elements { copy.insert(element) }
        return copy
    }

    @Test
    func `an equal set or dictionary is no change, in any order`() {
        var bar = Bar()
        let ids = (0..<9).map { _ in UUID() }
        bar.prices = Dictionary(uniqueKeysWithValues: Drink.allCases.map { ($0, 1) })
        bar.owners = Dictionary(uniqueKeysWithValues: ids.map { ($0, 1) })
        let recording = ChangeRecorder.record(&bar) { bar in
            bar.drinks = reordered(bar.drinks)
            bar.prices.reserveCapacity(1_000)
            bar.owners.reserveCapacity(1_000)
            bar.order.drinks = reordered(bar.order.drinks)
        }
        #expect(recording.changes.map(\.path) == [])
        #expect(ChangeRecorder.record(&bar) { $0.drinks.remove(.tea) }.changes.map(\.path) == ["/drinks"])
    }

    @Test
    func `a dictionary with two spellings of one number as keys is refused`() throws {
        let error = #expect(throws: JSONError.self) {
            try Bar(jsonBytes: Array(#"{"tables":{"1":"a","01":"b"}}"#.utf8))
        }
        #expect(error?.pointer == "/tables/01")
        #expect(try Bar(jsonBytes: Array(#"{"tables":{"01":"b"}}"#.utf8)).tables == [1: "b"])
    }
}

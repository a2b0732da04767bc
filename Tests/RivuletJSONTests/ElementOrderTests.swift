// This file owns the tests of values with unordered elements: equal values have the same text, and repeated keys are
// refused.

import FoundationEssentials
import RivuletJSON
import SeededRandom
import Testing

struct ElementOrderTests {
    private enum Kind: String, Codable, CaseIterable { case tea, coffee, juice, milk, water }

    private enum Level: Int, Codable, CodingKeyRepresentable { case low = 1, high }

    private struct Pair: Codable, Hashable {
        var first: Int
        var tags: Set<String> = []
    }

    private struct Menu: Codable, Equatable {
        var kinds: Set<Kind> = []
        var prices: [Kind: Int]?
        var owners: [UUID: Set<Int>] = [:]
        var pairs: [[Pair: String]] = []
        var dates: Set<Date> = []
        var links: Set<URL> = []
        var amounts: Set<Decimal> = []
        var blobs: Set<Data> = []
        var named: [String: Set<Kind>] = [:]
        var numbered: [Int: Set<Kind>] = [:]
    }

    private final class Base64: Codable {
        var tags: Set<String> = ["a", "b", "c", "d"]
    }

    private func text(_ value: some Encodable) -> String {
        var writer = JSONWriter()
        CodableJSON.encode(value, into: &writer)
        #expect(!writer.hasUnrepresentableNumber)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws(JSONError) -> Value {
        var reader = JSONReader(Array(text.utf8))
        return try CodableJSON.decode(type, from: &reader)
    }

    @Test func `a set is written in the order of its elements' text`() {
        #expect(text(Set([10, 9, 1, -1])) == "[-1,1,10,9]")
        #expect(text(Set(["b", "a", "é", "B"])) == #"["B","a","b","é"]"#)
        #expect(text(Set(Kind.allCases)) == #"["coffee","juice","milk","tea","water"]"#)
        #expect(text(Set([Set([3, 1]), Set([2])])) == "[[1,3],[2]]")
        #expect(text(Optional(Set([2, 1]))) == "[1,2]")
        #expect(text([Set([2, 1]), []]) == "[[1,2],[]]")
        let pairs = Set([Pair(first: 2), Pair(first: 1, tags: ["y", "x"])])
        #expect(text(pairs) == #"[{"first":1,"tags":["x","y"]},{"first":2,"tags":[]}]"#)
        #expect(text(Base64()) == #"{"tags":["a","b","c","d"]}"#)
    }

    @Test func `a dictionary that is an array in JSON is written in the order of its keys' text`() {
        #expect(text([Kind.tea: 1, .coffee: 2, .juice: 3]) == #"["coffee",2,"juice",3,"tea",1]"#)
        let low = UUID(uuid: (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        let high = UUID(uuid: (0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        #expect(text([high: 1, low: 2]) == "[\"\(low.uuidString)\",2,\"\(high.uuidString)\",1]")
        #expect(text([2.5: "a", 1: "b"]) == #"[1,"b",2.5,"a"]"#)
    }

    @Test func `a dictionary that is an object in JSON stays one`() {
        #expect(text([10: Set([2, 1]), 9: []]) == #"{"10":[1,2],"9":[]}"#)
        #expect(text([Level.high: 1, .low: 2]) == #"{"1":2,"2":1}"#)
        #expect(text(["b": Set(["y", "x"]), "a": []]) == #"{"a":[],"b":["x","y"]}"#)
    }

    @Test func `equal values have the same text and read back, whatever the order of their insertions`() throws {
        var random = SeededGenerator(seed: 20)
        func menu(_ range: some Sequence<Int>) -> Menu {
            var menu = Menu(prices: [:])
            for number in range {
                menu.kinds.insert(Kind.allCases[number % 5])
                menu.prices?[Kind.allCases[number % 5]] = number % 5
                let id = UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))
                menu.owners[id] = Set((0..<9).shuffled(using: &random))
                menu.dates.insert(Date(timeIntervalSince1970: Double(number) / 4))
                if let url = URL(string: "https://example.com/\(number)") { menu.links.insert(url) }
                menu.amounts.insert(Decimal(number) / 8)
                menu.blobs.insert(Data([UInt8(number), 0xFB]))
                menu.named["\(number)"] = [.tea, .milk, .water]
                menu.numbered[number] = [.tea, .milk, .water]
            }
            menu.pairs = [[Pair(first: 1, tags: ["a", "b"]): "x", Pair(first: 2): "y", Pair(first: 3): "z"]]
            return menu
        }
        let first = menu(0..<20)
        for _ in 0..<10 {
            let second = menu((0..<20).shuffled(using: &random))
            #expect(second == first)
            #expect(text(second) == text(first))
        }
        #expect(try decode(Menu.self, text(first)) == first)
    }

    @Test func `a value without sets and dictionaries is written as Foundation writes it`() throws {
        struct Plain: Codable {
            var text = "a/b\u{1F600}\u{1}"
            var numbers = [0.1, 1e300, -0.0, 3]
            var float = Float(0.1)
            var big = UInt64.max
            var nothing: Int?
            var url = URL(string: "https://example.com/a?b")
            var amount = Decimal(string: "1.10")
            var data = Data([1, 2])
            var map = ["b": [1], "a": []]
            var range = 1..<3
            var nested: [[String: Bool]] = [["x": true], [:]]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(text(Plain()) == String(decoding: try encoder.encode(Plain()), as: UTF8.self))
    }

    @Test func `a set of 20,000 elements is written within the time limit`() throws {
        let numbers = Set(0..<20_000)
        let start = ContinuousClock.now
        let bytes = text(numbers).utf8.count
        #expect(bytes > 100_000)
        #expect(ContinuousClock.now - start < .seconds(20))
    }

    @Test(arguments: [
        (#"{"1":"a","01":"b"}"#, "/01"),
        (#"{"1":"a","+1":"b"}"#, "/+1"),
        (#"{"0":"a","-0":"b"}"#, "/-0"),
        (#"{"01":"a","001":"b"}"#, "/001"),
    ])
    func `two number keys with the same value are an error at one of them`(document: String, pointer: String) {
        let error = #expect(throws: JSONError.self) { _ = try decode([Int: String].self, document) }
        #expect(error?.kind == .mismatch)
        #expect(error?.pointer == pointer)
        #expect(error?.detail.contains("the same key") == true)
    }

    @Test func `number keys are compared in nested dictionaries too`() throws {
        struct Holder: Codable {
            var lists: [[Int: Int]]
            var maybe: [Level: Int]?
        }
        let outer = #expect(throws: JSONError.self) {
            _ = try decode(Holder.self, #"{"lists":[{},{"2":1,"02":2}]}"#)
        }
        #expect(outer?.pointer == "/lists/1/02")
        let inner = #expect(throws: JSONError.self) {
            _ = try decode(Holder.self, #"{"lists":[],"maybe":{"1":1,"01":2}}"#)
        }
        #expect(inner?.pointer == "/maybe/01")
        let deep = #expect(throws: JSONError.self) {
            _ = try decode([String: [Int: [Int: Int]]].self, #"{"a":{"1":{"1":1,"01":1}}}"#)
        }
        #expect(deep?.pointer == "/a/1/01")
        #expect(try decode([String: Int].self, #"{"1":1,"01":2}"#) == ["1": 1, "01": 2])
        #expect(try decode([Int: Int].self, #"{"01":2,"3":4}"#) == [1: 2, 3: 4])
    }

    @Test func `a key that occurs twice in an array is an error with the second pointer`() throws {
        let error = #expect(throws: JSONError.self) {
            _ = try decode([Kind: Int].self, #"["tea",1,"milk",2,"tea",3]"#)
        }
        #expect(error?.pointer == "/4")
        #expect(error?.detail.contains("twice") == true)
        #expect(try decode([Kind: Int].self, #"["tea",1,"milk",1]"#) == [.tea: 1, .milk: 1])
    }
}

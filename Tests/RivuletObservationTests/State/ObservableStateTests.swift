// This file owns the tests of a state as a value: initialisers, equality, JSON, Codable, paths and description.

import Foundation
import RivuletJSON
import RivuletObservation
import RivuletSchema
import Testing

@Suite
struct ObservableStateTests {
    @Test
    func `the memberwise initialiser still exists`() {
        let profile = Profile(id: "a", role: .admin, address: Address(city: "Ulm"), nickname: "x")
        #expect(profile.label == "a:0")
        #expect(profile.address.zip == 3000)
    }

    @Test
    func `an initialiser that assigns goes through the wrappers`() {
        let wrapped = Wrapped(share: 7)
        #expect(wrapped.share == 1)
        #expect(wrapped.percent == 100)
    }

    @Test
    func `a recorded write of an equal value changes neither equality nor hash`() {
        var first = Profile(id: "a")
        let second = first
        ChangeRecorder.record(&first) { $0.address.city += "" }.expectNothing()
        #expect(first == second)
        #expect(first.hashValue == second.hashValue)
        first.visit()
        #expect(first != second)
    }

    @Test
    func `JSON has the fields in order under their own names`() {
        let expected = """
            {"id":"a","role":"guest","visits":0,"address":{"city":"Bern","zip":3000},"default":false,"nickname":null}
            """
        #expect(Profile(id: "a").json == expected)
    }

    @Test
    func `absent keys have their defaults, also in nested states`() throws {
        let profile = try Profile(jsonBytes: [UInt8](#"{"address":{"zip":1},"id":"b","role":"admin"}"#.utf8))
        #expect(profile == Profile(id: "b", role: .admin, address: Address(zip: 1)))
    }

    @Test
    func `an absent key without a default is an error that names it`() {
        let error = #expect(throws: JSONError.self) { try Profile(jsonBytes: [UInt8]("{}".utf8)) }
        #expect(error?.kind == .missing)
        #expect(error?.detail.contains("\"id\"") == true)
    }

    @Test
    func `an unknown key is skipped or refused, by the reader's option`() throws {
        var reader = JSONReader([UInt8](#"{"city":"x","new":{"a":[1]}}"#.utf8))
        #expect(try Address(json: &reader).city == "x")
        reader = JSONReader([UInt8](#"{"city":"x","_$mark":1}"#.utf8))
        reader.unknownKeys = .reject
        let error = #expect(throws: JSONError.self) { try Address(json: &reader) }
        #expect(error?.kind == .unknownKey)
    }

    @Test
    func `a state and the types of its fields may be nested in one enum`() throws {
        let text = #"{"id":"all","filter":"open","other":"open","name":"ABCDE","title":"TITLE"}"#
        let json = #"{"filter":"open","name":"abcdefg","id":"all"}"#
        let state = try Feature.State(jsonBytes: [UInt8](json.utf8))
        #expect(state.json == text)
        #expect(Feature.State._$fields.map(\.name) == ["id", "filter", "other", "name", "title"])
        #expect(Feature.State.jsonSchema.document["properties"]?["filter"]?["default"] == "all")
        #expect(try Feature.Event(jsonBytes: [UInt8](#"{"setFilter":"open"}"#.utf8)) == .setFilter(.open))
        #expect(try Feature.Event(jsonBytes: [UInt8](#"{"rename":{"_0":"all"}}"#.utf8)) == .rename(.all, to: "5"))
        #expect(try Feature.Mode(jsonBytes: [UInt8](#"{"filtering":"open"}"#.utf8)) == .filtering(.open))
        let error = #expect(throws: JSONError.self) { try Feature.State(jsonBytes: [UInt8](#"{"id":"all"}"#.utf8)) }
        #expect(error?.kind == .missing)
    }

    @Test
    func `an error has the pointer of the wrong value`() {
        let bytes = [UInt8](#"{"id":"a","address":{"zip":"x"}}"#.utf8)
        let error = #expect(throws: JSONError.self) { try Profile(jsonBytes: bytes) }
        #expect(error?.pointer == "/address/zip")
    }

    @Test
    func `decoded values go through the wrappers, and values for omitted fields are ignored`() throws {
        let json = #"{"percent":900,"share":-3,"secrets":["x"],"address":{"zip":1},"alert":{"zip":2},"name":"abcdef"}"#
        let wrapped = try Wrapped(jsonBytes: [UInt8](json.utf8))
        #expect(wrapped.percent == 100)
        #expect(wrapped.share == 0)
        #expect(wrapped.secrets.isEmpty)
        #expect(wrapped.address == Address(zip: 1))
        #expect(wrapped.alert == Address(zip: 2))
        #expect(wrapped.name == "abc")
        #expect(!wrapped.json.contains("secrets"))
    }

    @Test
    func `Codable reads and writes the JSON form`() throws {
        var state = PublicState(value: 1.5, values: [1], plain: Plain(x: 2))
        state.passing = 3
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(state), as: UTF8.self)
        let expected = """
            {"boxed":{"x":1,"y":{"a":2,"b":1}},"many":[],"passing":3,"plain":{"x":2,"y":{"a":2,"b":1}},"value":1.5,"values":[1]}
            """
        #expect(text == expected)
        #expect(try JSONDecoder().decode(PublicState<Double>.self, from: Data(text.utf8)) == state)
        let clamped = try JSONDecoder().decode(CounterPersistent.self, from: Data(#"{"count":900}"#.utf8))
        #expect(clamped.count == 100)
        #expect(throws: (any Error).self) { try JSONDecoder().decode(Profile.self, from: Data("{}".utf8)) }
    }

    @Test(arguments: [
        (#"{"states":[{"zip":1}, {"city":5}]}"#, "/states/1/city", "5}]}"),
        (#"{"states":[],  "mode":{"editing":{"zip":[]}}}"#, "/mode/editing/zip", "[]}}}"),
        (#"{"states":[],"home":{"city":5}}"#, "/home/city", "5}}"),
        (#"{"states":[],"parts":[{"id":1},{"id":2}, {"id":1}]}"#, "/parts/2", #"{"id":1}]"#),
    ])
    func `an error in a state within a value that is only Codable has its pointer`(
        json: String,
        pointer: String,
        fault: String
    ) throws {
        struct Holder: Codable {
            var states: [Address]
            var mode: Mode?
            var home: Address?
            var parts: Keyed<Part>?

            // Keys with raw numbers are named by their string values in JSON.
            enum CodingKeys: Int, CodingKey {
                case states = 3
                case mode, home, parts
            }
        }
        var reader = JSONReader([UInt8](json.utf8))
        let error = #expect(throws: JSONError.self) { try CodableJSON.decode(Holder.self, from: &reader) }
        #expect(error?.pointer == pointer)
        let rest = json.utf8.dropFirst(error?.offset ?? 0)
        #expect(rest.starts(with: fault.utf8), "\(String(rest) ?? "")")
    }

    @Test
    func `transient fields are in clients' JSON only`() {
        var tree = Tree(name: "a", isOpen: true, children: [Tree(isOpen: true)])
        tree.shown = Tree(isOpen: true)
        #expect(tree.json.contains("isOpen"))
        #expect(!String(decoding: tree.jsonBytes(includesTransient: false), as: UTF8.self).contains("isOpen"))
    }

    @Test(arguments: [
        ("", #"{"name":"a","isOpen":false,"children":[],"shown":null,"ratio":null}"#), ("/name", "\"a\""),
        ("/shown", "null"), ("/ratio", "null"), ("/isOpen", "false"), ("/children", "[]"),
    ])
    func `a path leads to its value`(path: String, expected: String) throws {
        #expect(try value(of: Tree(name: "a"), at: path) == expected)
    }

    @Test(arguments: ["/x", "/name/x", "/shown/name", "/children/0", "/_name", "/_$mark"])
    func `a path to nothing has no value`(path: String) throws {
        #expect(try value(of: Tree(name: "a"), at: path) == nil)
    }

    @Test
    func `a path leads through arrays and wrappers, but not to omitted fields`() throws {
        var tree = Tree(children: [Tree(name: "b")])
        tree.shown = Tree(name: "c")
        #expect(try value(of: tree, at: "/children/0/name") == "\"b\"")
        #expect(try value(of: tree, at: "/shown/name") == "\"c\"")
        #expect(try value(of: Wrapped(), at: "/secrets") == nil)
        #expect(try value(of: PublicState(value: 1), at: "/plain/x") == nil)
        var writer = JSONWriter(includesTransient: false)
        #expect(!tree.encodeJSON(at: ["isOpen"], into: &writer))
    }

    @Test
    func `the fields describe themselves`() {
        let fields = Wrapped._$fields
        #expect(fields.map(\.name) == ["percent", "share", "secrets", "address", "alert", "name"])
        #expect(fields.map(\.wrapper) == ["Clamped", "Clamped", "OmitCoding", "Box", "PresentationState", "Shortened"])
        #expect(fields.map(\.config) == ["0...100", "0.0...1.0", nil, nil, nil, nil])
        #expect(fields.map(\.isOmitted) == [false, false, true, false, false, false])
        #expect(Tree._$fields.map(\.isTransient) == [false, true, false, false, false])
    }

    @Test
    func `the schema has bounds, options and recursion but no omitted field`() {
        let wrapped = Wrapped.jsonSchema.document
        #expect(wrapped["properties"]?["percent"]?["maximum"] == 100)
        #expect(wrapped["properties"]?["percent"]?["minimum"] == 0)
        #expect(wrapped["properties"]?["secrets"] == nil)
        #expect(wrapped["$defs"]?["Address"]?["properties"]?["zip"]?["type"] == "integer")
        #expect(Tree.jsonSchema.document["properties"]?["children"]?["items"]?["$ref"] == "#")
        #expect(Tree.jsonSchema.accepts(path: ["children", "3", "shown", "name"]))
        #expect(!Tree.jsonSchema.accepts(path: ["children", "x"]))
        #expect(PublicState<Int>.jsonSchema.accepts(path: ["plain", "anything"]))
    }

    private func value(of state: some ObservableState, at path: String) throws -> String? {
        var writer = JSONWriter()
        let pointer = try JSONPointer(parsing: path)
        guard state.encodeJSON(at: pointer.tokens[...], into: &writer) else {
            #expect(writer.bytes.isEmpty)
            return nil
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension Recording {
    /// Expects that nothing was recorded.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(self == Recording(), sourceLocation: sourceLocation)
    }
}

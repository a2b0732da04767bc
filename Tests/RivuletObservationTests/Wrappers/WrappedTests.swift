import RivuletJSON
import RivuletObservation
import RivuletSchema
import SeededRandom
import Testing

/// Compares the short form of a field in a wrapper with the long form, which ``ObservableStateWrapperTests`` checks.
@Suite struct WrappedTests {
    @Test(arguments: 0..<200 as Range<UInt64>)
    func `both forms have the same JSON, changes and coercions`(seed: UInt64) throws {
        var short = ShortForm(level: 9, tags: ["a"])
        var long = LongForm(level: 9, tags: ["a"])
        for run in 0..<20 as Range<UInt64> {
            var randoms = [SeededGenerator](repeating: SeededGenerator(seed: seed * 1_000 + run), count: 2)
            let recordings = [
                ChangeRecorder.record(&short) { $0.write(using: &randoms[0]) },
                ChangeRecorder.record(&long) { $0.write(using: &randoms[1]) },
            ]
            #expect(recordings[0] == recordings[1])
            #expect(short.json == long.json)
            #expect(short.note == long.note)
            #expect(try ShortForm(jsonBytes: long.jsonBytes()).json == short.json)
        }
    }

    @Test func `both forms read a document in the same way`() throws {
        let document = #"{"percent":900,"share":-3,"tens":19,"scaled":1,"level":0,"tags":["x"],"alert":{"zip":1}}"#
        let short = try ShortForm(jsonBytes: [UInt8](document.utf8))
        #expect(short.json == (try LongForm(jsonBytes: [UInt8](document.utf8))).json)
        #expect(short.json.contains(#""percent":100,"share":-0.5,"#))
        #expect(short.level == 1)
        #expect(short.tens == 10)
        #expect(throws: JSONError.self) { try ShortForm(jsonBytes: [UInt8]("{}".utf8)) }
    }

    @Test func `both forms have the same description`() {
        let short = ShortForm._$fields
        let long = LongForm._$fields
        #expect(short.map(\.name) == long.map(\.name))
        #expect(short.map(\.wrapper) == long.map(\.wrapper))
        #expect(short.map(\.wrapper).first == "Clamped")
        #expect(short.map(\.config) == long.map(\.config))
        #expect(short.map(\.schema.document) == long.map(\.schema.document))
        #expect(short.map(\.isRequiredToRead) == long.map(\.isRequiredToRead))
        #expect(short.map(\.isTransient) == long.map(\.isTransient))
        #expect(short.map(\.isOmitted) == long.map(\.isOmitted))
    }

    @Test func `a projected value reads and writes through the wrapper`() {
        var state = ShortForm(level: 1, tags: [])
        #expect(state.$scaled == 60)
        let recording = ChangeRecorder.record(&state) { state in
            state.$scaled = 80
            state.alert = Address()
            state.$alert.dismiss()
        }
        #expect(recording.changes.map(\.text) == ["/scaled=8"])
    }

    @Test func `a state presents a state of its own type`() {
        var menu = Menu(submenu: Menu(title: "a"))
        let recording = ChangeRecorder.record(&menu) { $0.submenu?.submenu = Menu(title: "b") }
        #expect(recording.changes.map(\.path) == ["/submenu/submenu"])
        #expect(menu.$submenu.isPresented)
    }
}

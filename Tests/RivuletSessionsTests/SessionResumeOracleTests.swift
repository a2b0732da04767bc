// Part of Rivulet. See README.md for the architecture.
// Checks with random programs that a reader who missed changes ends where the session stands.

import CounterFixture
import RivuletJSON
import RivuletObservation
import RivuletSessions
import Testing

@Suite struct SessionResumeOracleTests {
    /// A reader that makes every change it gets on a state of its own.
    private struct Reader {
        var state: TallyApp.State
        var cursor: String

        /// Takes what a stream begins with.
        mutating func take(_ joined: RecordingSink.Joined) throws {
            for event in joined.first {
                let data = try JSONValue(parsing: event.data)
                if let values = data["values"], case .object(let members) = values, let whole = members.first {
                    state = try TallyApp.State(jsonBytes: whole.value.jsonBytes())
                }
                if let changes = data["changes"] {
                    for change in try [StateChange](logJSON: changes.jsonBytes()) { try make(change) }
                }
            }
            cursor = "\(joined.cursor)"
        }

        private mutating func make(_ change: StateChange) throws {
            var reader = JSONReader(change.value ?? Array("null".utf8))
            let path = try JSONPointer(parsing: change.path).tokens
            try state._$apply(change.operation, at: path[...], index: change.index, json: &reader)
        }
    }

    @Test(arguments: 0..<12)
    func `a reader who missed changes ends where the session stands`(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let harness = try SessionHarness(limits: SessionLimits(tailChangesMax: seed % 3 == 0 ? 2 : 1_000))
        if seed % 2 == 0 { harness.storage.limitHistory(to: 2) }
        var reader = Reader(state: TallyApp().defaultState, cursor: "")
        try reader.take(try harness.subscribe(""))
        for step in 0..<60 {
            for _ in 0..<Int.random(in: 1...4, using: &generator) { try harness.dispatch(event(&generator)) }
            if Int.random(in: 0..<8, using: &generator) == 0 { harness.restart() }
            guard Int.random(in: 0..<3, using: &generator) > 0 else { continue }
            let joined = try harness.subscribe("", resume: reader.cursor)
            try reader.take(joined)
            let place: Comment = "seed \(seed), step \(step)"
            let expected = try harness.value("")
            #expect(String(decoding: reader.state.jsonBytes(), as: UTF8.self) == expected, place)
        }
    }

    private func event(_ generator: inout SeededGenerator) -> String {
        let id = ["a", "b", "c", "d", "é", "e\u{301}"].randomElement(using: &generator) ?? ""
        let position = Int.random(in: 0...4, using: &generator)
        let quiet = Int.random(in: 0..<4, using: &generator) == 0
        switch Int.random(in: 0..<14, using: &generator) {
        case 0...4: return #"{"\#(quiet ? "quietInsert" : "insert")":{"id":"\#(id)","at":\#(position)}}"#
        case 5...7: return #"{"\#(quiet ? "quietRetitle" : "retitle")":{"id":"\#(id)","title":"\#(position)"}}"#
        case 8...10: return #"{"\#(quiet ? "quietDrop" : "drop")":"\#(id)"}"#
        case 11: return #"{"open":"\#(id)"}"#
        case 12: return #"[{"drop":"\#(id)"},{"insert":{"id":"\#(id)","at":0}},{"add":1}]"#
        default: return quiet ? #"{"insert":{"id":"m","at":0}}"# : #"{"retitle":{"id":"m","title":"\#(position)"}}"#
        }
    }
}

/// SplitMix64: the same programs for the same seed, everywhere.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed &>> 31)
    }
}

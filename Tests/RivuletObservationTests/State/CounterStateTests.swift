// This file owns the tests of the counter example's states: the changes of each kind of write.

import RivuletJSON
import RivuletObservation
import Testing

@Suite
struct CounterStateTests {
    @Test
    func `the default state has the documented JSON`() {
        let expected = """
            {"p":{"count":0,"step":1,"title":"Counter","history":[],"limits":{"warnAt":80,"label":"near the top"}},\
            "t":{"lastEvent":null,"warning":null}}
            """
        #expect(CounterState().json == expected)
    }

    @Test
    func `a counted step changes count, history and the last event`() {
        let recording = record { state in
            state.p.count += state.p.step
            state.p.history.append(state.p.count)
            state.t.lastEvent = "increment"
        }
        let expected = ["/p/count=1", "/p/history=[1]", "/t/lastEvent=\"increment\" transient"]
        #expect(recording.changes.map(\.text) == expected)
        #expect(recording.coercions.isEmpty)
    }

    @Test
    func `a count beyond the range is clamped and reported as a coercion`() {
        let recording = record { $0.p.count = 250 }
        #expect(recording.changes.map(\.text) == ["/p/count=100"])
        #expect(recording.coercions.map(\.text) == ["/p/count: 250 -> 100"])
    }

    @Test
    func `a write of the omitted note is no change`() {
        let recording = record { $0.p.note = "secret" }
        #expect(recording == Recording(hasOmittedWrite: true))
    }

    @Test
    func `an edit inside of the limits has the path of the field`() {
        #expect(record { $0.p.limits.warnAt = 5 }.changes.map(\.text) == ["/p/limits/warnAt=5"])
    }

    @Test
    func `replaced limits are one change with the whole value`() {
        let recording = record { $0.p.limits = CounterLimits(warnAt: 1, label: "x") }
        #expect(recording.changes.map(\.text) == [#"/p/limits={"warnAt":1,"label":"x"}"#])
    }

    @Test
    func `limits replaced by equal ones change nothing`() {
        #expect(record { $0.p.limits = CounterLimits() }.changes.isEmpty)
    }

    @Test
    func `a warning is presented, edited and dismissed`() {
        var state = CounterState()
        let presented = ChangeRecorder.record(&state) { $0.t.warning = CounterWarning(text: "high") }
        let edited = ChangeRecorder.record(&state) { $0.t.warning?.text = "higher" }
        let dismissed = ChangeRecorder.record(&state) { $0.t.$warning.dismiss() }
        #expect(presented.changes.map(\.text) == [#"/t/warning={"text":"high"} transient"#])
        #expect(edited.changes.map(\.text) == [#"/t/warning/text="higher" transient"#])
        #expect(dismissed.changes.map(\.text) == ["/t/warning=null transient"])
    }

    @Test
    func `a reset reports each field of the halves that differs`() {
        var state = CounterState()
        state.p.count = 7
        state.p.limits.warnAt = 9
        state.t.lastEvent = "x"
        let recording = ChangeRecorder.record(&state) { $0 = CounterState() }
        let expected = [
            "/p/count=0", #"/p/limits={"warnAt":80,"label":"near the top"}"#, "/t/lastEvent=null transient",
        ]
        #expect(recording.changes.map(\.text) == expected)
    }

    @Test
    func `a replaced half reports each differing field below it`() {
        let recording = record { state in
            var half = CounterPersistent()
            half.title = "other"
            state.p = half
        }
        #expect(recording.changes.map(\.text) == [#"/p/title="other""#])
    }

    @Test
    func `a stored document has no transient half and no omitted field`() {
        var state = CounterState()
        state.p.note = "secret"
        let stored = String(decoding: state.jsonBytes(includesTransient: false), as: UTF8.self)
        #expect(!stored.contains("secret") && !stored.contains("note") && !stored.contains("\"t\""))
        #expect(stored.hasPrefix(#"{"p":{"count":0"#))
    }

    @Test
    func `an edited document on disk is clamped when it is read`() throws {
        let half = try CounterPersistent(jsonBytes: [UInt8](#"{"count":900,"step":0,"note":"x"}"#.utf8))
        #expect(half.count == 100)
        #expect(half.step == 1)
        #expect(half.note == nil)
    }

    private func record(_ body: (inout CounterState) -> Void) -> Recording {
        var state = CounterState()
        return ChangeRecorder.record(&state, body)
    }
}

extension JSONCodable {
    /// The value as JSON text.
    var json: String { String(decoding: jsonBytes(), as: UTF8.self) }
}

extension StateChange {
    /// The change in one line.
    var text: String {
        let value = value.map { String(decoding: $0, as: UTF8.self) } ?? "-"
        return "\(path)=\(value)\(isTransient ? " transient" : "")"
    }
}

extension Coercion {
    /// The coercion in one line.
    var text: String {
        "\(path): \(String(decoding: from, as: UTF8.self)) -> \(String(decoding: to, as: UTF8.self))"
    }
}

// This file owns the tests of wrappers that change values during their creation: from JSON, or by an initialiser.

import RivuletJSON
import RivuletObservation
import Testing

@Suite
struct CoercionTests {
    /// Every position of a new value, and the pointer to it.
    static let places: [(String, @Sendable (inout Panel, Gauge) -> Void)] = [
        ("/gauge", { $0.gauge = $1 }),
        ("/second", { $0.second = $1 }),
        ("/gauges/7", { $0.gauges.append($1) }),
        ("/gauges/7", { $0.gauges[id: $1.id] = $1 }),
        ("/gauges/7", { $0.gauges = Keyed(Array($0.gauges) + [$1]) }),
        ("/optional", { $0.optional = $1 }),
        ("/display/gauge", { $0.display = .gauge($1) }),
        ("/display/optional", { $0.display = .optional($1) }),
        ("/boxed", { $0.boxed = $1 }),
        ("/boxed", { $0.boxed.self = $1 }),
        ("/shown", { $0.shown = $1 }),
        ("/list/0", { $0.list.append($1) }),
        ("/table/a~1b/1", { $0.table["a/b"] = [nil, $1] }),
        ("/display/pair/_0", { $0.display = .pair($1, Dial()) }),
    ]

    private func coercions(
        records: CoercionRecords? = nil,
        in panel: Panel = Panel(),
        _ body: (inout Panel) -> Void
    ) -> [String] {
        var panel = panel
        return ChangeRecorder.record(&panel, records: records, body).coercions.map(\.text).sorted()
    }

    private func decode<Value: JSONCodable>(_ type: Value.Type, _ text: String) throws -> (Value, CoercionRecords?) {
        try CoercionLog.noting { try Value(jsonBytes: Array(text.utf8)) }
    }

    // MARK: - Initialisers

    @Test(arguments: places)
    func `a value that an initialiser was given is reported where it is put`(
        place: (path: String, put: @Sendable (inout Panel, Gauge) -> Void)
    ) {
        let found = coercions { place.put(&$0, Gauge(id: 7, level: 200, name: "abcd", dial: Dial(turn: 11))) }
        let expected = [
            "\(place.path)/dial/turn: 11 -> 10", "\(place.path)/level: 200 -> 100",
            #"\#(place.path)/name: "abcd" -> "abc""#,
        ]
        #expect(found == expected)
    }

    @Test
    func `the author's default is nobody's coercion`() {
        #expect(coercions { $0.gauges.append(.plain(1)) } == [])
        #expect(coercions { $0.gauge.dial = Dial() } == [])
    }

    @Test
    func `what an initialiser was given is told although the field had that value before`() {
        var panel = Panel()
        panel.gauges.append(Gauge(id: 1, level: 100, name: ""))
        let found = coercions(in: panel) { $0.gauges[id: 1] = Gauge(id: 1, level: 300, name: "") }
        #expect(found == ["/gauges/1/level: 300 -> 100"])
    }

    @Test
    func `an element that was there does not stand for a new one with its value`() {
        var panel = Panel()
        panel.gauges = [Gauge(id: 1, level: 100, name: ""), Gauge(id: 2, level: 100, name: "")]
        panel.list = [Gauge(id: 1, level: 100, name: "")]
        #expect(
            coercions(in: panel) { $0.gauges = Keyed([Gauge(id: 3, level: 300, name: "")] + Array($0.gauges)) }
                == ["/gauges/3/level: 300 -> 100"]
        )
        #expect(
            coercions(in: panel) { $0.list.append(Gauge(id: 3, level: 300, name: "")) }
                == ["/list/1/level: 300 -> 100"]
        )
        #expect(
            coercions(in: panel) { panel in
                panel.gauges[id: 1]?.level = 100
                panel.gauges[id: 2]?.dial.turn = 1
                panel.gauge = Gauge(id: 3, level: 300, name: "")
            } == ["/gauge/level: 300 -> 100"]
        )
    }

    @Test
    func `each note is used once, the oldest first`() {
        let found = coercions { panel in
            for (id, level) in [(1, 200), (2, 300), (3, 100)] {
                panel.gauges.append(Gauge(id: id, level: level, name: ""))
            }
        }
        #expect(found == ["/gauges/1/level: 200 -> 100", "/gauges/2/level: 300 -> 100"])
    }

    @Test
    func `a value that is thrown away is not reported`() {
        #expect(coercions { _ in _ = Gauge(id: 1, level: 200, name: "") } == [])
        #expect(
            coercions { panel in
                _ = Gauge(id: 1, level: 200, name: "")
                panel.gauge.level = 100
                panel.gauge.name = "x"
            } == []
        )
        _ = Gauge(id: 1, level: 200, name: "")
        #expect(coercions { $0.gauge = Gauge(id: 1, level: 100, name: "") } == [])
    }

    @Test
    func `a later write to a new value counts`() {
        let found = coercions { panel in
            panel.gauges.append(Gauge(id: 1, level: 200, name: ""))
            panel.gauges[id: 1]?.level = 5
            var gauge = Gauge(id: 2, level: 200, name: "")
            gauge.level = 300
            panel.gauges.append(gauge)
        }
        #expect(found == ["/gauges/2/level: 300 -> 100"])
    }

    @Test
    func `a generic state's initialiser is noted for its own type`() {
        let found = coercions { panel in
            panel.slot = Slot(limit: 1, value: -5)
            panel.text = Slot(limit: "", value: "x")
        }
        #expect(found == ["/slot/value: -5 -> 0"])
    }

    // MARK: - Documents

    private static let document =
        #"{"id":7,"level":200,"name":"abcd","dial":{"turn":11}}"#

    @Test(arguments: places)
    func `a value that was read before the run is reported where it is put`(
        place: (path: String, put: @Sendable (inout Panel, Gauge) -> Void)
    ) throws {
        let (gauge, records) = try decode(Gauge.self, Self.document)
        let found = coercions(records: records) { place.put(&$0, gauge) }
        let expected = [
            "\(place.path)/dial/turn: 11 -> 10", "\(place.path)/level: 200 -> 100",
            #"\#(place.path)/name: "abcd" -> "abc""#,
        ]
        #expect(found == expected)
    }

    @Test
    func `values that were read have notes of their own, down to nested ones`() throws {
        let text =
            #"[{"id":1,"name":"","dial":{"turn":99}},{"id":2,"name":"wxyz","dial":{"turn":98}},{"id":3,"name":""}]"#
        let (gauges, records) = try decode(Keyed<Gauge>.self, text)
        let found = coercions(records: records) { panel in
            panel.gauges = gauges
            panel.gauges[id: 3]?.dial.turn = 10
            panel.gauges[id: 2]?.level = 7
        }
        #expect(
            found == [
                "/gauges/1/dial/turn: 99 -> 10", "/gauges/2/dial/turn: 98 -> 10", #"/gauges/2/name: "wxyz" -> "wxy""#,
            ]
        )
    }

    @Test
    func `an edit of a value that was read keeps its other notes`() throws {
        let (gauge, records) = try decode(Gauge.self, Self.document)
        let found = coercions(records: records) { panel in
            var gauge = gauge
            gauge.level = 7
            gauge.dial = gauge.dial
            gauge.dial.self = gauge.dial
            panel.gauges.append(gauge)
            panel.gauges[id: 7]?.id = 8
        }
        #expect(found == ["/gauges/8/dial/turn: 11 -> 10", #"/gauges/8/name: "abcd" -> "abc""#])
    }

    @Test
    func `a later write that is taken as it is takes the note of a document back`() throws {
        let (gauge, records) = try decode(Gauge.self, Self.document)
        let found = coercions(records: records) { panel in
            panel.gauge = gauge
            panel.gauge.level = 100
            panel.gauge.name = "xyz"
            panel.gauge.dial.turn = 12
        }
        #expect(found == ["/gauge/dial/turn: 12 -> 10"])
    }

    @Test
    func `a document that is merged in a run is reported`() throws {
        let text =
            #"{"gauge":{"level":-1,"dial":{"turn":11}},"boxed":{"name":"abcd"},"gauges":[\#(Self.document)],"slot":{"value":-1}}"#
        var reader = JSONReader(Array(text.utf8))
        var panel = Panel()
        let recording = try ChangeRecorder.record(&panel) { try $0._$merge(json: &reader) }
        #expect(
            recording.coercions.map(\.text) == [
                "/gauge/level: -1 -> 0", "/gauge/dial/turn: 11 -> 10", "/gauges/7/level: 200 -> 100",
                #"/gauges/7/name: "abcd" -> "abc""#, "/gauges/7/dial/turn: 11 -> 10",
                #"/boxed/name: "abcd" -> "abc""#, "/slot/value: -1 -> 0",
            ]
        )
    }

    @Test
    func `a value that was read and never put into the state is not reported`() throws {
        let (_, records) = try decode(Gauge.self, Self.document)
        #expect(records != nil)
        #expect(
            coercions(records: records) { $0.gauge = Gauge(id: 7, level: 100, name: "abc", dial: Dial(turn: 10)) } == []
        )
    }

    @Test
    func `a document that a wrapper takes as it is leaves no notes, nor one that fails`() throws {
        #expect(try decode(Gauge.self, #"{"id":7,"level":20,"name":"a"}"#).1 == nil)
        #expect(throws: JSONError.self) { try decode(Gauge.self, #"{"level":200,"name":"abcd"}"#) }
        #expect(try decode(Gauge.self, #"{"id":7,"level":20,"name":"a"}"#).1 == nil)
        // No run is open here.
        let gauge = try Gauge(jsonBytes: Array(Self.document.utf8))
        #expect(coercions { $0.gauge = gauge } == [])
    }

    @Test
    func `notes are bounded`() {
        let found = coercions { panel in
            panel.dials = (0..<CoercionRecords.recordsMax + 5).map { _ in Dial(turn: 11) }
        }
        #expect(found.count == CoercionRecords.recordsMax)
    }

    // MARK: - Values without a place

    @Test
    func `an element of an array that is edited has its position in its path`() {
        var panel = Panel()
        panel.list = [.plain(1), .plain(2)]
        let found = coercions(in: panel) { panel in
            panel.list[1].level = 200
            panel.list[1].dial.turn += 5
            panel.list[0].dial.turn += 0
        }
        #expect(found == ["/list/1/dial/turn: 15 -> 10", "/list/1/level: 200 -> 100"])
    }

    @Test
    func `copies do not share what is written to one of them`() {
        var panel = Panel()
        panel.list = [.plain(1)]
        let earlier = ChangeRecorder.record(&panel) { $0.list[0].level = 200 }
        #expect(earlier.coercions.map(\.text) == ["/list/0/level: 200 -> 100"])
        panel.list.append(panel.list[0])
        panel.list[1].level = 7
        let found = coercions(in: panel) { panel in
            panel.list[0].level = 300
            panel.list.append(panel.list[0])
            panel.list[2].level = 7
            panel.list.append(panel.list[0])
            panel.list[3].name = "abcd"
        }
        #expect(
            found == ["/list/0/level: 300 -> 100", "/list/3/level: 300 -> 100", #"/list/3/name: "abcd" -> "abc""#]
        )
    }

    @Test
    func `a new root is looked through`() {
        let found = coercions { panel in
            var fresh = Panel()
            fresh.optional = Gauge(id: 1, level: 200, name: "")
            fresh.slot = Slot(limit: 1, value: -5)
            fresh.gauge.level = -1
            panel = fresh
        }
        #expect(found == ["/gauge/level: -1 -> 0", "/optional/level: 200 -> 100", "/slot/value: -5 -> 0"])
    }
}

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
    func `a coercion in an initialiser is reported at the path where the value is put`(
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
    func `the coercion of an author's default is not reported`() {
        #expect(coercions { $0.gauges.append(.plain(1)) } == [])
        #expect(coercions { $0.gauge.dial = Dial() } == [])
    }

    @Test
    func `a coercion in an initialiser is reported although the field's value stays the same`() {
        var panel = Panel()
        panel.gauges.append(Gauge(id: 1, level: 100, name: ""))
        let found = coercions(in: panel) { $0.gauges[id: 1] = Gauge(id: 1, level: 300, name: "") }
        #expect(found == ["/gauges/1/level: 300 -> 100"])
    }

    @Test
    func `a coercion is reported at the new element, not at an earlier element with an equal value`() {
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
    func `each record of a coercion is used once, the oldest first`() {
        let found = coercions { panel in
            for (id, level) in [(1, 200), (2, 300), (3, 100)] {
                panel.gauges.append(Gauge(id: id, level: level, name: ""))
            }
        }
        #expect(found == ["/gauges/1/level: 200 -> 100", "/gauges/2/level: 300 -> 100"])
    }

    @Test
    func `a coercion in a discarded value is not reported`() {
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
    func `a later write to a new value replaces its record`() {
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
    func `a coercion in a generic state's initialiser is recorded for its own type`() {
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
    func `a coercion in JSON that was read before the run is reported at the path where the value is put`(
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
    func `each value that was read from JSON has its own records, also for nested values`() throws {
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
    func `an edit of a value that was read from JSON keeps the records of its other fields`() throws {
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
    func `a later write that a wrapper does not change removes the record from the document`() throws {
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
    func `a coercion in a document that is merged in a run is reported`() throws {
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
    func `a coercion in a value that was read but not put into the state is not reported`() throws {
        let (_, records) = try decode(Gauge.self, Self.document)
        #expect(records != nil)
        #expect(
            coercions(records: records) { $0.gauge = Gauge(id: 7, level: 100, name: "abc", dial: Dial(turn: 10)) } == []
        )
    }

    @Test
    func `a document without coercions leaves no records, and neither does a document that fails`() throws {
        #expect(try decode(Gauge.self, #"{"id":7,"level":20,"name":"a"}"#).1 == nil)
        #expect(throws: JSONError.self) { try decode(Gauge.self, #"{"level":200,"name":"abcd"}"#) }
        #expect(try decode(Gauge.self, #"{"id":7,"level":20,"name":"a"}"#).1 == nil)
        // No run is open here.
        let gauge = try Gauge(jsonBytes: Array(Self.document.utf8))
        #expect(coercions { $0.gauge = gauge } == [])
    }

    @Test
    func `the number of records is limited`() {
        let found = coercions { panel in
            panel.dials = (0..<CoercionRecords.recordsMax + 5).map { _ in Dial(turn: 11) }
        }
        #expect(found.count == CoercionRecords.recordsMax)
    }

    // MARK: - Paths of coercions

    @Test
    func `a coercion in an edited element of an array has the element's index in its path`() {
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
    func `a write to one copy does not change the records of another copy`() {
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
    func `coercions in a replaced root are reported`() {
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

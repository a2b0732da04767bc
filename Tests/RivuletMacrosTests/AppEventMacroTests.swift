// This file owns the tests of @AppEvent: its expansion and its diagnostics.

import Testing

@Suite
struct AppEventMacroTests {
    @Test
    func `events of every form`() {
        expectExpansion(
            """
            @AppEvent
            public enum CounterEvent {
                case increment, `default`
                case setCount(Int)
                case setLimits(warnAt: Int, label: String = "x")
                case pair(Int, Int)
                @Sensitive case setNote(String?)
                @Internal case expire(Int)
            }
            """,
            to: #"""

                public enum CounterEvent {
                    case increment, `default`
                    case setCount(Int)
                    case setLimits(warnAt: Int, label: String = "x")
                    case pair(Int, Int)
                    @Sensitive case setNote(String?)
                    @Internal case expire(Int)

                    public static var eventCases: [RivuletObservation.EventCase] {
                        [
                            RivuletObservation.EventCase("increment"),
                            RivuletObservation.EventCase("default"),
                            RivuletObservation.EventCase("setCount", payload: [RivuletObservation.EventCase.Payload(nil, (Int).self)]),
                            RivuletObservation.EventCase("setLimits", payload: [RivuletObservation.EventCase.Payload("warnAt", (Int).self), RivuletObservation.EventCase.Payload("label", (String).self, hasDefault: true)]),
                            RivuletObservation.EventCase("pair", payload: [RivuletObservation.EventCase.Payload(nil, (Int).self), RivuletObservation.EventCase.Payload(nil, (Int).self)]),
                            RivuletObservation.EventCase("setNote", payload: [RivuletObservation.EventCase.Payload(nil, (String?).self)], isSensitive: true),
                            RivuletObservation.EventCase("expire", payload: [RivuletObservation.EventCase.Payload(nil, (Int).self)], isInternal: true),
                        ]
                    }

                    public init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        self = try RivuletObservation.Generated.CaseReader.read(Self.self, from: &reader) {
                            (name: Swift.String, payload: RivuletObservation.Generated.CaseReader) throws(RivuletJSON.JSONError) -> Self? in
                            switch name {
                            case "increment":
                                try payload.none()
                                return Self.increment
                            case "default":
                                try payload.none()
                                return Self.`default`
                            case "setCount":
                                return Self.setCount(try payload.single((Int).self))
                            case "setLimits":
                                let values = try payload.values(["warnAt", "label"])
                                return Self.setLimits(warnAt: try values.value("warnAt", (Int).self), label: try values.value("label", (String).self, default: "x"))
                            case "pair":
                                let values = try payload.values(["_0", "_1"])
                                return Self.pair(try values.value("_0", (Int).self), try values.value("_1", (Int).self))
                            case "setNote":
                                return Self.setNote(try payload.single((String?).self))
                            case "expire":
                                return Self.expire(try payload.single((Int).self))
                            default:
                                return nil
                            }
                        }
                    }
                }

                extension CounterEvent: AppEvent, EventCoding {
                    public var eventName: Swift.String {
                        switch self {
                        case .increment: "increment"
                        case .`default`: "default"
                        case .setCount: "setCount"
                        case .setLimits: "setLimits"
                        case .pair: "pair"
                        case .setNote: "setNote"
                        case .expire: "expire"
                        }
                    }

                    public var isSensitive: Swift.Bool {
                        switch self {
                        case .setNote: true
                        default: false
                        }
                    }

                    public var isInternal: Swift.Bool {
                        switch self {
                        case .expire: true
                        default: false
                        }
                    }

                    public func encodeJSON(into writer: inout RivuletJSON.JSONWriter) {
                        switch self {
                        case .increment:
                            writer.string("increment")
                        case .`default`:
                            writer.string("default")
                        case .setCount(let _0):
                            RivuletObservation.Generated.CaseWriter.single("setCount", _0, into: &writer)
                        case .setLimits(let _0, let _1):
                            RivuletObservation.Generated.CaseWriter.values("setLimits", into: &writer) {
                                $0.key("warnAt")
                                RivuletObservation.Generated.CaseWriter.write(_0, into: &$0)
                                $0.key("label")
                                RivuletObservation.Generated.CaseWriter.write(_1, into: &$0)
                            }
                        case .pair(let _0, let _1):
                            RivuletObservation.Generated.CaseWriter.values("pair", into: &writer) {
                                $0.key("_0")
                                RivuletObservation.Generated.CaseWriter.write(_0, into: &$0)
                                $0.key("_1")
                                RivuletObservation.Generated.CaseWriter.write(_1, into: &$0)
                            }
                        case .setNote(let _0):
                            RivuletObservation.Generated.CaseWriter.single("setNote", _0, into: &writer)
                        case .expire(let _0):
                            RivuletObservation.Generated.CaseWriter.single("expire", _0, into: &writer)
                        }
                    }
                }
                """#
        )
    }

    @Test(arguments: [
        ("struct A {}", "'@AppEvent' can only be applied to an enum: declare the events as its cases", "@AppEvent"),
        ("enum A {}", "'@AppEvent' needs at least one case: each case is an event", "@AppEvent"),
        (
            "enum A {\n#if DEBUG\ncase a\n#endif\n}",
            "'@AppEvent' cannot read a case inside of '#if': put the condition around the enum",
            "#if DEBUG\ncase a\n#endif"
        ),
        (
            "enum A {\n#if DEBUG\n@Sensitive\n#endif\ncase a\n}",
            "'@AppEvent' does not see an attribute within '#if': mark the case without a condition",
            "#if DEBUG\n@Sensitive\n#endif"
        ),
        (
            "enum A { case a(x: Int), a(y: Int) }",
            "'@AppEvent' distinguishes cases by name, and two cases are named 'a': rename one", "a"
        ),
    ])
    func `a type with cases that JSON cannot carry has one error`(source: String, message: String, node: String) {
        let faults = faults(in: "@AppEvent \(source)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == [node])
    }

    @Test(arguments: [
        "@Internal struct A {}", "struct A { @Internal var x = 1 }", "enum A { @Internal case a }",
        "@AppEvent enum A { case a\n@Internal static var x = 1 }", "@ObservableState enum A { @Internal case a }",
        "@AppEvent enum A { case a\nenum B { @Internal case b } }",
    ])
    func `an internal mark on anything but an event is an error`(source: String) {
        let faults = internalFaults(in: source)
        #expect(
            faults.map(\.message) == [
                "'@Internal' marks an event that only the app dispatches: put it on a case of an enum with '@AppEvent'"
            ]
        )
        #expect(faults.map(\.node) == ["@Internal"])
    }

    @Test func `an internal mark on an event is no error`() {
        #expect(internalFaults(in: "@AppEvent enum A { case a\n@Internal case b, c(Int) }").isEmpty)
        #expect(internalFaults(in: "@Rivulet.AppEvent public enum A { @Rivulet.Internal case a }").isEmpty)
    }
}

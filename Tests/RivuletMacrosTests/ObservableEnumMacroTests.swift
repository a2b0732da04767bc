// This file owns the tests of @ObservableState on enums: its expansion and its diagnostics.

import Testing

@Suite
struct ObservableEnumMacroTests {
    @Test
    func `cases of every form`() {
        expectExpansion(
            """
            @ObservableState
            public enum Mode {
                case idle, `default`
                case editing(Draft)
                @available(*, deprecated) case counting(Int), pair(Int, Int)
                case failed(code: Int, reason: String = "x")
                case screen(Screen)

                var screen: Int { 1 }
            }
            """,
            to: #"""
                public enum Mode {
                    case idle, `default`
                    case editing(Draft)
                    @available(*, deprecated) case counting(Int), pair(Int, Int)
                    case failed(code: Int, reason: String = "x")
                    case screen(Screen)

                    var screen: Int { 1 }

                    public var editing: (Draft)? {
                        get {
                            guard case .editing(let value) = self else {
                                return nil
                            }
                            return value
                        }
                        _modify {
                            var value = self.editing
                            if value != nil {
                                self = .idle
                            }
                            defer {
                                if let value {
                                    self = .editing(value)
                                }
                            }
                            yield &value
                        }
                    }

                    @available(*, deprecated)
                    public var counting: (Int)? {
                        get {
                            guard case .counting(let value) = self else {
                                return nil
                            }
                            return value
                        }
                        _modify {
                            var value = self.counting
                            if value != nil {
                                self = .idle
                            }
                            defer {
                                if let value {
                                    self = .counting(value)
                                }
                            }
                            yield &value
                        }
                    }

                    public static var _$cases: [RivuletObservation.EventCase] {
                        [
                            RivuletObservation.EventCase("idle"),
                            RivuletObservation.EventCase("default"),
                            RivuletObservation.EventCase("editing", payload: [RivuletObservation.EventCase.Payload(nil, (Draft).self)]),
                            RivuletObservation.EventCase("counting", payload: [RivuletObservation.EventCase.Payload(nil, (Int).self)]),
                            RivuletObservation.EventCase("pair", payload: [RivuletObservation.EventCase.Payload(nil, (Int).self), RivuletObservation.EventCase.Payload(nil, (Int).self)]),
                            RivuletObservation.EventCase("failed", payload: [RivuletObservation.EventCase.Payload("code", (Int).self), RivuletObservation.EventCase.Payload("reason", (String).self, hasDefault: true)]),
                            RivuletObservation.EventCase("screen", payload: [RivuletObservation.EventCase.Payload(nil, (Screen).self)]),
                        ]
                    }

                    public static var _$fields: [RivuletObservation.StateField] {
                        [
                            RivuletObservation.StateField("editing", payload: (Draft).self),
                            RivuletObservation.StateField("counting", payload: (Int).self),
                            RivuletObservation.StateField("screen", payload: (Screen).self),
                        ]
                    }

                    public init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        self = try RivuletObservation.Generated.CaseReader.read(Self.self, from: &reader) {
                            (name: Swift.String, payload: RivuletObservation.Generated.CaseReader) throws(RivuletJSON.JSONError) -> Self? in
                            switch name {
                            case "idle":
                                try payload.none()
                                return Self.idle
                            case "default":
                                try payload.none()
                                return Self.`default`
                            case "editing":
                                return Self.editing(try payload.single((Draft).self))
                            case "counting":
                                return Self.counting(try payload.single((Int).self))
                            case "pair":
                                let values = try payload.values(["_0", "_1"])
                                return Self.pair(try values.value("_0", (Int).self), try values.value("_1", (Int).self))
                            case "failed":
                                let values = try payload.values(["code", "reason"])
                                return Self.failed(code: try values.value("code", (Int).self), reason: try values.value("reason", (String).self, default: "x"))
                            case "screen":
                                return Self.screen(try payload.single((Screen).self))
                            default:
                                return nil
                            }
                        }
                    }
                }

                extension Mode: ObservableEnum, StateNode {
                    public static func _$collect(
                        from old: Self,
                        to new: Self,
                        serial: Swift.UInt64?,
                        into collector: inout RivuletObservation.Generated.ChangeCollector
                    ) -> Swift.Bool {
                        switch (old, new) {
                        case (.editing(let old), .editing(let new)):
                            collector.payload(0, "/editing", old, new, serial: serial)
                        case (.counting(let old), .counting(let new)):
                            collector.payload(1, "/counting", old, new, serial: serial)
                        case (.screen(let old), .screen(let new)):
                            collector.payload(2, "/screen", old, new, serial: serial)
                        case (_, .pair(let _0, let _1)):
                            collector.part("/pair/_0", _0) || collector.part("/pair/_1", _1)
                        case (_, .failed(let _0, let _1)):
                            collector.part("/failed/code", _0) || collector.part("/failed/reason", _1)
                        default:
                            false
                        }
                    }

                    public mutating func _$editPayload<Edit: RivuletObservation.Generated.PayloadEdit>(_ edit: inout Edit) throws(Edit.Failure) {
                        switch self {
                        case .editing(var value):
                            self = .idle
                            defer {
                                self = .editing(value)
                            }
                            try edit.payload(0, "editing", &value)
                        case .counting(var value):
                            self = .idle
                            defer {
                                self = .counting(value)
                            }
                            try edit.payload(1, "counting", &value)
                        case .screen(var value):
                            self = .idle
                            defer {
                                self = .screen(value)
                            }
                            try edit.payload(2, "screen", &value)
                        default:
                            break
                        }
                    }

                    public func encodeJSON(into writer: inout RivuletJSON.JSONWriter) {
                        switch self {
                        case .idle:
                            writer.string("idle")
                        case .`default`:
                            writer.string("default")
                        case .editing(let _0):
                            RivuletObservation.Generated.CaseWriter.single("editing", _0, into: &writer)
                        case .counting(let _0):
                            RivuletObservation.Generated.CaseWriter.single("counting", _0, into: &writer)
                        case .pair(let _0, let _1):
                            RivuletObservation.Generated.CaseWriter.values("pair", into: &writer) {
                                $0.key("_0")
                                RivuletObservation.Generated.CaseWriter.write(_0, into: &$0)
                                $0.key("_1")
                                RivuletObservation.Generated.CaseWriter.write(_1, into: &$0)
                            }
                        case .failed(let _0, let _1):
                            RivuletObservation.Generated.CaseWriter.values("failed", into: &writer) {
                                $0.key("code")
                                RivuletObservation.Generated.CaseWriter.write(_0, into: &$0)
                                $0.key("reason")
                                RivuletObservation.Generated.CaseWriter.write(_1, into: &$0)
                            }
                        case .screen(let _0):
                            RivuletObservation.Generated.CaseWriter.single("screen", _0, into: &writer)
                        }
                    }
                }
                """#
        )
    }

    @Test
    func `an enum with a single case has switches without a default`() {
        expectExpansion(
            """
            @ObservableState
            enum Only {
                case one(Draft)
            }
            """,
            to: #"""
                enum Only {
                    case one(Draft)

                    var one: (Draft)? {
                        get {
                            guard case .one(let value) = self else {
                                return nil
                            }
                            return value
                        }
                        _modify {
                            var value = self.one
                            defer {
                                if let value {
                                    self = .one(value)
                                }
                            }
                            yield &value
                        }
                    }

                    static var _$cases: [RivuletObservation.EventCase] {
                        [
                            RivuletObservation.EventCase("one", payload: [RivuletObservation.EventCase.Payload(nil, (Draft).self)]),
                        ]
                    }

                    static var _$fields: [RivuletObservation.StateField] {
                        [
                            RivuletObservation.StateField("one", payload: (Draft).self),
                        ]
                    }

                    init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        self = try RivuletObservation.Generated.CaseReader.read(Self.self, from: &reader) {
                            (name: Swift.String, payload: RivuletObservation.Generated.CaseReader) throws(RivuletJSON.JSONError) -> Self? in
                            switch name {
                            case "one":
                                return Self.one(try payload.single((Draft).self))
                            default:
                                return nil
                            }
                        }
                    }
                }

                extension Only: ObservableEnum, StateNode {
                    static func _$collect(
                        from old: Self,
                        to new: Self,
                        serial: Swift.UInt64?,
                        into collector: inout RivuletObservation.Generated.ChangeCollector
                    ) -> Swift.Bool {
                        switch (old, new) {
                        case (.one(let old), .one(let new)):
                            collector.payload(0, "/one", old, new, serial: serial)
                        }
                    }

                    mutating func _$editPayload<Edit: RivuletObservation.Generated.PayloadEdit>(_ edit: inout Edit) throws(Edit.Failure) {
                        switch self {
                        case .one(var value):
                            defer {
                                self = .one(value)
                            }
                            try edit.payload(0, "one", &value)
                        }
                    }

                    func encodeJSON(into writer: inout RivuletJSON.JSONWriter) {
                        switch self {
                        case .one(let _0):
                            RivuletObservation.Generated.CaseWriter.single("one", _0, into: &writer)
                        }
                    }
                }
                """#
        )
    }

    @Test(arguments: [
        ("enum A {}", "'@ObservableState' needs at least one case: without one there is no value", "@ObservableState"),
        (
            "enum A {\n#if DEBUG\ncase a\n#endif\n}",
            "'@ObservableState' cannot read a case inside of '#if': put the condition around the enum",
            "#if DEBUG\ncase a\n#endif"
        ),
        (
            "enum A { case a(x: Int), a(y: Int) }",
            "'@ObservableState' distinguishes cases by name, and two cases are named 'a': rename one", "a"
        ),
        (
            "enum A: String { case a }",
            """
            '@ObservableState' is for enums without raw values, and 'A' has raw values: conform it to \
            'JSONCodable' instead
            """, "@ObservableState"
        ),
        (
            "enum A: Raw { case a = 1 }",
            """
            '@ObservableState' is for enums without raw values, and 'A' has raw values: conform it to \
            'JSONCodable' instead
            """, "@ObservableState"
        ),
        (
            "enum A { @Transient case a(Int) }",
            "'@Transient' cannot be used on a case: put it on the field that holds the enum", "@Transient"
        ),
    ])
    func `an untrackable enum has one error, with the remedy`(source: String, message: String, node: String) {
        let faults = faults(in: "@ObservableState \(source)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == [node])
    }

    @Test
    func `64 cases with one value are tracked and one more is refused`() {
        func source(_ count: Int) -> String {
            "@ObservableState enum A { case none\n\((0..<count).map { "case c\($0)(Int)" }.joined(separator: "\n"))\n}"
        }
        #expect(faults(in: source(64)).isEmpty)
        let message = "'@ObservableState' tracks at most 64 cases with a single value and this enum has 65: nest some"
        #expect(faults(in: source(65)).map(\.message) == [message])
    }

    @Test(arguments: [
        ("enum A { case a(Int); func a() {} }", false), ("enum A { case a(Int); static var a: Int { 1 } }", false),
        ("enum A { case a(Int)\n#if DEBUG\nvar a: Int { 1 }\n#endif\n}", false),
        ("enum A { case a(Int); var b: Int { 1 } }", true), ("enum A { case a(x: Int) }", false),
    ])
    func `a case with one unlabelled value has a variable unless there is a member of its name`(
        source: String,
        isGenerated: Bool
    ) {
        #expect(expansion(of: "@ObservableState \(source)").contains("var a: (Int)?") == isGenerated)
    }
}

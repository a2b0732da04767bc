// This file owns the tests of @ObservableState: its expansion and its diagnostics.

import Testing

@Suite
struct ObservableStateMacroTests {
    @Test
    func `a state of defaulted fields`() {
        expectExpansion(
            """
            @ObservableState
            struct S {
                var count = 0
                @Transient var child: Child?
                let constant = 1
                static var shared = 2
                var double: Int { count * 2 }
                @ObservationStateIgnored var cache = 3
                @ObservableStateWrapper(Clamped<Int>.self, config: 0...9)
                @ObservationStateIgnored
                var level: Int = 5
            }
            """,
            to: #"""

                struct S {
                    @ObservationStateTracked
                    var count = 0
                    @Transient
                    @ObservationStateTracked var child: Child?
                    let constant = 1
                    static var shared = 2
                    var double: Int { count * 2 }
                    @ObservationStateIgnored var cache = 3
                    @ObservableStateWrapper(Clamped<Int>.self, config: 0...9)
                    @ObservationStateIgnored
                    var level: Int = 5

                    var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar()

                    private enum _$Index {
                        static var count: Swift.Int { 0 }
                        static var child: Swift.Int { 1 }
                        static var level: Swift.Int { 2 }
                    }

                    static var _$fields: [RivuletObservation.StateField] {
                        [
                            RivuletObservation.StateField("count", \Self._count, hasDefault: true),
                            RivuletObservation.StateField("child", \Self._child, hasDefault: true, isTransient: true),
                            RivuletObservation.StateField("level", wrapper: \Self._level, named: "Clamped", config: 0...9, text: "0...9", hasDefault: true),
                        ]
                    }

                    static func _$position(of name: Swift.String) -> Swift.Int? {
                        RivuletObservation.StateField.position(of: name, in: "count\nchild\nlevel")
                    }

                    mutating func _$edit(
                        _ position: Swift.Int,
                        _ edit: RivuletObservation.Generated.StateEdit,
                        json reader: inout RivuletJSON.JSONReader
                    ) throws(RivuletJSON.JSONError) {
                        switch position {
                        case 0: try self._$observationRegistrar.edit(0, &self._count, edit, json: &reader)
                        case 1: try self._$observationRegistrar.edit(1, &self._child, edit, json: &reader)
                        case 2: try self._$observationRegistrar.edit(2, wrapper: &self._level, config: 0...9, edit, json: &reader)
                        default: break
                        }
                    }

                    private var _count = 0
                    private var _child: Child?
                }

                extension S: ObservableState, StateNode {
                    @inline(never)
                    static func _$collect(
                        from old: Self,
                        to new: Self,
                        into collector: inout RivuletObservation.Generated.ChangeCollector
                    ) {
                        if collector.visits(0) { collector.field(0, "/count", old._count, new._count) }
                        if collector.visits(1) { collector.field(1, "/child", old._child, new._child, isTransient: true) }
                        if collector.visits(2) { collector.field(2, "/level", wrapper: old._level, new._level) }
                    }

                    @inline(never)
                    mutating func _$settle() {
                        guard self._$observationRegistrar.beginSettling() else { return }
                        self._$observationRegistrar.settle(0, &self._count)
                        self._$observationRegistrar.settle(1, &self._child)
                        self._$observationRegistrar.settle(2, wrapper: &self._level)
                        self._$observationRegistrar.endSettling()
                    }

                    init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        try self._$merge(json: &reader)
                    }

                    @inline(never)
                    func _$encode(_ fields: inout RivuletObservation.Generated.FieldSelection, into writer: inout RivuletJSON.JSONWriter) {
                        fields.write(0, "count", self._count, into: &writer)
                        if writer.includesTransient { fields.write(1, "child", self._child, into: &writer) }
                        fields.write(2, "level", wrapper: self._level, into: &writer)
                    }
                }
                """#,
            only: ["ObservableState"]
        )
    }

    @Test
    func `a public state with a required field`() {
        expectExpansion(
            """
            @ObservableState
            public struct S {
                public var id: String
                public var title = "x"
                @ObservableStateWrapper(Box<Big>.self)
                @ObservationStateIgnored
                public var `default`: Big
            }
            """,
            to: #"""

                public struct S {
                    @ObservationStateTracked
                    public var id: String
                    @ObservationStateTracked
                    public var title = "x"
                    @ObservableStateWrapper(Box<Big>.self)
                    @ObservationStateIgnored
                    public var `default`: Big

                    public var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar()

                    private enum _$Index {
                        static var id: Swift.Int { 0 }
                        static var title: Swift.Int { 1 }
                        static var `default`: Swift.Int { 2 }
                    }

                    public static var _$fields: [RivuletObservation.StateField] {
                        [
                            RivuletObservation.StateField("id", \Self._id),
                            RivuletObservation.StateField("title", \Self._title, hasDefault: true),
                            RivuletObservation.StateField("default", wrapper: \Self._default, named: "Box", config: (), text: nil),
                        ]
                    }

                    public static func _$position(of name: Swift.String) -> Swift.Int? {
                        RivuletObservation.StateField.position(of: name, in: "id\ntitle\ndefault")
                    }

                    public static func _$encodeDefault(of position: Swift.Int, into writer: inout RivuletJSON.JSONWriter) -> Swift.Bool {
                        switch position {
                        case 1:
                            let value = "x"
                            return RivuletObservation.Generated.StateCoding.write(value, at: [], into: &writer)
                        default: return false
                        }
                    }

                    public mutating func _$edit(
                        _ position: Swift.Int,
                        _ edit: RivuletObservation.Generated.StateEdit,
                        json reader: inout RivuletJSON.JSONReader
                    ) throws(RivuletJSON.JSONError) {
                        switch position {
                        case 0: try self._$observationRegistrar.edit(0, &self._id, edit, json: &reader)
                        case 1: try self._$observationRegistrar.edit(1, &self._title, edit, json: &reader)
                        case 2: try self._$observationRegistrar.edit(2, wrapper: &self._default, config: (), edit, json: &reader)
                        default: break
                        }
                    }

                    private static func _$wrap_default(
                        _ value: Big,
                        _ registrar: inout RivuletObservation.ObservationStateRegistrar
                    ) -> Box<Big> {
                        registrar.decoded(_$Index.`default`, Box<Big>.makeWrapper(from: value), from: value)
                    }

                    private var _id: String
                    private var _title = "x"
                }

                extension S: ObservableState, StateNode {
                    @inline(never)
                    public static func _$collect(
                        from old: Self,
                        to new: Self,
                        into collector: inout RivuletObservation.Generated.ChangeCollector
                    ) {
                        if collector.visits(0) { collector.field(0, "/id", old._id, new._id) }
                        if collector.visits(1) { collector.field(1, "/title", old._title, new._title) }
                        if collector.visits(2) { collector.field(2, "/default", wrapper: old._default, new._default) }
                    }

                    @inline(never)
                    public mutating func _$settle() {
                        guard self._$observationRegistrar.beginSettling() else { return }
                        self._$observationRegistrar.settle(0, &self._id)
                        self._$observationRegistrar.settle(1, &self._title)
                        self._$observationRegistrar.settle(2, wrapper: &self._default)
                        self._$observationRegistrar.endSettling()
                    }

                    public init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        var _$id = RivuletObservation.Generated.StateCoding.absent({ (state: Self) in state._id })
                        var _$default = RivuletObservation.Generated.StateCoding.absent(wrapper: { (state: Self) in state._default })
                        let others = try RivuletObservation.Generated.StateCoding.members(of: &reader) {
                            (name: Swift.String, reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) -> Swift.Bool in
                            switch name {
                            case "id":
                                try RivuletObservation.Generated.StateCoding.read(into: &_$id, from: &reader)
                                return true
                            case "default":
                                try RivuletObservation.Generated.StateCoding.read(into: &_$default, wrapper: { (state: Self) in state._default }, from: &reader)
                                return true
                            default:
                                return false
                            }
                        }
                        self._id = try RivuletObservation.Generated.StateCoding.require(_$id, "id", in: reader)
                        self._default = try Self._$wrap_default(RivuletObservation.Generated.StateCoding.require(_$default, "default", in: reader), &self._$observationRegistrar)
                        try self._$merge(others)
                    }

                    @inline(never)
                    public func _$encode(_ fields: inout RivuletObservation.Generated.FieldSelection, into writer: inout RivuletJSON.JSONWriter) {
                        fields.write(0, "id", self._id, into: &writer)
                        fields.write(1, "title", self._title, into: &writer)
                        fields.write(2, "default", wrapper: self._default, into: &writer)
                    }
                }
                """#,
            only: ["ObservableState"]
        )
    }

    @Test(arguments: ["\n    ", "\n\t\t", "\r\n"])
    func `a configuration over several lines is described in one line`(end: String) {
        let text = expansion(
            of: """
                @ObservableState
                struct S {
                    @ObservableStateWrapper(Clamped<Int>.self, config: min(\(end)1,\(end)2)...9) @ObservationStateIgnored
                    var a: Int = 1
                }
                """
        )
        let described = text.firstRange(of: "text: \"min(").map { text[$0.upperBound...].prefix { $0 != "\"" } }
        #expect(described?.split(separator: " ").joined(separator: " ") == "1, 2)...9")
        #expect(described?.contains { $0.isNewline || $0 == "\t" } == false)
    }

    @Test
    func `a tracked field`() {
        expectExpansion(
            """
            struct S {
                @ObservationStateTracked var `default`: [Int] = []
            }
            """,
            to: """
                struct S {
                    var `default`: [Int] {
                        @storageRestrictions(initializes: _default)
                        init(initialValue) {
                            _default = initialValue
                        }
                        get {
                            _$observationRegistrar.read(_$Index.`default`, _default)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.`default`, &_default, to: newValue)
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.`default`, &_default)
                            defer {
                                _$observationRegistrar.end(_$Index.`default`, &_default, wasAbsent: wasAbsent)
                            }
                            yield &_default
                        }
                    }
                }
                """
        )
    }

    @Test
    func `a state with a constant only has no fields`() {
        expectExpansion(
            """
            @ObservableState
            package struct Empty {
                let constant = 1
            }
            """,
            to: #"""

                package struct Empty {
                    let constant = 1

                    package var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar()

                    private enum _$Index {
                    }

                    package static var _$fields: [RivuletObservation.StateField] {
                        [
                        ]
                    }

                    package static func _$position(of name: Swift.String) -> Swift.Int? {
                        RivuletObservation.StateField.position(of: name, in: "")
                    }

                    package mutating func _$edit(
                        _ position: Swift.Int,
                        _ edit: RivuletObservation.Generated.StateEdit,
                        json reader: inout RivuletJSON.JSONReader
                    ) throws(RivuletJSON.JSONError) {
                    }
                }

                extension Empty: ObservableState, StateNode {
                    @inline(never)
                    package static func _$collect(
                        from old: Self,
                        to new: Self,
                        into collector: inout RivuletObservation.Generated.ChangeCollector
                    ) {
                    }

                    @inline(never)
                    package mutating func _$settle() {
                        guard self._$observationRegistrar.beginSettling() else { return }
                        self._$observationRegistrar.endSettling()
                    }

                    package init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {
                        try self._$merge(json: &reader)
                    }

                    @inline(never)
                    package func _$encode(_ fields: inout RivuletObservation.Generated.FieldSelection, into writer: inout RivuletJSON.JSONWriter) {
                    }
                }
                """#
        )
    }

    @Test(arguments: [
        ("fileprivate struct Outer { @ObservableState struct A { var a = 1 } }", "fileprivate static var _$fields"),
        ("public extension Outer { @ObservableState struct A { var a = 1 } }", "public static var _$fields"),
        ("public struct Outer { @ObservableState struct A { var a = 1 } }", "    static var _$fields"),
        ("@ObservableState fileprivate struct A { var a = 1 }", "    static var _$fields"),
        ("@ObservableState package struct A { var a = 1 }", "package static var _$fields"),
    ])
    func `generated members are as visible as the type`(source: String, expected: String) {
        #expect(expansion(of: source).contains(expected))
    }

    @Test
    func `the compiler numbers fields in #if, and their generated code is in the same #if`() {
        let text = expansion(
            of: """
                @ObservableState
                struct S {
                    var a = 1
                    #if DEBUG
                    var b = 2
                    #elseif os(Linux) && !TEST
                    var b = "2"
                    #else
                    #endif
                    #if TEST
                    func f() {}
                    #endif
                }
                """
        )
        .split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
        #expect(
            text.contains("case a\n#if DEBUG\ncase b\n#elseif os(Linux) && !TEST\ncase b\n#else\n#endif\ncase _$end")
        )
        #expect(text.contains("static var a: Swift.Int { _$Position.a.rawValue }"))
        let table = """
            fields.append(RivuletObservation.StateField("a", \\Self._a, hasDefault: true))
            #if DEBUG
            fields.append(RivuletObservation.StateField("b", \\Self._b, hasDefault: true))
            #elseif os(Linux) && !TEST
            fields.append(RivuletObservation.StateField("b", \\Self._b, hasDefault: true))
            #else
            #endif
            """
        #expect(text.contains(table))
        #expect(text.contains("collector.field(Self._$Index.b, \"/b\", old._b, new._b)"))
        #expect(text.split(separator: "#if TEST").count == 2)
    }
}

// This file owns the tests of @ObservableStateWrapper: its expansion and its ten diagnostics.

import SwiftDiagnostics
import Testing

@Suite
struct ObservableStateWrapperMacroTests {
    @Test
    func `A-03, A-08, A-15: accessors over private storage are in order, and the attribute is removed`() {
        expectExpansion(
            """
            struct S {
                @ObservableStateWrapper(Clamped<Int>.self, config: 0 ... 100)
                @ObservationStateIgnored
                public var percent: Int = 150
            }
            """,
            to: """
                struct S {
                    @ObservationStateIgnored
                    public var percent: Int {
                        @storageRestrictions(initializes: _percent)
                        init(initialValue) {
                            _percent = RivuletObservation.ObservationStateRegistrar.initialized(Self.self, _$Index.percent, Clamped<Int>.makeWrapper(from: initialValue, config: 0 ... 100), from: initialValue, default: 150)
                        }
                        get {
                            _$observationRegistrar.read(_$Index.percent, wrapper: _percent)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.percent, wrapper: &_percent, from: newValue, config: 0 ... 100)
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.percent, wrapper: &_percent)
                            defer {
                                _$observationRegistrar.end(_$Index.percent, wrapper: &_percent, config: 0 ... 100, wasAbsent: wasAbsent)
                            }
                            yield &_percent.wrappedValue
                        }
                    }

                    @ObservationStateIgnored
                    private var _percent: Clamped<Int> = Clamped<Int>.makeWrapper(from: 150, config: 0 ... 100)
                }
                """,
            only: ["ObservableStateWrapper"]
        )
    }

    @Test
    func `A-09, A-10, A-16: the storage precedes the projected value, and attributes may be qualified`() {
        expectExpansion(
            """
            struct S {
                @ObservableStateWrapper(PresentationState<Alert>.self, projected: true)
                @M.ObservationStateIgnored
                var alert: Alert?
            }
            """,
            to: """
                struct S {
                    @M.ObservationStateIgnored
                    var alert: Alert? {
                        @storageRestrictions(initializes: _alert)
                        init(initialValue) {
                            _alert = RivuletObservation.ObservationStateRegistrar.initialized(Self.self, _$Index.alert, PresentationState<Alert>.makeWrapper(from: initialValue), from: initialValue, default: nil)
                        }
                        get {
                            _$observationRegistrar.read(_$Index.alert, wrapper: _alert)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.alert, wrapper: &_alert, from: newValue, config: ())
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.alert, wrapper: &_alert)
                            defer {
                                _$observationRegistrar.end(_$Index.alert, wrapper: &_alert, config: (), wasAbsent: wasAbsent)
                            }
                            yield &_alert.wrappedValue
                        }
                    }

                    @ObservationStateIgnored
                    private var _alert: PresentationState<Alert> = PresentationState<Alert>.makeWrapper(from: nil)

                    var $alert: PresentationState<Alert>.ProjectedValue {
                        get {
                            _$observationRegistrar.recordRead(_$Index.alert, PresentationState<Alert>.self)
                            return _alert.projectedValue
                        }
                        set {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.alert, wrapper: &_alert)
                            defer {
                                _$observationRegistrar.end(_$Index.alert, wrapper: &_alert, config: (), wasAbsent: wasAbsent)
                            }
                            _alert.projectedValue = newValue
                        }
                    }
                }
                """,
            only: ["ObservableStateWrapper"]
        )
    }

    @Test
    func `A-02, A-11, A-12, A-13: only T? and T! start as nil, and only a literal true adds a projected value`() {
        expectExpansion(
            """
            struct S {
                @ObservableStateWrapper(Box<String?>.self)
                @ObservationStateIgnored
                var note: String!
                @ObservableStateWrapper(Box<Contacts.State>.self, "ignored")
                @ObservationStateIgnored
                var contacts: Contacts.State
                @ObservableStateWrapper(Box<Int>.self, projected: isProjected)
                @ObservationStateIgnored
                var number: Optional<Int>
            }
            """,
            to: """
                struct S {
                    @ObservationStateIgnored
                    var note: String! {
                        @storageRestrictions(initializes: _note)
                        init(initialValue) {
                            _note = RivuletObservation.ObservationStateRegistrar.initialized(Self.self, _$Index.note, Box<String?>.makeWrapper(from: initialValue), from: initialValue, default: nil)
                        }
                        get {
                            _$observationRegistrar.read(_$Index.note, wrapper: _note)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.note, wrapper: &_note, from: newValue, config: ())
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.note, wrapper: &_note)
                            defer {
                                _$observationRegistrar.end(_$Index.note, wrapper: &_note, config: (), wasAbsent: wasAbsent)
                            }
                            yield &_note.wrappedValue
                        }
                    }

                    @ObservationStateIgnored
                    private var _note: Box<String?> = Box<String?>.makeWrapper(from: nil)
                    @ObservationStateIgnored
                    var contacts: Contacts.State {
                        @storageRestrictions(initializes: _contacts)
                        init(initialValue) {
                            _contacts = RivuletObservation.ObservationStateRegistrar.initialized(Self.self, _$Index.contacts, Box<Contacts.State>.makeWrapper(from: initialValue), from: initialValue)
                        }
                        get {
                            _$observationRegistrar.read(_$Index.contacts, wrapper: _contacts)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.contacts, wrapper: &_contacts, from: newValue, config: ())
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.contacts, wrapper: &_contacts)
                            defer {
                                _$observationRegistrar.end(_$Index.contacts, wrapper: &_contacts, config: (), wasAbsent: wasAbsent)
                            }
                            yield &_contacts.wrappedValue
                        }
                    }

                    @ObservationStateIgnored
                    private var _contacts: Box<Contacts.State>
                    @ObservationStateIgnored
                    var number: Optional<Int> {
                        @storageRestrictions(initializes: _number)
                        init(initialValue) {
                            _number = RivuletObservation.ObservationStateRegistrar.initialized(Self.self, _$Index.number, Box<Int>.makeWrapper(from: initialValue), from: initialValue)
                        }
                        get {
                            _$observationRegistrar.read(_$Index.number, wrapper: _number)
                        }
                        set {
                            _$observationRegistrar.set(_$Index.number, wrapper: &_number, from: newValue, config: ())
                        }
                        _modify {
                            let wasAbsent = _$observationRegistrar.begin(_$Index.number, wrapper: &_number)
                            defer {
                                _$observationRegistrar.end(_$Index.number, wrapper: &_number, config: (), wasAbsent: wasAbsent)
                            }
                            yield &_number.wrappedValue
                        }
                    }

                    @ObservationStateIgnored
                    private var _number: Box<Int>
                }
                """,
            only: ["ObservableStateWrapper"]
        )
    }

    @Test(arguments: [
        (
            "invalidDeclarationPlacement", "@ObservableStateWrapper can only be attached to stored properties",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored static var x: Int = 1",
            "@ObservableStateWrapper(W.self)"
        ),
        (
            "requiresVar", "@ObservableStateWrapper requires a 'var' declaration",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored let x: Int = 1", "let"
        ),
        (
            "existingAccessorsNotSupported",
            "@ObservableStateWrapper cannot be applied to properties that already declare accessors",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: Int { 1 }", "{ 1 }"
        ),
        (
            "existingAccessorsNotSupported",
            "@ObservableStateWrapper cannot be applied to properties that already declare accessors",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: Int = 1 { didSet {} }", "{ didSet {} }"
        ),
        (
            "requiresExplicitType", "@ObservableStateWrapper requires an explicit type annotation",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x = 1", "x"
        ),
        (
            "unsupportedPattern", "@ObservableStateWrapper only supports simple identifier bindings",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var (a, b): (Int, Int) = (1, 2)", "(a, b)"
        ),
        (
            "missingWrapperArgument",
            "@ObservableStateWrapper requires a wrapper type argument (first positional parameter)",
            "@ObservableStateWrapper(config: 1) @ObservationStateIgnored var x: Int",
            "@ObservableStateWrapper(config: 1)"
        ),
        (
            "missingWrapperArgument",
            "@ObservableStateWrapper requires a wrapper type argument (first positional parameter)",
            "@ObservableStateWrapper @ObservationStateIgnored var x: Int", "@ObservableStateWrapper"
        ),
        (
            "invalidWrapperExpression", "The wrapper type argument must be a type reference followed by '.self'",
            "@ObservableStateWrapper(W<Int>()) @ObservationStateIgnored var x: Int", "W<Int>()"
        ),
        (
            "missingObservationStateIgnored",
            "Add @ObservationStateIgnored to this property to avoid duplicate accessors from @ObservableState.",
            "@ObservableStateWrapper(W.self) var x: Int", "@ObservableStateWrapper(W.self)"
        ),
        (
            "incorrectAttributeOrder",
            """
            Place @ObservationStateIgnored after this macro. \
            Correct: @ObservableStateWrapper(...) @ObservationStateIgnored var name: Type
            """,
            "@M.ObservationStateIgnored @ObservableStateWrapper(W.self) var x: Int", "@M.ObservationStateIgnored"
        ),
    ])
    func `a declaration that cannot be wrapped has one error`(
        id: String,
        message: String,
        member: String,
        node: String
    ) {
        let faults = faults(in: "struct S {\n    \(member)\n}")
        let messageID = MessageID(domain: "ObservableStateWrapper", id: id)
        #expect(faults == [ReportedFault(id: messageID, message: message, node: node)])
    }

    @Test(arguments: [
        (
            "unsupportedMultiBinding", "@ObservableStateWrapper does not support comma-separated property bindings",
            "@ObservableStateWrapper var a: Int, b: Int"
        ),
        (
            "invalidDeclarationPlacement", "@ObservableStateWrapper can only be attached to stored properties",
            "@ObservableStateWrapper func f() {}"
        ),
    ])
    func `a declaration that is no single property has that error first`(id: String, message: String, source: String) {
        let messageID = MessageID(domain: "ObservableStateWrapper", id: id)
        let fault = ReportedFault(id: messageID, message: message, node: "@ObservableStateWrapper")
        #expect(wrapperFaults(in: source) == [fault])
    }

    @Test(arguments: [
        (
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored let x: Int = 1", "Replace 'let' with 'var'",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: Int = 1"
        ),
        (
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x = \"a\"", "Add the type",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: String = \"a\""
        ),
        (
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x = f()", "Add the type",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: <#Type#> = f()"
        ),
        (
            "@ObservableStateWrapper(M.W<Int>, config: 1) @ObservationStateIgnored var x: Int", "Add '.self'",
            "@ObservableStateWrapper(M.W<Int>.self, config: 1) @ObservationStateIgnored var x: Int"
        ),
        (
            "@ObservableStateWrapper(W) @ObservationStateIgnored var x: Int", "Add '.self'",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored var x: Int"
        ),
        (
            "@ObservableStateWrapper(W.self)\n    public var x: Int", "Add '@ObservationStateIgnored'",
            "@ObservableStateWrapper(W.self) @ObservationStateIgnored\n    public var x: Int"
        ),
        (
            "@ObservationStateIgnored\n    @ObservableStateWrapper(W.self) @Transient var x: Int",
            "Move '@ObservationStateIgnored' behind '@ObservableStateWrapper'",
            "@ObservableStateWrapper(W.self)\n    @ObservationStateIgnored @Transient var x: Int"
        ),
    ])
    func `an error with one remedy has a fix-it`(member: String, message: String, expected: String) {
        let fixed = fixed("struct S {\n    \(member)\n}")
        #expect(fixed?.message == message)
        #expect(fixed?.source == "struct S {\n    \(expected)\n}")
    }

    @Test
    func `a field with an error has accessors, so that no further errors follow, and no storage`() {
        let text = expansion(of: "struct S {\n    @ObservableStateWrapper(W.self) var x: Int = 1\n}")
        #expect(text.contains("Swift.fatalError()"))
        #expect(!text.contains("_x"))
    }
}

import SwiftDiagnostics
import Testing

/// Tests `@Wrapped`, the short form of a field in a wrapper: its expansion and its errors.
///
/// The accessors are the same as in the long form, which ``ObservableStateWrapperMacroTests`` checks.
@Suite struct WrappedMacroTests {
    @Test func `the field's type completes the wrapper's type, and no other attribute is needed`() {
        expectExpansion(
            """
            @ObservableState
            struct S {
                @Wrapped(Clamped.self, 0 ... 100) public var percent = 150
            }
            """,
            to: """
                @ObservableState
                struct S {
                    public var percent {
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
            only: ["Wrapped"]
        )
    }

    @Test(arguments: [
        ("@Wrapped(Boxed.self) var x: [Int] = []", "Boxed._$Kind.Of<[Int]>"),
        ("@Wrapped(M.Boxed.self) var x: [Int]", "M.Boxed._$Kind.Of<[Int]>"),
        ("@Wrapped(Omitted.self) var x: String?", "Omitted._$Kind.Of<String?>"),
        ("@Wrapped(Omitted.self) var x: String!", "Omitted._$Kind.Of<String?>"),
        ("@Wrapped(Presented.self, projected: true) var x: Alert?", "Presented._$Kind.Of<Alert?>"),
        ("@Wrapped(Clamped.self, 0...1) var x: Double", "Clamped<Double>"),
        ("@Wrapped(RivuletObservation.Clamped.self, 0...1) var x = 0.5", "RivuletObservation.Clamped<Double>"),
        ("@Wrapped(Clamped.self, -5...5) var x = -1", "Clamped<Int>"),
        ("@Wrapped(Clamped<Int>.self, 0...1) var x = 1", "Clamped<Int>._$Kind.Of<Int>"),
        ("@Wrapped(Step<Ten>.self) var x = 1", "Step<Ten>._$Kind.Of<Int>"),
        ("@Wrapped(Rivulet::Clamped.self, 0...1) var x = 1", "Rivulet::Clamped<Int>"),
        ("@Wrapped(Other.Clamped.self, 0...1) var x = 1", "Other.Clamped._$Kind.Of<Int>"),
        ("@Wrapped(Other::Clamped.self) var x = 1", "Other::Clamped._$Kind.Of<Int>"),
        ("@Wrapped(Other.Box.self) var x = 1", "Other.Box._$Kind.Of<Int>"),
        ("@Wrapped(Other.Presented.self) var x = 1", "Other.Presented._$Kind.Of<Int>"),
        ("@Wrapped(Trimmed.self, 40, projected: true) var x = \"\"", "Trimmed._$Kind.Of<String>"),
        ("@Wrapped(Boxed.self) var x = Limits()", "Boxed._$Kind.Of<Limits>"),
        ("@Wrapped(Boxed.self) var x = [Int]()", "Boxed._$Kind.Of<[Int]>"),
    ])
    func `the wrapper's type follows from the attribute, and from the annotation or the initial value`(
        member: String,
        wrapper: String
    ) {
        let text = expansion(of: "@ObservableState struct S {\n    \(member)\n}")
        #expect(text.contains("private var _x: \(wrapper)"))
        #expect(text.contains("named: RivuletObservation.StateField.name(of: \(wrapper).self)"))
        #expect(text.contains("var $x: \(wrapper).ProjectedValue") == member.contains("projected: true"))
    }

    @Test(arguments: [
        (
            "invalidDeclarationPlacement", "'@Wrapped' needs a stored 'var' of a struct with '@ObservableState'",
            "@Wrapped(W.self) static var x = 1", "@Wrapped(W.self)"
        ),
        (
            "requiresVar", "'@Wrapped' needs a 'var', because the field can be written",
            "@Wrapped(W.self) let x: Int = 1", "let"
        ),
        (
            "existingAccessorsNotSupported",
            "'@Wrapped' makes the accessors of the field: remove these, and do their work where the field is written",
            "@Wrapped(W.self) var x = 1 { didSet {} }", "{ didSet {} }"
        ),
        (
            "requiresExplicitType",
            "'@Wrapped' needs the type of the field, because this initial value does not show it",
            "@Wrapped(W.self) var x = f()", "x"
        ),
        (
            "unsupportedPattern", "'@Wrapped' cannot wrap a tuple pattern: declare one 'var' for each field",
            "@Wrapped(W.self) var (a, b): (Int, Int) = (1, 2)", "(a, b)"
        ),
        (
            "missingWrapperArgument",
            "'@Wrapped' needs a wrapper or a kind of wrappers with '.self', such as 'Boxed.self'",
            "@Wrapped var x = 1", "@Wrapped"
        ),
        (
            "invalidWrapperExpression",
            "'@Wrapped' needs a wrapper or a kind of wrappers with '.self', such as 'Boxed.self'",
            "@Wrapped(W<Int>()) var x = 1", "W<Int>()"
        ),
        (
            "ignored", "'@Wrapped' tracks the field: remove '@ObservationStateIgnored'",
            "@Wrapped(W.self) @ObservationStateIgnored var x = 1", "@ObservationStateIgnored"
        ),
        (
            "notOptional", "'Presented' needs an optional field, which is nil while nothing is shown",
            "@Wrapped(Presented.self) var x = 3", "x"
        ),
        (
            "generic", "'@Wrapped' needs the kind 'Boxed', because Swift cannot infer the type argument of 'Box'",
            "@Wrapped(Box.self) var x = 1", "Box.self"
        ),
        (
            "missingRange", "'Clamped' needs a range, such as '@Wrapped(Clamped.self, 0...100)'",
            "@Wrapped(Clamped.self, projected: true) var x = 1", "Clamped.self"
        ),
        (
            "label", "'@Wrapped' takes the configuration without a label: remove 'config:'",
            "@Wrapped(Clamped.self, config: 0...9) var x = 1", "config: 0...9"
        ),
    ])
    func `a declaration that cannot be wrapped is one error`(id: String, message: String, member: String, node: String)
    {
        let faults = faults(in: "@ObservableState struct S {\n    \(member)\n}")
        #expect(faults == [ReportedFault(id: MessageID(domain: "Wrapped", id: id), message: message, node: node)])
    }

    @Test func `both forms on one field are one error`() {
        let attributes = "@Wrapped(W.self) @ObservableStateWrapper(W.self) @ObservationStateIgnored"
        let source = "@ObservableState struct S {\n    \(attributes) public var x: Int = 1\n}"
        let message = "'@Wrapped' and '@ObservableStateWrapper' do the same: remove one"
        let id = MessageID(domain: "Wrapped", id: "otherForm")
        #expect(
            faults(in: source) == [ReportedFault(id: id, message: message, node: "@ObservableStateWrapper(W.self)")]
        )
        let fixed = fixed(source)
        #expect(fixed?.message == "Remove '@ObservableStateWrapper' and '@ObservationStateIgnored'")
        #expect(fixed?.source == "@ObservableState struct S {\n    @Wrapped(W.self) public var x: Int = 1\n}")
    }

    @Test(arguments: ["struct S {\n", "@ObservableState struct S {\nstruct Inner {\n"])
    func `a field outside of a state is one error`(opening: String) {
        let message = "'@Wrapped' needs a stored 'var' of a struct with '@ObservableState'"
        let closing = opening.contains("Inner") ? "}\n}" : "}"
        let faults = faults(in: "\(opening)@Wrapped(W.self) var x = 1\n\(closing)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == ["@Wrapped(W.self)"])
    }

    @Test func `several names in one declaration are one error`() {
        let message = "'@Wrapped' needs one 'var' for each field: split this declaration"
        #expect(wrapperFaults(in: "@Wrapped(W.self) var a = 1, b = 2").map(\.message) == [message])
    }

    @Test(arguments: [
        ("@Wrapped(W.self) let x = 1", "Replace 'let' with 'var'", "@Wrapped(W.self) var x = 1"),
        ("@Wrapped(W.self) var x = f()", "Add the type", "@Wrapped(W.self) var x: <#Type#> = f()"),
        ("@Wrapped(Box.self) var x = 1", "Replace 'Box' with 'Boxed'", "@Wrapped(Boxed.self) var x = 1"),
        ("@Wrapped(OmitCoding) var x = 1", "Replace 'OmitCoding' with 'Omitted'", "@Wrapped(Omitted.self) var x = 1"),
        ("@Wrapped(W) var x = 1", "Add '.self'", "@Wrapped(W.self) var x = 1"),
        ("@Wrapped(Clamped.self) var x = 1", "Add the range", "@Wrapped(Clamped.self, <#range#>) var x = 1"),
        ("@Wrapped(Clamped) var x = 1", "Add the range", "@Wrapped(Clamped.self, <#range#>) var x = 1"),
        (
            "@Wrapped(W.self, config: 3, projected: true) var x = 1", "Remove 'config:'",
            "@Wrapped(W.self, 3, projected: true) var x = 1"
        ),
        (
            "@Wrapped(W.self) @ObservationStateIgnored\n    var x = 1", "Remove '@ObservationStateIgnored'",
            "@Wrapped(W.self)\n    var x = 1"
        ),
        (
            "/// A field.\n    @ObservationStateIgnored\n    @Wrapped(W.self) @Transient var x = 1",
            "Remove '@ObservationStateIgnored'", "/// A field.\n    @Wrapped(W.self) @Transient var x = 1"
        ),
    ])
    func `a fix-it is offered`(member: String, message: String, expected: String) {
        let fixed = fixed("@ObservableState struct S {\n    \(member)\n}")
        #expect(fixed?.message == message)
        #expect(fixed?.source == "@ObservableState struct S {\n    \(expected)\n}")
    }

    @Test(arguments: [
        ("@Wrapped(Omitted.self)", "a field in Omitted"),
        ("@Wrapped(OmitCoding<Int>.self)", "a field in OmitCoding"),
        ("@Wrapped(RivuletObservation.Omitted.self)", "a field in Omitted"),
        ("@Transient @Wrapped(W.self)", "a field with @Transient"),
    ])
    func `a field that is not on disk needs a value`(attributes: String, cause: String) {
        let required = faults(in: "@ObservableState struct S {\n    \(attributes) var x: Int\n}")
        #expect(required.map(\.id) == [MessageID(domain: "Rivulet", id: "unstoredWithoutValue")])
        #expect(required.first?.message.contains("because \(cause) is not on disk") == true)
        #expect(faults(in: "@ObservableState struct S {\n    \(attributes) var x: Int?\n}").isEmpty)
    }

    @Test func `a wrapper of another module is not taken for Rivulet's`() {
        #expect(faults(in: "@ObservableState struct S {\n    @Wrapped(Other.Omitted.self) var x: Int\n}").isEmpty)
        #expect(faults(in: "@ObservableState struct S {\n    @Wrapped(Other.Clamped.self) var x = 1\n}").isEmpty)
    }
}

// This file owns the tests of the declarations that @ObservableState refuses, and of its fix-its.

import SwiftDiagnostics
import Testing

@Suite
struct ObservableStateDiagnosticTests {
    @Test(arguments: [
        ("class A {}", "'@ObservableState' cannot be applied to class type 'A'", "@ObservableState"),
        ("actor A {}", "'@ObservableState' cannot be applied to actor type 'A'", "@ObservableState"),
        (
            "struct A { var a = 1, b = 2 }",
            "'@ObservableState' needs one 'var' for each field: split this declaration", "a = 1, b = 2"
        ),
        (
            "struct A { var (a, b) = (1, 2) }",
            "'@ObservableState' cannot track a tuple pattern: declare one 'var' for each field", "(a, b)"
        ),
        (
            "struct A { var a = 1 { didSet {} } }",
            """
            '@ObservableState' cannot track 'a' with 'willSet' or 'didSet': do that work where the field is written, or mark it \
            @ObservationStateIgnored, which keeps it out of state, streams and storage
            """, "{ didSet {} }"
        ),
        (
            "struct A { lazy var a = 1 }",
            "'@ObservableState' cannot track the lazy 'a': remove 'lazy', or make it computed", "a"
        ),
        (
            "struct A { let a: Int }",
            """
            'a' needs a value here, because a 'let' is not read from JSON: write 'private(set) var a', or give it a value
            """, "let"
        ),
        (
            "struct A { @ObservationStateIgnored var a: Int }",
            "'a' needs an initial value, because a field with @ObservationStateIgnored is not in JSON", "a"
        ),
    ])
    func `a type that cannot be tracked has one error, with the remedy`(source: String, message: String, node: String) {
        let faults = faults(in: "@ObservableState \(source)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == [node])
    }

    @Test(arguments: [
        ("@ObservableState struct A {\n    ", "\n    var plain: [Plain]?\n}"),
        ("@ObservableState struct A {\n    ", "\n    var plain = Plain()\n}"),
        ("@ObservableState struct A {\n    ", "\n    @Wrapped(Boxed.self) var plain = Plain()\n}"),
        ("@ObservableState enum A {\n    ", "\n    case none, some(Plain)\n}"),
        ("@AppEvent enum A {\n    ", "\n    case none, some(at: [String: Plain])\n}"),
    ])
    func `a field's nested type that JSON cannot carry is one error`(before: String, after: String) {
        let message = "JSON cannot have 'Plain': put '@ObservableState' on it, or make it 'Codable' here"
        let fault = ReportedFault(id: MessageID(domain: "Rivulet", id: "plainType"), message: message, node: "Plain")
        for type in [
            "struct Plain {}", "fileprivate struct Plain: Equatable, Swift.Sendable {}", "enum Plain { case a }",
        ] {
            #expect(faults(in: before + type + after) == [fault])
            let fixed = fixed(before + type + after)
            #expect(fixed?.message == "Add '@ObservableState'")
            #expect(fixed?.source == "\(before)@ObservableState \(type)\(after)")
        }
        for type in [
            "struct Plain: Equatable, Codable {}", "@ObservableState struct Plain { var x = 1 }", "class Plain {}",
            "@AppEvent enum Plain { case a }", "@Foreign struct Plain {}",
        ] {
            #expect(faults(in: before + type + after).isEmpty)
        }
    }

    @Test func `a type inside a state that no stored field has may be of any kind`() {
        let members =
            "struct Plain {}\n    var other: Other.Plain?\n    var id: ID<Plain>\n    @ObservationStateIgnored var plain = Plain()"
        #expect(faults(in: "@ObservableState struct A {\n    \(members)\n}").isEmpty)
    }

    @Test
    func `a private type is refused`() {
        let source = "struct Outer {\n@ObservableState private struct A { var a = 1 }\n}"
        let message = """
            '@ObservableState' cannot extend 'A', because generated code does not see a 'private' type: write 'fileprivate'
            """
        #expect(faults(in: source).map(\.message) == [message])
        #expect(faults(in: "@ObservableState private struct A { var a = 1 }").map(\.message) == [message])
        #expect(faults(in: "@ObservableState fileprivate struct A { var a = 1 }").isEmpty)
    }

    @Test(arguments: [
        ("@ObservationIgnored", "ObservationIgnored", "@ObservationStateIgnored"),
        ("@Observation.ObservationIgnored", "ObservationIgnored", "@ObservationStateIgnored"),
        ("@ObservationTracked", "ObservationTracked", "@ObservationStateTracked"),
        ("@Clamped(range: 0...9)", "Clamped", "@Wrapped(Clamped.self, 0...9)"),
        ("@Box", "Box", "@Wrapped(Boxed.self)"),
        ("@Boxed", "Boxed", "@Wrapped(Boxed.self)"),
        ("@OmitCoding", "OmitCoding", "@Wrapped(Omitted.self)"),
        ("@Omitted", "Omitted", "@Wrapped(Omitted.self)"),
        ("@PresentationState", "PresentationState", "@Wrapped(Presented.self, projected: true)"),
        ("@Presented", "Presented", "@Wrapped(Presented.self, projected: true)"),
        ("@Presents", "Presents", "@Wrapped(Presented.self, projected: true)"),
    ])
    func `F-08: an attribute of another mechanism is refused, and a fix-it offers the right one`(
        attribute: String,
        name: String,
        replacement: String
    ) {
        let source = "@ObservableState struct A {\n    \(attribute) public var a: Int? = 1\n}"
        let id = MessageID(domain: "Rivulet", id: "otherAttribute")
        let message = "'@\(name)' cannot be used in '@ObservableState'"
        #expect(faults(in: source) == [ReportedFault(id: id, message: message, node: attribute)])
        let fixed = fixed(source)
        #expect(fixed?.message == "Use '\(replacement)' instead")
        #expect(fixed?.source == "@ObservableState struct A {\n    \(replacement) public var a: Int? = 1\n}")
    }

    private static let omitting = "@ObservableStateWrapper(OmitCoding<Int>.self) @ObservationStateIgnored"

    @Test(arguments: [
        ("@Transient var a: Int", "a field with @Transient"),
        ("@Transient private(set) var a: [Int]", "a field with @Transient"),
        ("@Transient @ObservableStateWrapper(W.self) @ObservationStateIgnored var a: Int", "a field with @Transient"),
        ("\(omitting) var a: Int", "a field in OmitCoding"),
        (
            "@ObservableStateWrapper(RivuletObservation.OmitCoding<Int>.self) @ObservationStateIgnored var a: Int",
            "a field in OmitCoding"
        ),
    ])
    func `a field that is not on disk needs an initial value`(
        member: String,
        cause: String
    ) {
        let message = """
            'a' needs an initial value, because \(cause) is not on disk: without it, a stored state could not be read again
            """
        let id = MessageID(domain: "Rivulet", id: "unstoredWithoutValue")
        let source = "@ObservableState struct A {\n    \(member)\n}"
        #expect(faults(in: source) == [ReportedFault(id: id, message: message, node: "a")])
        #expect(fixed(source) == nil)
    }

    @Test(arguments: [
        "@Transient var a = 1", "@Transient var a: Int?", "@Transient var a: Int!", "\(omitting) var a: Int = 1",
        "@Transient @Replaceable var a: Half", "@ObservableStateWrapper(W.self) @ObservationStateIgnored var a: Int",
        "\(omitting) var a: Int?",
    ])
    func `a field that is not on disk may have a value, be nil, or be half of an app's state`(member: String) {
        #expect(faults(in: "@ObservableState struct A {\n    \(member)\n}").isEmpty)
    }

    @Test(arguments: [
        ("var a = 1, b = 2", "Declare each field separately", "var a = 1\n    var b = 2"),
        ("public var a, b: Int", "Declare each field separately", "public var a: Int\n    public var b: Int"),
        (
            "private(set) var a: Int?, b = 2", "Declare each field separately",
            "private(set) var a: Int?\n    private(set) var b = 2"
        ),
        (
            "var a = 1 { didSet {} }", "Add '@ObservationStateIgnored'",
            "@ObservationStateIgnored var a = 1 { didSet {} }"
        ),
        ("lazy var a = 1", "Remove 'lazy'", "var a = 1"),
        ("private lazy var a = 1", "Remove 'lazy'", "private var a = 1"),
        ("let a: Int", "Replace 'let' with 'private(set) var'", "private(set) var a: Int"),
        (
            "private var a: () -> Void = {}", "Add '@ObservationStateIgnored'",
            "@ObservationStateIgnored private var a: () -> Void = {}"
        ),
    ])
    func `an error with one remedy has a fix-it`(member: String, message: String, expected: String) {
        let fixed = fixed("@ObservableState struct A {\n    \(member)\n}")
        #expect(fixed?.message == message)
        #expect(fixed?.source == "@ObservableState struct A {\n    \(expected)\n}")
    }

    @Test(arguments: [
        "var (a, b) = (1, 2)", "var a: () -> Void", "var a: Int { didSet {} }", "@ObservationStateIgnored var a: Int",
        "var (a, b) = (1, 2), c = 3",
    ])
    func `an error that only the author can resolve has no fix-it`(member: String) {
        let source = "@ObservableState struct A {\n    \(member)\n}"
        #expect(faults(in: source).count == 1)
        #expect(fixed(source) == nil)
    }

    @Test
    func `the fix-it of a private type makes it fileprivate`() {
        let fixed = fixed("struct Outer {\n@ObservableState private struct A { var a = 1 }\n}")
        #expect(fixed?.source == "struct Outer {\n@ObservableState fileprivate struct A { var a = 1 }\n}")
    }

    @Test(arguments: [
        ("var a: () -> Void = {}", "closure", "() -> Void"),
        ("var a: (@Sendable (Int) async -> Void)?", "closure", "(@Sendable (Int) async -> Void)?"),
        ("var a = { 1 }", "closure", "a"),
        ("var a: (x: Int, y: Int) = (1, 2)", "tuple", "(x: Int, y: Int)"),
        ("var a: (Int, Int)?", "tuple", "(Int, Int)?"),
        ("var a = (1, 2)", "tuple", "a"),
        ("var a: Void = ()", nil, ""),
        ("var a: (Int) = (1)", nil, ""),
        ("let a: () -> Void = {}", nil, ""),
        ("static var a = (1, 2)", nil, ""),
        ("@ObservationStateIgnored var a = { 1 }", nil, ""),
        ("var a: [Int] = [], b: [String: Int] { [:] }", "severalBindings", "a: [Int] = [], b: [String: Int] { [:] }"),
    ])
    func `closures and tuples are refused by their spelling`(member: String, id: String?, node: String) {
        let faults = faults(in: "@ObservableState struct A {\n    \(member)\n}")
        #expect(faults.map(\.id) == (id.map { [MessageID(domain: "Rivulet", id: $0)] } ?? []))
        #expect(faults.map(\.node) == (id == nil ? [] : [node]))
    }

    @Test
    func `every error is reported, and the type still conforms with its other fields`() {
        let source = """
            @ObservableState struct A {
                lazy var a = 1
                #if DEBUG
                var b = 1 { didSet {} }
                #endif
                var c = 1
            }
            """
        #expect(faults(in: source).count == 2)
        let text = expansion(of: source)
        #expect(text.contains("extension A: ObservableState"))
        #expect(text.contains("static var c: Swift.Int {"))
        #expect(text.contains("throw reader.error(.mismatch"))
        #expect(!text.contains("\"a\"") && !text.contains("\"b\""))
    }

    @Test
    func `64 fields are tracked and one more is refused`() {
        func source(_ count: Int) -> String {
            "@ObservableState struct A {\n\((0..<count).map { "var f\($0) = 0" }.joined(separator: "\n"))\n}"
        }
        #expect(faults(in: source(64)).isEmpty)
        let message = "'@ObservableState' tracks at most 64 fields and this type has 65: move some to a nested state"
        #expect(faults(in: source(65)).map(\.message) == [message])
    }
}

// This file owns the tests of the declarations that @ObservableValue refuses.

import SwiftDiagnostics
import Testing

@Suite
struct ObservableValueDiagnosticTests {
    @Test(arguments: [
        ("enum A { case a }", "'@ObservableValue' cannot be applied to enumeration type 'A'"),
        ("actor A {}", "'@ObservableValue' cannot be applied to actor type 'A'"),
        (
            "class A {}",
            """
            '@ObservableValue' cannot be applied to Class type 'A' please use '@Observable' macro for classes. Note that when you \
            are encapsulating an @ObservableValue inside a @Observable class, make sure to tag it with @ObservationIgnored to \
            prevent it from sending unnecessary notifications by the @Observable class.
            """
        ),
    ])
    func `a type that is no struct is refused`(source: String, message: String) {
        let fault = ReportedFault(
            id: MessageID(domain: "Observation", id: "invalid type"),
            message: message,
            node: "@ObservableValue"
        )
        #expect(faults(in: "@ObservableValue \(source)") == [fault])
    }

    @Test(arguments: [
        (
            "struct A { var a = 1, b = 2 }",
            "'@ObservableValue' needs one 'var' for each field: split this declaration", "a = 1, b = 2"
        ),
        (
            "struct A { var (a, b) = (1, 2) }",
            "'@ObservableValue' cannot observe a tuple pattern: declare one 'var' for each field", "(a, b)"
        ),
        (
            "struct A { lazy var a = 1 }",
            "'@ObservableValue' cannot observe the lazy 'a': mark it @Ignoring, or remove 'lazy'", "lazy"
        ),
        (
            "struct A { weak var a: B? }",
            "'@ObservableValue' cannot observe the weak 'a': mark it @Ignoring, or remove 'weak'", "weak"
        ),
    ])
    func `an unobservable field has one error, with the remedy`(source: String, message: String, node: String) {
        let faults = faults(in: "@ObservableValue \(source)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == [node])
    }

    @Test
    func `a private type in another type is refused`() {
        let source = "struct Outer {\n@ObservableValue private struct A { var a = 1 }\n}"
        let message = """
            '@ObservableValue' cannot extend 'A', because generated code does not see a 'private' type: write 'fileprivate'
            """
        #expect(faults(in: source).map(\.message) == [message])
    }

    @Test
    func `64 fields are observed and one more is refused`() {
        func source(_ count: Int) -> String {
            "@ObservableValue struct A {\n\((0..<count).map { "var f\($0) = 0" }.joined(separator: "\n"))\n}"
        }
        #expect(faults(in: source(64)).isEmpty)
        let message = """
            '@ObservableValue' observes at most 64 fields and this type has 65: move some to a nested value, or mark them @Ignoring
            """
        #expect(faults(in: source(65)).map(\.message) == [message])
    }
}

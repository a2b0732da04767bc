// Part of Rivulet. See README.md for the architecture.
// This file owns the tests of @ObservableValue, @Observing and @Ignoring: their expansions and their diagnostics.

import SwiftDiagnostics
import Testing

@Suite
struct ObservableValueMacroTests {
    @Test
    func `B-02, B-03, B-05, B-06: a public value with members of every kind`() {
        expectExpansion(
            """
            @available(macOS 14, *)
            @ObservableValue
            public struct S {
                public var count = 0
                @Ignoring var cache = ""
                @Observing var tagged = 1
                let limit: Int
                static var shared = 2
                var double: Int { count * 2 }
                var `default` = 0 { didSet {} }
                @Ignoring lazy var late = 1
            }
            """,
            to: #"""
                @available(macOS 14, *)
                public struct S {
                    @Observing
                    public var count = 0
                    @Ignoring var cache = ""
                    @Observing var tagged = 1
                    let limit: Int
                    static var shared = 2
                    var double: Int { count * 2 }
                    @Observing
                    var `default` = 0 { didSet {} }
                    @Ignoring lazy var late = 1

                    public var _$id: RivuletObservation.ObservationIdentity {
                        _$observationRegistrar.id
                    }

                    @Ignoring
                    var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)

                    public func copy() -> Self {
                        var copy = self
                        copy._$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)
                        return copy
                    }

                    internal nonisolated func access<Member>(
                        keyPath: Swift.KeyPath<Self, Member>
                    ) {
                        _$observationRegistrar.access(self, keyPath: keyPath)
                    }

                    internal nonisolated func withMutation<Member, MutationResult>(
                        keyPath: Swift.KeyPath<Self, Member>,
                        _ mutation: () throws -> MutationResult
                    ) rethrows -> MutationResult {
                        try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
                    }

                    private nonisolated func shouldNotifyObservers<Member>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        true
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.Equatable>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs != rhs
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.AnyObject>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs !== rhs
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.Equatable & Swift.AnyObject>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs != rhs
                    }

                    private enum _$Index {
                        static var count: Swift.Int { 0 }
                        static var tagged: Swift.Int { 1 }
                        static var `default`: Swift.Int { 2 }
                    }

                    public static func _$position(of keyPath: Swift.PartialKeyPath<Self>) -> Swift.Int? {
                        switch keyPath {
                        case \Self.count: _$Index.count
                        case \Self.tagged: _$Index.tagged
                        case \Self.`default`: _$Index.`default`
                        default: nil
                        }
                    }

                    private enum CodingKeys: Swift.String, Swift.CodingKey {
                        case _count = "count"
                        case cache
                        case _tagged = "tagged"
                        case limit
                        case _default = "default"
                    }
                }

                @available(macOS 14, *)
                extension S: RivuletObservation.ObservableValue {
                }
                """#,
            only: ["ObservableValue"]
        )
    }

    @Test
    func `B-07, B-08, B-10: the accessors of a field, and its storage`() {
        expectExpansion(
            """
            struct S {
                @MainActor
                @Observing
                public private(set) var count: Int = 0 {
                    didSet { count = max(count, other.count) }
                }
            }
            """,
            to: #"""
                struct S {
                    @MainActor
                    public private(set) var count: Int {
                        didSet { count = max(count, other.count) }
                            @storageRestrictions(initializes: _count)
                            init(initialValue) {
                                _count = initialValue
                            }

                            get {
                                _$observationRegistrar.read(_$Index.count, _count)
                            }

                            set {
                                let isTold = _$observationRegistrar.willSet(
                                    _$Index.count,
                                    from: RivuletObservation._$identity(of: _count),
                                    to: RivuletObservation._$identity(of: newValue),
                                    isChange: shouldNotifyObservers(_count, newValue)
                                )
                                _count = newValue
                                _$observationRegistrar.didSet(_$Index.count, isTold: isTold)
                            }

                            _modify {
                                let identity = RivuletObservation._$identity(of: _count)
                                _$observationRegistrar.willEdit(_$Index.count, identity)
                                defer {
                                    _$observationRegistrar.didEdit(_$Index.count, from: identity, to: RivuletObservation._$identity(of: _count))
                                }
                                yield &_count
                            }
                    }

                    @MainActor
                    @Ignoring
                    private var _count: Int = 0 {
                            didSet { self._count = max(self._count, other.count) }
                        }
                }
                """#,
            only: ["Observing"]
        )
    }

    @Test
    func `a value without fields`() {
        expectExpansion(
            "@ObservableValue struct S {}",
            to: #"""
                struct S {

                    var _$id: RivuletObservation.ObservationIdentity {
                        _$observationRegistrar.id
                    }
                    var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)

                    func copy() -> Self {
                        var copy = self
                        copy._$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)
                        return copy
                    }

                    internal nonisolated func access<Member>(
                        keyPath: Swift.KeyPath<Self, Member>
                    ) {
                        _$observationRegistrar.access(self, keyPath: keyPath)
                    }

                    internal nonisolated func withMutation<Member, MutationResult>(
                        keyPath: Swift.KeyPath<Self, Member>,
                        _ mutation: () throws -> MutationResult
                    ) rethrows -> MutationResult {
                        try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
                    }

                    private nonisolated func shouldNotifyObservers<Member>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        true
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.Equatable>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs != rhs
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.AnyObject>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs !== rhs
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.Equatable & Swift.AnyObject>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs != rhs
                    }

                    private enum _$Index {
                    }

                    static func _$position(of keyPath: Swift.PartialKeyPath<Self>) -> Swift.Int? {
                        nil
                    }

                    private enum CodingKeys: Swift.CodingKey {
                    }
                }

                extension S: RivuletObservation.ObservableValue {
                }
                """#
        )
    }

    @Test
    func `B-04: members that are there are not added again`() {
        expectExpansion(
            """
            @ObservableValue
            struct S {
                let _$id = UUID()
                @Ignoring var _$observationRegistrar = Registrar()
                func copy() -> S { self }
                func access<T>(keyPath: KeyPath<S, T>) {}
                func withMutation<A, B>(keyPath: KeyPath<Self, A>, _ mutation: () throws -> B) rethrows -> B { try mutation() }
                func shouldNotifyObservers<T>(_ old: T, _ new: T) -> Bool { true }
                func shouldNotifyObservers<T>(_ old: T, _ new: T) -> Bool where T: AnyObject & Equatable { true }
                enum CodingKeys: CodingKey {}
            }
            """,
            to: #"""
                struct S {
                    let _$id = UUID()
                    var _$observationRegistrar = Registrar()
                    func copy() -> S { self }
                    func access<T>(keyPath: KeyPath<S, T>) {}
                    func withMutation<A, B>(keyPath: KeyPath<Self, A>, _ mutation: () throws -> B) rethrows -> B { try mutation() }
                    func shouldNotifyObservers<T>(_ old: T, _ new: T) -> Bool { true }
                    func shouldNotifyObservers<T>(_ old: T, _ new: T) -> Bool where T: AnyObject & Equatable { true }
                    enum CodingKeys: CodingKey {}

                    private nonisolated func shouldNotifyObservers<Member: Swift.Equatable>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs != rhs
                    }

                    private nonisolated func shouldNotifyObservers<Member: Swift.AnyObject>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
                        lhs !== rhs
                    }

                    private enum _$Index {
                    }

                    static func _$position(of keyPath: Swift.PartialKeyPath<Self>) -> Swift.Int? {
                        nil
                    }
                }

                extension S: RivuletObservation.ObservableValue {
                }
                """#
        )
    }

    @Test
    func `B-04: a member of another signature does not count`() {
        let source = "@ObservableValue struct S { func copy(of other: Self) {}\nfunc access(keyPath: String) {} }"
        #expect(expansion(of: source).contains("func copy() -> Self"))
        #expect(expansion(of: source).contains("keyPath: Swift.KeyPath<Self, Member>"))
    }

    @Test(arguments: [
        ("public struct A {}", "    public var _$id", "    public func copy()"),
        ("package struct A {}", "    package var _$id", "    package func copy()"),
        ("struct A {}", "    var _$id", "    func copy()"),
        ("fileprivate struct A {}", "    fileprivate var _$id", "    fileprivate func copy()"),
        ("private struct A {}", "    fileprivate var _$id", "    fileprivate func copy()"),
    ])
    func `B-05: generated members are as visible as the type`(source: String, identity: String, copy: String) {
        let text = expansion(of: "@ObservableValue \(source)")
        #expect(text.contains(identity))
        #expect(text.contains(copy))
    }

    @Test(arguments: [
        "@Observing var a = 1",
        "struct A { @Ignoring @Observing var a = 1 }",
        "enum A { @Observing var a = 1 }",
        "struct A { @Observing var a: Int { 1 } }",
        "struct A { @Observing static var a = 1 }",
    ])
    func `B-07: nothing is made of a variable that cannot be a field`(source: String) {
        let text = expansion(of: source)
        #expect(!text.contains("_$observationRegistrar"))
        #expect(!text.contains("_a"))
    }

    @Test
    func `B-07: a variable of a class is made a field, too`() {
        let text = expansion(of: "class A { @Observing var a = 1 }")
        #expect(text.contains("private var _a = 1"))
        #expect(text.contains("private let _$observing_a = RivuletObservation.ObservationStateRegistrar(.value)"))
        #expect(text.contains("_$observing_a.read(0, _a)"))
        #expect(text.contains("isChange: RivuletObservation._$isChange(_a, newValue)"))
        #expect(!text.contains("_$observationRegistrar"))
    }

    @Test
    func `fields in #if are fields while the condition holds`() {
        let text = expansion(
            of: """
                @ObservableValue struct S {
                    var a = 1
                    #if DEBUG
                    var b = 1
                    #elseif X
                    @Ignoring var c = 1
                    #endif
                    #if Y
                    func f() {}
                    #endif
                }
                """
        )
        let members = """
                private enum _$Index {
                    private enum _$Position: Swift.Int {
                        case a
                #if DEBUG
                        case b
                #elseif X
                #endif
                        case _$end
                    }
                    static var a: Swift.Int { _$Position.a.rawValue }
                #if DEBUG
                    static var b: Swift.Int { _$Position.b.rawValue }
                #elseif X
                #endif
                }

                static func _$position(of keyPath: Swift.PartialKeyPath<Self>) -> Swift.Int? {
                    switch keyPath {
                    case \\Self.a: _$Index.a
                #if DEBUG
                    case \\Self.b: _$Index.b
                #elseif X
                #endif
                    default: nil
                    }
                }

                private enum CodingKeys: Swift.String, Swift.CodingKey {
                    case _a = "a"
                #if DEBUG
                    case _b = "b"
                #elseif X
                    case c
                #endif
                }
            """
        func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map { $0.trimmingPrefix(while: \.isWhitespace).description }
        }
        let generated = lines(text).joined(separator: "\n")
        #expect(generated.contains(lines(members).joined(separator: "\n")))
    }

    @Test
    func `with a deprecated field, the function that names it is deprecated`() {
        let text = expansion(of: "@ObservableValue struct S { @available(*, deprecated) var a = 1 }")
        #expect(text.contains("@available(*, deprecated)\n    static func _$position"))
        #expect(!expansion(of: "@ObservableValue struct S { var a = 1 }").contains("deprecated"))
    }

    @Test(arguments: [
        ("struct S<T> { @Observing var a: T }", true),
        ("struct S<T> { struct R { @Observing var a: T } }", true),
        ("extension S { struct R { @Observing var a: T } }", true),
        ("struct S { @Observing var a: any P }", true),
        ("struct S { @Observing var a: Any? }", true),
        ("struct S { @Observing var a: Many }", false),
        ("struct S { @Observing var a = 1 }", false),
    ])
    func `the identity of a value is looked up where its type does not tell`(source: String, isOpen: Bool) {
        let text = expansion(of: source)
        #expect(text.contains("_$openIdentity(of: _a)") == isOpen)
        #expect(text.contains("_$identity(of: _a)") != isOpen)
    }

    @Test(arguments: [
        ("didSet { a += 1 }", "didSet { self._a += 1 }"),
        ("didSet { self.a = f(a: a) + other.a }", "didSet { self._a = f(a: self._a) + other.a }"),
        (#"willSet { log("\(a)", \S.a) }"#, #"willSet { log("\(self._a)", \S.a) }"#),
        ("didSet { let a = a; self.a = a }", "didSet { let a = self._a; self._a = a }"),
        ("didSet { do { let a = 1; b = a }; a = 2 }", "didSet { do { let a = 1; b = a }; self._a = 2 }"),
        ("didSet(a) { b = a; self.a = a }", "didSet(a) { b = a; self._a = a }"),
        ("didSet { if let a { b = a } else { a = 1 } }", "didSet { if let a { b = a } else { self._a = 1 } }"),
        (
            "didSet { guard let a else { a = 1; return }; b = a }",
            "didSet { guard let a else { self._a = 1; return }; b = a }"
        ),
        ("didSet { for a in a { b = a }; a = 1 }", "didSet { for a in self._a { b = a }; self._a = 1 }"),
        (
            "didSet { switch a { case let a: b = a; default: a = 1 } }",
            "didSet { switch self._a { case let a: b = a; default: self._a = 1 } }"
        ),
        ("didSet { do { a = 1 } catch let a { b = a } }", "didSet { do { self._a = 1 } catch let a { b = a } }"),
        ("didSet { a = a(); func a() -> Int { a } }", "didSet { a = a(); func a() -> Int { a } }"),
        ("didSet { { a = 1 }(); a = 2 }", "didSet { { a = 1 }(); self._a = 2 }"),
        ("didSet { func f() { a = 1 }; a = 2 }", "didSet { func f() { a = 1 }; self._a = 2 }"),
        (
            "didSet { defer { a = 1 }; a = 2 }",
            "didSet { #if swift(>=6) defer { self._a = 1 }; self._a = 2 #else defer { a = 1 }; self._a = 2 #endif }"
        ),
        ("didSet { defer { b = 1 }; a = 2 }", "didSet { defer { b = 1 }; self._a = 2 }"),
        ("didSet { (self).a = 1 }", "didSet { (self)._a = 1 }"),
    ])
    func `property observers see their own name as the storage`(source: String, expected: String) {
        let text = expansion(of: "struct S { @Observing var a = 1 { \(source) } }")
        #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("_a = 1 { \(expected) }"))
    }

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
    func `§3.2: a type that is no struct is refused`(source: String, message: String) {
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
    func `a field that cannot be observed is told once, with the mend`(source: String, message: String, node: String) {
        let faults = faults(in: "@ObservableValue \(source)")
        #expect(faults.map(\.message) == [message])
        #expect(faults.map(\.node) == [node])
    }

    @Test
    func `a private type in another one is refused`() {
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

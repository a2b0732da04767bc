// This file owns the tests of @Observing: the accessors, the storage and the observers of a field.

import Testing

@Suite
struct ObservingMacroTests {
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

    @Test(arguments: [
        "@Observing var a = 1",
        "struct A { @Ignoring @Observing var a = 1 }",
        "enum A { @Observing var a = 1 }",
        "struct A { @Observing var a: Int { 1 } }",
        "struct A { @Observing static var a = 1 }",
    ])
    func `B-07: a variable that cannot be a field has no generated code`(source: String) {
        let text = expansion(of: source)
        #expect(!text.contains("_$observationRegistrar"))
        #expect(!text.contains("_a"))
    }

    @Test
    func `B-07: a variable of a class becomes a field too`() {
        let text = expansion(of: "class A { @Observing var a = 1 }")
        #expect(text.contains("private var _a = 1"))
        #expect(text.contains("private let _$observing_a = RivuletObservation.ObservationStateRegistrar(.value)"))
        #expect(text.contains("_$observing_a.read(0, _a)"))
        #expect(text.contains("isChange: RivuletObservation._$isChange(_a, newValue)"))
        #expect(!text.contains("_$observationRegistrar"))
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
    func `an identity is looked up at run time if the declared type hides it`(source: String, isOpen: Bool) {
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
    func `property observers use the storage for the field's own name`(source: String, expected: String) {
        let text = expansion(of: "struct S { @Observing var a = 1 { \(source) } }")
        #expect(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("_a = 1 { \(expected) }"))
    }
}

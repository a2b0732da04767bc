// This file owns the tests of the members that @ObservableValue adds to a type.

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
    func `B-04: handwritten members are not added again`() {
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
    func `B-04: a handwritten member with another signature replaces no generated member`() {
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
}

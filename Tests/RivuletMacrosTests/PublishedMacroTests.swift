// This file owns the tests of @Published: its expansion and its diagnostics.

import SwiftDiagnostics
import Testing

@Suite
struct PublishedMacroTests {
    @Test
    func `C-05, C-06, C-10: a field has constant storage, accessors that notify, and a binding`() {
        expectExpansion(
            """
            final class C: ObservableObject {
                @Published public var count: Int = 0
                @Published private(set) var name: String
                @Published fileprivate var `default`: Item!
            }
            """,
            to: """
                final class C: ObservableObject {
                    public var count: Int {
                        @storageRestrictions(accesses: _count)
                        init(initialValue) {
                            _count.store(initialValue)
                        }
                        get {
                            _count.wrappedValue
                        }
                        set {
                            _count.set(newValue, in: self)
                        }
                        _modify {
                            var value = _count.edit(in: self)
                            defer {
                                _count.store(value)
                            }
                            yield &value
                        }
                    }

                    private let _count = RivuletObjects.Published<Int>.declared()

                    public var $count: RivuletObjects.Binding<Int> {
                        _count.binding(in: self)
                    }
                    private(set) var name: String {
                        @storageRestrictions(initializes: _name)
                        init(initialValue) {
                            _name = RivuletObjects.Published(wrappedValue: initialValue)
                        }
                        get {
                            _name.wrappedValue
                        }
                        set {
                            _name.set(newValue, in: self)
                        }
                        _modify {
                            var value = _name.edit(in: self)
                            defer {
                                _name.store(value)
                            }
                            yield &value
                        }
                    }

                    private let _name: RivuletObjects.Published<String>

                    var $name: RivuletObjects.Binding<String> {
                        _name.binding(in: self)
                    }
                    fileprivate var `default`: Item! {
                        @storageRestrictions(accesses: _default)
                        init(initialValue) {
                            _default.store(initialValue)
                        }
                        get {
                            _default.wrappedValue
                        }
                        set {
                            _default.set(newValue, in: self)
                        }
                        _modify {
                            var value = _default.edit(in: self)
                            defer {
                                _default.store(value)
                            }
                            yield &value
                        }
                    }

                    private let _default = RivuletObjects.Published<Item?>(wrappedValue: nil)

                    fileprivate var $default: RivuletObjects.Binding<Item?> {
                        _default.binding(in: self)
                    }
                }
                """,
            only: ["Published"]
        )
    }

    @Test(arguments: [
        ("0", "Int"), ("\"a\"", "String"), ("Date()", "Date"), ("[Int]()", "[Int]"),
        ("[String: Int]()", "[String: Int]"),
        ("Box<Int>(3)", "Box<Int>"), ("Module.Item(id: 1)", "Module.Item"),
    ])
    func `a field whose initial value shows its type needs no annotation`(value: String, type: String) {
        let text = expansion(of: "final class C {\n    @Published var x = \(value)\n}")
        #expect(text.contains("private let _x = RivuletObjects.Published<\(type)>.declared()"))
    }

    @Test(arguments: [
        ("struct S {\n    @Published var x: Int\n}", "place", "@Published"),
        ("final class C {\n    @Published static var x: Int = 0\n}", "place", "@Published"),
        ("final class C {\n    @Published let x: Int = 0\n}", "constant", "let"),
        ("final class C {\n    @Published var x: Int { 0 }\n}", "computed", "{ 0 }"),
        ("final class C {\n    @Published var x: Int = 0 { didSet {} }\n}", "observers", "{ didSet {} }"),
        ("final class C {\n    @Published lazy var x: Int = 0\n}", "storageModifier", "lazy"),
        ("final class C {\n    @Published weak var x: C?\n}", "storageModifier", "weak"),
        ("final class C {\n    @Published var x = make()\n}", "type", "x"),
        ("final class C {\n    @Published var x = .one\n}", "type", "x"),
    ])
    func `a declaration that cannot be published is an error at its syntax`(source: String, id: String, node: String) {
        let faults = faults(in: source)
        #expect(faults.map(\.id) == [MessageID(domain: "Published", id: id)])
        #expect(faults.map(\.node) == [node])
    }

    @Test
    func `a missing type has a fix-it`() throws {
        let fix = try #require(fixed("final class C {\n    @Published var x = make()\n}"))
        #expect(fix.source.contains("var x: <#Type#> = make()"))
    }
}

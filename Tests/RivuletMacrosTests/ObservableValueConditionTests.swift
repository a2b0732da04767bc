// This file owns the tests of fields of @ObservableValue inside of #if, and of deprecated ones.

import Testing

@Suite
struct ObservableValueConditionTests {
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
    func `a generated function that names a deprecated field is deprecated`() {
        let text = expansion(of: "@ObservableValue struct S { @available(*, deprecated) var a = 1 }")
        #expect(text.contains("@available(*, deprecated)\n    static func _$position"))
        #expect(!expansion(of: "@ObservableValue struct S { var a = 1 }").contains("deprecated"))
    }
}

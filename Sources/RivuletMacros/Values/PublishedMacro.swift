package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of `@Published`.
///
/// The storage is a `let`, so that a `final class` with such fields is Sendable; a property wrapper's storage is no
/// `let`. The storage of a field with a declared value begins empty: the compiler passes the declared value to the init
/// accessor first, and then any value that the initialiser assigns.
package struct PublishedMacro: AccessorMacro, PeerMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        switch PublishedModel.parse(node, on: declaration, in: context.lexicalContext) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return stubs(for: declaration)
        case .model(let field):
            return accessors(of: field)
        }
    }

    package static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        // The accessor role reports errors, once; this role is silent.
        guard case .model(let field) = PublishedModel.parse(node, on: declaration, in: context.lexicalContext) else {
            return []
        }
        let type = "RivuletObjects.Published<\(field.type)>"
        let storage =
            switch field.value {
            case .none: ": \(type)"
            case .declared: " = \(type).declared()"
            case .absent: " = \(type)(wrappedValue: nil)"
            }
        return [
            .text("private let \(field.storage)\(storage)"),
            .text(
                """
                \(field.access)var \(field.name.prefixed("$")): RivuletObjects.Binding<\(field.type)> {
                    \(field.storage).binding(in: self)
                }
                """
            ),
        ]
    }

    /// Returns accessors for a variable with an error, so that the compiler does not report their absence too.
    private static func stubs(for declaration: some DeclSyntaxProtocol) -> [AccessorDeclSyntax] {
        guard
            let variable = declaration.as(VariableDeclSyntax.self),
            variable.bindingSpecifier.tokenKind == .keyword(.var),
            variable.bindings.allSatisfy({ $0.accessorBlock == nil })
        else { return [] }
        return AccessorDeclSyntax.list(["get { Swift.fatalError() }", "set {}"])
    }

    private static func accessors(of field: PublishedModel) -> [AccessorDeclSyntax] {
        let storage = field.storage
        let initializer =
            field.value != .none
            ? """
            @storageRestrictions(accesses: \(storage))
            init(initialValue) {
                \(storage).store(initialValue)
            }
            """
            : """
            @storageRestrictions(initializes: \(storage))
            init(initialValue) {
                \(storage) = RivuletObjects.Published(wrappedValue: initialValue)
            }
            """
        return AccessorDeclSyntax.list([
            initializer,
            """
            get {
                \(storage).wrappedValue
            }
            """,
            """
            set {
                \(storage).set(newValue, in: self)
            }
            """,
            """
            _modify {
                var value = \(storage).edit(in: self)
                defer {
                    \(storage).store(value)
                }
                yield &value
            }
            """,
        ])
    }
}

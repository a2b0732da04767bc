import SwiftDiagnostics
package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservableStateWrapper` and of its short form, `@Wrapped`.
///
/// Source: <Tests/Rows/Systems.md#a-01> to A-16.
package struct ObservableStateWrapperMacro: AccessorMacro, PeerMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        switch parse(node, on: declaration, in: context) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return WrapperForm(node).hasOtherForm(in: declaration) ? [] : stubs(for: declaration)
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
        guard case .model(let field) = parse(node, on: declaration, in: context) else { return [] }
        let storage = storage(of: field)
        return field.isProjected ? [storage, projection(of: field)] : [storage]
    }

    /// Reads a declaration; the long form does not look at the type around it.
    ///
    /// Source: <Tests/Rows/Systems.md#a-diagnostics>.
    private static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> Parsed<WrapperModel> {
        let type = context.lexicalContext.first?.asProtocol((any DeclGroupSyntax).self)
        if WrapperForm(node) == .short, type?.attributes.attribute(named: "ObservableState") == nil {
            return .diagnostics([Diagnostic(node: node, message: WrappedDiagnostic.notInState)])
        }
        return WrapperModel.parse(node, on: declaration)
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

    private static func accessors(of field: WrapperModel) -> [AccessorDeclSyntax] {
        let config = field.config ?? "()"
        // An init accessor may use nothing of the value except its storage.
        let registrar = "RivuletObservation.ObservationStateRegistrar"
        let defaultValue = field.defaultValue.map { ", default: \($0)" } ?? ""
        return AccessorDeclSyntax.list([
            """
            @storageRestrictions(initializes: \(field.storage))
            init(initialValue) {
                \(field.storage) = \(registrar).initialized(Self.self, _$Index.\(field.name), \(field.makeWrapper("initialValue")), from: initialValue\(defaultValue))
            }
            """,
            """
            get {
                _$observationRegistrar.read(_$Index.\(field.name), wrapper: \(field.storage))
            }
            """,
            """
            set {
                _$observationRegistrar.set(_$Index.\(field.name), wrapper: &\(field.storage), from: newValue, config: \(config))
            }
            """,
            """
            _modify {
                let wasAbsent = _$observationRegistrar.begin(_$Index.\(field.name), wrapper: &\(field.storage))
                defer {
                    _$observationRegistrar.end(_$Index.\(field.name), wrapper: &\(field.storage), config: \(config), wasAbsent: wasAbsent)
                }
                yield &\(field.storage).wrappedValue
            }
            """,
        ])
    }

    private static func storage(of field: WrapperModel) -> DeclSyntax {
        let value = field.defaultValue.map { " = \(field.makeWrapper($0))" } ?? ""
        return .text("@ObservationStateIgnored\nprivate var \(field.storage): \(field.wrapper)\(value)")
    }

    private static func projection(of field: WrapperModel) -> DeclSyntax {
        .text(
            """
            var \(field.bareName.prefixed("$")): \(field.wrapper).ProjectedValue {
                get {
                    _$observationRegistrar.recordRead(_$Index.\(field.name), \(field.wrapper).self)
                    return \(field.storage).projectedValue
                }
                set {
                    let wasAbsent = _$observationRegistrar.begin(_$Index.\(field.name), wrapper: &\(field.storage))
                    defer {
                        _$observationRegistrar.end(_$Index.\(field.name), wrapper: &\(field.storage), config: \(field.config ?? "()"), wasAbsent: wasAbsent)
                    }
                    \(field.storage).projectedValue = newValue
                }
            }
            """
        )
    }
}

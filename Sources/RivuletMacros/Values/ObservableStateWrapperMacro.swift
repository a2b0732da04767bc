package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservableStateWrapper`.
///
/// Source: <Tests/Rows/Systems.md#a-01> to A-16.
package struct ObservableStateWrapperMacro: AccessorMacro, PeerMacro {
    /// The generated text is written as it is to stand: formatting it anew took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        switch WrapperModel.parse(node, on: declaration) {
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
        // Silent: the accessor role reports the faults, once.
        guard case .model(let field) = WrapperModel.parse(node, on: declaration) else { return [] }
        let storage = storage(of: field)
        return field.isProjected ? [storage, projection(of: field)] : [storage]
    }

    /// Accessors for a variable with a fault, so that the compiler does not complain of their absence too.
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
        // An init accessor may use nothing of the value but its storage.
        let registrar = "RivuletObservation.ObservationStateRegistrar"
        let standard = field.standard.map { ", default: \($0)" } ?? ""
        return AccessorDeclSyntax.list([
            """
            @storageRestrictions(initializes: \(field.storage))
            init(initialValue) {
                \(field.storage) = \(registrar).initialized(Self.self, _$Index.\(field.name), \(field.makeWrapper("initialValue")), from: initialValue\(standard))
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
        let value = field.standard.map { " = \(field.makeWrapper($0))" } ?? ""
        return .text("@ObservationStateIgnored\nprivate var \(field.storage): \(field.wrapper)\(value)")
    }

    private static func projection(of field: WrapperModel) -> DeclSyntax {
        .text(
            """
            var \(field.bareName.prefixed("$")): \(field.wrapper).ProjectedValue {
                get {
                    _$observationRegistrar.noteRead(_$Index.\(field.name), \(field.wrapper).self)
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

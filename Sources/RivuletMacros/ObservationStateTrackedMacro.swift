// Part of Rivulet. See README.md for the architecture.
// This file owns the expansion of @ObservationStateTracked: accessors that mark what is written.

package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@ObservationStateTracked`, which `@ObservableState` puts on fields that it has checked.
package struct ObservationStateTrackedMacro: AccessorMacro, PeerMacro {
    package static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [AccessorDeclSyntax] {
        guard let field = TrackedField(declaration) else { return [] }
        return [
            """
            @storageRestrictions(initializes: \(raw: field.storage))
            init(initialValue) {
                \(raw: field.storage) = initialValue
            }
            """,
            """
            get {
                _$observationRegistrar.read(_$Index.\(raw: field.name), \(raw: field.storage))
            }
            """,
            """
            set {
                _$observationRegistrar.set(_$Index.\(raw: field.name), &\(raw: field.storage), to: newValue)
            }
            """,
            """
            _modify {
                let wasAbsent = _$observationRegistrar.begin(_$Index.\(raw: field.name), &\(raw: field.storage))
                defer {
                    _$observationRegistrar.end(_$Index.\(raw: field.name), \(raw: field.storage), wasAbsent: wasAbsent)
                }
                yield &\(raw: field.storage)
            }
            """,
        ]
    }

    package static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        guard let field = TrackedField(declaration) else { return [] }
        let type = field.type.map { ": \($0.trimmedDescription)" } ?? ""
        let value = field.initializer.map { " = \($0)" } ?? ""
        return ["private var \(raw: field.storage)\(raw: type)\(raw: value)"]
    }
}

/// A stored `var` with a plain name and no accessors.
struct TrackedField {
    /// The name as written, with backticks if it has them.
    let name: String
    let bareName: String
    let type: TypeSyntax?
    let initializer: String?

    /// The storage's name.
    var storage: String { "_\(bareName)" }

    init?(_ declaration: some DeclSyntaxProtocol) {
        guard
            let variable = declaration.as(VariableDeclSyntax.self),
            let binding = variable.bindings.first, variable.bindings.count == 1,
            binding.accessorBlock == nil,
            let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier
        else { return nil }
        name = identifier.text
        bareName = identifier.bareName
        type = binding.typeAnnotation?.type.trimmed
        initializer = binding.initializer?.value.trimmedDescription
    }
}

// Part of Rivulet. See README.md for the architecture.
// This file owns the reading of a struct with @ObservableState: which members are fields, and what is wrong with them.

import SwiftDiagnostics
import SwiftSyntax

/// A state struct as it stands in the source.
struct StateModel {
    /// One tracked field.
    struct Field {
        let name: String
        let bareName: String
        let type: TypeSyntax?
        let initializer: String?
        let wrapper: WrapperModel?
        let isTransient: Bool
        let isReplaceable: Bool

        /// The storage's name.
        var storage: String { "_\(bareName)" }

        /// The field's step in a key path: a slash and the escaped name.
        ///
        /// Source: RFC 6901 §3.
        var step: String { bareName.step }

        /// The type as written; empty when it follows from the initialiser.
        var typeText: String { type?.trimmedDescription ?? "" }

        /// The value that the field has when JSON does not mention it; nil: JSON must mention it.
        var standard: String? { initializer ?? (type?.isOptionalBySpelling == true ? "nil" : nil) }
    }

    let fields: [Field]
    /// What generated members need in front, with a space after it.
    let access: String

    /// Whether every field has a value before JSON is read.
    var isDefaulted: Bool { fields.allSatisfy { $0.standard != nil } }

    /// Reads a declaration, with all faults of its members.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<StateModel> {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            return .diagnostics([Diagnostic(node: node, message: otherType(declaration))])
        }
        var diagnostics: [Diagnostic] = []
        let fields = declaration.memberBlock.members.compactMap { field($0.decl, &diagnostics) }
        if fields.count > MacroDiagnostic.fieldsMax {
            let message = MacroDiagnostic.tooManyFields(count: fields.count)
            diagnostics.append(Diagnostic(node: node, message: message))
        }
        if let modifier = declaration.hidingModifier(in: context) {
            let message = MacroDiagnostic.privateInType(macro: "@ObservableState", name: declaration.name.text)
            diagnostics.append(Diagnostic(node: modifier, message: message))
        }
        guard diagnostics.isEmpty else { return .diagnostics(diagnostics) }
        return .model(StateModel(fields: fields, access: declaration.memberAccess(in: context)))
    }

    /// Whether a member gets `@ObservationStateTracked`.
    static func isTracked(_ member: some DeclSyntaxProtocol) -> Bool {
        var diagnostics: [Diagnostic] = []
        guard
            let variable = member.as(VariableDeclSyntax.self),
            variable.attributes.attribute(named: "ObservationStateTracked") == nil,
            let field = field(DeclSyntax(variable), &diagnostics)
        else { return false }
        return field.wrapper == nil && diagnostics.isEmpty
    }

    private static func otherType(_ declaration: some DeclGroupSyntax) -> MacroDiagnostic {
        let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? ""
        let kind =
            switch declaration.kind {
            case .classDecl: "class"
            case .actorDecl: "actor"
            case .protocolDecl: "protocol"
            default: "this"
            }
        return .stateOnOtherType(kind: kind, name: name)
    }

    private static func field(_ member: DeclSyntax, _ diagnostics: inout [Diagnostic]) -> Field? {
        if let conditional = member.as(IfConfigDeclSyntax.self), conditional.hasStoredVariable {
            diagnostics.append(Diagnostic(node: conditional, message: MacroDiagnostic.conditional))
        }
        guard let variable = member.as(VariableDeclSyntax.self), !variable.isTypeMember else { return nil }
        if let attribute = variable.attributes.attribute(named: "ObservableStateWrapper") {
            // The wrapper macro reports its own faults.
            guard case .model(let wrapper) = WrapperModel.parse(attribute, on: variable) else { return nil }
            return Field(wrapper, variable)
        }
        guard variable.isStored else { return nil }
        if let fault = fault(variable) {
            diagnostics.append(fault)
            return nil
        }
        guard
            variable.bindingSpecifier.tokenKind == .keyword(.var),
            variable.attributes.attribute(named: "ObservationStateIgnored") == nil,
            let tracked = TrackedField(variable)
        else { return nil }
        return Field(tracked, variable)
    }

    /// What keeps a stored variable from being tracked, or, if it need not be, from having a value.
    private static func fault(_ variable: VariableDeclSyntax) -> Diagnostic? {
        guard let binding = variable.bindings.first else { return nil }
        let name = binding.pattern.trimmedDescription
        let hasValue = variable.bindings.allSatisfy {
            $0.initializer != nil || $0.typeAnnotation?.type.isOptionalBySpelling == true
        }
        func diagnostic(_ message: MacroDiagnostic, _ node: some SyntaxProtocol) -> Diagnostic {
            Diagnostic(node: node, message: message)
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            let isSet = variable.bindings.allSatisfy { $0.initializer != nil }
            return isSet ? nil : diagnostic(.constantWithoutValue(name: name), variable.bindingSpecifier)
        }
        if variable.attributes.attribute(named: "ObservationStateIgnored") != nil {
            return hasValue ? nil : diagnostic(.ignoredWithoutValue(name: name), binding.pattern)
        }
        guard variable.bindings.count == 1 else { return diagnostic(.severalBindings, variable.bindings) }
        guard binding.pattern.is(IdentifierPatternSyntax.self) else { return diagnostic(.pattern, binding.pattern) }
        if variable.modifiers.contains(.lazy) { return diagnostic(.lazy(name: name), binding.pattern) }
        return binding.accessorBlock.map { diagnostic(.observers(name: name), $0) }
    }
}

extension StateModel.Field {
    fileprivate init(_ wrapper: WrapperModel, _ variable: VariableDeclSyntax) {
        self.init(
            name: wrapper.name,
            bareName: wrapper.bareName,
            type: wrapper.type,
            initializer: wrapper.initializer,
            wrapper: wrapper,
            isTransient: variable.attributes.attribute(named: "Transient") != nil,
            isReplaceable: variable.attributes.attribute(named: "Replaceable") != nil
        )
    }

    fileprivate init(_ tracked: TrackedField, _ variable: VariableDeclSyntax) {
        self.init(
            name: tracked.name,
            bareName: tracked.bareName,
            type: tracked.type,
            initializer: tracked.initializer,
            wrapper: nil,
            isTransient: variable.attributes.attribute(named: "Transient") != nil,
            isReplaceable: variable.attributes.attribute(named: "Replaceable") != nil
        )
    }
}

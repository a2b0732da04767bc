import SwiftDiagnostics
import SwiftSyntax

/// An observable value as written in the source.
struct ValueModel {
    /// One stored property of the values, with its public name.
    struct CodingKey {
        let storage: String
        let name: String
    }

    /// A part of the struct: a stored variable of the values, or variables under a condition.
    indirect enum Part {
        case variable(VariableDeclSyntax)
        /// The clauses of an `#if`, each with the line that opens it.
        case conditional([(opening: String, parts: [Part])])

        /// The variables, including all branches of an `#if`.
        var variables: [VariableDeclSyntax] {
            switch self {
            case .variable(let variable): [variable]
            case .conditional(let clauses): clauses.flatMap { $0.parts.flatMap(\.variables) }
            }
        }
    }

    let typeName: String
    let members: [DeclSyntax]
    /// The stored variables of the values, fields and others.
    let parts: [Part]
    let fields: [TrackedField]
    /// The access modifier of generated members, with a space after it.
    let access: String
    /// The type's `@available` attributes.
    let availability: [String]

    /// The signatures of the type's own members, which are not generated again.
    var signatures: Set<String> { Set(members.compactMap { $0.signature(in: typeName) }) }

    /// True if some stored variables exist only under a condition.
    var isConditional: Bool {
        parts.contains { if case .conditional = $0 { true } else { false } }
    }

    /// True if a field is marked as deprecated, which must cause no warnings in generated code.
    var hasDeprecatedField: Bool {
        fields.contains { field in
            field.attributes.contains { attribute in
                attribute.as(AttributeSyntax.self).map { $0.lastName == "available" } == true
                    && attribute.trimmedDescription.contains("deprecated")
            }
        }
    }

    /// Reads a declaration, with all errors of its members.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<ValueModel> {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            return .diagnostics([Diagnostic(node: node, message: otherType(declaration))])
        }
        let name = declaration.name.text
        let members = declaration.memberBlock.members.map(\.decl)
        let parts = parts(of: declaration.memberBlock.members)
        let variables = parts.flatMap(\.variables)
        let fields = variables.filter(isObservable).compactMap { TrackedField($0) }
        var diagnostics = variables.compactMap(fault)
        if fields.count > MacroDiagnostic.fieldsMax {
            let message = ValueDiagnostic.tooManyFields(count: fields.count)
            diagnostics.append(Diagnostic(node: node, message: message))
        }
        if let modifier = declaration.hidingModifier(in: context) {
            diagnostics.append(Diagnostic(node: modifier, message: ValueDiagnostic.privateInType(name: name)))
        }
        guard diagnostics.isEmpty else { return .diagnostics(diagnostics) }
        let isPrivate = declaration.modifiers.contains(.private) || declaration.modifiers.contains(.fileprivate)
        return .model(
            ValueModel(
                typeName: name,
                members: members,
                parts: parts,
                fields: fields,
                access: isPrivate ? "fileprivate " : declaration.memberAccess(in: context),
                availability: declaration.attributes.compactMap { $0.as(AttributeSyntax.self) }
                    .filter { $0.lastName == "available" }
                    .map(\.trimmedDescription)
            )
        )
    }

    private static func parts(of members: MemberBlockItemListSyntax) -> [Part] {
        members.compactMap { member in
            if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                guard conditional.hasStoredVariable else { return nil }
                return .conditional(
                    conditional.clauses.map { clause in
                        guard case .decls(let members)? = clause.elements else { return (clause.opening, []) }
                        return (clause.opening, parts(of: members))
                    }
                )
            }
            let variable = member.decl.as(VariableDeclSyntax.self)
            return variable.flatMap { $0.isTypeMember || !$0.isStored ? nil : .variable($0) }
        }
    }

    /// Returns the field that a variable declares; nil if the variable is no field.
    static func field(_ variable: VariableDeclSyntax) -> TrackedField? {
        isObservable(variable) ? TrackedField(variable) : nil
    }

    /// Returns true if a variable is a field: stored in each value, with a plain name, and not ignored.
    ///
    /// Source: <Tests/Rows/Systems.md#b-06>.
    static func isObservable(_ variable: VariableDeclSyntax) -> Bool {
        isMeant(variable) && fault(variable) == nil
    }

    /// Returns true if a member gets `@Observing`.
    static func isTagged(_ member: some DeclSyntaxProtocol) -> Bool {
        guard let variable = member.as(VariableDeclSyntax.self) else { return false }
        return variable.attributes.attribute(named: "Observing") == nil && isObservable(variable)
    }

    /// Returns true if a variable is meant to be a field; a variable with a generated name is not.
    private static func isMeant(_ variable: VariableDeclSyntax) -> Bool {
        !variable.isTypeMember && variable.isStored && variable.bindingSpecifier.tokenKind == .keyword(.var)
            && variable.attributes.attribute(named: "Ignoring") == nil && !variable.hasGeneratedName
    }

    private static func otherType(_ declaration: some DeclGroupSyntax) -> ValueDiagnostic {
        let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? ""
        return switch declaration.kind {
        case .enumDecl: .enumeration(name: name)
        case .actorDecl: .actor(name: name)
        case .classDecl: .otherClass(name: name)
        default: .otherType
        }
    }

    /// Returns the error of a variable that is meant to be a field but cannot be one.
    private static func fault(_ variable: VariableDeclSyntax) -> Diagnostic? {
        func diagnostic(_ message: ValueDiagnostic, _ node: some SyntaxProtocol) -> Diagnostic {
            Diagnostic(node: node, message: message)
        }
        guard isMeant(variable) else { return nil }
        guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
            return diagnostic(.severalBindings, variable.bindings)
        }
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareName else {
            return diagnostic(.pattern, binding.pattern)
        }
        let refused: Set<String> = ["lazy", "weak", "unowned"]
        return variable.modifiers.first { refused.contains($0.name.text) }
            .map { diagnostic(.storageModifier($0.name.text, name: name), $0) }
    }

    /// Returns the coding keys of a variable.
    static func codingKeys(_ variable: VariableDeclSyntax) -> [CodingKey] {
        // As in Swift, a lazy variable is not coded. A variable with a generated name is not coded either.
        guard !variable.modifiers.contains(.lazy), !variable.hasGeneratedName else { return [] }
        if isObservable(variable), let field = TrackedField(variable) {
            return [CodingKey(storage: field.storage, name: field.bareName)]
        }
        return variable.bindings.flatMap { names(in: $0.pattern) }.map { CodingKey(storage: $0, name: $0) }
    }

    private static func names(in pattern: PatternSyntax) -> [String] {
        if let tuple = pattern.as(TuplePatternSyntax.self) {
            return tuple.elements.flatMap { names(in: $0.pattern) }
        }
        return pattern.as(IdentifierPatternSyntax.self).map { [$0.identifier.text] } ?? []
    }
}

extension VariableDeclSyntax {
    /// True if the name is one that macros generate.
    fileprivate var hasGeneratedName: Bool {
        bindings.contains { $0.pattern.trimmedDescription.hasPrefix("_$") }
    }
}

import SwiftDiagnostics
import SwiftSyntax

/// A state struct as written in the source.
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
        var storage: String { bareName.prefixed("_") }

        /// The name of the variable that has the value while JSON is read.
        var local: String { bareName.prefixed("_$") }

        /// The field's step in a key path: a slash and the escaped name.
        ///
        /// Source: RFC 6901 §3.
        var step: String { bareName.step }

        /// The type as written; empty if it follows from the initialiser.
        var typeText: String { type?.trimmedDescription ?? "" }

        /// The type of the field's values, as far as the source shows it.
        let valueType: String?

        /// The value that the field has if JSON lacks the field; nil if JSON must have it.
        var defaultValue: String? { initializer ?? (type?.isOptionalBySpelling == true ? "nil" : nil) }
    }

    /// A part of the struct: a field, or fields under a condition.
    indirect enum Part {
        /// A field, by its position in `fields`.
        case field(Int)
        /// The clauses of an `#if`, each with the line that opens it.
        case conditional([(opening: String, parts: [Part])])
    }

    /// The fields in the order of declaration, including all branches of an `#if`.
    var fields: [Field] = []
    var parts: [Part] = []
    /// The access modifier of generated members, with a space after it.
    let access: String

    /// True if every field has a value before JSON is read.
    var isDefaulted: Bool { fields.allSatisfy { $0.defaultValue != nil } }

    /// True if a field exists only under a condition, so that the macro does not know the positions.
    var isConditional: Bool {
        parts.contains { if case .conditional = $0 { true } else { false } }
    }

    /// True if some member cannot be tracked; the generated code then only prevents further errors of the compiler.
    var isFaulty = false

    /// Reads a declaration, with all errors of its members.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<StateModel> {
        guard let declaration = declaration.as(StructDeclSyntax.self) else {
            return .diagnostics([Diagnostic(node: node, message: otherType(declaration))])
        }
        let (model, diagnostics) = read(declaration, node, in: context)
        return diagnostics.isEmpty ? .model(model) : .diagnostics(diagnostics)
    }

    /// Returns a model of the members that can be tracked, even if others cannot be.
    static func recover(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> StateModel? {
        guard isRecoverable(declaration), let declaration = declaration.as(StructDeclSyntax.self) else { return nil }
        return read(declaration, node, in: context).0
    }

    /// Returns true if ``recover(_:on:in:)`` has a model; it reads no members, because it is called for each member.
    static func isRecoverable(_ declaration: some DeclGroupSyntax) -> Bool {
        guard let declaration = declaration.as(StructDeclSyntax.self) else { return false }
        return declaration.privateModifier == nil
    }

    private static func read(
        _ declaration: StructDeclSyntax,
        _ node: AttributeSyntax,
        in context: [Syntax]
    ) -> (StateModel, [Diagnostic]) {
        var diagnostics: [Diagnostic] = []
        var model = StateModel(access: declaration.memberAccess(in: context))
        model.parts = model.read(declaration.memberBlock.members, &diagnostics)
        for type in declaration.memberBlock.members.plainTypes
        where model.fields.contains(where: { $0.valueType.map(type.isPart) == true }) {
            diagnostics.append(type.fault)
        }
        if model.fields.count > MacroDiagnostic.fieldsMax {
            let message = MacroDiagnostic.tooManyFields(count: model.fields.count)
            diagnostics.append(Diagnostic(node: node, message: message))
        }
        if let modifier = declaration.privateModifier {
            let message = MacroDiagnostic.privateInType(macro: "@ObservableState", name: declaration.name.text)
            let fix = SourceFix.replace(
                modifier,
                with: "fileprivate",
                "Replace 'private' with 'fileprivate'",
                id: "unhide"
            )
            diagnostics.append(Diagnostic(node: modifier, message: message, fixIts: [fix]))
        }
        model.isFaulty = !diagnostics.isEmpty
        return (model, diagnostics)
    }

    /// Reads the fields of a list of members; other members are left out.
    private mutating func read(_ members: MemberBlockItemListSyntax, _ diagnostics: inout [Diagnostic]) -> [Part] {
        var parts: [Part] = []
        for member in members {
            if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                let count = fields.count
                let clauses = conditional.clauses.map { clause in
                    guard case .decls(let members)? = clause.elements else { return (clause.opening, [Part]()) }
                    return (clause.opening, read(members, &diagnostics))
                }
                if fields.count > count { parts.append(.conditional(clauses)) }
            } else if let field = Self.field(member.decl, &diagnostics) {
                parts.append(.field(fields.count))
                fields.append(field)
            }
        }
        return parts
    }

    /// Returns true if a member gets `@ObservationStateTracked`.
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
        guard let variable = member.as(VariableDeclSyntax.self), !variable.isTypeMember else { return nil }
        if let fault = WrappedArguments(variable.attributes)?.fault {
            diagnostics.append(fault)
            return nil
        }
        if let attribute = variable.attributes.wrapper {
            // The wrapper macro reports its own errors.
            guard case .model(let wrapper) = WrapperModel.parse(attribute, on: variable) else { return nil }
            if let fault = variable.storedFault { diagnostics.append(fault) }
            return Field(wrapper, variable)
        }
        guard variable.isStored else { return nil }
        if let fault = variable.stateFault {
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
            isReplaceable: variable.attributes.attribute(named: "Replaceable") != nil,
            valueType: variable.evidentType
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
            isReplaceable: variable.attributes.attribute(named: "Replaceable") != nil,
            valueType: variable.evidentType
        )
    }
}

import SwiftDiagnostics
import SwiftSyntax

/// A published field as it stands in the source.
struct PublishedModel {
    /// The name without backticks.
    let name: String
    let type: String
    let value: Value
    /// What the binding needs in front, with a space after it, to be as visible as the field.
    let access: String

    /// What the field is before the enclosing initialiser assigns to it.
    enum Value {
        /// Nothing: it must be assigned to.
        case none
        /// The value where it is declared.
        case declared
        /// Nil, as for any optional that is declared without a value.
        case absent
    }

    /// The storage's name.
    var storage: String { name.prefixed("_") }

    /// Reads a declaration in what stands around it, from the inside out; the first fault is the one that counts.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclSyntaxProtocol,
        in context: [Syntax]
    ) -> Parsed<PublishedModel> {
        guard
            let variable = declaration.as(VariableDeclSyntax.self), !variable.isTypeMember,
            context.first?.is(ClassDeclSyntax.self) == true
        else { return fault(.place, node) }
        guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
            return fault(.severalBindings, node, Mend.split(variable))
        }
        guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
            return fault(.constant, variable.bindingSpecifier, Mend.makeVariable(variable.bindingSpecifier))
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            return fault(.pattern, binding.pattern)
        }
        if let accessors = binding.accessorBlock {
            return fault(variable.isStored ? .observers(identifier.bareName) : .computed, accessors)
        }
        let refused = ["lazy", "weak", "unowned"]
        if let modifier = variable.modifiers.first(where: { refused.contains($0.name.text) }) {
            let mend = modifier.name.text == "lazy" ? Mend.remove(modifier) : nil
            return fault(.storageModifier(modifier.name.text, identifier.bareName), modifier, mend)
        }
        guard let type = binding.typeAnnotation?.type.valueType ?? binding.initializer?.value.evidentType else {
            return fault(.type(identifier.bareName), binding.pattern, Mend.addType(binding))
        }
        return .model(
            PublishedModel(
                name: identifier.bareName,
                type: type,
                value: binding.initializer != nil
                    ? .declared : binding.typeAnnotation?.type.isOptionalBySpelling == true ? .absent : .none,
                access: variable.modifiers.readAccess
            )
        )
    }

    private static func fault(
        _ message: PublishedDiagnostic,
        _ node: some SyntaxProtocol,
        _ mend: FixIt? = nil
    ) -> Parsed<PublishedModel> {
        .diagnostics([Diagnostic(node: node, message: message, fixIts: mend.map { [$0] } ?? [])])
    }
}

/// Why a variable cannot be published.
enum PublishedDiagnostic: DiagnosticMessage {
    case place
    case severalBindings
    case constant
    case pattern
    case computed
    case observers(String)
    case storageModifier(String, String)
    case type(String)

    var message: String {
        switch self {
        case .place: "'@Published' can only be applied to a stored 'var' of a class that is an 'ObservableObject'"
        case .severalBindings: "'@Published' needs one 'var' for each field: split this declaration"
        case .constant: "'@Published' needs a 'var': a 'let' never changes"
        case .pattern: "'@Published' cannot publish a tuple pattern: declare one 'var' for each field"
        case .computed: "'@Published' cannot publish a computed property: publish what it is computed from"
        case .observers(let name):
            """
            '@Published' cannot publish '\(name)' with 'willSet' or 'didSet': do that work where the field is written, or in a \
            subscriber of 'objectWillChange'
            """
        case .storageModifier(let modifier, let name):
            "'@Published' cannot publish the \(modifier) '\(name)': remove '\(modifier)'"
        case .type(let name): "'@Published' needs the type of '\(name)' to stand here: its binding has it too"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "Published", id: id) }

    private var id: String {
        switch self {
        case .place: "place"
        case .severalBindings: "severalBindings"
        case .constant: "constant"
        case .pattern: "pattern"
        case .computed: "computed"
        case .observers: "observers"
        case .storageModifier: "storageModifier"
        case .type: "type"
        }
    }
}

extension TypeSyntax {
    /// The type that a value of this one has: `T!` is a `T?`.
    fileprivate var valueType: String {
        self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self).map { "\($0.wrappedType.trimmedDescription)?" }
            ?? trimmedDescription
    }
}

extension ExprSyntax {
    /// The type that an expression names or has by itself: that of a literal, of `Type(…)`, or of `[Type]()`.
    fileprivate var evidentType: String? {
        if let type = literalType { return type }
        guard let called = self.as(FunctionCallExprSyntax.self)?.calledExpression.trimmed else { return nil }
        if called.is(ArrayExprSyntax.self) || called.is(DictionaryExprSyntax.self) { return called.description }
        let name = called.as(GenericSpecializationExprSyntax.self)?.expression ?? called
        let last =
            name.as(MemberAccessExprSyntax.self).flatMap { $0.base == nil ? nil : $0.declName.baseName.text }
            ?? name.as(DeclReferenceExprSyntax.self)?.baseName.text
        // By the naming that all Swift follows: functions begin in lower case.
        guard let first = last?.first, first.isUppercase else { return nil }
        return called.description
    }
}

extension DeclModifierListSyntax {
    /// The modifier of reading access, with a space after it.
    fileprivate var readAccess: String {
        let levels = ["public", "package", "internal", "fileprivate", "private"]
        guard let modifier = first(where: { $0.detail == nil && (levels + ["open"]).contains($0.name.text) }) else {
            return ""
        }
        return modifier.name.text == "open" ? "public " : "\(modifier.name.text) "
    }
}

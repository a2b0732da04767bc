import SwiftDiagnostics
import SwiftSyntax

/// A published field as written in the source.
struct PublishedModel {
    /// The name without backticks.
    let name: String
    let type: String
    let value: Value
    /// The access modifier of the binding, with a space after it, so that the binding is as visible as the field.
    let access: String

    /// The value of the field before the enclosing initialiser assigns to it.
    enum Value {
        /// No value: the field must be assigned to.
        case none
        /// The value in the declaration.
        case declared
        /// Nil, as for any optional that is declared without a value.
        case absent
    }

    /// The storage's name.
    var storage: String { name.prefixed("_") }

    /// Reads a declaration, and reports only its first error; `context` begins with the innermost enclosing syntax.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclSyntaxProtocol,
        in context: [Syntax]
    ) -> Parsed<PublishedModel> {
        guard
            let variable = declaration.as(VariableDeclSyntax.self), !variable.isTypeMember,
            context.first?.is(ClassDeclSyntax.self) == true
        else { return fault(.target, node) }
        guard let binding = variable.bindings.first, variable.bindings.count == 1 else {
            return fault(.severalBindings, node, SourceFix.split(variable))
        }
        guard variable.bindingSpecifier.tokenKind == .keyword(.var) else {
            return fault(.constant, variable.bindingSpecifier, SourceFix.makeVariable(variable.bindingSpecifier))
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            return fault(.pattern, binding.pattern)
        }
        if let accessors = binding.accessorBlock {
            return fault(variable.isStored ? .observers(identifier.bareName) : .computed, accessors)
        }
        let refused = ["lazy", "weak", "unowned"]
        if let modifier = variable.modifiers.first(where: { refused.contains($0.name.text) }) {
            let fix = modifier.name.text == "lazy" ? SourceFix.remove(modifier) : nil
            return fault(.storageModifier(modifier.name.text, identifier.bareName), modifier, fix)
        }
        guard let type = binding.typeAnnotation?.type.valueType ?? binding.initializer?.value.evidentType else {
            return fault(.type(identifier.bareName), binding.pattern, SourceFix.addType(binding))
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
        _ fix: FixIt? = nil
    ) -> Parsed<PublishedModel> {
        .diagnostics([Diagnostic(node: node, message: message, fixIts: fix.map { [$0] } ?? [])])
    }
}

/// The errors of a variable that cannot be published.
enum PublishedDiagnostic: DiagnosticMessage {
    case target
    case severalBindings
    case constant
    case pattern
    case computed
    case observers(String)
    case storageModifier(String, String)
    case type(String)

    var message: String {
        switch self {
        case .target: "'@Published' can only be applied to a stored 'var' of a class that is an 'ObservableObject'"
        case .severalBindings: "'@Published' needs one 'var' for each field: split this declaration"
        case .constant: "'@Published' needs a 'var': a 'let' never changes"
        case .pattern: "'@Published' cannot publish a tuple pattern: declare one 'var' for each field"
        case .computed: "'@Published' cannot publish a computed property: publish the fields that it reads"
        case .observers(let name):
            """
            '@Published' cannot publish '\(name)' with 'willSet' or 'didSet': do that work where the field is written, or in a \
            subscriber of 'objectWillChange'
            """
        case .storageModifier(let modifier, let name):
            "'@Published' cannot publish the \(modifier) '\(name)': remove '\(modifier)'"
        case .type(let name): "'@Published' needs the type of '\(name)' here, because its binding has this type"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "Published", id: id) }

    private var id: String {
        switch self {
        case .target: "place"
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

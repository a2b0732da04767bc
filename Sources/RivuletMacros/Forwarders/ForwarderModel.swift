import SwiftDiagnostics
import SwiftSyntax

/// A forwarder as written in the source.
struct ForwarderModel {
    /// One forwarded value.
    struct Forward {
        /// Key paths as written.
        let state: String
        let object: String
        /// The last component of the object's key path, the label in its initialiser.
        let label: String
        /// The parts of the state's key path as written: the root, then each component with its dot.
        let parts: [Part]

        /// A part of a key path.
        struct Part {
            let text: String
            /// The property's name, or `*` for a subscript; nil for a part without a name.
            let token: String?
        }

        /// Returns the properties that the state's key path goes through from a type; nil if it goes through anything
        /// else.
        ///
        /// The type's name may have dots too, so the properties begin after the type's whole text.
        func properties(from type: String) -> [String]? {
            guard state.hasPrefix("\\\(type).") else { return nil }
            let names = state.dropFirst(type.count + 2).split(separator: ".", omittingEmptySubsequences: false)
            guard names.allSatisfy({ $0.wholeMatch(of: /`?[\p{L}_][\p{L}\p{N}_]*`?/) != nil }) else { return nil }
            return names.map { String($0).replacing("`", with: "") }
        }

        /// Returns the properties and subscripts that the state's key path goes through from a type; nil if the path
        /// does not contain the type.
        func steps(from type: String) -> [Step]? {
            guard var path = parts.first?.text else { return nil }
            var rest = parts.dropFirst()
            while path != type {
                guard let part = rest.popFirst() else { return nil }
                path += part.text
            }
            return rest.compactMap { part in
                defer { path += part.text }
                return part.token.map { Step(name: $0, owner: "\\\(path)") }
            }
        }

        /// One property or subscript of a key path.
        struct Step {
            /// The property's name, or `*` for a subscript.
            let name: String
            /// The key path to the owner of the property or subscript.
            let owner: String
        }
    }

    /// The object's type as written.
    let object: String
    /// The state's type as written.
    let state: String
    let forwards: [Forward]
    /// True if the forwarder listens to a state manager; false if `from:` names the state.
    let isListener: Bool

    /// Reads the attribute, and reports only the first failing check.
    static func parse(_ node: AttributeSyntax, on declaration: some DeclGroupSyntax) -> Parsed<ForwarderModel> {
        let arguments = node.arguments?.as(LabeledExprListSyntax.self)
        let source = arguments?.first { $0.label?.text == "from" }
        guard declaration.is(ClassDeclSyntax.self) || source != nil else { return fault(.notAClass, node) }
        guard let arguments else { return fault(.noArguments, node) }
        var object: String?
        var mapping: [(state: KeyPathExprSyntax, forward: Forward)] = []
        for argument in arguments where argument.label?.text != "from" {
            let isType = argument.label.map { $0.text == "for" } ?? (object == nil)
            if isType, object == nil {
                guard let type = argument.expression.referredType else {
                    return fault(.invalidType, argument.expression)
                }
                object = type
            } else if argument.label.map({ $0.text == "mapping" }) ?? mapping.isEmpty {
                switch forwards(argument.expression) {
                case .model(let forwards): mapping = forwards
                case .diagnostics(let diagnostics): return .diagnostics(diagnostics)
                }
            }
        }
        guard let object else { return fault(.noType, node) }
        guard let first = mapping.first else { return fault(.noMapping, node) }
        var state = first.state.root?.trimmedDescription ?? "AppState"
        if let source {
            guard let type = source.expression.referredType else { return fault(.invalidType, source.expression) }
            state = type
        }
        let forwards = mapping.map(\.forward)
        return .model(ForwarderModel(object: object, state: state, forwards: forwards, isListener: source == nil))
    }

    private static func forwards(
        _ expression: ExprSyntax
    ) -> Parsed<[(state: KeyPathExprSyntax, forward: Forward)]> {
        guard let array = expression.as(ArrayExprSyntax.self) else { return fault(.mappingNoArray, expression) }
        var forwards: [(state: KeyPathExprSyntax, forward: Forward)] = []
        for element in array.elements {
            guard
                let pair = element.expression.as(TupleExprSyntax.self), pair.elements.count == 2,
                let state = pair.elements.first?.expression.as(KeyPathExprSyntax.self),
                let object = pair.elements.last?.expression
            else { return fault(.mappingNoPair, element.expression) }
            guard let label = object.as(KeyPathExprSyntax.self)?.propertyName else {
                return fault(.noPropertyName, object)
            }
            let forward = Forward(
                state: state.trimmedDescription,
                object: object.trimmedDescription,
                label: label,
                parts: state.parts
            )
            forwards.append((state, forward))
        }
        return .model(forwards)
    }

    private static func fault<Model>(_ message: ForwarderDiagnostic, _ node: some SyntaxProtocol) -> Parsed<Model> {
        .diagnostics([Diagnostic(node: node, message: message)])
    }
}

extension ExprSyntax {
    /// The type that is written as `Type.self` or as `Type`.
    fileprivate var referredType: String? {
        guard let member = self.as(MemberAccessExprSyntax.self), member.declName.baseName.tokenKind == .keyword(.self)
        else { return trimmedDescription.isEmpty ? nil : trimmedDescription }
        return member.base?.trimmedDescription
    }
}

extension KeyPathExprSyntax {
    /// The root and the components, one by one.
    fileprivate var parts: [ForwarderModel.Forward.Part] {
        let root = ForwarderModel.Forward.Part(text: root?.trimmedDescription ?? "", token: nil)
        return [root]
            + components.map { component in
                let token: String? =
                    switch component.component {
                    case .property(let property): property.declName.baseName.text.replacing("`", with: "")
                    case .subscript: "*"
                    default: nil
                    }
                return ForwarderModel.Forward.Part(text: component.trimmedDescription, token: token)
            }
    }

    /// The name of the property at the end of the path.
    fileprivate var propertyName: String? {
        guard case .property(let property)? = components.last?.component else { return nil }
        let name = property.declName
        return name.argumentNames == nil && name.baseName.tokenKind != .keyword(.self) ? name.baseName.text : nil
    }
}

/// The errors of a forwarder; the texts are part of the contract.
///
/// Source: <Tests/Rows/Systems.md#d-diagnostics>.
enum ForwarderDiagnostic: String, DiagnosticMessage {
    case notAClass = "@StateForwarder can only be used on classes"
    case noArguments = "@StateForwarder requires arguments"
    case noType = "@StateForwarder requires `for` type argument"
    case noMapping = "@StateForwarder requires mapping"
    case invalidType = "@StateForwarder requires a valid type reference"
    case mappingNoArray = "@StateForwarder mapping must be an array of tuples"
    case mappingNoPair = "@StateForwarder mapping entries must be tuple pairs"
    case noPropertyName = "Key path must include a property name"

    var message: String { rawValue }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "StateForwarder", id: "\(self)") }
}

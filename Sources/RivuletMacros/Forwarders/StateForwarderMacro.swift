package import SwiftSyntax
import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// The expansion of `@StateForwarder`.
///
/// The `weak var receiver` of the upstream library would keep the class from being Sendable. Here the property is
/// computed, from a receiver that locks. Source: <Tests/Rows/Systems.md#d-24> to D-27.
package struct StateForwarderMacro: MemberMacro, ExtensionMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        switch ForwarderModel.parse(node, on: declaration) {
        case .diagnostics(let diagnostics):
            for diagnostic in diagnostics { context.diagnose(diagnostic) }
            return []
        case .model(let model):
            return ((model.isListener ? model.listenerMembers : []) + model.forwardingMembers).map(DeclSyntax.text)
        }
    }

    package static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) -> [ExtensionDeclSyntax] {
        // The member role reports errors, once; this role is silent.
        guard case .model = ForwarderModel.parse(node, on: declaration), !protocols.isEmpty else { return [] }
        return ExtensionDeclSyntax.list(of: type, conformingTo: protocols.map(\.trimmedDescription))
    }
}

extension ForwarderModel {
    /// The members of the upstream library's forwarder, in its order, and the receiver that the first two members use.
    fileprivate var listenerMembers: [String] {
        [
            """
            var receiver: \(object)? {
                get {
                    _$receiver.object
                }
                set {
                    _$receiver.object = newValue
                }
            }
            """,
            """
            public var zombie: Swift.Bool {
                get {
                    _$receiver.isZombie
                }
                set {
                    _$receiver.isZombie = newValue
                }
            }
            """,
            "let stateManager: AppUIStateManager",
            """
            public init(stateManager: AppUIStateManager) {
                self.stateManager = stateManager
            }
            """,
            """
            public func getStateObject() -> \(object) {
                let stateObject = Self.makeObject(from: stateManager.getState())
                receiver = stateObject
                stateManager.addListener(self)
                return stateObject
            }
            """,
            """
            public func updateState(_ stateHolder: Swift.AnyObject) {
                guard let stateHolder = stateHolder as? AppStateHolder, let receiver else {
                    return
                }
                Self.forward(stateHolder.state, to: receiver)
            }
            """,
            "private let _$receiver = RivuletObservation.Generated.ForwarderReceiver<\(object)>()",
        ]
    }

    /// The members that a hosted session calls; the listener's members call them too.
    fileprivate var forwardingMembers: [String] {
        let arguments = forwards.map { "\($0.label): state[keyPath: \($0.state)]" }.joined(separator: ",\n")
        let fields = forwards.map { forward in
            let list = { (texts: [String]) in "[\(texts.joined(separator: ", "))]" }
            let path = forward.properties(from: state).map { list($0.map(\.quoted)) }
            let name = forward.label.replacing("`", with: "").quoted
            let steps = forward.steps(from: state) ?? []
            // A value without a path in the state's JSON still depends on the steps of its key path.
            let through = path == nil && !steps.isEmpty ? ", through: \(list(steps.map(\.name.quoted)))" : ""
            // The state itself is the owner of the first step.
            let owners = steps.count > 1 ? ", owners: \(list(steps.dropFirst().map(\.owner)))" : ""
            let arguments = "\(name), \(path ?? "nil"), \(forward.state), \(forward.object)\(through)\(owners)"
            return "RivuletEngine.ForwardedField(\(arguments)),"
        }.joined(separator: "\n")
        let reads = forwards.enumerated().map { "let _forwardValue\($0) = state[keyPath: \($1.state)]" }
        let writes = forwards.enumerated().map { index, forward in
            """
            if receiver[keyPath: \(forward.object)] != _forwardValue\(index) {
                receiver[keyPath: \(forward.object)] = _forwardValue\(index)
            }
            """
        }
        return [
            """
            public static func makeObject(from state: \(state)) -> \(object) {
                \(object)(
            \(arguments.indented.indented)
                )
            }
            """,
            """
            public static func forward(_ state: \(state), to receiver: \(object)) {
            \((reads + writes).joined(separator: "\n").indented)
            }
            """,
            """
            public static var forwardedFields: [RivuletEngine.ForwardedField<\(state), \(object)>] {
                [
            \(fields.indented.indented)
                ]
            }
            """,
        ]
    }
}

// Part of Rivulet. See README.md for the architecture.
// This file owns the moving of `willSet` and `didSet` from a field to its storage.

import SwiftSyntax

/// Makes observers that stand at a field do at its storage what they did.
///
/// In its own observers a property is read and written without calling them again. So there the field's name has to become the
/// storage's: `didSet { count = min(count, 9) }` would call itself for ever otherwise.
enum PropertyObservers {
    /// The text of the observers at the storage; bodies in which the name also means something else are left as they are.
    static func moved(_ observers: AccessorBlockSyntax, from name: String, to storage: String) -> String {
        let search = OtherMeaning(name)
        search.walk(observers)
        guard !search.isFound else { return observers.trimmedDescription }
        return StorageRewriter(from: name, to: storage).rewrite(observers.trimmed).description
    }
}

/// Looks for a local declaration of the name, and for types, in which `self` is another one.
private final class OtherMeaning: SyntaxVisitor {
    private let name: String
    private(set) var isFound = false

    init(_ name: String) {
        self.name = name
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ token: TokenSyntax) -> SyntaxVisitorContinueKind {
        if token.bareName == name, let parent = token.parent, !parent.is(DeclReferenceExprSyntax.self),
            !parent.is(LabeledExprSyntax.self)
        {
            isFound = true
        }
        return .skipChildren
    }

    override func visit(_ node: MemberBlockSyntax) -> SyntaxVisitorContinueKind {
        isFound = true
        return .skipChildren
    }
}

private final class StorageRewriter: SyntaxRewriter {
    private let name: String
    private let storage: String

    init(from name: String, to storage: String) {
        self.name = name
        self.storage = storage
        super.init(viewMode: .sourceAccurate)
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax { ExprSyntax(renamed(node)) }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard let base = node.base else { return ExprSyntax(node) }
        let isOwn = base.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind == .keyword(.self)
        let member = isOwn ? renamed(node.declName) : node.declName
        return ExprSyntax(node.with(\.base, visit(base)).with(\.declName, member))
    }

    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    private func renamed(_ node: DeclReferenceExprSyntax) -> DeclReferenceExprSyntax {
        guard node.baseName.bareName == name, node.argumentNames == nil else { return node }
        return node.with(\.baseName, node.baseName.with(\.tokenKind, .identifier(storage)))
    }
}

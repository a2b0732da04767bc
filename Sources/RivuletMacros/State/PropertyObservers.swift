import SwiftSyntax
import SwiftSyntaxBuilder

/// Makes observers that are written at a field work in the same way at its storage.
///
/// Inside of a property's observer, Swift reads and writes the property without calling the observers again. This holds
/// for the observer's own statements, with `self.name`, or with `name` if no local declaration has the name. In these
/// positions the storage's name replaces the property's name. Otherwise `didSet { count = min(count, 9) }` would call
/// itself for ever. In closures and local functions Swift itself calls the observers again, so closures and local
/// functions stay as they are. So does `defer`, in language mode 5.
/// Source: <https://github.com/swiftlang/swift/blob/main/lib/AST/Decl.cpp>, `isDirectToStorageAccess`.
enum PropertyObservers {
    /// Returns the text of the observers at the storage.
    static func moved(_ observers: AccessorBlockSyntax, from name: String, to storage: String) -> String {
        let text = StorageRewriter(from: name, to: storage).rewrite(observers.trimmed).description
        let older = StorageRewriter(from: name, to: storage, visitsDefer: false)
        guard text != older.rewrite(observers.trimmed).description, case .accessors(let accessors) = observers.accessors
        else { return text }
        return "{\n\(accessors.map { forBothModes($0, from: name, to: storage) }.joined(separator: "\n"))\n}"
    }

    /// Returns one observer, with a body for each language mode.
    private static func forBothModes(_ observer: AccessorDeclSyntax, from name: String, to storage: String) -> String {
        func statements(visitsDefer: Bool) -> String {
            let rewriter = StorageRewriter(from: name, to: storage, visitsDefer: visitsDefer)
            let body = rewriter.rewrite(observer).as(AccessorDeclSyntax.self)?.body
            return body?.statements.trimmedDescription ?? ""
        }
        return """
            \(observer.with(\.body, nil).trimmedDescription) {
            #if swift(>=6)
            \(statements(visitsDefer: true))
            #else
            \(statements(visitsDefer: false))
            #endif
            }
            """
    }
}

/// Follows the scopes of an observer's statements, to find the positions in which the field's name still means the
/// field.
private final class StorageRewriter: SyntaxRewriter {
    private let name: String
    private let storage: String
    private let visitsDefer: Bool
    /// True if a local declaration has the name now.
    private var isShadowed = false

    init(from name: String, to storage: String, visitsDefer: Bool = true) {
        self.name = name
        self.storage = storage
        self.visitsDefer = visitsDefer
        super.init(viewMode: .sourceAccurate)
    }

    // MARK: - The name

    override func visit(_ node: DeclReferenceExprSyntax) -> ExprSyntax {
        guard !isShadowed, isName(node) else { return ExprSyntax(node) }
        // The storage is named with `self`, because a local variable may have the storage's name.
        let own = MemberAccessExprSyntax(
            base: DeclReferenceExprSyntax(baseName: .keyword(.self)),
            name: .identifier(storage)
        )
        return ExprSyntax(own.with(\.leadingTrivia, node.leadingTrivia).with(\.trailingTrivia, node.trailingTrivia))
    }

    override func visit(_ node: MemberAccessExprSyntax) -> ExprSyntax {
        guard let base = node.base else { return ExprSyntax(node) }
        guard base.isSelf, isName(node.declName) else { return ExprSyntax(node.with(\.base, visit(base))) }
        let token = node.declName.baseName.with(\.tokenKind, .identifier(storage))
        return ExprSyntax(node.with(\.declName, node.declName.with(\.baseName, token)))
    }

    private func isName(_ node: DeclReferenceExprSyntax) -> Bool {
        node.baseName.bareName == name && node.argumentNames == nil
    }

    // MARK: - Code outside of the observer's own statements

    override func visit(_ node: ClosureExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    override func visit(_ node: DeferStmtSyntax) -> StmtSyntax { visitsDefer ? super.visit(node) : StmtSyntax(node) }

    override func visit(_ node: FunctionDeclSyntax) -> DeclSyntax { DeclSyntax(node) }

    override func visit(_ node: MemberBlockSyntax) -> MemberBlockSyntax { node }

    override func visit(_ node: KeyPathExprSyntax) -> ExprSyntax { ExprSyntax(node) }

    // MARK: - Scopes

    override func visit(_ node: AccessorDeclSyntax) -> DeclSyntax {
        let defaultValue = node.accessorSpecifier.text == "willSet" ? "newValue" : "oldValue"
        return scope {
            declare(node.parameters?.name.bareName ?? defaultValue)
            return DeclSyntax(node.with(\.body, node.body.map { visit($0) }))
        }
    }

    override func visit(_ node: CodeBlockSyntax) -> CodeBlockSyntax {
        scope {
            declareEverywhere(in: node.statements)
            return super.visit(node)
        }
    }

    /// Declares functions and types, which can be used before their declarations.
    private func declareEverywhere(in statements: CodeBlockItemListSyntax) {
        for statement in statements {
            guard case .decl(let declaration) = statement.item else { continue }
            if let function = declaration.as(FunctionDeclSyntax.self) { declare(function.name.bareName) }
            if let type = declaration.asProtocol((any DeclGroupSyntax).self) as? any NamedDeclSyntax {
                declare(type.name.bareName)
            }
        }
    }

    /// Declares a variable, which can be used after its declaration.
    override func visit(_ node: PatternBindingSyntax) -> PatternBindingSyntax {
        let initializer = node.initializer.map { visit($0) }
        declare(node.pattern)
        return node.with(\.initializer, initializer)
    }

    /// Declares a bound name; without a value it is `if let name`, which only reads the field.
    override func visit(_ node: OptionalBindingConditionSyntax) -> OptionalBindingConditionSyntax {
        let initializer = node.initializer.map { visit($0) }
        declare(node.pattern)
        return node.with(\.initializer, initializer)
    }

    override func visit(_ node: MatchingPatternConditionSyntax) -> MatchingPatternConditionSyntax {
        let initializer = visit(node.initializer)
        declare(node.pattern)
        return node.with(\.initializer, initializer)
    }

    override func visit(_ node: IfExprSyntax) -> ExprSyntax {
        let inner = scope {
            let conditions = visit(node.conditions)
            return node.with(\.conditions, conditions).with(\.body, visit(node.body))
        }
        let elseBody: IfExprSyntax.ElseBody? =
            switch node.elseBody {
            case .ifExpr(let expression): visit(expression).as(IfExprSyntax.self).map { .ifExpr($0) }
            case .codeBlock(let block): .codeBlock(visit(block))
            case nil: nil
            }
        return ExprSyntax(inner.with(\.elseBody, elseBody))
    }

    /// Visits the `else` first, because the bound names are visible after the statement, and not in its `else`.
    override func visit(_ node: GuardStmtSyntax) -> StmtSyntax {
        let body = visit(node.body)
        return StmtSyntax(node.with(\.conditions, visit(node.conditions)).with(\.body, body))
    }

    override func visit(_ node: WhileStmtSyntax) -> StmtSyntax { scope { super.visit(node) } }

    override func visit(_ node: ForStmtSyntax) -> StmtSyntax {
        let sequence = visit(node.sequence)
        return scope {
            declare(node.pattern)
            let whereClause = node.whereClause.map { visit($0) }
            let body = visit(node.body)
            return StmtSyntax(
                node.with(\.sequence, sequence).with(\.whereClause, whereClause).with(\.body, body)
            )
        }
    }

    override func visit(_ node: SwitchCaseSyntax) -> SwitchCaseSyntax {
        scope {
            if case .case(let label) = node.label {
                for item in label.caseItems { declare(item.pattern) }
            }
            return node.with(\.statements, visit(node.statements))
        }
    }

    override func visit(_ node: CatchClauseSyntax) -> CatchClauseSyntax {
        scope {
            if node.catchItems.isEmpty { declare("error") }
            for item in node.catchItems { if let pattern = item.pattern { declare(pattern) } }
            return node.with(\.body, visit(node.body))
        }
    }

    private func scope<Result>(_ body: () -> Result) -> Result {
        let outer = isShadowed
        defer { isShadowed = outer }
        return body()
    }

    private func declare(_ name: String) {
        if name == self.name { isShadowed = true }
    }

    private func declare(_ pattern: PatternSyntax) {
        let search = PatternNames(viewMode: .sourceAccurate)
        search.walk(pattern)
        for name in search.names { declare(name) }
    }
}

/// Finds the names that a pattern binds.
private final class PatternNames: SyntaxVisitor {
    private(set) var names: Set<String> = []

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        names.insert(node.identifier.bareName)
        return .skipChildren
    }
}

extension ExprSyntax {
    /// True if this is `self`, possibly in parentheses.
    fileprivate var isSelf: Bool {
        if let tuple = self.as(TupleExprSyntax.self), tuple.elements.count == 1, let only = tuple.elements.first {
            return only.label == nil && only.expression.isSelf
        }
        return self.as(DeclReferenceExprSyntax.self)?.baseName.tokenKind == .keyword(.self)
    }
}

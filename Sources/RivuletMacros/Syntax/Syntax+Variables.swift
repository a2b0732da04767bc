// This file owns the small queries that macros make of variables: their owner and their storage.

import SwiftSyntax

extension VariableDeclSyntax {
    /// True if this is a member of the type itself, not of its values.
    var isTypeMember: Bool { modifiers.contains(.static) || modifiers.contains(.class) }

    /// True if a name of the declaration has storage: it has no accessors, or only observers.
    var isStored: Bool {
        bindings.contains { binding in
            switch binding.accessorBlock?.accessors {
            case nil: return true
            case .accessors(let accessors)?:
                return accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
            default: return false
            }
        }
    }
}

extension IfConfigDeclSyntax {
    /// True if one of the branches has a stored variable of the values.
    var hasStoredVariable: Bool {
        clauses.contains { clause in
            guard case .decls(let members)? = clause.elements else { return false }
            return members.contains { member in
                if let nested = member.decl.as(IfConfigDeclSyntax.self) { return nested.hasStoredVariable }
                guard let variable = member.decl.as(VariableDeclSyntax.self) else { return false }
                return !variable.isTypeMember && variable.isStored
            }
        }
    }
}

extension IfConfigClauseSyntax {
    /// The line that opens the clause.
    var opening: String {
        condition.map { "\(poundKeyword.text) \($0.trimmedDescription)" } ?? poundKeyword.text
    }
}

// Part of Rivulet. See README.md for the architecture.
// This file owns the reading of an enum with @AppEvent: its cases, their values and what is wrong with them.

import SwiftDiagnostics
import SwiftSyntax

/// An enum of events as it stands in the source.
struct EventModel {
    /// One value of a case.
    struct Payload {
        let label: String?
        let type: String
        let standard: String?
    }

    /// One case, which is one event.
    struct Case {
        /// The name as written, with backticks if it has them.
        let name: String
        let bareName: String
        let payload: [Payload]
        let isSensitive: Bool

        /// Whether the payload is a single value without a label, which stands for itself in JSON.
        var isSingle: Bool { payload.count == 1 && payload[0].label == nil }

        /// The JSON key of a value.
        func key(_ index: Int) -> String { payload[index].label ?? "_\(index)" }
    }

    let cases: [Case]
    /// What generated members need in front, with a space after it.
    let access: String

    /// Reads a declaration.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        in context: [Syntax]
    ) -> Parsed<EventModel> {
        guard let declaration = declaration.as(EnumDeclSyntax.self) else { return fault(.eventOnOtherType, node) }
        if let modifier = declaration.hidingModifier(in: context) {
            return fault(.privateInType(macro: "@AppEvent", name: declaration.name.text), modifier)
        }
        var cases: [Case] = []
        for member in declaration.memberBlock.members {
            if let conditional = member.decl.as(IfConfigDeclSyntax.self), conditional.hasCase {
                return fault(.conditionalCase, conditional)
            }
            guard let declaration = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            let isSensitive = declaration.attributes.attribute(named: "Sensitive") != nil
            cases += declaration.elements.map { element in
                Case(
                    name: element.name.text,
                    bareName: element.name.bareName,
                    payload: element.parameterClause?.parameters.map(Payload.init) ?? [],
                    isSensitive: isSensitive
                )
            }
        }
        guard !cases.isEmpty else { return fault(.noCases, node) }
        return .model(EventModel(cases: cases, access: declaration.memberAccess(in: context)))
    }

    private static func fault(_ message: MacroDiagnostic, _ node: some SyntaxProtocol) -> Parsed<EventModel> {
        .diagnostics([Diagnostic(node: node, message: message)])
    }
}

extension EventModel.Payload {
    fileprivate init(_ parameter: EnumCaseParameterSyntax) {
        let label = parameter.firstName?.bareName
        self.label = label == "_" ? nil : label
        type = parameter.type.trimmedDescription
        standard = parameter.defaultValue?.value.trimmedDescription
    }
}

extension IfConfigDeclSyntax {
    fileprivate var hasCase: Bool {
        clauses.contains { clause in
            guard case .decls(let members)? = clause.elements else { return false }
            return members.contains { member in
                member.decl.is(EnumCaseDeclSyntax.self) || member.decl.as(IfConfigDeclSyntax.self)?.hasCase == true
            }
        }
    }
}

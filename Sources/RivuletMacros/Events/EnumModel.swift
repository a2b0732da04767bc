import SwiftDiagnostics
import SwiftSyntax

/// An enum of events, or an enum in a state, as written in the source.
struct EnumModel {
    /// The macro that reads the enum.
    enum Use: String {
        case events = "@AppEvent"
        case state = "@ObservableState"
    }

    /// One value of a case.
    struct Payload {
        let label: String?
        let type: String
        let defaultValue: String?
    }

    /// One case.
    struct Case {
        /// The name as written, with backticks if it has them.
        let name: String
        let bareName: String
        let payload: [Payload]
        let isSensitive: Bool
        let isInternal: Bool
        /// The attributes for the availability of the case, as written.
        let availability: [String]

        /// True if the payload is a single value without a label, which has no key of its own in JSON.
        var isSingle: Bool { payload.count == 1 && payload[0].label == nil }

        /// The JSON key of a value.
        func key(_ index: Int) -> String { payload[index].label ?? "_\(index)" }
    }

    let cases: [Case]
    /// The names of the enum's own members.
    let memberNames: Set<String>
    /// The access modifier of generated members, with a space after it.
    let access: String

    /// The cases with a single value without a label; each is a field with the case's name.
    var singles: [Case] { cases.filter(\.isSingle) }

    /// Reads a declaration.
    static func parse(
        _ node: AttributeSyntax,
        on declaration: some DeclGroupSyntax,
        for use: Use,
        in context: [Syntax]
    ) -> Parsed<EnumModel> {
        guard let declaration = declaration.as(EnumDeclSyntax.self) else { return fault(.eventOnOtherType, node) }
        if let modifier = declaration.hidingModifier(in: context) {
            return fault(.privateInType(macro: use.rawValue, name: declaration.name.text), modifier)
        }
        if use == .state, declaration.hasRawValues { return fault(.rawValues(name: declaration.name.text), node) }
        var cases: [Case] = []
        for member in declaration.memberBlock.members {
            if let conditional = member.decl.as(IfConfigDeclSyntax.self), conditional.hasCase {
                return fault(.conditionalCase(macro: use.rawValue), conditional)
            }
            guard let member = member.decl.as(EnumCaseDeclSyntax.self) else { continue }
            if let conditional = member.attributes.first(where: { $0.is(IfConfigDeclSyntax.self) }) {
                return fault(.conditionalMark(macro: use.rawValue), conditional)
            }
            if use == .state, let attribute = member.attributes.first(where: { fieldMacros.contains($0.lastName) }) {
                return fault(.fieldMacroOnCase(attribute: attribute.lastName), attribute)
            }
            for element in member.elements {
                let read = Case(element, of: member)
                if cases.contains(where: { $0.bareName == read.bareName }) {
                    return fault(.sameName(macro: use.rawValue, name: read.bareName), element.name)
                }
                cases.append(read)
            }
        }
        guard !cases.isEmpty else { return fault(use == .events ? .noCases : .noStateCases, node) }
        let types = cases.flatMap(\.payload).map(\.type)
        let plain = declaration.memberBlock.members.plainTypes.filter { types.contains(where: $0.isPart) }
        guard plain.isEmpty else { return .diagnostics(plain.map(\.fault)) }
        let model = EnumModel(
            cases: cases,
            memberNames: declaration.memberBlock.members.instanceNames,
            access: declaration.memberAccess(in: context)
        )
        if use == .state, model.singles.count > MacroDiagnostic.fieldsMax {
            return fault(.tooManyCases(count: model.singles.count), node)
        }
        return .model(model)
    }

    /// The macros for a struct's fields.
    private static let fieldMacros: Set<String> = [
        "ObservableStateWrapper", "ObservationStateIgnored", "Replaceable", "Transient", "Wrapped",
    ]

    private static func fault(_ message: MacroDiagnostic, _ node: some SyntaxProtocol) -> Parsed<EnumModel> {
        .diagnostics([Diagnostic(node: node, message: message)])
    }
}

extension EnumModel.Case {
    fileprivate init(_ element: EnumCaseElementSyntax, of declaration: EnumCaseDeclSyntax) {
        name = element.name.text
        bareName = element.name.bareName
        payload = element.parameterClause?.parameters.map(EnumModel.Payload.init) ?? []
        isSensitive = declaration.attributes.attribute(named: "Sensitive") != nil
        isInternal = declaration.attributes.attribute(named: "Internal") != nil
        availability = declaration.attributes.filter { $0.lastName == "available" }.map(\.trimmedDescription)
    }
}

extension EnumModel.Payload {
    fileprivate init(_ parameter: EnumCaseParameterSyntax) {
        let label = parameter.firstName?.bareName
        self.label = label == "_" ? nil : label
        type = parameter.type.trimmedDescription
        defaultValue = parameter.defaultValue?.value.trimmedDescription
    }
}

extension AttributeListSyntax.Element {
    /// The last component of the attribute's dotted name; empty for an `#if`.
    fileprivate var lastName: String { self.as(AttributeSyntax.self)?.lastName ?? "" }
}

extension EnumDeclSyntax {
    /// The types of raw values that can be written as literals.
    private static let rawTypes: Set<String> = [
        "Character", "Double", "Float", "Int", "Int128", "Int16", "Int32", "Int64", "Int8", "String", "UInt", "UInt128",
        "UInt16", "UInt32", "UInt64", "UInt8",
    ]

    /// True if the cases have raw values, judged by the spelling.
    fileprivate var hasRawValues: Bool {
        let first = inheritanceClause?.inheritedTypes.first?.type.trimmedDescription ?? ""
        return Self.rawTypes.contains(String(first.split(separator: ".").last ?? ""))
            || memberBlock.members.contains { member in
                member.decl.as(EnumCaseDeclSyntax.self)?.elements.contains { $0.rawValue != nil } == true
            }
    }
}

extension MemberBlockItemListSyntax {
    /// The names of instance members and of type members, which a generated variable must not have.
    fileprivate var instanceNames: Set<String> {
        reduce(into: []) { names, member in
            if let variable = member.decl.as(VariableDeclSyntax.self) {
                let patterns = variable.bindings.compactMap { $0.pattern.as(IdentifierPatternSyntax.self) }
                names.formUnion(patterns.map(\.identifier.bareName))
            } else if let function = member.decl.as(FunctionDeclSyntax.self) {
                names.insert(function.name.bareName)
            } else if let conditional = member.decl.as(IfConfigDeclSyntax.self) {
                for case .decls(let members)? in conditional.clauses.map(\.elements) {
                    names.formUnion(members.instanceNames)
                }
            }
        }
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

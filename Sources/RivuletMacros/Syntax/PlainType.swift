import SwiftDiagnostics
import SwiftSyntax

/// A nested struct or enum that JSON cannot have, as far as its declaration shows.
///
/// It is declared inside of a state or of an enum of events.
///
/// A macro sees only the type that it is attached to, with the types inside. A conformance in an extension is not seen.
struct PlainType {
    let name: String
    private let declaration: any DeclGroupSyntax & NamedDeclSyntax

    /// Protocols that give a type no JSON form.
    private static let unrelated: Set<String> = [
        "CaseIterable", "Comparable", "CustomDebugStringConvertible", "CustomStringConvertible", "Equatable",
        "Hashable", "Identifiable", "Sendable", "SendableMetatype",
    ]

    /// Attributes that add no conformance; any other attribute may be a macro that does.
    private static let harmless: Set<String> = ["available", "frozen", "usableFromInline"]

    /// Generic types that contain values of their type arguments.
    private static let containers: Set<String> = ["Array", "Dictionary", "Keyed", "Optional", "Set"]

    /// Reads a member; nil if it may be a type that JSON can have.
    init?(_ member: DeclSyntax) {
        guard
            member.is(StructDeclSyntax.self) || member.is(EnumDeclSyntax.self),
            let declaration = member.asProtocol((any DeclGroupSyntax).self) as? any DeclGroupSyntax & NamedDeclSyntax,
            declaration.attributes.allSatisfy({ Self.harmless.contains($0.as(AttributeSyntax.self)?.lastName ?? "") })
        else { return nil }
        let inherited = declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription) ?? []
        guard inherited.allSatisfy({ Self.unrelated.contains($0.replacing("Swift.", with: "")) }) else { return nil }
        self.declaration = declaration
        name = declaration.name.bareName
    }

    /// Returns true if a type's text is this type, or an optional or a collection of it.
    ///
    /// Other generic types may use it as a tag only, as in `ID<Plain>`.
    func isPart(of type: String) -> Bool {
        let text = type.filter { !$0.isWhitespace }
        if text == name { return true }
        if text.hasSuffix("?") || text.hasSuffix("!") { return isPart(of: String(text.dropLast())) }
        if text.hasPrefix("["), text.hasSuffix("]") { return isPart(of: text.dropFirst().dropLast(), dividedBy: ":") }
        guard text.hasSuffix(">"), let start = text.firstIndex(of: "<"),
            Self.containers.contains(String(text[..<start]))
        else { return false }
        return isPart(of: text[text.index(after: start)...].dropLast(), dividedBy: ",")
    }

    /// Returns true if this type is a part of the type before the first separator, or of the rest.
    private func isPart(of types: Substring, dividedBy separator: Character) -> Bool {
        types.split(separator: separator, maxSplits: 1).contains { isPart(of: String($0)) }
    }

    /// The error, with the fix-it that puts `@ObservableState` on the type.
    var fault: Diagnostic {
        let first = declaration.attributes.firstToken(viewMode: .sourceAccurate) ?? declaration.modifiers.first?.name
        let fix = SourceFix.replace(
            first ?? declaration.introducer,
            with: "@ObservableState \((first ?? declaration.introducer).text)",
            "Add '@ObservableState'",
            id: "track"
        )
        return Diagnostic(
            node: declaration.name,
            message: MacroDiagnostic.plainType(name: name),
            fixIts: [fix]
        )
    }
}

extension MemberBlockItemListSyntax {
    /// The types among the members that JSON cannot have.
    var plainTypes: [PlainType] { compactMap { PlainType($0.decl) } }
}

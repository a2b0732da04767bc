// This file owns the macros under test and the assertions on their expansions.

import RivuletMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// Expects that a source expands to another source, with these diagnostics.
func expectExpansion(
    _ source: String,
    to expected: String,
    diagnostics: [DiagnosticSpec] = [],
    only names: [String] = [],
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source,
        expandedSource: expected,
        diagnostics: diagnostics,
        macroSpecs: names.isEmpty ? macros : macros.filter { names.contains($0.key) },
        indentationWidth: .spaces(4),
        failureHandler: { failure in
            Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation)
        }
    )
}

/// A diagnostic of a macro.
struct ReportedFault: Hashable {
    let id: MessageID
    let message: String
    /// The text of the syntax that the diagnostic points to.
    let node: String
}

extension ReportedFault {
    fileprivate init(_ diagnostic: Diagnostic) {
        self.init(
            id: diagnostic.diagnosticID,
            message: diagnostic.message,
            node: diagnostic.node.trimmedDescription
        )
    }
}

/// The diagnostics of the macros for a source.
///
/// Expects that all diagnostics are errors.
func faults(in source: String) -> [ReportedFault] {
    let diagnostics = expand(source).diagnostics
    #expect(diagnostics.allSatisfy { $0.diagMessage.severity == .error })
    return diagnostics.map(ReportedFault.init)
}

/// Returns the source after the fix-it of its only error.
///
/// Returns nil if there is no fix-it, or if there are several errors.
func fixed(_ source: String) -> (message: String, source: String)? {
    let (_, diagnostics, context) = expand(source)
    guard diagnostics.count == 1, let fix = diagnostics.first?.fixIts.first else { return nil }
    var bytes = Array(source.utf8)
    for change in fix.changes {
        guard case .replace(let old, let new) = change else { return nil }
        let start = context.location(for: old.position, anchoredAt: old, fileName: "Test.swift").offset
        bytes.replaceSubrange(start..<start + old.description.utf8.count, with: new.description.utf8)
    }
    return (fix.message.message, String(decoding: bytes, as: UTF8.self))
}

/// The complete expansion of a source.
func expansion(of source: String) -> String {
    expand(source).text
}

private func expand(
    _ source: String
) -> (text: String, diagnostics: [Diagnostic], context: BasicMacroExpansionContext) {
    let file = Parser.parse(source: source)
    let place = BasicMacroExpansionContext.KnownSourceFile(moduleName: "Tests", fullFilePath: "Test.swift")
    let context = BasicMacroExpansionContext(sourceFiles: [file: place])
    let expanded = file.expand(macroSpecs: macros) { node in
        BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
    }
    return (expanded.description, context.diagnostics, context)
}

/// The diagnostics of @ObservableStateWrapper or @Wrapped, from a direct call of the macro.
///
/// The harness, like the compiler, does not apply the macro to some declarations, such as `var a = 1, b = 2`.
func wrapperFaults(in source: String) -> [ReportedFault] {
    guard
        let declaration = Parser.parse(source: source).statements.first?.item.as(DeclSyntax.self),
        let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes,
        let attribute = attributes.first?.as(AttributeSyntax.self)
    else { return [] }
    let state = Parser.parse(source: "@ObservableState struct S {}").statements.first?.item
    let context = BasicMacroExpansionContext(lexicalContext: state.map { [Syntax($0)] } ?? [])
    _ = ObservableStateWrapperMacro.expansion(of: attribute, providingAccessorsOf: declaration, in: context)
    return context.diagnostics.map(ReportedFault.init)
}

/// The diagnostics of @Internal for a source, with the declarations around the mark as the compiler gives them.
func internalFaults(in source: String) -> [ReportedFault] {
    /// Expands the marks of a source in their context.
    final class Marks: SyntaxVisitor {
        var faults: [ReportedFault] = []

        override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind {
            guard
                node.attributeName.trimmedDescription.hasSuffix("Internal"),
                let declaration = node.parent?.parent?.asProtocol((any DeclSyntaxProtocol).self)
            else { return .skipChildren }
            let context = BasicMacroExpansionContext(lexicalContext: declaration.allMacroLexicalContexts())
            _ = InternalMacro.expansion(of: node, providingPeersOf: declaration, in: context)
            faults += context.diagnostics.map(ReportedFault.init)
            return .skipChildren
        }
    }
    let marks = Marks(viewMode: .sourceAccurate)
    marks.walk(Parser.parse(source: source))
    return marks.faults
}

private let macros: [String: MacroSpec] = [
    "AppEvent": MacroSpec(type: AppEventMacro.self, conformances: ["AppEvent", "EventCoding"]),
    "Ignoring": MacroSpec(type: MarkerMacro.self),
    "ObservableState": MacroSpec(
        type: ObservableStateMacro.self,
        conformances: ["ObservableState", "ObservableEnum", "StateNode"]
    ),
    "ObservableStateWrapper": MacroSpec(type: ObservableStateWrapperMacro.self),
    "ObservableValue": MacroSpec(type: ObservableValueMacro.self, conformances: ["ObservableValue"]),
    "ObservationStateIgnored": MacroSpec(type: MarkerMacro.self),
    "ObservationStateTracked": MacroSpec(type: ObservationStateTrackedMacro.self),
    "Observing": MacroSpec(type: ObservingMacro.self),
    "Published": MacroSpec(type: PublishedMacro.self),
    "StateForwarder": MacroSpec(type: StateForwarderMacro.self, conformances: ["StateForwarding"]),
    "Transient": MacroSpec(type: MarkerMacro.self),
    "Wrapped": MacroSpec(type: ObservableStateWrapperMacro.self),
]

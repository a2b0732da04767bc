// This file owns the macros under test and how their expansions are asserted.

import RivuletMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

/// Expects a source to expand to another one, with these diagnostics.
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

/// What a macro said of a source.
struct ReportedFault: Hashable {
    let id: MessageID
    let message: String
    /// The text of the syntax that it points to.
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

/// What the macros say of a source, all of it errors.
func faults(in source: String) -> [ReportedFault] {
    let diagnostics = expand(source).diagnostics
    #expect(diagnostics.allSatisfy { $0.diagMessage.severity == .error })
    return diagnostics.map(ReportedFault.init)
}

/// What the source is when the mend of its only fault has been applied; nil without a mend, or with more faults than one.
func mended(_ source: String) -> (message: String, source: String)? {
    let (_, diagnostics, context) = expand(source)
    guard diagnostics.count == 1, let mend = diagnostics.first?.fixIts.first else { return nil }
    var bytes = Array(source.utf8)
    for change in mend.changes {
        guard case .replace(let old, let new) = change else { return nil }
        let start = context.location(for: old.position, anchoredAt: old, fileName: "Test.swift").offset
        bytes.replaceSubrange(start..<start + old.description.utf8.count, with: new.description.utf8)
    }
    return (mend.message.message, String(decoding: bytes, as: UTF8.self))
}

/// The whole text that a source expands to.
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

/// What @ObservableStateWrapper says of a declaration where the harness, like the compiler, does not even ask it.
func wrapperFaults(in source: String) -> [ReportedFault] {
    guard
        let declaration = Parser.parse(source: source).statements.first?.item.as(DeclSyntax.self),
        let attributes = declaration.asProtocol((any WithAttributesSyntax).self)?.attributes,
        let attribute = attributes.first?.as(AttributeSyntax.self)
    else { return [] }
    let context = BasicMacroExpansionContext()
    _ = ObservableStateWrapperMacro.expansion(of: attribute, providingAccessorsOf: declaration, in: context)
    return context.diagnostics.map(ReportedFault.init)
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
]

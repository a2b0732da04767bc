package import SwiftSyntax
package import SwiftSyntaxMacros

/// The expansion of a marker such as `@Transient`: nothing.
package struct MarkerMacro: PeerMacro {
    /// The generated text is written in its final form; formatting it again took half of the macros' time.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) -> [DeclSyntax] {
        []
    }
}

// This file owns the list of macros that this module offers to the compiler.

#if canImport(SwiftCompilerPlugin)
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct RivuletPlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        AppEventMacro.self,
        InternalMacro.self,
        MarkerMacro.self,
        ObservableStateMacro.self,
        ObservableStateWrapperMacro.self,
        ObservableValueMacro.self,
        ObservationStateTrackedMacro.self,
        ObservingMacro.self,
        PublishedMacro.self,
        StateForwarderMacro.self,
    ]
}
#endif

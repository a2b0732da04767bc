import SwiftDiagnostics
import SwiftSyntax

/// The errors of macros on states and events, with a fix in each message.
enum MacroDiagnostic: DiagnosticMessage {
    case stateOnOtherType(kind: String, name: String)
    case privateInType(macro: String, name: String)
    case tooManyFields(count: Int)
    case severalBindings
    case pattern
    case observers(name: String)
    case lazy(name: String)
    case closure(name: String)
    case tuple(name: String)
    case otherAttribute(name: String)
    case constantWithoutValue(name: String)
    case ignoredWithoutValue(name: String)
    case unstoredWithoutValue(name: String, by: String)
    case eventOnOtherType
    case noCases
    case noStateCases
    case conditionalCase(macro: String)
    case conditionalMark(macro: String)
    case sameName(macro: String, name: String)
    case rawValues(name: String)
    case tooManyCases(count: Int)
    case fieldMacroOnCase(attribute: String)
    case plainType(name: String)
    case internalOfNoEvent

    /// The maximum number of fields that a change mark can distinguish.
    static let fieldsMax = 64

    var message: String {
        switch self {
        case .stateOnOtherType(let kind, let name):
            "'@ObservableState' cannot be applied to \(kind) type '\(name)'"
        case .privateInType(let macro, let name):
            "'\(macro)' cannot extend '\(name)', because generated code does not see a 'private' type: write 'fileprivate'"
        case .tooManyFields(let count):
            "'@ObservableState' tracks at most \(Self.fieldsMax) fields and this type has \(count): move some to a nested state"
        case .severalBindings:
            "'@ObservableState' needs one 'var' for each field: split this declaration"
        case .pattern:
            "'@ObservableState' cannot track a tuple pattern: declare one 'var' for each field"
        case .observers(let name):
            """
            '@ObservableState' cannot track '\(name)' with 'willSet' or 'didSet': do that work where the field is written, or mark it \
            @ObservationStateIgnored, which keeps it out of state, streams and storage
            """
        case .lazy(let name):
            "'@ObservableState' cannot track the lazy '\(name)': remove 'lazy', or make it computed"
        case .closure(let name):
            """
            '@ObservableState' cannot track the closure '\(name)', because JSON has no closures: store a value that selects the closure, \
            or mark it @ObservationStateIgnored
            """
        case .tuple(let name):
            "'@ObservableState' cannot track the tuple '\(name)': make it a struct with @ObservableState, or one 'var' for each element"
        case .otherAttribute(let name):
            "'@\(name)' cannot be used in '@ObservableState'"
        case .constantWithoutValue(let name):
            "'\(name)' needs a value here, because a 'let' is not read from JSON: write 'private(set) var \(name)', or give it a value"
        case .ignoredWithoutValue(let name):
            "'\(name)' needs an initial value, because a field with @ObservationStateIgnored is not in JSON"
        case .unstoredWithoutValue(let name, let cause):
            """
            '\(name)' needs an initial value, because \(cause) is not on disk: without it, a stored state could not be read again
            """
        case .eventOnOtherType:
            "'@AppEvent' can only be applied to an enum: declare the events as its cases"
        case .noCases:
            "'@AppEvent' needs at least one case: each case is an event"
        case .noStateCases:
            "'@ObservableState' needs at least one case: without one there is no value"
        case .conditionalMark(let macro):
            "'\(macro)' does not see an attribute within '#if': mark the case without a condition"
        case .conditionalCase(let macro):
            "'\(macro)' cannot read a case inside of '#if': put the condition around the enum"
        case .sameName(let macro, let name):
            "'\(macro)' distinguishes cases by name, and two cases are named '\(name)': rename one"
        case .rawValues(let name):
            "'@ObservableState' is for enums without raw values, and '\(name)' has raw values: conform it to 'JSONCodable' instead"
        case .tooManyCases(let count):
            "'@ObservableState' tracks at most \(Self.fieldsMax) cases with a single value and this enum has \(count): nest some"
        case .fieldMacroOnCase(let attribute):
            "'@\(attribute)' cannot be used on a case: put it on the field that holds the enum"
        case .plainType(let name):
            "JSON cannot have '\(name)': put '@ObservableState' on it, or make it 'Codable' here"
        case .internalOfNoEvent:
            "'@Internal' marks an event that only the app dispatches: put it on a case of an enum with '@AppEvent'"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID { MessageID(domain: "Rivulet", id: id) }

    private var id: String {
        switch self {
        case .stateOnOtherType: "stateOnOtherType"
        case .privateInType: "privateInType"
        case .tooManyFields: "tooManyFields"
        case .severalBindings: "severalBindings"
        case .pattern: "pattern"
        case .observers: "observers"
        case .lazy: "lazy"
        case .closure: "closure"
        case .tuple: "tuple"
        case .otherAttribute: "otherAttribute"
        case .constantWithoutValue: "constantWithoutValue"
        case .ignoredWithoutValue: "ignoredWithoutValue"
        case .unstoredWithoutValue: "unstoredWithoutValue"
        case .eventOnOtherType: "eventOnOtherType"
        case .noCases: "noCases"
        case .noStateCases: "noStateCases"
        case .conditionalCase: "conditionalCase"
        case .conditionalMark: "conditionalMark"
        case .sameName: "sameName"
        case .rawValues: "rawValues"
        case .tooManyCases: "tooManyCases"
        case .fieldMacroOnCase: "fieldMacroOnCase"
        case .plainType: "plainType"
        case .internalOfNoEvent: "internalOfNoEvent"
        }
    }
}

/// The result of reading a declaration: a model, or the errors.
enum Parsed<Model> {
    case model(Model)
    case diagnostics([Diagnostic])

    func map<Other>(_ transform: (Model) -> Other) -> Parsed<Other> {
        switch self {
        case .model(let model): .model(transform(model))
        case .diagnostics(let diagnostics): .diagnostics(diagnostics)
        }
    }
}

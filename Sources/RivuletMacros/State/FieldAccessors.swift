import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes the accessors and peers of @ObservationStateTracked and @Observing; StateRenderer writes the storages of a
/// state.
///
/// Both macros read through the registrar. A state's fields are also written through it. An observable value writes its
/// storage itself, so that `willSet` and `didSet` run once for each write. An observable value also asks the type's own
/// `shouldNotifyObservers`.
struct FieldAccessors {
    /// The rules of the field's owner; ObservationRules in RivuletObservation describes their effects.
    enum Rules {
        case state
        case value
        /// The rules of a value, for a field of a class.
        ///
        /// The field has a registrar of its own, because no members of the class are generated.
        case object
    }

    let field: TrackedField
    let rules: Rules
    /// True if only the running program can tell that the field's value is an observable value.
    var isOfOpenType = false

    private var registrar: String { rules == .object ? ownRegistrar : "_$observationRegistrar" }
    private var index: String { rules == .object ? "0" : "_$Index.\(field.name)" }
    private var ownRegistrar: String { field.bareName.prefixed("_$observing_") }

    /// The four accessors: init, get, set, _modify.
    var accessors: [AccessorDeclSyntax] {
        AccessorDeclSyntax.list(reads + (rules == .state ? stateWrites : valueWrites))
    }

    /// The declarations beside the field: its storage, and its own registrar if it has one.
    var peers: [DeclSyntax] {
        guard rules == .object else { return [storage] }
        let type = "RivuletObservation.ObservationStateRegistrar"
        return [storage, "@Ignoring\nprivate \(raw: storageModifiers)let \(raw: ownRegistrar) = \(raw: type)(.value)"]
    }

    private var reads: [String] {
        [
            """
            @storageRestrictions(initializes: \(field.storage))
            init(initialValue) {
                \(field.storage) = initialValue
            }
            """,
            """
            get {
                \(registrar).read(\(index), \(field.storage))
            }
            """,
        ]
    }

    /// The storage of an observable value's field, with its property observers.
    private var storage: DeclSyntax {
        let type = field.type.map { ": \($0.trimmedDescription)" } ?? ""
        let value = field.initializer.map { " = \($0)" } ?? ""
        let variable = "private \(storageModifiers)var \(field.storage)\(type)\(value)"
        let observers = field.observers.map {
            " \(PropertyObservers.moved($0, from: field.bareName, to: field.storage))"
        }
        return "\(raw: attributes)@Ignoring\n\(raw: variable)\(raw: observers ?? "")"
    }

    private var stateWrites: [String] {
        [
            """
            set {
                \(registrar).set(\(index), &\(field.storage), to: newValue)
            }
            """,
            """
            _modify {
                let wasAbsent = \(registrar).begin(\(index), &\(field.storage))
                defer {
                    \(registrar).end(\(index), &\(field.storage), wasAbsent: wasAbsent)
                }
                yield &\(field.storage)
            }
            """,
        ]
    }

    private var valueWrites: [String] {
        [
            """
            set {
                let isTold = \(registrar).willSet(
                    \(index),
                    from: \(identity(of: field.storage)),
                    to: \(identity(of: "newValue")),
                    isChange: \(comparer)(\(field.storage), newValue)
                )
                \(field.storage) = newValue
                \(registrar).didSet(\(index), isTold: isTold)
            }
            """,
            """
            _modify {
                let identity = \(identity(of: field.storage))
                \(registrar).willEdit(\(index), identity)
                defer {
                    \(registrar).didEdit(\(index), from: identity, to: \(identity(of: field.storage)))
                }
                yield &\(field.storage)
            }
            """,
        ]
    }

    private var comparer: String { rules == .object ? "RivuletObservation._$isChange" : "shouldNotifyObservers" }

    private func identity(of value: String) -> String {
        "RivuletObservation._$\(isOfOpenType ? "openIdentity" : "identity")(of: \(value))"
    }

    /// The declaration's own attributes, which the storage keeps.
    private var attributes: String {
        field.attributes.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.lastName != "Observing" }
            .map { "\($0.trimmedDescription)\n" }
            .joined()
    }

    /// The modifiers that are not about access.
    private var storageModifiers: String {
        field.modifiers.filter { $0.name.tokenKind == .keyword(.nonisolated) }
            .map { "\($0.trimmedDescription) " }
            .joined()
    }
}

// Part of Rivulet. See README.md for the architecture.
// This file owns the Swift text of a tracked field: its accessors and its storage, for both kinds of observable struct.

import SwiftSyntax
import SwiftSyntaxBuilder

/// Writes what @ObservationStateTracked and @Observing make of a field.
///
/// Both read through the registrar. A state's fields are also written through it; an observable value writes its storage itself, so
/// that `willSet` and `didSet` there run once for each write, and asks the type's own `shouldNotifyObservers`.
struct FieldAccessors {
    /// Whose rules count; ObservationRules in RivuletObservation says what follows from them.
    enum Rules {
        case state
        case value
    }

    let field: TrackedField
    let rules: Rules

    private var registrar: String { "_$observationRegistrar" }
    private var index: String { "_$Index.\(field.name)" }

    /// The four accessors: init, get, set, _modify.
    var accessors: [AccessorDeclSyntax] {
        [
            """
            @storageRestrictions(initializes: \(raw: field.storage))
            init(initialValue) {
                \(raw: field.storage) = initialValue
            }
            """,
            """
            get {
                \(raw: registrar).read(\(raw: index), \(raw: field.storage))
            }
            """,
        ] + (rules == .state ? stateWrites : valueWrites)
    }

    /// Where the value is kept.
    var storage: DeclSyntax {
        let type = field.type.map { ": \($0.trimmedDescription)" } ?? ""
        let value = field.initializer.map { " = \($0)" } ?? ""
        let variable = "private \(storageModifiers)var \(field.storage)\(type)\(value)"
        guard rules == .value else { return "\(raw: variable)" }
        let observers = field.observers.map {
            " \(PropertyObservers.moved($0, from: field.bareName, to: field.storage))"
        }
        return "\(raw: attributes)@Ignoring\n\(raw: variable)\(raw: observers ?? "")"
    }

    private var stateWrites: [AccessorDeclSyntax] {
        [
            """
            set {
                \(raw: registrar).set(\(raw: index), &\(raw: field.storage), to: newValue)
            }
            """,
            """
            _modify {
                let wasAbsent = \(raw: registrar).begin(\(raw: index), &\(raw: field.storage))
                defer {
                    \(raw: registrar).end(\(raw: index), \(raw: field.storage), wasAbsent: wasAbsent)
                }
                yield &\(raw: field.storage)
            }
            """,
        ]
    }

    private var valueWrites: [AccessorDeclSyntax] {
        [
            """
            set {
                let isTold = \(raw: registrar).willSet(
                    \(raw: index),
                    from: \(raw: identity(of: field.storage)),
                    to: \(raw: identity(of: "newValue")),
                    isChange: shouldNotifyObservers(\(raw: field.storage), newValue)
                )
                \(raw: field.storage) = newValue
                \(raw: registrar).didSet(\(raw: index), isTold: isTold)
            }
            """,
            """
            _modify {
                let identity = \(raw: identity(of: field.storage))
                \(raw: registrar).willEdit(\(raw: index), identity)
                defer {
                    \(raw: registrar).didEdit(\(raw: index), from: identity, to: \(raw: identity(of: field.storage)))
                }
                yield &\(raw: field.storage)
            }
            """,
        ]
    }

    private func identity(of value: String) -> String { "RivuletObservation._$identity(of: \(value))" }

    /// The declaration's own attributes, which the storage keeps.
    private var attributes: String {
        field.attributes.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.lastName != "Observing" }
            .map { "\($0.trimmedDescription)\n" }
            .joined()
    }

    /// The modifiers that are not about access.
    private var storageModifiers: String {
        guard rules == .value else { return "" }
        return field.modifiers.filter { $0.name.tokenKind == .keyword(.nonisolated) }
            .map { "\($0.trimmedDescription) " }
            .joined()
    }
}

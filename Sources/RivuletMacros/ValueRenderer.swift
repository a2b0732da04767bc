// Part of Rivulet. See README.md for the architecture.
// This file owns the Swift text that @ObservableValue generates from its model.

/// Writes the generated members of an observable value, in upstream's order, and after them what Rivulet adds.
///
/// Source: spec/systems.md B-03, B-05.
struct ValueRenderer {
    let model: ValueModel

    private var access: String { model.access }

    var members: [String] {
        [identity, registrar, copy, reading, writing] + comparers + [positions, position, codingKeys]
    }

    private var identity: String {
        """
        \(access)var _$id: RivuletObservation.ObservationIdentity {
            _$observationRegistrar.id
        }
        """
    }

    /// Not private: that would make the memberwise initialiser private, too.
    private var registrar: String {
        "@Ignoring\nvar _$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)"
    }

    private var copy: String {
        """
        \(access)func copy() -> Self {
            var copy = self
            copy._$observationRegistrar = RivuletObservation.ObservationStateRegistrar(.value)
            return copy
        }
        """
    }

    private var reading: String {
        """
        internal nonisolated func access<Member>(
            keyPath: KeyPath<Self, Member>
        ) {
            _$observationRegistrar.access(self, keyPath: keyPath, field: Self._$position(of: keyPath))
        }
        """
    }

    private var writing: String {
        """
        internal nonisolated func withMutation<Member, MutationResult>(
            keyPath: KeyPath<Self, Member>,
            _ mutation: () throws -> MutationResult
        ) rethrows -> MutationResult {
            try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, field: Self._$position(of: keyPath), mutation)
        }
        """
    }

    private var comparers: [String] {
        [("", "true"), (": Equatable", "lhs != rhs"), (": AnyObject", "lhs !== rhs")]
            .map(comparer) + [comparer(": Equatable & AnyObject", "lhs != rhs")]
    }

    private func comparer(_ constraint: String, _ answer: String) -> String {
        """
        private nonisolated func shouldNotifyObservers<Member\(constraint)>(_ lhs: Member, _ rhs: Member) -> Bool {
            \(answer)
        }
        """
    }

    /// The fields' positions, by which accessors name their field.
    private var positions: String {
        block(
            "private enum _$Index {",
            model.fields.enumerated().map { index, field in "    static var \(field.name): Int { \(index) }" }
        )
    }

    /// The same for a field's key path, so that a read by key path is a read of the field.
    private var position: String {
        let cases = model.fields.map { "    case \\Self.\($0.name): _$Index.\($0.name)" }
        let answer = cases.isEmpty ? ["    nil"] : ["    switch keyPath {"] + cases + ["    default: nil", "    }"]
        return block("private static func _$position(of keyPath: PartialKeyPath<Self>) -> Int? {", answer)
    }

    /// Codable's keys: the declared names, without the registrar.
    private var codingKeys: String {
        let cases = model.codingKeys.map { key in
            key.storage == key.name ? "    case \(key.name)" : "    case \(key.storage) = \(key.name.quoted)"
        }
        // An enum without cases cannot have a raw type.
        return block("private enum CodingKeys: \(cases.isEmpty ? "" : "String, ")CodingKey {", cases)
    }

    private func block(_ opening: String, _ lines: [String]) -> String {
        ([opening] + lines + ["}"]).joined(separator: "\n")
    }
}

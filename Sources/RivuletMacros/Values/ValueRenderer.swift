import SwiftSyntax

/// Writes the generated members of an observable value.
///
/// They are in the order of the upstream library's macro, followed by Rivulet's own additions.
///
/// Source: <Tests/Rows/Systems.md#b-03>, B-05.
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

    /// The registrar is not private, because that would make the memberwise initialiser private, too.
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
            keyPath: Swift.KeyPath<Self, Member>
        ) {
            _$observationRegistrar.access(self, keyPath: keyPath)
        }
        """
    }

    private var writing: String {
        """
        internal nonisolated func withMutation<Member, MutationResult>(
            keyPath: Swift.KeyPath<Self, Member>,
            _ mutation: () throws -> MutationResult
        ) rethrows -> MutationResult {
            try _$observationRegistrar.withMutation(of: self, keyPath: keyPath, mutation)
        }
        """
    }

    private var comparers: [String] {
        [("", "true"), (": Swift.Equatable", "lhs != rhs"), (": Swift.AnyObject", "lhs !== rhs")]
            .map(comparer) + [comparer(": Swift.Equatable & Swift.AnyObject", "lhs != rhs")]
    }

    private func comparer(_ constraint: String, _ answer: String) -> String {
        """
        private nonisolated func shouldNotifyObservers<Member\(constraint)>(_ lhs: Member, _ rhs: Member) -> Swift.Bool {
            \(answer)
        }
        """
    }

    /// The fields' positions, by which accessors name their fields; the compiler numbers fields under a condition.
    private var positions: String {
        guard model.isConditional else {
            let fields = model.fields.enumerated()
            return block(
                "private enum _$Index {",
                fields.map { index, field in "    static var \(field.name): Swift.Int { \(index) }" }
            )
        }
        return block(
            "private enum _$Index {",
            ["    private enum _$Position: Swift.Int {"] + eachField { ["        case \($0.name)"] }
                + ["        case _$end", "    }"]
                + eachField { ["    static var \($0.name): Swift.Int { _$Position.\($0.name).rawValue }"] }
        )
    }

    /// The function that looks up a field's position by its key path, so that a read by key path is a read of the
    /// field.
    ///
    /// It is called only through the protocol, so it may be deprecated, like a field that it names.
    private var position: String {
        let cases = eachField { ["    case \\Self.\($0.name): _$Index.\($0.name)"] }
        let answer = cases.isEmpty ? ["    nil"] : ["    switch keyPath {"] + cases + ["    default: nil", "    }"]
        let deprecation = model.hasDeprecatedField ? "@available(*, deprecated)\n" : ""
        let parameter = "of keyPath: Swift.PartialKeyPath<Self>"
        return block("\(deprecation)\(access)static func _$position(\(parameter)) -> Swift.Int? {", answer)
    }

    /// Codable's keys: the declared names, without the registrar.
    private var codingKeys: String {
        let cases = each { variable in
            ValueModel.codingKeys(variable).map { key in
                key.storage == key.name ? "    case \(key.name)" : "    case \(key.storage) = \(key.name.quoted)"
            }
        }
        // An enum without cases cannot have a raw type.
        return block("private enum CodingKeys: \(cases.isEmpty ? "" : "Swift.String, ")Swift.CodingKey {", cases)
    }

    private func eachField(_ render: (TrackedField) -> [String]) -> [String] {
        each { variable in ValueModel.field(variable).map(render) ?? [] }
    }

    /// Returns the text that `render` makes of every stored variable, and repeats every `#if` around its variables.
    private func each(_ render: (VariableDeclSyntax) -> [String]) -> [String] {
        func lines(_ parts: [ValueModel.Part]) -> [String] {
            parts.flatMap { part in
                switch part {
                case .variable(let variable): return render(variable)
                case .conditional(let clauses):
                    let texts = clauses.map { (opening: $0.opening, lines: lines($0.parts)) }
                    // An `#if` without a line in any clause is left out, because its directives would be lines too.
                    guard texts.contains(where: { !$0.lines.isEmpty }) else { return [] }
                    return texts.flatMap { [$0.opening] + $0.lines } + ["#endif"]
                }
            }
        }
        return lines(model.parts)
    }

    private func block(_ opening: String, _ lines: [String]) -> String {
        ([opening] + lines + ["}"]).joined(separator: "\n")
    }
}

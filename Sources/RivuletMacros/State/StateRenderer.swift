/// Writes the generated members of a state; the fields' types select overloads in RivuletObservation.
struct StateRenderer {
    let model: StateModel

    private var access: String { model.access }

    // MARK: - In the struct

    /// The hidden registrar, the positions by which accessors name their fields, and all members that repeat text of
    /// the source.
    ///
    /// They are not in an extension, because the extension of a nested type does not see the types beside it.
    var members: [String] {
        [
            "\(access)var _$observationRegistrar = RivuletObservation.ObservationStateRegistrar()",
            lines("private enum _$Index {", positions, "}"),
            fields,
            names,
        ] + encodeDefault + [edit] + [wrapping, storages].filter { !$0.isEmpty }.map { lines($0) }
    }

    /// The storages of fields without a wrapper.
    ///
    /// They are members of the struct and not peers of the fields, because every role of every field costs a message to
    /// the macros' process.
    private var storages: [String] {
        each { _, field in
            guard field.wrapper == nil else { return [] }
            let type = field.type == nil ? "" : ": \(field.typeText)"
            let value = field.initializer.map { " = \($0)" } ?? ""
            return ["private var \(field.storage)\(type)\(value)"]
        }
    }

    /// The fields' positions; with an `#if` among the fields, they are the raw values of an enum that the compiler
    /// numbers.
    private var positions: [String] {
        guard model.isConditional else {
            return each { index, field in ["    static var \(field.name): Swift.Int { \(index) }"] }
        }
        return ["    private enum _$Position: Swift.Int {"] + each { _, field in ["        case \(field.name)"] }
            + ["        case _$end", "    }"]
            + each { _, field in ["    static var \(field.name): Swift.Int { _$Position.\(field.name).rawValue }"] }
    }

    /// Returns the code for a field's position.
    private func position(_ index: Int, _ field: StateModel.Field) -> String {
        model.isConditional ? "Self._$Index.\(field.name)" : "\(index)"
    }

    // MARK: - In the extension, so that the memberwise initialiser stays

    var extensionMembers: [String] {
        [collect, settle, decode, encode]
    }

    /// The function that looks up a field's position by its name.
    ///
    /// Other members switch over positions, because the compiler takes many times as long for a switch over strings.
    private var names: String {
        let opening = "\(access)static func _$position(of name: Swift.String) -> Swift.Int? {"
        guard model.isConditional else {
            let names = model.fields.map { $0.bareName.quoted.dropFirst().dropLast() }.joined(separator: #"\n"#)
            return lines(opening, "    RivuletObservation.StateField.position(of: name, in: \"\(names)\")", "}")
        }
        return lines(
            opening,
            "    switch name {",
            each { _, field in ["    case \(field.bareName.quoted): Self._$Index.\(field.name)"] },
            "    default: nil",
            "    }",
            "}"
        )
    }

    private var fields: String {
        guard !model.isConditional else { return conditionalFields }
        return lines(
            "\(access)static var _$fields: [RivuletObservation.StateField] {",
            "    [",
            model.fields.map { "        \(description(of: $0))," },
            "    ]",
            "}"
        )
    }

    /// The table with an `#if` among the fields, which an array literal cannot have.
    private var conditionalFields: String {
        lines(
            "\(access)static var _$fields: [RivuletObservation.StateField] {",
            "    var fields: [RivuletObservation.StateField] = []",
            "    fields.reserveCapacity(\(model.fields.count))",
            each { _, field in ["    fields.append(\(description(of: field)))"] },
            "    return fields",
            "}"
        )
    }

    private func description(of field: StateModel.Field) -> String {
        let transient = field.isTransient ? ", isTransient: true" : ""
        let name = field.bareName.quoted
        let defaultValue = field.defaultValue == nil ? "" : ", hasDefault: true"
        guard let wrapper = field.wrapper else {
            return "RivuletObservation.StateField(\(name), \\Self.\(field.storage)\(defaultValue)\(transient))"
        }
        let text = wrapper.config?.quoted ?? "nil"
        return """
            RivuletObservation.StateField(\(name), wrapper: \\Self.\(field.storage), named: \(wrapper.wrapperName), \
            config: \(wrapper.config ?? "()"), text: \(text)\(defaultValue)\(transient))
            """
    }

    /// The function that writes defaults; it is not generated if every field has a default, because an empty document
    /// then gives all defaults.
    private var encodeDefault: [String] {
        guard !model.isDefaulted else { return [] }
        let cases = each { index, field in
            guard let defaultValue = field.defaultValue else { return [] }
            let wrapped = field.wrapper?.makeWrapper(defaultValue)
            let type = wrapped == nil && field.type != nil ? ": \(field.typeText)" : ""
            let label = wrapped == nil ? "" : "wrapper: "
            return [
                "    case \(position(index, field)):",
                "        let value\(type) = \(wrapped ?? defaultValue)",
                "        return RivuletObservation.Generated.StateCoding.write(\(label)value, at: [], into: &writer)",
            ]
        }
        let function = lines(
            "\(access)static func _$encodeDefault(of position: Swift.Int, into writer: inout RivuletJSON.JSONWriter) -> Swift.Bool {",
            "    switch position {",
            cases,
            "    default: return false",
            "    }",
            "}"
        )
        return [function]
    }

    private var collect: String {
        lines(
            "@inline(never)",
            "\(access)static func _$collect(",
            "    from old: Self,",
            "    to new: Self,",
            "    into collector: inout RivuletObservation.Generated.ChangeCollector",
            ") {",
            each { index, field in
                let label = field.wrapper == nil ? "" : "wrapper: "
                let transient = field.isTransient ? ", isTransient: true" : ""
                let replaceable = field.isReplaceable ? ", isReplaceable: true" : ""
                let position = position(index, field)
                let call = """
                        if collector.visits(\(position)) { collector.field(\(position), \(field.step.quoted), \(label)old.\(field.storage), \
                    new.\(field.storage)\(transient)\(replaceable)) }
                    """
                return [call]
            },
            "}"
        )
    }

    private var edit: String {
        let cases = each { index, field in
            let storage = "&self.\(field.storage)"
            let target = field.wrapper.map { "wrapper: \(storage), config: \($0.config ?? "()")" } ?? storage
            let position = position(index, field)
            let call = "self._$observationRegistrar.edit(\(position), \(target), edit, json: &reader)"
            return ["    case \(position): try \(call)"]
        }
        return lines(
            "\(access)mutating func _$edit(",
            "    _ position: Swift.Int,",
            "    _ edit: RivuletObservation.Generated.StateEdit,",
            "    json reader: inout RivuletJSON.JSONReader",
            ") throws(RivuletJSON.JSONError) {",
            cases.isEmpty ? [] : ["    switch position {"] + cases + ["    default: break", "    }"],
            "}"
        )
    }

    private var settle: String {
        lines(
            "@inline(never)",
            "\(access)mutating func _$settle() {",
            "    guard self._$observationRegistrar.beginSettling() else { return }",
            each { index, field in
                let label = field.wrapper == nil ? "" : "wrapper: "
                let position = position(index, field)
                return ["    self._$observationRegistrar.settle(\(position), \(label)&self.\(field.storage))"]
            },
            "    self._$observationRegistrar.endSettling()",
            "}"
        )
    }

    /// The initialiser that reads JSON.
    ///
    /// It first reads the fields without a default. Then the state exists, and the other fields are merged into it.
    ///
    /// Types follow from the storage, because the extension of a nested type does not see the names beside it.
    private var decode: String {
        let opening =
            "\(access)init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {"
        guard !model.isFaulty else {
            return lines(opening, "    throw reader.error(.mismatch, \"this type has an error\")", "}")
        }
        guard !model.isDefaulted else { return lines(opening, "    try self._$merge(json: &reader)", "}") }
        return lines(
            opening,
            each(required) { field in
                [
                    "    var \(field.local) = RivuletObservation.Generated.StateCoding.absent(\(label(field))\(storage(field)))"
                ]
            },
            "    let others = try RivuletObservation.Generated.StateCoding.members(of: &reader) {",
            "        (name: Swift.String, reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) -> Swift.Bool in",
            "        switch name {",
            each(required) { field in
                let wrapper = field.wrapper == nil ? "" : "wrapper: \(storage(field)), "
                return [
                    "        case \(field.bareName.quoted):",
                    "            try RivuletObservation.Generated.StateCoding.read(into: &\(field.local), \(wrapper)from: &reader)",
                    "            return true",
                ]
            },
            "        default:",
            "            return false",
            "        }",
            "    }",
            each(required) { field in
                let name = field.bareName.quoted
                let value = "RivuletObservation.Generated.StateCoding.require(\(field.local), \(name), in: reader)"
                let wrapped = "Self.\(wrap(field))(\(value), &self._$observationRegistrar)"
                return ["    self.\(field.storage) = try \(field.wrapper == nil ? value : wrapped)"]
            },
            "    try self._$merge(others)",
            "}"
        )
    }

    /// Returns a closure that gives the type of a field and is never called.
    private func storage(_ field: StateModel.Field) -> String { "{ (state: Self) in state.\(field.storage) }" }

    private func label(_ field: StateModel.Field) -> String { field.wrapper == nil ? "" : "wrapper: " }

    /// The name of the function that wraps the value that was read for a field without a default.
    private func wrap(_ field: StateModel.Field) -> String { field.bareName.prefixed("_$wrap_") }

    /// The functions that wrap fields without a default.
    private var wrapping: [String] {
        guard !model.isFaulty else { return [] }
        return each(required) { field in
            guard let wrapper = field.wrapper else { return [] }
            return [
                "private static func \(wrap(field))(",
                "    _ value: \(field.typeText),",
                "    _ registrar: inout RivuletObservation.ObservationStateRegistrar",
                ") -> \(wrapper.wrapper) {",
                "    registrar.decoded(_$Index.\(field.name), \(wrapper.makeWrapper("value")), from: value)",
                "}",
            ]
        }
    }

    private func required(_ field: StateModel.Field) -> Bool { field.defaultValue == nil }

    /// Returns text for each field that is wanted, with the conditions around it.
    private func each(
        _ isWanted: (StateModel.Field) -> Bool,
        _ text: (StateModel.Field) -> [String]
    ) -> [String] {
        each { _, field in isWanted(field) ? text(field) : [] }
    }

    private var encode: String {
        lines(
            "@inline(never)",
            """
            \(access)func _$encode(_ fields: inout RivuletObservation.Generated.FieldSelection, into writer: inout RivuletJSON.JSONWriter) {
            """,
            each { index, field in
                let label = field.wrapper == nil ? "" : "wrapper: "
                let call = """
                    fields.write(\(position(index, field)), \(field.bareName.quoted), \(label)self.\(field.storage), into: &writer)
                    """
                return [field.isTransient ? "    if writer.includesTransient { \(call) }" : "    \(call)"]
            },
            "}"
        )
    }

    // MARK: - Text

    /// Returns the text that `render` makes of every field, and repeats every `#if` around its fields.
    private func each(_ render: (Int, StateModel.Field) -> [String]) -> [String] {
        func lines(_ parts: [StateModel.Part]) -> [String] {
            parts.flatMap { part in
                switch part {
                case .field(let index): render(index, model.fields[index])
                case .conditional(let clauses):
                    clauses.flatMap { [$0.opening] + lines($0.parts) } + ["#endif"]
                }
            }
        }
        return lines(model.parts)
    }

    private func lines(_ parts: any Lines...) -> String {
        parts.flatMap(\.lines).joined(separator: "\n")
    }
}

/// One line of generated text, or several.
private protocol Lines {
    var lines: [String] { get }
}

extension String: Lines {
    fileprivate var lines: [String] { [self] }
}

extension [String]: Lines {
    fileprivate var lines: [String] { self }
}

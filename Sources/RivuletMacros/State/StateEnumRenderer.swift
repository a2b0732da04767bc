/// Writes the generated members of an enum in a state; the values' types select overloads in RivuletObservation.
struct StateEnumRenderer {
    /// Names that no variable of an instance can have, or that mean something else to the compiler.
    private static let reservedNames: Set<String> = ["Protocol", "Type", "hashValue", "init", "self"]

    let model: EnumModel

    private var access: String { model.access }

    // MARK: - In the enum

    /// The variables for edits in place, one for each case with a single value without a label, and all members that
    /// name types of the source.
    ///
    /// They are not in an extension, because the extension of a nested type does not see the types beside it.
    var members: [String] {
        let shared = CaseRenderer(model: model)
        let accessors = model.singles
            .filter { !model.memberNames.contains($0.bareName) && !Self.reservedNames.contains($0.bareName) }
            .map(accessor)
        return accessors + [shared.table("_$cases"), fields, shared.decode]
    }

    /// The case that the enum gets if a variable is set to nil.
    private var empty: EnumModel.Case? {
        model.cases.first { $0.payload.isEmpty && $0.availability.isEmpty }
    }

    private func accessor(_ element: EnumModel.Case) -> String {
        // During the edit, the value is stored nowhere else. Otherwise a large collection in it would be copied.
        let emptying = empty.map { ["        if value != nil {", "            self = .\($0.name)", "        }"] } ?? []
        return CaseRenderer.text(
            element.availability
                + [
                    "\(access)var \(element.name): (\(element.payload[0].type))? {",
                    "    get {",
                    "        guard case .\(element.name)(let value) = self else {",
                    "            return nil",
                    "        }",
                    "        return value",
                    "    }",
                    "    _modify {",
                    "        var value = self.\(element.name)",
                ] + emptying + [
                    "        defer {",
                    "            if let value {",
                    "                self = .\(element.name)(value)",
                    "            }",
                    "        }",
                    "        yield &value",
                    "    }",
                    "}",
                ]
        )
    }

    // MARK: - In the extension

    var extensionMembers: [String] {
        [collect, editPayload, CaseRenderer(model: model).encode]
    }

    private var fields: String {
        let fields = model.singles.map { element in
            "        RivuletObservation.StateField(\(element.bareName.quoted), payload: (\(element.payload[0].type)).self),"
        }
        let opening = "\(access)static var _$fields: [RivuletObservation.StateField] {"
        return CaseRenderer.text([opening] + (fields.isEmpty ? ["    []"] : ["    ["] + fields + ["    ]"]) + ["}"])
    }

    /// The cases with several values, or with a labelled value; they are no fields.
    private var several: [EnumModel.Case] { model.cases.filter { !$0.payload.isEmpty && !$0.isSingle } }

    private var collect: String {
        let cases = model.singles.enumerated().flatMap { index, element in
            [
                "    case (.\(element.name)(let old), .\(element.name)(let new)):",
                "        collector.payload(\(index), \(element.bareName.step.quoted), old, new, serial: serial)",
            ]
        }
        let parts = several.flatMap { element in
            let bindings = element.payload.indices.map { "let _\($0)" }.joined(separator: ", ")
            let values = element.payload.indices.map { index in
                "collector.part(\"\(element.bareName.step)\(element.key(index).step)\", _\(index))"
            }
            return ["    case (_, .\(element.name)(\(bindings))):", "        \(values.joined(separator: " || "))"]
        }
        let isCovered = model.cases.count == 1 || several.count == model.cases.count
        let remainder = isCovered ? [] : ["    default:", "        false"]
        return CaseRenderer.text(
            [
                "\(access)static func _$collect(",
                "    from old: Self,",
                "    to new: Self,",
                "    serial: Swift.UInt64?,",
                "    into collector: inout RivuletObservation.Generated.ChangeCollector",
                ") -> Swift.Bool {",
            ]
                + (cases.isEmpty && parts.isEmpty
                    ? ["    false"] : ["    switch (old, new) {"] + cases + parts + remainder + ["    }"])
                + ["}"]
        )
    }

    private var editPayload: String {
        // As in the variables, the value is stored nowhere else during the edit, if possible.
        let emptying = empty.map { ["        self = .\($0.name)"] } ?? []
        let cases = model.singles.enumerated().flatMap { index, element in
            ["    case .\(element.name)(var value):"] + emptying + [
                "        defer {",
                "            self = .\(element.name)(value)",
                "        }",
                "        try edit.payload(\(index), \(element.bareName.quoted), &value)",
            ]
        }
        let remainder = model.cases.count == model.singles.count ? [] : ["    default:", "        break"]
        return CaseRenderer.text(
            [
                """
                \(access)mutating func _$editPayload<Edit: RivuletObservation.Generated.PayloadEdit>(_ edit: inout Edit) \
                throws(Edit.Failure) {
                """
            ]
                + (cases.isEmpty ? [] : ["    switch self {"] + cases + remainder + ["    }"])
                + ["}"]
        )
    }
}

/// Writes the generated members of an enum of events.
struct EventRenderer {
    let model: EnumModel

    private var access: String { model.access }

    /// The members that name types of the source.
    ///
    /// They are not in an extension, because the extension of a nested type does not see the types beside it.
    var members: [String] {
        let shared = CaseRenderer(model: model)
        return [shared.table("eventCases"), shared.decode]
    }

    var extensionMembers: [String] {
        [eventName, isSensitive, CaseRenderer(model: model).encode]
    }

    private var eventName: Swift.String {
        let cases = model.cases.map { "    case .\($0.name): \($0.bareName.quoted)" }
        let opening = ["\(access)var eventName: Swift.String {", "    switch self {"]
        return CaseRenderer.text(opening + cases + ["    }", "}"])
    }

    private var isSensitive: String {
        let sensitive = model.cases.filter(\.isSensitive).map { ".\($0.name)" }
        let body =
            if sensitive.isEmpty {
                ["    false"]
            } else if sensitive.count == model.cases.count {
                ["    true"]
            } else {
                [
                    "    switch self {", "    case \(sensitive.joined(separator: ", ")): true",
                    "    default: false", "    }",
                ]
            }
        return CaseRenderer.text(["\(access)var isSensitive: Swift.Bool {"] + body + ["}"])
    }
}

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
        [
            eventName, flag("isSensitive", \.isSensitive), flag("isInternal", \.isInternal),
            CaseRenderer(model: model).encode,
        ]
    }

    private var eventName: Swift.String {
        let cases = model.cases.map { "    case .\($0.name): \($0.bareName.quoted)" }
        let opening = ["\(access)var eventName: Swift.String {", "    switch self {"]
        return CaseRenderer.text(opening + cases + ["    }", "}"])
    }

    /// Returns a variable that is true for the marked cases.
    private func flag(_ name: String, _ isMarked: (EnumModel.Case) -> Bool) -> Swift.String {
        let marked = model.cases.filter(isMarked).map { ".\($0.name)" }
        let body =
            if marked.isEmpty {
                ["    false"]
            } else if marked.count == model.cases.count {
                ["    true"]
            } else {
                [
                    "    switch self {", "    case \(marked.joined(separator: ", ")): true",
                    "    default: false", "    }",
                ]
            }
        return CaseRenderer.text(["\(access)var \(name): Swift.Bool {"] + body + ["}"])
    }
}

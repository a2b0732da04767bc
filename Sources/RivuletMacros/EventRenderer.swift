// Part of Rivulet. See README.md for the architecture.
// This file owns the Swift text that @AppEvent generates from its model.

/// Writes the generated members of an enum of events; overloads in RivuletObservation choose by the values' types.
struct EventRenderer {
    let model: EventModel

    private var access: String { model.access }

    var members: [String] {
        [eventCases, eventName, isSensitive, decode, encode]
    }

    private var eventCases: String {
        let cases = model.cases.map { event in
            let payload = event.payload.map { value in
                let label = value.label?.quoted ?? "nil"
                let hasDefault = value.standard == nil ? "" : ", hasDefault: true"
                return "RivuletObservation.EventCase.Payload(\(label), (\(value.type)).self\(hasDefault))"
            }
            let values = payload.isEmpty ? "" : ", payload: [\(payload.joined(separator: ", "))]"
            let sensitive = event.isSensitive ? ", isSensitive: true" : ""
            return "        RivuletObservation.EventCase(\(event.bareName.quoted)\(values)\(sensitive)),"
        }
        return text(
            ["\(access)static var eventCases: [RivuletObservation.EventCase] {", "    ["] + cases + ["    ]", "}"]
        )
    }

    private var eventName: String {
        let cases = model.cases.map { "    case .\($0.name): \($0.bareName.quoted)" }
        return text(["\(access)var eventName: String {", "    switch self {"] + cases + ["    }", "}"])
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
        return text(["\(access)var isSensitive: Bool {"] + body + ["}"])
    }

    private var decode: String {
        text(
            [
                "\(access)init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {",
                "    self = try RivuletObservation.EventReader.read(Self.self, from: &reader) {",
                """
                        (name: String, payload: RivuletObservation.EventReader) throws(RivuletJSON.JSONError) -> Self? in
                """,
                "        switch name {",
            ]
                + model.cases.flatMap(decoding)
                + ["        default:", "            return nil", "        }", "    }", "}"]
        )
    }

    private func decoding(_ event: EventModel.Case) -> [String] {
        let opening = "        case \(event.bareName.quoted):"
        func standard(_ value: EventModel.Payload) -> String { value.standard.map { ", default: \($0)" } ?? "" }
        guard let first = event.payload.first else {
            return [opening, "            try payload.none()", "            return .\(event.name)"]
        }
        if event.isSingle {
            let value = "try payload.single((\(first.type)).self\(standard(first)))"
            return [opening, "            return .\(event.name)(\(value))"]
        }
        let names = event.payload.indices.map { event.key($0).quoted }.joined(separator: ", ")
        let values = event.payload.enumerated().map { index, value in
            let label = value.label.map { "\($0): " } ?? ""
            return "\(label)try values.value(\(event.key(index).quoted), (\(value.type)).self\(standard(value)))"
        }
        return [
            opening, "            let values = try payload.values([\(names)])",
            "            return .\(event.name)(\(values.joined(separator: ", ")))",
        ]
    }

    private var encode: String {
        text(
            [
                "\(access)func encodeJSON(into writer: inout RivuletJSON.JSONWriter) {",
                "    switch self {",
            ]
                + model.cases.flatMap(encoding)
                + ["    }", "}"]
        )
    }

    private func encoding(_ event: EventModel.Case) -> [String] {
        guard !event.payload.isEmpty else {
            return ["    case .\(event.name):", "        writer.string(\(event.bareName.quoted))"]
        }
        let bindings = event.payload.indices.map { "let _\($0)" }.joined(separator: ", ")
        let opening = "    case .\(event.name)(\(bindings)):"
        let name = event.bareName.quoted
        guard !event.isSingle else {
            return [
                opening, "        RivuletObservation.EventWriter.single(\(name), into: &writer) {",
                "            RivuletObservation.EventWriter.write(_0, into: &$0)", "        }",
            ]
        }
        let values = event.payload.indices.flatMap { index in
            [
                "            $0.key(\(event.key(index).quoted))",
                "            RivuletObservation.EventWriter.write(_\(index), into: &$0)",
            ]
        }
        return [opening, "        RivuletObservation.EventWriter.values(\(name), into: &writer) {"]
            + values + ["        }"]
    }

    private func text(_ lines: [String]) -> String {
        lines.joined(separator: "\n")
    }
}

/// Writes the members that every enum with a JSON form needs; the values' types select overloads in RivuletObservation.
struct CaseRenderer {
    let model: EnumModel

    private var access: String { model.access }

    /// Returns the table of the cases, in a static member with this name.
    func table(_ name: String) -> String {
        let cases = model.cases.map { element in
            let payload = element.payload.map { value in
                let label = value.label?.quoted ?? "nil"
                let hasDefault = value.defaultValue == nil ? "" : ", hasDefault: true"
                return "RivuletObservation.EventCase.Payload(\(label), (\(value.type)).self\(hasDefault))"
            }
            let values = payload.isEmpty ? "" : ", payload: [\(payload.joined(separator: ", "))]"
            let sensitive = element.isSensitive ? ", isSensitive: true" : ""
            let hidden = element.isInternal ? ", isInternal: true" : ""
            return "        RivuletObservation.EventCase(\(element.bareName.quoted)\(values)\(sensitive)\(hidden)),"
        }
        return Self.text(
            ["\(access)static var \(name): [RivuletObservation.EventCase] {", "    ["] + cases + ["    ]", "}"]
        )
    }

    var decode: String {
        Self.text(
            [
                "\(access)init(json reader: inout RivuletJSON.JSONReader) throws(RivuletJSON.JSONError) {",
                "    self = try RivuletObservation.Generated.CaseReader.read(Self.self, from: &reader) {",
                "        (name: Swift.String, payload: RivuletObservation.Generated.CaseReader) throws(RivuletJSON.JSONError) -> Self? in",
                "        switch name {",
            ]
                + model.cases.flatMap(decoding)
                + ["        default:", "            return nil", "        }", "    }", "}"]
        )
    }

    /// Cases are named with their type: the closure returns an optional, and a bare `.none` would mean the optional's
    /// case.
    private func decoding(_ element: EnumModel.Case) -> [String] {
        let opening = "        case \(element.bareName.quoted):"
        func defaultValue(_ value: EnumModel.Payload) -> String { value.defaultValue.map { ", default: \($0)" } ?? "" }
        guard let first = element.payload.first else {
            return [opening, "            try payload.none()", "            return Self.\(element.name)"]
        }
        if element.isSingle {
            let value = "try payload.single((\(first.type)).self\(defaultValue(first)))"
            return [opening, "            return Self.\(element.name)(\(value))"]
        }
        let names = element.payload.indices.map { element.key($0).quoted }.joined(separator: ", ")
        let values = element.payload.enumerated().map { index, value in
            let label = value.label.map { "\($0): " } ?? ""
            return "\(label)try values.value(\(element.key(index).quoted), (\(value.type)).self\(defaultValue(value)))"
        }
        return [
            opening, "            let values = try payload.values([\(names)])",
            "            return Self.\(element.name)(\(values.joined(separator: ", ")))",
        ]
    }

    var encode: String {
        Self.text(
            [
                "\(access)func encodeJSON(into writer: inout RivuletJSON.JSONWriter) {",
                "    switch self {",
            ]
                + model.cases.flatMap(encoding)
                + ["    }", "}"]
        )
    }

    private func encoding(_ element: EnumModel.Case) -> [String] {
        guard !element.payload.isEmpty else {
            return ["    case .\(element.name):", "        writer.string(\(element.bareName.quoted))"]
        }
        let bindings = element.payload.indices.map { "let _\($0)" }.joined(separator: ", ")
        let opening = "    case .\(element.name)(\(bindings)):"
        let name = element.bareName.quoted
        guard !element.isSingle else {
            return [opening, "        RivuletObservation.Generated.CaseWriter.single(\(name), _0, into: &writer)"]
        }
        let values = element.payload.indices.flatMap { index in
            [
                "            $0.key(\(element.key(index).quoted))",
                "            RivuletObservation.Generated.CaseWriter.write(_\(index), into: &$0)",
            ]
        }
        return [opening, "        RivuletObservation.Generated.CaseWriter.values(\(name), into: &writer) {"]
            + values + ["        }"]
    }

    static func text(_ lines: [String]) -> String {
        lines.joined(separator: "\n")
    }
}

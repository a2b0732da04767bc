import RivuletHTTP

/// The query items of a request, with names that its resource knows.
struct Query {
    private let items: [HTTPQueryItem]

    /// Takes the query; `lists` are the known names that may occur more than once.
    ///
    /// - Throws: 400 for an unknown name, and for a name that occurs twice and is not in `lists`. So no option is
    ///   silently ignored.
    init(_ request: borrowing HTTPRequest, known: [String], lists: [String] = []) throws(Problem) {
        items = request.queryItems
        if items.isEmpty { return }
        var found: Set<String> = []
        for item in items {
            guard known.contains(item.name) else {
                let names = known.isEmpty ? "none" : known.joined(separator: ", ")
                throw Problem(.invalidQuery, "unknown query parameter \"\(item.name)\"; this resource knows: \(names)")
            }
            guard found.insert(item.name).inserted || lists.contains(item.name) else {
                throw Problem(.invalidQuery, "the query parameter \"\(item.name)\" occurs twice; send it once")
            }
        }
    }

    subscript(name: String) -> String? { items.first { $0.name == name }?.value }

    func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// True if a switch is on: `1` or `true`; off when it is absent, `0` or `false`.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch self[name] {
        case nil, "0", "false": return false
        case "1", "true": return true
        case let value?:
            let detail = "the query parameter \"\(name)\" is 1, true, 0 or false; found \"\(value)\""
            throw Problem(.invalidQuery, detail)
        }
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = self[name] else { return nil }
        // Only digits are accepted: Swift also reads a sign, and "-0" is not a version.
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let value = Int(text),
            range.contains(value)
        else {
            throw Problem(
                .invalidQuery,
                "the query parameter \"\(name)\" is \(range.lowerBound) to \(range.upperBound); found \"\(text)\""
            )
        }
        return value
    }
}

package import RivuletJSON

extension Grant {
    /// The type of a token's grants in `authorization_details`.
    package static let tokenType = "rivulet"
    /// The most grants of a token or of an API key.
    package static let countMax = 64

    private static let members: Set<String> = [
        "actions", "app", "sessions", "paths", "events", "views", "stores", "values", "items",
    ]

    /// Reads the grants of a token's claims; entries of other types are ignored.
    ///
    /// One grant at fault refuses the token.
    static func list(ofClaims claims: JSONValue) throws(CredentialRefusal) -> [Grant] {
        guard let details = claims["authorization_details"] else { return [] }
        guard let entries = details.elements, entries.count <= countMax else {
            throw .claim("authorization_details", needs: "an array of at most \(countMax) objects")
        }
        var grants: [Grant] = []
        for (index, entry) in entries.enumerated() {
            guard let type = entry["type"]?.stringValue else {
                throw .claim("authorization_details", needs: "a string \"type\" in each object")
            }
            guard type == tokenType else { continue }
            do throws(GrantFault) {
                grants.append(try Grant(entry, isTyped: true))
            } catch {
                throw .grant(index: index, error)
            }
        }
        return grants
    }

    /// Reads a grant; only the grants of a token have a type.
    package init(_ value: JSONValue, isTyped: Bool = false) throws(GrantFault) {
        guard let members = value.members else { throw .notObject }
        for member in members where !Self.members.contains(member.name) {
            guard isTyped, member.name == "type" else { throw .unknownMember(member.name) }
        }
        actions = try Self.actions(of: value)
        app = try Self.app(of: value, isNeeded: actions != [.operate])
        sessions = try Self.texts("sessions", of: value) ?? []
        paths = try Self.texts("paths", of: value)
        events = try Self.texts("events", of: value)
        views = try Self.texts("views", of: value) ?? []
        stores = try Self.texts("stores", of: value) ?? []
        values = try Self.texts("values", of: value) ?? []
        items = try Self.texts("items", of: value)
        for text in sessions + (items ?? []) { try Self.checkVariables(of: text, tokens: [text[...]]) }
        for path in paths ?? [] {
            guard path.utf8.first == UInt8(ascii: "/") else {
                throw .member("paths", needs: "key paths that begin with /")
            }
            let tokens = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
            try Self.checkVariables(of: path, tokens: tokens)
        }
        try checkUse()
    }

    /// Checks that each member adds something.
    private func checkUse() throws(GrantFault) {
        let isShared = !stores.isEmpty || !values.isEmpty
        for action in actions where action.needsSessions && sessions.isEmpty {
            throw .grantsNothing("\"\(action.rawValue)\" needs \"sessions\"")
        }
        if actions.contains(.read), sessions.isEmpty, !isShared {
            throw .grantsNothing("\"read\" needs \"sessions\", \"stores\" or \"values\"")
        }
        if actions.contains(.write), !isShared { throw .grantsNothing("\"write\" needs \"stores\" or \"values\"") }
        if items != nil, stores.isEmpty { throw .grantsNothing("\"items\" needs \"stores\"") }
        if !views.isEmpty || paths != nil, sessions.isEmpty {
            throw .grantsNothing("\"views\" and \"paths\" need \"sessions\"")
        }
        if events != nil, !actions.contains(.dispatch) { throw .grantsNothing("\"events\" needs \"dispatch\"") }
    }

    private static func actions(of value: JSONValue) throws(GrantFault) -> Set<Action> {
        guard let names = try texts("actions", of: value) else {
            throw .member("actions", needs: "an array of 1 to \(valuesMax) strings")
        }
        var actions: Set<Action> = []
        for name in names {
            if name == "*" {
                actions.formUnion(Action.allCases.filter { $0 != .operate })
            } else if let action = Action(rawValue: name) {
                actions.insert(action)
            } else {
                throw .unknownAction(name)
            }
        }
        return actions
    }

    private static func app(of value: JSONValue, isNeeded: Bool) throws(GrantFault) -> String? {
        guard let member = value["app"] else {
            guard !isNeeded else { throw .member("app", needs: "the name of an app, or *,") }
            return nil
        }
        guard let name = member.stringValue, (1...Glob.bytesMax).contains(name.utf8.count) else {
            throw .member("app", needs: "the name of an app, or *,")
        }
        return name
    }

    private static func texts(_ name: String, of value: JSONValue) throws(GrantFault) -> [String]? {
        guard let member = value[name] else { return nil }
        let texts = member.elements?.compactMap(\.stringValue) ?? []
        guard (1...valuesMax).contains(texts.count), texts.count == member.elements?.count,
            texts.allSatisfy({ (1...Glob.bytesMax).contains($0.utf8.count) })
        else { throw .member(name, needs: "an array of 1 to \(valuesMax) strings of 1 to \(Glob.bytesMax) bytes") }
        return texts
    }

    /// Checks that the variables of a caller's own choice fill a whole token.
    ///
    /// A subject of the caller's choice beside other text would match the names of other callers.
    private static func checkVariables(of text: String, tokens: [Substring]) throws(GrantFault) {
        for token in tokens {
            let rest = token.replacing("${me}", with: "")
            guard rest.contains("${") else { continue }
            let isClaim =
                token.hasPrefix("${claim.") && token.hasSuffix("}") && token.utf8.count > "${claim.}".utf8.count
            guard token == "${sub}" || isClaim, token.dropFirst(2).dropLast().allSatisfy({ !"${}".contains($0) }) else {
                throw .variable(text)
            }
        }
    }
}

import RivuletBase
package import RivuletJSON

extension Grant {
    /// The names of all events, views, stores or values.
    static let everyName = "*"

    private static let members: Set<String> = [
        "actions", "app", "sessions", "paths", "events", "views", "stores", "values", "items",
    ]

    /// Reads a grant; only the grants of a token have a type.
    package init(_ value: JSONValue, isTyped: Bool = false) throws(GrantError) {
        guard let members = value.members else { throw .notObject }
        for member in members where !Self.members.contains(where: { $0.hasSameBytes(as: member.name) }) {
            guard isTyped, member.name.hasSameBytes(as: "type") else { throw .unknownMember(member.name) }
        }
        actions = try Self.actions(of: value)
        app = try Self.app(of: value, isNeeded: actions != [.operate])
        sessions = try Self.patterns("sessions", of: value) ?? []
        var paths: [GrantPath]?
        for text in try Self.texts("paths", of: value, bytesMin: 0) ?? [] {
            paths = (paths ?? []) + [try GrantPath(text)]
        }
        self.paths = paths
        events = try Self.names("events", of: value)
        views = try Self.names("views", of: value) ?? []
        stores = try Self.names("stores", of: value) ?? []
        values = try Self.names("values", of: value) ?? []
        items = try Self.patterns("items", of: value)
        json = .object(members.filter { !$0.name.hasSameBytes(as: "type") })
        try checkUse()
        bindForAll()
    }

    /// Checks that each member adds something.
    private func checkUse() throws(GrantError) {
        let isShared = !stores.isEmpty || !values.isEmpty
        if hasEveryAction {
            guard isShared || !sessions.isEmpty else {
                throw .grantsNothing("\"*\" needs \"sessions\", \"stores\" or \"values\"")
            }
        } else {
            try checkActions(isShared: isShared)
        }
        try checkMembers(isShared: isShared)
    }

    /// True if `"*"` stands for the actions, of which some have no use in most grants.
    private var hasEveryAction: Bool { actions.isSuperset(of: Action.allCases.filter { $0 != .operate }) }

    private func checkActions(isShared: Bool) throws(GrantError) {
        for action in Action.allCases where actions.contains(action) && action.isOfSessionsAlone && sessions.isEmpty {
            throw .grantsNothing("\"\(action.rawValue)\" needs \"sessions\"")
        }
        if actions.contains(.read), sessions.isEmpty, !isShared {
            throw .grantsNothing("\"read\" needs \"sessions\", \"stores\" or \"values\"")
        }
        if actions.contains(.write), !isShared { throw .grantsNothing("\"write\" needs \"stores\" or \"values\"") }
    }

    private func checkMembers(isShared: Bool) throws(GrantError) {
        if actions.contains(.operate), let app, !app.hasSameBytes(as: Self.everyName) {
            throw .grantsNothing("\"operate\" is for all apps: give it a grant of its own, without \"app\"")
        }
        if items != nil, stores.isEmpty { throw .grantsNothing("\"items\" needs \"stores\"") }
        if !views.isEmpty || paths != nil, sessions.isEmpty {
            throw .grantsNothing("\"views\" and \"paths\" need \"sessions\"")
        }
        if !views.isEmpty, !actions.contains(.read) { throw .grantsNothing("\"views\" needs \"read\"") }
        if paths != nil, actions.isDisjoint(with: [.read, .history]) {
            throw .grantsNothing("\"paths\" needs \"read\" or \"history\"")
        }
        if isShared, actions.isDisjoint(with: [.read, .write]) {
            throw .grantsNothing("\"stores\" and \"values\" need \"read\" or \"write\"")
        }
        if events != nil, !actions.contains(.dispatch) { throw .grantsNothing("\"events\" needs \"dispatch\"") }
    }

    private static func actions(of value: JSONValue) throws(GrantError) -> Set<Action> {
        guard let names = try texts("actions", of: value) else {
            throw .member("actions", needs: "an array of 1 to \(valuesMax) strings")
        }
        var actions: Set<Action> = []
        for name in names {
            if name.hasSameBytes(as: "*") {
                actions.formUnion(Action.allCases.filter { $0 != .operate })
            } else if let action = Action(rawValue: name) {
                actions.insert(action)
            } else {
                throw .unknownAction(name)
            }
        }
        return actions
    }

    private static func app(of value: JSONValue, isNeeded: Bool) throws(GrantError) -> String? {
        guard let member = value["app"] else {
            guard !isNeeded else { throw .member("app", needs: "the name of an app, or *,") }
            return nil
        }
        guard let name = member.stringValue, (1...Glob.bytesMax).contains(name.utf8.count),
            !ForeignText.hasControlCharacter(name)
        else {
            throw .member("app", needs: "the name of an app, or *,")
        }
        return name
    }

    private static func patterns(_ name: String, of value: JSONValue) throws(GrantError) -> [GrantPattern]? {
        guard let texts = try texts(name, of: value) else { return nil }
        var patterns: [GrantPattern] = []
        for text in texts { patterns.append(try GrantPattern(name: text)) }
        return patterns
    }

    /// Names without patterns and variables, or one `*`.
    private static func names(_ name: String, of value: JSONValue) throws(GrantError) -> [String]? {
        let names = try texts(name, of: value)
        for text in names ?? [] where !text.hasSameBytes(as: everyName) {
            guard !text.utf8.contains(UInt8(ascii: "*")), !text.utf8.contains(UInt8(ascii: "$")) else {
                throw .member(name, needs: "names without patterns and variables, or * for all,")
            }
        }
        return names
    }

    private static func texts(
        _ name: String,
        of value: JSONValue,
        bytesMin: Int = 1
    ) throws(GrantError) -> [String]? {
        guard let member = value[name] else { return nil }
        let texts = member.elements?.compactMap(\.stringValue) ?? []
        guard (1...valuesMax).contains(texts.count), texts.count == member.elements?.count,
            texts.allSatisfy({ (bytesMin...Glob.bytesMax).contains($0.utf8.count) })
        else {
            let bytes = "\(bytesMin) to \(Glob.bytesMax) bytes"
            throw .member(name, needs: "an array of 1 to \(valuesMax) strings of \(bytes)")
        }
        guard !texts.contains(where: ForeignText.hasControlCharacter) else {
            throw .member(name, needs: "strings without control characters")
        }
        return texts
    }
}

/// A set of actions as bits, because each request asks for some of them, and the hash of an action costs more.
package struct ActionSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package init(_ actions: some Sequence<Access.Action>) {
        rawValue = actions.reduce(0) { $0 | $1.bit }
    }

    /// Every action on sessions.
    static let ofSessions = ActionSet(Access.Action.allCases.filter { $0.isOfSessionsAlone || $0 == .read })

    package func contains(_ action: Access.Action) -> Bool { rawValue & action.bit != 0 }

    /// The actions of the set.
    var actions: Set<Access.Action> { Set(Access.Action.allCases.filter(contains)) }
}

extension Access.Action {
    fileprivate var bit: UInt16 {
        switch self {
        case .describe: 1 << 0
        case .read: 1 << 1
        case .dispatch: 1 << 2
        case .create: 1 << 3
        case .delete: 1 << 4
        case .list: 1 << 5
        case .history: 1 << 6
        case .restore: 1 << 7
        case .fork: 1 << 8
        case .write: 1 << 9
        case .secrets: 1 << 10
        case .operate: 1 << 11
        }
    }
}

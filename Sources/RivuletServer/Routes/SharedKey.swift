/// A store or a value of an app.
struct SharedKey: Hashable, Sendable {
    /// What it is.
    enum Kind: Hashable, Sendable {
        case store, value
    }

    let app: String
    let kind: Kind
    let name: String

    init(_ app: String, _ kind: Kind, _ name: String) {
        self.app = app
        self.kind = kind
        self.name = name
    }
}

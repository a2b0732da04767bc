import RivuletBase
public import RivuletJSON

/// The source of a request or of an event, as its credential names it.
///
/// An app reads the caller in `access(of:to:granted:)` and `admit(_:from:state:)`.
public struct Caller: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Sendable, Hashable {
        case anonymous, authenticated, app
    }

    private let kind: Kind
    /// The name of the user or service at its issuer; `key:ID` for an API key, nil for an anonymous caller and the app.
    ///
    /// Two issuers may use the same name, and a user may have chosen it. ``me`` is the name to store.
    public let subject: String?
    /// The issuer of the token; nil for API keys, and for tokens without an issuer.
    public let issuer: String?
    /// 26 characters of `a-z2-7` that stand for the issuer and the subject together.
    ///
    /// The text is the same on all devices of a user, and reveals neither name. For an anonymous caller with a session
    /// cookie it is the id of that session, so it is no name to show to other callers. Without a cookie it is nil.
    public let me: String?
    /// The roles of the token.
    public let roles: Set<String>
    /// The verified claims of the token; an empty object without a token.
    public let claims: JSONValue
    /// True if the caller may use the routes of operators.
    public let isOperator: Bool

    /// Creates an authenticated caller, as for a test.
    public init(
        subject: String,
        issuer: String? = nil,
        me: String? = nil,
        roles: Set<String> = [],
        claims: JSONValue = .object([]),
        isOperator: Bool = false
    ) {
        self.init(.authenticated, subject, issuer, me, roles, claims, isOperator)
    }

    private init(
        _ kind: Kind,
        _ subject: String?,
        _ issuer: String?,
        _ me: String?,
        _ roles: Set<String>,
        _ claims: JSONValue,
        _ isOperator: Bool
    ) {
        (self.kind, self.subject, self.issuer, self.me) = (kind, subject, issuer, me)
        (self.roles, self.claims, self.isOperator) = (roles, claims, isOperator)
    }

    /// The source of the events of effects and timers.
    public static let app = Caller(.app, nil, nil, nil, [], .object([]), false)

    /// A caller without a credential.
    public static let anonymous = Caller(.anonymous, nil, nil, nil, [], .object([]), false)

    /// Creates an anonymous caller; the name in its session cookie stands for `${me}`.
    package static func anonymous(me: String?) -> Caller { Caller(.anonymous, nil, nil, me, [], .object([]), false) }

    /// Returns the same caller as an operator, or as none.
    package func with(isOperator: Bool) -> Caller {
        Caller(kind, subject, issuer, me, roles, claims, isOperator)
    }

    /// True if the caller gave no credential.
    ///
    /// The app itself is not anonymous.
    public var isAnonymous: Bool { kind == .anonymous }

    /// True for ``app``.
    public var isApp: Bool { kind == .app }

    /// Returns true if the caller has the role, byte for byte.
    public func has(role: String) -> Bool { roles.contains { $0.hasSameBytes(as: role) } }

    /// The kind of the caller and ``me``, but no name and no claim, which logs should not contain.
    public var description: String {
        switch kind {
        case .anonymous: "anonymous"
        case .app: "app"
        case .authenticated: "caller \(me ?? "without me")"
        }
    }

    /// Returns true if both have the same texts, byte for byte.
    public static func == (left: Caller, right: Caller) -> Bool {
        left.kind == right.kind && left.isOperator == right.isOperator && left.claims == right.claims
            && left.names == right.names && left.roleNames == right.roleNames
    }

    /// Hashes the bytes of the names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(names)
    }

    private var names: [ByteText?] { [subject, issuer, me].map { $0.map(ByteText.init) } }

    private var roleNames: Set<ByteText> { Set(roles.map(ByteText.init)) }
}

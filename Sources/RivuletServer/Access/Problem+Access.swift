import RivuletAccess
import RivuletAuth
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The permission that a request lacks, in the words that the client itself has sent.
struct Need: Hashable, Sendable {
    let action: Access.Action
    var app: String?
    var session: String?
    var store: String?
    var value: String?
    var event: String?

    init(
        _ action: Access.Action,
        app: String? = nil,
        session: String? = nil,
        store: String? = nil,
        value: String? = nil,
        event: String? = nil
    ) {
        (self.action, self.app, self.session) = (action, app, session)
        (self.store, self.value, self.event) = (store, value, event)
    }

    /// The permission for a route.
    init(_ action: Access.Action, _ route: Route) {
        self.action = action
        guard action != .operate else { return }
        app = route.app
        session = route.sessionKey?.id
        switch route.sharedName {
        case let key? where key.kind == .store: store = key.name
        case let key?: value = key.name
        case nil: break
        }
    }

    private var members: [(name: String, text: String)] {
        [
            ("action", action.rawValue), ("app", app), ("session", session), ("store", store), ("value", value),
            ("event", event),
        ].compactMap { name, text in text.map { (name, $0) } }
    }

    /// The document `{"action":…,"app":…}`.
    var json: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.beginObject()
        for (name, text) in members {
            writer.key(name)
            writer.string(text)
        }
        writer.endObject()
        return writer.bytes
    }
}

extension Problem {
    /// The refusal of a caller that lacks a permission: 401 for an anonymous caller, 403 for any other.
    static func denied(_ caller: Caller, _ need: Need) -> Problem {
        caller.isAnonymous ? .credentialMissing : .notGranted(need)
    }

    /// 403: the caller is known, and has no such permission.
    ///
    /// Source: RFC 6750 section 3.1.
    static func notGranted(_ need: Need) -> Problem {
        Problem(
            .notGranted,
            "The credential does not grant the action \"\(need.action.rawValue)\" here; `needs` has the missing grant. Nothing has changed.",
            members: [("needs", need.json)],
            fields: [HTTPField("WWW-Authenticate", #"Bearer error="insufficient_scope""#)]
        )
    }

    /// 401 without a credential.
    static var credentialMissing: Problem {
        Problem(.unauthorized, unauthorized, fields: [HTTPField("WWW-Authenticate", "Bearer")])
    }

    /// 401 with a credential that is not valid; the answer does not say why, except to a developer.
    static func credentialRefused(because error: CredentialError?) -> Problem {
        Problem(
            .unauthorized,
            error.map { "\($0) The server says so because of --explain-auth. Nothing has changed." } ?? unauthorized,
            fields: [HTTPField("WWW-Authenticate", #"Bearer error="invalid_token""#)]
        )
    }

    private static let unauthorized =
        "This request needs a valid credential: send Authorization: Bearer and a token or an API key. "
        + "If one was sent, the server's log has the reason of its refusal. Nothing has changed."

    /// 400 for two credentials in one header, and for a credential in a URL.
    static func credentialMisplaced(_ detail: String) -> Problem {
        Problem(
            .credentialMisplaced,
            detail,
            fields: [HTTPField("WWW-Authenticate", #"Bearer error="invalid_request""#)]
        )
    }
}

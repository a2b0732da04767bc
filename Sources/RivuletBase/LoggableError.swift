/// An error with a text that may stand in a log.
///
/// The text has no payload, no session id, no key of an item, and no secret. Of any other error, which may quote what a client sent, the log
/// has the type alone; an app's error conforms so that the log can say more.
public protocol LoggableError: Error {
    /// What happened and what to do, without what is nobody's but the client's.
    var logText: String { get }
}

/// The log's text of errors.
package enum LogText {
    /// The error's own text for logs, or the name of its type.
    package static func of(_ error: any Error) -> String {
        (error as? any LoggableError)?.logText ?? "\(type(of: error))"
    }
}

/// An error with a text for the log.
///
/// The text has no payload, no session id, no item key and no secret. An error without this protocol can quote a
/// client's input, so the log has only the error's type. An app's error conforms to this protocol to put more into the
/// log.
public protocol LoggableError: Error {
    /// The error and its fix, without any data that belongs to a client.
    var logText: String { get }
}

/// The log texts of errors.
package enum LogText {
    /// Returns the error's own log text, or else the name of its type.
    package static func of(_ error: any Error) -> String {
        (error as? any LoggableError)?.logText ?? "\(type(of: error))"
    }
}

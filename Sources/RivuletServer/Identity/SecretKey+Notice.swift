// Owns the log lines about the server's secret at its start.

import Logging

extension SecretKey {
    /// The log line about the origin of the secret.
    var notice: String {
        switch origin {
        case .made:
            "no secret key was given, so this run made its own: cookies and sealed values of this run are lost with it. "
                + "Give ServerOptions a secretKey; see Documentation/Operating.md, The secret key"
        case .given: "secret key given"
        case .file(let path, isNew: true): "secret key made: \(path); keep it, see Documentation/Operating.md"
        case .file(let path, isNew: false): "secret key read: \(path)"
        }
    }

    /// The log line about an older secret of the server.
    static let olderNotice = "older secret key given; Documentation/Operating.md says when to remove it"

    /// Writes the log line.
    ///
    /// It writes nothing if storage does not outlive the process, because no later start needs the secret.
    func logNotice(to logger: Logger, sessionsAreKept: Bool) {
        guard sessionsAreKept else { return }
        logger.log(level: origin == .made ? .warning : .info, "\(notice)")
    }
}

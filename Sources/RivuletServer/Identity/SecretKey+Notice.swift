// Owns what a server's start says of its secret.

import Logging

extension SecretKey {
    /// What a log says of where the secret comes from.
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

    /// What a log says of a secret that was the server's before.
    static let olderNotice = "older secret key given; Documentation/Operating.md says when to remove it"

    /// Writes the one line; none where nothing outlives the process, because no later start needs the secret.
    func logNotice(to logger: Logger, sessionsAreKept: Bool) {
        guard sessionsAreKept else { return }
        logger.log(level: origin == .made ? .warning : .info, "\(notice)")
    }
}

// Part of Rivulet. See README.md for the architecture.
// Owns what a server's start says of its secret.

import Logging

extension SecretKey {
    /// What a log says of where the secret comes from, and of what needs it at the next start.
    var notice: String {
        switch origin {
        case .made:
            "no secret key was given, so one was made for this run: after a restart \(Self.loss). "
                + "To keep one, give ServerOptions a secretKey, such as SecretKey(keptIn: folder), or rivulet serve RIVULET_SECRET_KEY"
        case .given: "the secret key was given: keep it, for under another one \(Self.loss)"
        case .file(let path, isNew: true):
            "a secret key was made in \(path): keep that file, for without it \(Self.loss)"
        case .file(let path, isNew: false): "the secret key was read from \(path)"
        }
    }

    private static let loss =
        "sealed values cannot be opened, browsers get new sessions for their cookies of \"me\", and the fingerprints of what was "
        + "sent under an Idempotency-Key cannot be checked"

    /// What a log says of a secret that was the server's before.
    static let olderNotice =
        "an older secret key was given too: cookies, fingerprints and sealed values of it are still good, and cookies are signed anew. "
        + "Take it away when its values are sealed anew, by reseal(), and its browsers have been here"

    /// Writes the one line; a warning where sessions outlive a secret that does not.
    func logNotice(to logger: Logger, sessionsAreKept: Bool) {
        logger.log(level: origin == .made && sessionsAreKept ? .warning : .info, "\(notice)")
    }
}

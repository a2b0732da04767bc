import RivuletAccess
import RivuletSessions

/// A page of the list of an app's sessions.
struct SessionList: Sendable {
    /// The most sessions that one step reads for a caller that may see some of them only.
    private static let stepMax = 1_000

    /// The sessions in the list.
    enum Scope: Sendable {
        /// All sessions of the app.
        case all
        /// The sessions with ids that match the caller's patterns.
        case matching(SessionPatterns)
        /// The sessions of an owner, which may read their ids without a grant.
        case owner(String)
    }

    let app: any HostedApp
    let limit: Int
    let scope: Scope

    /// Reads the page after an id, and sends it.
    func read(after id: String?, _ responder: Responder) {
        switch scope {
        case .all: readWhole(of: nil, after: id, responder)
        case .owner(let owner): readWhole(of: owner, after: id, responder)
        case .matching(let patterns): read(patterns, after: id, responder)
        }
    }

    private func read(_ patterns: SessionPatterns, after id: String?, _ responder: Responder) {
        guard let prefix = patterns.prefix else { return readWhole(of: nil, after: id, responder) }
        let start = Self.predecessor(of: prefix)
        // The id after which a page begins is compared only, so it tells nothing about a session.
        read(after: id.map { max($0, start) } ?? start, [], patterns, prefix, responder)
    }

    private func readWhole(of owner: String?, after id: String?, _ responder: Responder) {
        responder.server.context.storage.directory.sessions(
            app: app.name,
            owner: owner,
            after: id,
            limit: limit + 1,
            reply: responder.later { result in
                switch result {
                case .success(let found): page(of: found)
                case .failure(let error): Response(refusing: .storage(error))
                }
            }
        )
    }

    /// Reads steps of the caller's range until the page is full or the range ends.
    private func read(
        after id: String,
        _ found: [SessionSummary],
        _ patterns: SessionPatterns,
        _ prefix: String,
        _ responder: Responder
    ) {
        let loop = responder.onLoop
        responder.server.context.storage.directory.sessions(
            app: app.name,
            after: id,
            limit: Self.stepMax,
            reply: { result in
                loop { responder in
                    switch result {
                    case .failure(let error): responder.send(Response(refusing: .storage(error)))
                    case .success(let step):
                        let inRange = step.prefix { $0.id.hasPrefix(prefix) }
                        let found = found + inRange.filter { patterns.contains($0.id) }
                        guard let last = inRange.last, inRange.count == Self.stepMax, found.count <= limit else {
                            return responder.send(page(of: found))
                        }
                        read(after: last.id, found, patterns, prefix, responder)
                    }
                }
            }
        )
    }

    private func page(of found: [SessionSummary]) -> Response {
        let page = Array(found.prefix(limit))
        return .json(page.json(of: app, next: found.count > limit ? page.last?.id : nil))
    }

    /// A text that comes after all ids before the prefix, and before the prefix itself.
    ///
    /// The bytes of an id are at most `z`.
    static func predecessor(of prefix: String) -> String {
        var bytes = Array(prefix.utf8)
        guard let last = bytes.popLast() else { return "" }
        // No text is between a text and the same text with a zero behind it.
        if last > 0 { bytes += [last - 1, 0x7F] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

// The pages of other origins that may use a server.

/// The origins that an operator allows.
///
/// An entry is an exact origin, `https://*.example.com` for one label in place of the star, or `*` for all origins.
///
/// `null` is in no list, because it is the origin of every sandboxed frame.
struct AllowedOrigins: Sendable {
    /// The most entries of a list.
    static let entriesMax = 1_000
    /// The warning about `*`.
    static let notice =
        "--allowed-origins has *: pages of every site may read and change all sessions except me. List the origins instead."

    /// The way in which an origin is allowed.
    enum Grant: Hashable, Sendable {
        /// By its own entry, or by an entry with a star for its first label: with credentials.
        case named
        /// By `*` alone: without credentials.
        case anonymous
    }

    private var exact: Set<WebOrigin> = []
    /// The entries with a star for the first label, without `*.` before the host.
    private var parents: Set<WebOrigin> = []
    private var allowsAll = false

    /// True if no origin is allowed.
    var isEmpty: Bool { exact.isEmpty && parents.isEmpty && !allowsAll }

    /// Makes a list of these entries.
    ///
    /// - Throws: a `ServerError` for an entry that is no origin.
    init(_ entries: [String]) throws(ServerError) {
        guard entries.count <= Self.entriesMax else {
            throw ServerError("--allowed-origins has \(entries.count) entries; it takes at most \(Self.entriesMax)")
        }
        for entry in entries {
            let star = entry.firstRange(of: "://*.")
            if entry == "*" {
                allowsAll = true
            } else if let star, let parent = WebOrigin(entry.replacingCharacters(in: star, with: "://")) {
                parents.insert(parent)
            } else if let origin = WebOrigin(entry) {
                exact.insert(origin)
            } else {
                throw ServerError(
                    "--allowed-origins has \"\(entry)\", which is no origin that can be allowed; write origins as "
                        + "http://localhost:5173 or https://*.example.com, without a path"
                )
            }
        }
    }

    /// The way in which the origin is allowed; nil if it is not allowed.
    func grant(for origin: WebOrigin) -> Grant? {
        if exact.contains(origin) { return .named }
        if !parents.isEmpty, let parent = origin.parent, parents.contains(parent) { return .named }
        return allowsAll ? .anonymous : nil
    }
}

extension WebOrigin {
    /// The origin without the first label of its host; nil for an address, and for a host of one label.
    fileprivate var parent: WebOrigin? {
        guard !host.hasPrefix("["), let dot = host.firstIndex(of: ".") else { return nil }
        let port = port.map { ":\($0)" } ?? ""
        return WebOrigin("\(scheme)://\(host[host.index(after: dot)...])\(port)")
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + self[range.upperBound...]
    }
}

// The pages of other origins that may use a server.

/// The origins that an operator allows: exact ones, `https://*.example.com` for one label in the place of the star, or `*` for all.
///
/// `null` is in no list: it is the origin of every sandboxed frame.
struct AllowedOrigins: Sendable {
    /// The most entries of a list.
    static let entriesMax = 1_000
    /// The line that warns of `*`.
    static let notice =
        "--allowed-origins has *: pages of every site may read and change all sessions except me. List the origins instead."

    /// How an origin is allowed.
    enum Grant: Hashable, Sendable {
        /// By its own entry or its domain's: with credentials.
        case named
        /// By `*`: without credentials.
        case anonymous
    }

    private var exact: Set<WebOrigin> = []
    /// Origins whose first label is left out, so that the host begins with what follows the star's dot.
    private var parents: Set<WebOrigin> = []
    private var allowsAll = false

    /// Whether no origin is allowed.
    var isEmpty: Bool { exact.isEmpty && parents.isEmpty && !allowsAll }

    /// A list of these entries.
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

    /// How the origin is allowed; nil when it is not.
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

/// The classes of requests that a server limits; each has a name in files, answers and metrics.
///
/// Source: <Documentation/Security.md#limits>.
enum LimitClass: Int, MetricLabel {
    /// The open connections of an address.
    case connections
    /// The open streams of an address, and those of a subject.
    case streams
    /// The credentials of an address that are refused, counted before they are verified.
    case failedCredentials
    /// The requests of an address without a credential.
    case anonymousRequests
    /// The requests of a subject.
    case requests
    /// The events of a caller.
    case dispatches
    /// The tickets of a caller.
    case tickets
    /// The sessions that a caller creates.
    case sessionsCreated
    /// The bytes of a caller's bodies that are accepted.
    case bytesWritten

    static let name = "policy"
    static let count = allCases.count

    private static let names = [
        "connections", "streams", "failed-credentials", "anonymous-requests", "requests", "dispatches", "tickets",
        "sessions-created", "bytes-written",
    ]

    /// The name of the class.
    var value: String { Self.names[rawValue] }

    /// Finds a class by its name.
    init?(named name: String) {
        guard let index = Self.names.firstIndex(of: name) else { return nil }
        self.init(rawValue: index)
    }

    /// True if the limit is a number of things that are open at once, and no rate.
    var isCount: Bool { self == .connections || self == .streams }

    /// The unit of the quota in `RateLimit-Policy`; nil for requests.
    ///
    /// Source: <https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/>.
    var unit: String? { self == .bytesWritten ? "content-bytes" : nil }
}

/// When a session of an app comes into being.
public enum SessionPolicy: String, Sendable, Hashable {
    /// The first event creates it; until then reads and streams serve the defaults at version 0 and store nothing.
    case onDemand
    /// Only POST and PUT create it; everything else of an unknown session is 404.
    case explicit
}

import RivuletJSON

/// An event of the server itself that changes a whole session and bypasses its reducers.
///
/// In a session's log it is written like an app's event, as `{"$restore":{"version":3}}` or `"$reset"`. No app's event
/// has such a name, because an enum's case cannot begin with `$`. Source: <Tests/Rows/Systems.md#d-09>, D-10.
public enum EngineEvent: Hashable, Sendable {
    /// The stored fields have their values of that version again.
    ///
    /// Transient fields stay unchanged.
    case restored(version: UInt64)
    /// The whole state is the app's default again.
    case reset

    /// The name in logs.
    var name: String {
        switch self {
        case .restored: "$restore"
        case .reset: "$reset"
        }
    }

    /// The form in logs, as JSON bytes.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 48)
        switch self {
        case .reset:
            writer.string(name)
        case .restored(let version):
            writer.beginObject()
            writer.key(name)
            writer.beginObject()
            writer.key("version")
            writer.integer(version)
            writer.endObject()
            writer.endObject()
        }
        return writer.bytes
    }
}

import RivuletJSON

/// What happens to a session as a whole, past its reducers.
///
/// In a session's log it stands where an app's event does, as `{"$restore":{"version":3}}` or `"$reset"`: no case of an enum can have
/// a name with `$`. Source: <Tests/Rows/Systems.md#d-09>, D-10.
public enum EngineEvent: Hashable, Sendable {
    /// What is kept on disk is again what it was at that version; what is in memory only stays as it is.
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

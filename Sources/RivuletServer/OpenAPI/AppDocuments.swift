import RivuletJSON
import RivuletSchema
import RivuletSessions

/// The documents of an app that a client can read before it has a session.
struct AppDocuments: Sendable {
    /// Schemas, fields and events.
    let description: StaticFile
    /// TypeScript declarations.
    ///
    /// It is sent as plain text: TypeScript has no registered media type, the extension `.ts` belongs to video/mp2t,
    /// and a browser shows plain text. Compilers go by the name `types.d.ts`. Source:
    /// <https://www.iana.org/assignments/media-types>.
    let types: StaticFile

    init(_ app: any HostedApp) {
        var writer = JSONWriter(capacity: 4_096)
        app.encodeDescription(into: &writer)
        description = StaticFile(contentType: "application/json", lastModified: nil, bytes: writer.bytes)
        types = StaticFile(
            contentType: "text/plain; charset=utf-8",
            lastModified: nil,
            bytes: Array(app.typeScript().utf8)
        )
    }
}

import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The hosted apps: their list, and the documents of each.
struct AppEndpoint {
    let server: ServerLoop

    /// GET /v1/apps.
    func apps(_ exchange: Exchange) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("apps")
        writer.beginArray()
        for name in server.context.apps.keys.sorted() {
            writer.beginObject()
            writer.key("name")
            writer.string(name)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        server.send(.json(writer.bytes), to: exchange)
    }

    /// GET of a document of an app.
    func document(
        _ part: KeyPath<AppDocuments, StaticFile>,
        of name: String,
        _ request: HTTPRequest,
        _ exchange: Exchange
    ) throws(Problem) {
        let app = try server.core.lookup.app(name)
        guard let documents = server.context.documents[app.name] else {
            throw Problem(.notFound, "there is no such document")
        }
        server.send(FileAnswer(documents[keyPath: part], request).wholeResponse, to: exchange)
    }
}

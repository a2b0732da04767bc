import RivuletEngine
import RivuletHTTP
import RivuletJSON
import RivuletSessions

/// The resources that belong to the server or to an app as a whole: health, documents, files.
struct ServerEndpoint {
    let server: ServerLoop

    private var context: ServerContext { server.context }

    /// GET /healthz.
    func health(_ connection: ClientConnection) {
        respond(.json(Array(#"{"status":"ok"}"#.utf8)), connection)
    }

    /// GET /readyz: whether storage answers, and the server is not draining.
    func readiness(_ connection: ClientConnection) {
        guard !server.core.isDraining else { return respond(Response(refusing: SessionError.draining), connection) }
        let exchange = server.exchange(connection)
        let confined = Confined(server, to: server.core.loop)
        context.storage.lifecycle.probe { result in
            confined.post { server in
                switch result {
                case .success: server.send(.json(Array(#"{"status":"ready"}"#.utf8)), to: exchange)
                case .failure(let error):
                    var problem = Problem(error)
                    problem.type = .notReady
                    server.send(Response(problem, cause: error), to: exchange)
                }
            }
        }
    }

    /// GET /openapi.json.
    func openAPI(_ request: HTTPRequest, _ connection: ClientConnection) {
        respond(FileAnswer(context.openAPI, request).wholeResponse, connection)
    }

    /// GET of the page of a type of problem, or of their list.
    func page(_ page: StaticFile, _ request: HTTPRequest, _ connection: ClientConnection) {
        respond(FileAnswer(page, request, pageFields: context.pageFields).wholeResponse, connection)
    }

    /// GET /v1/apps.
    func apps(_ connection: ClientConnection) {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("apps")
        writer.beginArray()
        for name in context.apps.keys.sorted() {
            writer.beginObject()
            writer.key("name")
            writer.string(name)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        respond(.json(writer.bytes), connection)
    }

    /// GET of a document of an app.
    func document(
        _ part: KeyPath<AppDocuments, StaticFile>,
        of name: String,
        _ request: HTTPRequest,
        _ connection: ClientConnection
    ) throws(Problem) {
        let app = try server.core.lookup.app(name)
        guard let documents = context.documents[app.name] else { throw Problem(.notFound, "there is no such document") }
        respond(FileAnswer(documents[keyPath: part], request).wholeResponse, connection)
    }

    /// GET of a file of the public folder.
    func file(_ path: String, _ request: HTTPRequest, _ connection: ClientConnection) throws(Problem) {
        guard let file = context.files[path] else {
            server.core.counters.requestRefused(.route)
            throw Problem(
                .notFound,
                context.files.hasFolder
                    ? "there is no such file"
                    : "There is no such file, and this server has no public folder: --public names one."
            )
        }
        respond(try FileAnswer(file, request, pageFields: context.pageFields).response(), connection)
    }

    private func respond(_ response: Response, _ connection: ClientConnection) {
        server.connections.answer(connection, response)
    }
}

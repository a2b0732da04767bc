import RivuletHTTP

/// The files of the public folder.
struct FileEndpoint {
    let server: ServerLoop

    /// GET of a file of the public folder.
    func file(_ path: String, _ request: HTTPRequest, _ exchange: Exchange) throws(Problem) {
        guard let file = server.context.files[path] else {
            server.core.counters.requestRefused(.route)
            throw Problem(
                .notFound,
                server.context.files.hasFolder
                    ? "there is no such file"
                    : "There is no such file, and this server has no public folder: --public names one."
            )
        }
        server.send(try FileAnswer(file, request, pageFields: server.context.pageFields).response(), to: exchange)
    }
}

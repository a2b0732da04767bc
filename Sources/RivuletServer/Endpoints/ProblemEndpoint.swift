import RivuletHTTP

/// The pages of the types of problems.
struct ProblemEndpoint {
    let server: ServerLoop

    /// GET of the page of a type of problem, or of their list.
    func page(_ page: StaticFile, _ request: HTTPRequest, _ exchange: Exchange) {
        server.send(FileAnswer(page, request, pageFields: server.context.pageFields).wholeResponse, to: exchange)
    }
}

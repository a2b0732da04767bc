// A path and a route for each kind of resource.

import RivuletHTTP

@testable import RivuletServer

extension Resource {
    /// The path of one resource of this kind, in the app of `OpenAPIDocumentTests`.
    var examplePath: String {
        let names = [
            "{app}": "plot-1", "{session}": "a", "{stream}": "0-1-1-a", "{problem}": "not-found",
            "{file}": "index.html",
            "{store}": "plots", "{item}": "b", "{value}": "flag", "{secret}": "token", "{view}": "View",
            "{revocation}": "c",
        ]
        return names.reduce(path) { $0.replacing($1.key, with: $1.value) }
    }

    /// The segments of that path.
    var exampleSegments: [String] { examplePath.split(separator: "/").map(String.init) }
}

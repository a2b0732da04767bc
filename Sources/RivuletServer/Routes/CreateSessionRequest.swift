import RivuletJSON
import RivuletSessions

/// The body `{"id":…,"state":{…}}`; both members are optional, and an empty body has neither.
///
/// Source: <Documentation/HTTP.md#resources>.
struct CreateSessionRequest: Sendable {
    private(set) var id: String?
    /// A partial document, read at its position in the body, so that its errors have positions in the body.
    private(set) var state: JSONReader?

    init(body: [UInt8], contentType: String?) throws(Problem) {
        guard !body.isEmpty else { return }
        try JSONBody.checkType(contentType)
        do throws(JSONError) {
            try read(body)
        } catch {
            throw Problem(JSONReader.mostSevereError(of: body, after: error))
        }
    }

    private mutating func read(_ body: [UInt8]) throws(JSONError) {
        var id: String?
        var state: JSONReader?
        var reader = JSONReader(body)
        reader.unknownKeys = .reject
        try reader.object { key, reader throws(JSONError) in
            switch key {
            case "id": id = try reader.string()
            case "state": state = try reader.value()
            default: try reader.unknownKey(key)
            }
        }
        try reader.finish()
        self.id = id
        self.state = state
    }
}

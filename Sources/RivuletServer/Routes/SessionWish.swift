import RivuletJSON
import RivuletSessions

/// `{"id":…,"state":{…}}`, both optional; an empty body asks for neither.
///
/// Source: <Documentation/HTTP.md#resources>.
struct SessionWish: Sendable {
    private(set) var id: String?
    /// A partial document, at its place in the body, so that its faults are told there.
    private(set) var state: JSONReader?

    init(body: [UInt8], contentType: String?) throws(Problem) {
        guard !body.isEmpty else { return }
        try JSONBody.checkType(contentType)
        do throws(JSONError) {
            try read(body)
        } catch {
            throw Problem(JSONReader.gravestFault(of: body, after: error))
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

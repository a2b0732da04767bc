// An item that is read through the Codable of the standard library.

/// The same note without a macro.
struct CodableNote: Codable, Identifiable, Sendable {
    var id: String
    var title: String
    var body: String
    var isDone: Bool
}

import RivuletEngine
import RivuletSessions

/// The name of the event in the body of a dispatch.
enum EventName {
    /// The longest name that is searched for, in bytes.
    private static let bytesMax = 128

    /// The name at the start of the body, a string or the first key of an object; nil for an array or anything else.
    ///
    /// The name comes from a client. Compare it with the names that the app has.
    static func first(in body: [UInt8]) -> String? {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        var rest = body.drop { blanks.contains($0) }
        if rest.first == UInt8(ascii: "{") { rest = rest.dropFirst().drop { blanks.contains($0) } }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        let name = rest.dropFirst().prefix(bytesMax + 1).prefix { $0 != UInt8(ascii: "\"") }
        guard name.count <= bytesMax, !name.contains(UInt8(ascii: "\\")) else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    /// The name that an error contains, or the name at the start of the body.
    static func refused(_ error: SessionError, _ body: [UInt8]) -> String? {
        switch error {
        case .rejectedInArray(let refused): refused.eventName
        case .internalEvent(let name, _), .notGranted(let name, _): name
        case .reducerFailed(let name) where !name.isEmpty: name
        default: first(in: body)
        }
    }
}

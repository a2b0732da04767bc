import RivuletJSON
import RivuletObservation

/// Finds internal events by their names, in a body that does not decode.
enum InternalEventSearch {
    /// Refuses a body with an internal event, so that the answer does not depend on the event's payload.
    ///
    /// - Throws: `SessionError.internalEvent` for the first one.
    static func refuse(_ cases: [EventCase], in body: [UInt8]) throws(SessionError) {
        let names = cases.filter(\.isInternal).map(\.name)
        guard !names.isEmpty else { return }
        var reader = JSONReader(body)
        guard (try? reader.peek()) == .array else {
            guard let name = name(in: reader, of: names) else { return }
            throw .internalEvent(name: name, index: nil)
        }
        var found: (name: String, index: Int)?
        try? reader.array { index, reader throws(JSONError) in
            let event = try reader.value()
            if found == nil { found = name(in: event, of: names).map { ($0, index) } }
        }
        if let found { throw .internalEvent(name: found.name, index: found.index) }
    }

    private static func name(in reader: JSONReader, of names: [String]) -> String? {
        Generated.CaseReader.name(in: reader).flatMap { name in names.first { $0 == name } }
    }
}

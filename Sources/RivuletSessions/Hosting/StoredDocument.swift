import RivuletBase
import RivuletJSON
import RivuletObservation

/// A stored state as JSON, for documents of an earlier schema version.
///
/// A session's first snapshot has all fields with which the session began. If the snapshot is missing or empty, the
/// session is from a build that stored no defaults. The defaults of the fields that are not in the document are then no
/// longer known.
struct StoredDocument {
    private(set) var value: JSONValue

    /// Begins with a snapshot.
    init(_ snapshot: [UInt8]?) throws(JSONError) {
        guard let snapshot else {
            value = .object([])
            return
        }
        value = try JSONValue(parsing: snapshot)
    }

    /// Applies a logged change.
    ///
    /// - Throws: ``JSONError`` with the key path, if the document has no such position. For example, it refuses an
    ///   element that is added to a collection with an unknown default, because that default may have other elements.
    mutating func apply(_ change: StateChange) throws(JSONError) {
        let path = try JSONPointer(parsing: change.path)
        let new: JSONValue? =
            if let bytes = change.value { try JSONValue(parsing: bytes) } else { nil }
        guard let edited = Self.edited(value, path.tokens[...], change, new) else {
            let detail =
                "the stored document has no position for this \(change.operation.rawValue); if an early build stored the session without "
                + "defaults, run a build of the session's schema version and send the session an event"
            throw JSONError(kind: .mismatch, pointer: change.path, detail: detail)
        }
        value = edited
    }

    private static func edited(
        _ old: JSONValue,
        _ path: ArraySlice<String>,
        _ change: StateChange,
        _ new: JSONValue?
    ) -> JSONValue? {
        guard let token = path.first else { return change.operation == .replace ? new ?? .null : nil }
        let rest = path.dropFirst()
        switch old {
        case .object(let members):
            let member = members.first { $0.name.hasSameBytes(as: token) }?.value
            guard let edited = edited(member ?? .object([]), rest, change, new) else { return nil }
            return .object(members.setting(token, to: edited))
        case .array(var elements):
            if rest.isEmpty, change.operation != .replace { return reordered(elements, token, change, new) }
            guard let index = elements.firstIndex(where: { hasID(token, $0) }),
                let element = edited(elements[index], rest, change, new)
            else { return nil }
            elements[index] = element
            return .array(elements)
        case .null:
            // An optional without a value becomes an object, because the path leads into it.
            return edited(.object([]), path, change, new)
        case .bool, .number, .string: return nil
        }
    }

    private static func reordered(
        _ old: [JSONValue],
        _ token: String,
        _ change: StateChange,
        _ new: JSONValue?
    ) -> JSONValue? {
        var elements = old
        var element = new
        if change.operation != .add {
            guard let index = elements.firstIndex(where: { hasID(token, $0) }) else { return nil }
            element = elements.remove(at: index)
            if change.operation == .remove { return .array(elements) }
        }
        guard let element else { return nil }
        elements.insert(element, at: min(max(0, change.index ?? elements.count), elements.count))
        return .array(elements)
    }

    /// Returns true if an element of a keyed collection has this id in key paths.
    private static func hasID(_ token: String, _ element: JSONValue) -> Bool {
        switch element["id"] {
        case .string(let text)?: text.hasSameBytes(as: token)
        case let id?: "\(id)" == token
        case nil: false
        }
    }
}

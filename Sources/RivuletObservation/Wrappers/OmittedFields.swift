import Synchronization

/// Looks for omitted fields in the types that a type is made of: states, enums, optionals and Swift's collections.
///
/// Omitted fields inside of other types are not found. No change reports an omitted field, so a value that may hold
/// such a field can change without a report.
@usableFromInline
enum OmittedFields {
    /// The answers for types that were searched before.
    private static let known = Mutex<[ObjectIdentifier: Bool]>([:])

    /// Returns true if a value of a type may hold an omitted field, at any depth.
    @usableFromInline
    static func mayBe(in type: Any.Type) -> Bool {
        let id = ObjectIdentifier(type)
        if let answer = known.withLock({ $0[id] }) { return answer }
        var visited: Set<ObjectIdentifier> = []
        let answer = search(type, &visited)
        known.withLock { $0[id] = answer }
        return answer
    }

    /// Searches a type; a visited type is not searched again, because types may be recursive.
    private static func search(_ type: Any.Type, _ visited: inout Set<ObjectIdentifier>) -> Bool {
        guard visited.insert(ObjectIdentifier(type)).inserted else { return false }
        if let state = type as? any ObservableState.Type {
            return state._$fields.contains { $0.isOmitted || search($0.type, &visited) }
        }
        if let cases = type as? any ObservableEnum.Type {
            return cases._$cases.contains { $0.payload.contains { search($0.type, &visited) } }
        }
        guard let holder = type as? any ElementHolder.Type else { return false }
        return holder.elements.contains { search($0, &visited) }
    }
}

extension [StateField] {
    /// True if one of the fields is omitted, or may hold an omitted field.
    var mayOmit: Bool { contains { $0.isOmitted || OmittedFields.mayBe(in: $0.type) } }
}

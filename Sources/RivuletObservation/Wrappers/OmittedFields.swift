import Synchronization

/// Looks for fields in no JSON in what values of a type are made of: states, enums, optionals and Swift's collections.
///
/// What other types hide is not known. No change tells of such a field, so that a read of what may hold one is a read of something
/// unreported.
@usableFromInline
enum OmittedFields {
    /// What was found of the types that were asked for.
    private static let known = Mutex<[ObjectIdentifier: Bool]>([:])

    /// Whether a value of a type may hold such a field, at any depth.
    @usableFromInline
    static func mayBe(in type: Any.Type) -> Bool {
        let id = ObjectIdentifier(type)
        if let answer = known.withLock({ $0[id] }) { return answer }
        var visited: Set<ObjectIdentifier> = []
        let answer = search(type, &visited)
        known.withLock { $0[id] = answer }
        return answer
    }

    /// Types may be recursive: what is looked through already is not looked through again.
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
    /// Whether one of them is in no JSON, or may hold one that is not.
    var mayOmit: Bool { contains { $0.isOmitted || OmittedFields.mayBe(in: $0.type) } }
}

// This file owns the way between observed places and key paths, by the fields' tables.

import RivuletJSON

extension ObservedPlace {
    /// Lists what was read here and below; fields are known by their positions among `fields`.
    func collect(
        into reads: inout DerivedReads,
        among fields: [StateField],
        at path: String = "",
        isCollection: Bool = false
    ) {
        reads.hasUnreported = reads.hasUnreported || !unreportedReads.isEmpty
        let below = existingChildren
        if readsWhole {
            // Walking a collection reads each element at its own place.
            if isCollection { reads.add(order: path) } else { reads.add(value: path) }
            if !isCollection, fields.mayOmit { reads.hasUnreported = true }
        }
        for (index, field) in fields.enumerated() where wasRead(index) || below[.field(index)] != nil {
            let text = path + "/" + JSONPointer.escape(field.name)
            guard let child = below[.field(index)], child.wasReadWithin else {
                reads.add(value: text)
                if OmittedFields.mayBe(in: field.type) { reads.hasUnreported = true }
                continue
            }
            let isCollection = field.schema.keyedDepth > 0
            child.collect(into: &reads, among: field.nested?() ?? [], at: text, isCollection: isCollection)
        }
        for case (.element(let token), let child) in below {
            let text = path + "/" + JSONPointer.escape(token)
            if child.wasReadWithin {
                child.collect(into: &reads, among: fields, at: text)
            } else {
                reads.add(value: text)
                if fields.mayOmit { reads.hasUnreported = true }
            }
        }
    }

    /// A field of a place, or the place itself as ``wholeField``.
    typealias Field = (place: ObservedPlace, field: Int)

    /// Whom a change in the state at this place concerns, as far as anybody can be watching.
    func fields(concernedBy change: StateChange, among fields: [StateField]) -> [Field] {
        guard let tokens = try? JSONPointer(parsing: change.path).tokens else { return [] }
        var concerned: [Field] = []
        var (place, fields, isCollection) = (self, fields, false)
        for (depth, token) in tokens.enumerated() {
            let isLast = depth == tokens.count - 1
            let child: ObservedPlace?
            if isCollection {
                // An element that comes, goes or moves changes the order, which the collection's own field stands for.
                if isLast, change.operation != .replace { concerned.append((place, Self.wholeField)) }
                child = place.existingChild(.element(token))
                if isLast, let child { concerned.append((child, Self.wholeField)) }
                isCollection = false
            } else {
                guard let index = fields.firstIndex(where: { $0.name == token }) else { return concerned }
                if isLast { concerned.append((place, index)) }
                child = place.existingChild(.field(index))
                isCollection = fields[index].schema.keyedDepth > 0
                fields = fields[index].nested?() ?? []
            }
            guard let child else { return concerned }
            place = child
        }
        return concerned
    }

    /// The fields here and below that were read and of which a change may tell nothing, since they are or may hold fields in no JSON.
    func unreportedFields(among fields: [StateField]) -> [Field] {
        let below = existingChildren
        var found: [Field] = readsWhole && fields.mayOmit ? [(self, Self.wholeField)] : []
        for (index, field) in fields.enumerated() {
            let child = below[.field(index)]
            // Of a value that was read within, it is those places that count.
            let isEnd = field.isOmitted || child?.wasReadWithin != true && OmittedFields.mayBe(in: field.type)
            if wasRead(index), isEnd { found.append((self, index)) }
            if let child { found += child.unreportedFields(among: field.nested?() ?? []) }
        }
        for case (.element, let child) in below { found += child.unreportedFields(among: fields) }
        return found
    }

    /// Tells all observers here and below.
    func tellAll() {
        for field in 0..<ChangeMark.fieldsMax { mutate(field) {} }
        mutate(Self.wholeField) {}
        for child in existingChildren.values { child.tellAll() }
    }
}

// Part of Rivulet. See README.md for the architecture.
// This file owns the way between observed places and key paths, by the fields' tables.

import RivuletJSON

extension ObservedPlace {
    /// What was read at a place and below it.
    struct Reads {
        var paths: [String] = []
        var hasUnreported = false
    }

    /// Lists what was read here and below; fields are known by their positions among `fields`.
    func collect(into reads: inout Reads, among fields: [StateField], at path: String = "") {
        reads.hasUnreported = reads.hasUnreported || hasUnreportedReads
        let below = existingChildren
        if readsWhole { reads.paths.append(path) }
        for (index, field) in fields.enumerated() where wasRead(index) || below[.field(index)] != nil {
            let text = path + "/" + JSONPointer.escape(field.name)
            if let child = below[.field(index)], child.wasReadWithin {
                child.collect(into: &reads, among: field.nested?() ?? [], at: text)
            } else {
                reads.paths.append(text)
            }
        }
        for case (.element(let token), let child) in below {
            let text = path + "/" + JSONPointer.escape(token)
            if child.wasReadWithin {
                child.collect(into: &reads, among: fields, at: text)
            } else {
                reads.paths.append(text)
            }
        }
    }

    /// The observed place and the field in it that a path leads to; nil when nobody can be watching there.
    func field(at path: String, among fields: [StateField]) -> (place: ObservedPlace, field: Int)? {
        guard let tokens = try? JSONPointer(parsing: path).tokens, !tokens.isEmpty else { return nil }
        var (place, fields, found) = (self, fields, (place: self, field: Self.wholeField))
        for token in tokens {
            if let index = fields.firstIndex(where: { $0.name == token }) {
                found = (place, index)
                fields = fields[index].nested?() ?? []
                guard let child = place.existingChildren[.field(index)] else { break }
                place = child
            } else if let child = place.existingChildren[.element(token)] {
                found = (child, Self.wholeField)
                place = child
            } else {
                break
            }
        }
        return found
    }

    /// Tells all observers here and below.
    func tellAll() {
        for field in 0..<ChangeMark.fieldsMax { mutate(field) {} }
        mutate(Self.wholeField) {}
        for child in existingChildren.values { child.tellAll() }
    }
}

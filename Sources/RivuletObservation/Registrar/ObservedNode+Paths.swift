// This file owns the mapping between observed nodes and key paths. The mapping uses each state's table of fields.

import RivuletJSON

extension Generated.ObservedNode {
    /// Lists the reads at this node and below; fields are identified by their positions in `fields`.
    func collect(
        into reads: inout DerivedReads,
        among fields: [StateField],
        at path: String = "",
        isCollection: Bool = false
    ) {
        reads.hasUnreported = reads.hasUnreported || !unreportedReads.isEmpty
        let below = existingChildren
        if readsWhole {
            // A walk over a collection reads each element at the element's own node.
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

    /// A field of a node, or the node itself as ``wholeField``.
    typealias Field = (node: Generated.ObservedNode, field: Int)

    /// Returns the fields that a change of this node's state concerns and that can have observers.
    func fields(concernedBy change: StateChange, among fields: [StateField]) -> [Field] {
        guard let tokens = try? JSONPointer(parsing: change.path).tokens else { return [] }
        var concerned: [Field] = []
        var (node, fields, isCollection) = (self, fields, false)
        for (depth, token) in tokens.enumerated() {
            let isLast = depth == tokens.count - 1
            let child: Generated.ObservedNode?
            if isCollection {
                // An added, removed or moved element changes the order. Observers of the order observe `wholeField` of
                // the collection's node.
                if isLast, change.operation != .replace { concerned.append((node, Self.wholeField)) }
                child = node.existingChild(.element(token))
                if isLast, let child { concerned.append((child, Self.wholeField)) }
                isCollection = false
            } else {
                guard let index = fields.firstIndex(where: { $0.name == token }) else { return concerned }
                if isLast { concerned.append((node, index)) }
                child = node.existingChild(.field(index))
                isCollection = fields[index].schema.keyedDepth > 0
                fields = fields[index].nested?() ?? []
            }
            guard let child else { return concerned }
            node = child
        }
        return concerned
    }

    /// Returns the fields at this node and below that were read and are, or may hold, omitted fields.
    ///
    /// Such a field may change without a reported change.
    func unreportedFields(among fields: [StateField]) -> [Field] {
        let below = existingChildren
        var found: [Field] = readsWhole && fields.mayOmit ? [(self, Self.wholeField)] : []
        for (index, field) in fields.enumerated() {
            let child = below[.field(index)]
            // If parts of the value were read, these parts are checked, and not the whole value.
            let isEnd = field.isOmitted || child?.wasReadWithin != true && OmittedFields.mayBe(in: field.type)
            if wasRead(index), isEnd { found.append((self, index)) }
            if let child { found += child.unreportedFields(among: field.nested?() ?? []) }
        }
        for case (.element, let child) in below { found += child.unreportedFields(among: fields) }
        return found
    }

    /// Notifies all observers at this node and below.
    func tellAll() {
        for field in 0..<ChangeMark.fieldsMax { mutate(field) {} }
        mutate(Self.wholeField) {}
        for child in existingChildren.values { child.tellAll() }
    }
}

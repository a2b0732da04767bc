import RivuletJSON
import RivuletObservation

/// A patch that leads from the document that a reader has at one key path to the present document.
///
/// Source: RFC 6902.
struct StatePatch {
    /// The most elements of one collection that are added, removed and moved one by one; with more such changes, the
    /// collection is replaced.
    static let elementsMax = 64

    private let root: JSONPointer
    /// The document that the reader has; nil for a reader that missed changes, because then only the present document
    /// is known.
    private let old: ReadableDocument?
    private let new: ReadableDocument
    private var writer = JSONWriter(capacity: 256)
    /// The ids of each collection with added, removed or moved elements, after the operations written so far.
    private var orders: [PathText: [String]] = [:]
    /// The collections to replace; true once the replacement is written.
    private var replaced: [PathText: Bool] = [:]

    /// The error for changes that do not give exact positions.
    private struct Inexact: Error {}

    private init(root: JSONPointer, from old: ReadableDocument?, to new: ReadableDocument) {
        self.root = root
        self.old = old
        self.new = new
    }

    /// Returns the patch's JSON; if the changes do not give exact positions, the patch replaces the whole document.
    static func json(
        of changes: [StateChange],
        at root: JSONPointer,
        from old: ReadableDocument?,
        to new: ReadableDocument
    ) -> [UInt8] {
        var patch = StatePatch(root: root, from: old, to: new)
        do throws(Inexact) {
            return try patch.write(changes)
        } catch {
            var writer = JSONWriter(capacity: 256)
            writer.beginArray()
            writer.operation("replace", at: "", value: new.json(root) ?? Array("null".utf8))
            writer.endArray()
            return writer.bytes
        }
    }

    private mutating func write(_ changes: [StateChange]) throws(Inexact) -> [UInt8] {
        var placed: [(change: StateChange, path: JSONPointer)] = []
        for change in changes {
            guard let path = try? JSONPointer(parsing: change.path), path.tokens.count > root.tokens.count else {
                throw Inexact()
            }
            placed.append((change, path))
        }
        try findCollections(placed)
        writer.beginArray()
        for (change, path) in placed where try !replaceCollection(around: path) { try write(change, path) }
        writer.endArray()
        return writer.bytes
    }

    /// Finds the collections in which elements are added, removed or moved.
    private mutating func findCollections(_ changes: [(change: StateChange, path: JSONPointer)]) throws(Inexact) {
        var counts: [PathText: (collection: JSONPointer, count: Int)] = [:]
        for (change, path) in changes where change.operation != .replace {
            let collection = JSONPointer(tokens: path.tokens.dropLast())
            let text = PathText(collection.description)
            if counts[text] == nil, change.index == nil, (old ?? new).ids(at: collection) == nil { continue }
            counts[text, default: (collection, 0)].count += 1
        }
        for (text, (collection, count)) in counts {
            if let old, count <= Self.elementsMax {
                guard let ids = old.ids(at: collection) else { throw Inexact() }
                orders[text] = ids
            } else {
                replaced[text] = false
            }
        }
    }

    /// Writes the replacement of the collection into which a path leads, if the collection is in `replaced` and is not
    /// written yet.
    ///
    /// - Returns: True if the path leads into such a collection.
    private mutating func replaceCollection(around path: JSONPointer) throws(Inexact) -> Bool {
        guard !replaced.isEmpty else { return false }
        for count in root.tokens.count..<path.tokens.count {
            let collection = JSONPointer(tokens: Array(path.tokens.prefix(count)))
            let text = PathText(collection.description)
            guard let isDone = replaced[text] else { continue }
            guard !isDone else { return true }
            guard let value = new.json(collection) else { throw Inexact() }
            writer.operation("replace", at: try pointer(of: collection).text, value: value)
            replaced[text] = true
            return true
        }
        return false
    }

    private mutating func write(_ change: StateChange, _ path: JSONPointer) throws(Inexact) {
        let collection = JSONPointer(tokens: path.tokens.dropLast())
        let text = PathText(collection.description)
        guard change.operation != .replace, let id = path.tokens.last, var order = orders[text] else {
            return try writeMember(change, path)
        }
        let outer = try pointer(of: collection).text
        let position = order.firstIndex { $0.utf8.elementsEqual(id.utf8) }
        switch change.operation {
        case .remove:
            guard let position else { throw Inexact() }
            order.remove(at: position)
            writer.operation("remove", at: "\(outer)/\(position)")
        case .add:
            guard position == nil, let index = change.index, index <= order.count, let value = change.value else {
                throw Inexact()
            }
            order.insert(id, at: index)
            writer.operation("add", at: "\(outer)/\(index)", value: value)
        case .move:
            guard let position, let index = change.index, index < order.count else { throw Inexact() }
            order.insert(order.remove(at: position), at: index)
            writer.operation("move", from: "\(outer)/\(position)", at: "\(outer)/\(index)")
        case .replace: break
        }
        orders[text] = order
    }

    /// Writes a change that does not alter the order of a collection.
    private mutating func writeMember(_ change: StateChange, _ path: JSONPointer) throws(Inexact) {
        guard change.operation != .remove else {
            // A reader that missed changes may not have the value, and the removal of a missing value is an error.
            guard let old else { throw Inexact() }
            guard old.json(path) != nil else { return }
            return writer.operation(
                "remove",
                at: try pointer(of: JSONPointer(tokens: path.tokens.dropLast()), path).text
            )
        }
        guard change.operation != .move, let value = change.value else { throw Inexact() }
        let (pointer, isElement) = try pointer(of: path)
        // If the old document is unknown, only a top-level member may be new to the reader, because only fields of
        // views appear and disappear. An `add` of an existing member replaces it.
        let isThere = isElement || old.map { $0.json(path) != nil } ?? (path.tokens.count > 1)
        writer.operation(isThere ? "replace" : "add", at: pointer, value: value)
    }

    /// Returns the JSON Pointer of an existing value, relative to the root, after the operations written so far.
    ///
    /// `known` leads to a value of the new document. For a removed member, `path` is `known` followed by the member's
    /// name. `isElement` is true if the value is an element of a collection.
    private func pointer(
        of known: JSONPointer,
        _ path: JSONPointer? = nil
    ) throws(Inexact) -> (text: String, isElement: Bool) {
        let tokens = (path ?? known).tokens
        guard let positions = new.positions(along: known) else { throw Inexact() }
        var pointer: [String] = []
        var isElement = false
        for index in root.tokens.count..<tokens.count {
            let token = tokens[index]
            let order =
                orders.isEmpty ? nil : orders[PathText(JSONPointer(tokens: Array(tokens[..<index])).description)]
            if let order {
                guard let position = order.firstIndex(where: { $0.utf8.elementsEqual(token.utf8) }) else {
                    throw Inexact()
                }
                pointer.append("\(position)")
            } else {
                pointer.append(positions[index].map(String.init) ?? token)
            }
            isElement = order != nil || positions[index] != nil
        }
        return (JSONPointer(tokens: pointer).description, isElement)
    }
}

extension JSONWriter {
    /// Writes one operation of a patch.
    fileprivate mutating func operation(
        _ name: String,
        from source: String? = nil,
        at path: String,
        value: [UInt8]? = nil
    ) {
        beginObject()
        key("op")
        string(name)
        if let source {
            key("from")
            string(source)
        }
        key("path")
        string(path)
        if let value {
            key("value")
            raw(value)
        }
        endObject()
    }
}

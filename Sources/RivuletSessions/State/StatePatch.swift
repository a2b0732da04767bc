import RivuletJSON
import RivuletObservation

/// A patch that leads from the document at one key path, as its reader has it, to the one that there is now.
///
/// Source: RFC 6902.
struct StatePatch {
    /// The most elements of one collection that come, go and move one by one; when there are more, the collection is replaced.
    static let elementsMax = 64

    private let root: JSONPointer
    /// The document that the reader has; nil for one that missed changes, where only the present one is known.
    private let old: ReadableDocument?
    private let new: ReadableDocument
    private var writer = JSONWriter(capacity: 256)
    /// The ids in a collection at this moment of the patch, of those whose elements come, go or move.
    private var orders: [PathText: [String]] = [:]
    /// Collections that are replaced, and whether they were.
    private var replaced: [PathText: Bool] = [:]

    /// Something of the changes is not known exactly enough.
    private struct Inexact: Error {}

    private init(root: JSONPointer, from old: ReadableDocument?, to new: ReadableDocument) {
        self.root = root
        self.old = old
        self.new = new
    }

    /// The patch's JSON; where the changes do not tell their places exactly, it replaces the whole document.
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

    /// Finds the collections whose elements come, go or move.
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

    /// Replaces the collection that a path leads into, once, if it is one that is replaced.
    ///
    /// - Returns: Whether it is one.
    private mutating func replaceCollection(around path: JSONPointer) throws(Inexact) -> Bool {
        guard !replaced.isEmpty else { return false }
        for count in root.tokens.count..<path.tokens.count {
            let collection = JSONPointer(tokens: Array(path.tokens.prefix(count)))
            let text = PathText(collection.description)
            guard let isDone = replaced[text] else { continue }
            guard !isDone else { return true }
            guard let value = new.json(collection) else { throw Inexact() }
            writer.operation("replace", at: try place(of: collection).text, value: value)
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
        let outer = try place(of: collection).text
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

    /// Writes a change of a value that is not moved among others by it.
    private mutating func writeMember(_ change: StateChange, _ path: JSONPointer) throws(Inexact) {
        guard change.operation != .remove else {
            // A reader that missed changes may have it or not; to remove what is not there is an error.
            guard let old else { throw Inexact() }
            guard old.json(path) != nil else { return }
            return writer.operation("remove", at: try place(of: JSONPointer(tokens: path.tokens.dropLast()), path).text)
        }
        guard change.operation != .move, let value = change.value else { throw Inexact() }
        let (place, isElement) = try place(of: path)
        // An `add` of a member takes the place of one that is there; only fields of views come and go by themselves.
        let isThere = isElement || old.map { $0.json(path) != nil } ?? (path.tokens.count > 1)
        writer.operation(isThere ? "replace" : "add", at: place, value: value)
    }

    /// Where a value that is there now stands at this moment of the patch, below the root, and whether it is an element.
    ///
    /// `path` is longer by the name of a member that is gone.
    private func place(
        of known: JSONPointer,
        _ path: JSONPointer? = nil
    ) throws(Inexact) -> (text: String, isElement: Bool) {
        let tokens = (path ?? known).tokens
        guard let positions = new.positions(along: known) else { throw Inexact() }
        var place: [String] = []
        var isElement = false
        for index in root.tokens.count..<tokens.count {
            let token = tokens[index]
            let order =
                orders.isEmpty ? nil : orders[PathText(JSONPointer(tokens: Array(tokens[..<index])).description)]
            if let order {
                guard let position = order.firstIndex(where: { $0.utf8.elementsEqual(token.utf8) }) else {
                    throw Inexact()
                }
                place.append("\(position)")
            } else {
                place.append(positions[index].map(String.init) ?? token)
            }
            isElement = order != nil || positions[index] != nil
        }
        return (JSONPointer(tokens: place).description, isElement)
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

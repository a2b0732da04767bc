import RivuletBase
import RivuletJSON
import RivuletStores

/// Reads the bodies of requests.
struct StoreBody<Item: StorableItem>: Sendable {
    /// The most operations of one request.
    static var operationsMax: Int { 1_000 }

    /// The most bytes of an identifier.
    ///
    /// A percent-encoded identifier may be three times as long, and the length of a URL is bounded.
    static var identifierBytesMax: Int { 1_024 }

    /// The identifiers that an item's URL cannot end with: clients remove `.` and `..` from URLs, and the others name
    /// other resources.
    private static var reservedIDs: Set<String> { [".", "..", "events", "operations"] }

    let identifier: any KeyPath<Item, String> & Sendable
    /// The spelling that identifiers have in the store.
    let canonical: @Sendable (String) -> String

    /// Reads one item, or an array of items.
    func items(_ body: [UInt8]) throws(SharedError) -> (items: [Item], isSingle: Bool) {
        try read(body) { (reader) throws(SharedError) in try items(from: &reader) }
    }

    /// Reads one item, which must have the identifier of the path.
    func item(_ body: [UInt8], under id: String) throws(SharedError) -> Item {
        try read(body) { (reader) throws(SharedError) in
            let item = try item(from: &reader)
            guard ByteText(item[keyPath: identifier]) == ByteText(id) else {
                let found = String(reflecting: item[keyPath: identifier])
                let detail = "the item's identifier is \(found), and the path's \(String(reflecting: id))"
                throw .refused(detail: "\(detail); send the item to its own path", pointer: "")
            }
            return item
        }
    }

    /// Reads the steps of `{"operations":[{"remove":["id"]},{"insert":[…]},{"removeAll":{}}]}`.
    func operations(_ body: [UInt8]) throws(SharedError) -> [StoreStep<Item>] {
        try read(body) { (reader) throws(SharedError) in
            var steps: [StoreStep<Item>]?
            let start = reader
            try Self.reading { () throws(JSONError) in
                try reader.object { (key, reader) throws(JSONError) in
                    guard key == "operations" else { return try reader.unknownKey(key) }
                    steps = try operations(from: &reader)
                }
            }
            guard let steps else { throw .body(start.missing("operations")) }
            return steps
        }
    }

    private func operations(from reader: inout JSONReader) throws(JSONError) -> [StoreStep<Item>] {
        var steps: [StoreStep<Item>] = []
        try reader.array { (index, reader) throws(JSONError) in
            guard index < Self.operationsMax else {
                let most = Self.operationsMax
                throw reader.error(.outOfRange, "one request takes at most \(most) operations; send several")
            }
            StoreStep.append(try operation(from: &reader), to: &steps)
        }
        return steps
    }

    private func operation(from reader: inout JSONReader) throws(JSONError) -> StoreStep<Item> {
        let start = reader
        if try reader.peek() == .string, try reader.string() == "removeAll" { return .removeAll }
        var steps: [StoreStep<Item>] = []
        reader = start
        try reader.object { (key, reader) throws(JSONError) in
            switch key {
            case "removeAll":
                steps.append(.removeAll)
                try reader.skip()
            case "insert": steps.append(.insert(try plainItems(from: &reader).items, after: .nothing))
            case "remove":
                let isList = try reader.peek() == .array
                let ids = isList ? try [String](json: &reader) : [try reader.string()]
                steps.append(.removeKeys(ids.map(canonical), isList: isList))
            default: try reader.unknownKey(key)
            }
        }
        guard let step = steps.first, steps.count == 1 else {
            throw start.error(
                .mismatch,
                #"an operation is one of {"insert":[…]}, {"remove":["id"]} and {"removeAll":{}}"#
            )
        }
        return step
    }

    // MARK: - Items

    private func items(from reader: inout JSONReader) throws(SharedError) -> (items: [Item], isSingle: Bool) {
        try Self.reading { () throws(JSONError) in try plainItems(from: &reader) }
    }

    private func item(from reader: inout JSONReader) throws(SharedError) -> Item {
        try Self.reading { () throws(JSONError) in try plainItem(from: &reader) }
    }

    private func plainItems(from reader: inout JSONReader) throws(JSONError) -> (items: [Item], isSingle: Bool) {
        guard try reader.peek() == .array else { return ([try plainItem(from: &reader)], true) }
        var items: [Item] = []
        try reader.array { (_, reader) throws(JSONError) in items.append(try plainItem(from: &reader)) }
        return (items, false)
    }

    private func plainItem(from reader: inout JSONReader) throws(JSONError) -> Item {
        let start = reader
        let item = try ItemDocument.read(Item.self, from: &reader)
        let id = item[keyPath: identifier]
        guard !id.isEmpty else { throw start.error(.mismatch, "an item's identifier cannot be empty") }
        guard !id.utf8.contains(0) else {
            throw start.error(.mismatch, "an item's identifier cannot have a NUL; found \(String(reflecting: id))")
        }
        guard !Self.reservedIDs.contains(id) else {
            let name = String(reflecting: id)
            throw start.error(
                .mismatch,
                "\(name) cannot be an item's identifier here, as it names something else in a URL"
            )
        }
        guard id.utf8.count <= Self.identifierBytesMax else {
            let most = Self.identifierBytesMax
            throw start.error(.outOfRange, "an item's identifier has at most \(most) bytes; found \(id.utf8.count)")
        }
        return item
    }

    // MARK: - Text

    private func read<Value>(
        _ body: [UInt8],
        _ read: (inout JSONReader) throws(SharedError) -> Value
    ) throws(SharedError) -> Value {
        do throws(SharedError) {
            var reader = JSONReader(body)
            // A key that no item has is a mistake of the sender, which would go unnoticed otherwise.
            reader.unknownKeys = .reject
            reader.includesTransient = false
            let value = try read(&reader)
            try Self.reading { () throws(JSONError) in try reader.finish() }
            return value
        } catch {
            guard case .body(let error) = error else { throw error }
            throw .body(JSONReader.mostSevereError(of: body, after: error))
        }
    }

    private static func reading<Value>(_ read: () throws(JSONError) -> Value) throws(SharedError) -> Value {
        do throws(JSONError) {
            return try read()
        } catch {
            throw .body(error)
        }
    }
}

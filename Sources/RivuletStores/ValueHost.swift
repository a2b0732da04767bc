// Part of Rivulet. See README.md for the architecture.
// Owns what clients do with a stored value, as JSON.

import RivuletJSON

/// Serves a stored value.
struct ValueHost<Item: StorableItem>: HostedValue {
    let value: StoredValue<Item>

    init(_ value: StoredValue<Item>) {
        self.value = value
    }

    var schema: JSONSchema { ItemDocument.schema(of: Item.self) }
    var standard: [UInt8] { ItemDocument.json(of: value.defaultValue) }
    var isBool: Bool { Item.self == Bool.self }
    var place: (collection: ItemCollection, key: String) { (value.box.storage, value.key) }

    func fault(in contents: StoredCollection) -> String? {
        let key = ItemKey(value.key)
        if let damaged = contents.damaged.first(where: { $0.key.map(ItemKey.init) == key }) { return damaged.detail }
        guard let item = contents.items.first(where: { ItemKey($0.key) == key }) else { return nil }
        do throws(JSONError) {
            _ = try StoredBox.value(Item.self, of: item.document)
            return nil
        } catch {
            return error.description
        }
    }

    func read(_ reply: @escaping SharedReply<ValueAnswer>) {
        change(expected: nil, reply) { _ in nil }
    }

    func set(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        do throws(JSONError) {
            let item = try ItemDocument.decode(Item.self, sent: body)
            change(expected: expected, reply) { _ in item }
        } catch {
            reply(.failure(.body(error)))
        }
    }

    func reset(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        change(expected: expected, reply) { [standard = value.defaultValue] _ in standard }
    }

    func toggle(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        change(expected: expected, reply) { item in (item as? Bool).flatMap { !$0 as? Item } }
    }

    private func change(
        expected: [UInt64]?,
        _ reply: @escaping SharedReply<ValueAnswer>,
        _ edit: @escaping @Sendable (Item) throws -> Item?
    ) {
        value.box.change(knowing: { item, standing in
            if let expected, !expected.contains(standing.version) {
                throw SharedError.moved(version: standing.version, value: ItemDocument.json(of: item))
            }
            return try edit(item)
        }) { outcome in
            reply(
                outcome.mapError(SharedError.init).map { change in
                    ValueAnswer(version: change.standing.version, json: ItemDocument.json(of: change.after))
                }
            )
        }
    }

    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed { ValueFeed(of: value.box, wake: wake) }
}

import RivuletBase
import RivuletJSON
import RivuletStores

/// Serves a stored value.
struct ValueHost<Item: StorableItem>: HostedValue {
    let value: StoredValue<Item>

    init(_ value: StoredValue<Item>) {
        self.value = value
    }

    var schema: JSONSchema { ItemDocument.schema(of: Item.self) }
    var defaultValue: [UInt8] { ItemDocument.json(of: value.defaultValue) }
    var isBool: Bool { Item.self == Bool.self }
    var location: (collection: ItemCollection, key: String) { (value.box.storage, value.key) }

    func fault(in contents: StoredCollection) -> String? {
        let key = ByteText(value.key)
        if let damaged = contents.damaged.first(where: { $0.key.map(ByteText.init) == key }) { return damaged.detail }
        guard let item = contents.items.first(where: { ByteText($0.key) == key }) else { return nil }
        do throws(JSONError) {
            _ = try StoredBox.value(Item.self, of: item.document)
            return nil
        } catch {
            return error.description
        }
    }

    func read(_ reply: @escaping SharedReply<ValueAnswer>) {
        change(.readable, reply) { _ in nil }
    }

    func set(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        do throws(JSONError) {
            let item = try ItemDocument.decode(Item.self, sent: body)
            change(.version(expected), reply) { _ in item }
        } catch {
            reply(.failure(.body(error)))
        }
    }

    func reset(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        change(.version(expected), reply) { [defaultValue = value.defaultValue] _ in defaultValue }
    }

    func toggle(expected: [UInt64]?, reply: @escaping SharedReply<ValueAnswer>) {
        let demand = expected == nil ? Demand.readable : .version(expected)
        change(demand, reply) { item in (item as? Bool).flatMap { !$0 as? Item } }
    }

    /// A condition that the value has to meet.
    private enum Demand {
        /// The stored value can be read.
        case readable
        /// The value has one of these versions; nil accepts any value.
        ///
        /// An unreadable value has none of these versions.
        case version([UInt64]?)

        func check(_ item: Item, _ standing: StoredStanding) throws(SharedError) {
            if case .version(nil) = self { return }
            if standing.condition == .unreadable { throw .damagedValue }
            if case .version(let expected?) = self, !expected.contains(standing.version) {
                throw .moved(version: standing.version, value: ItemDocument.json(of: item))
            }
        }
    }

    private func change(
        _ demand: Demand,
        _ reply: @escaping SharedReply<ValueAnswer>,
        _ edit: @escaping @Sendable (Item) throws -> Item?
    ) {
        value.box.change(knowing: { item, standing in
            try demand.check(item, standing)
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

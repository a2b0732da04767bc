import RivuletAccess
import RivuletBase
import RivuletJSON
import RivuletStores
import Synchronization

/// Serves a store.
struct StoreHost<Item: StorableItem>: HostedStore {
    let store: Store<Item>
    private let body: StoreBody<Item>

    init(_ store: Store<Item>) {
        self.store = store
        body = StoreBody(identifier: store.cacheIdentifier, canonical: store.canonicalIdentifier)
    }

    var itemSchema: JSONSchema { ItemDocument.schema(of: Item.self) }
    var collection: ItemCollection { store.collection }

    func faults(in contents: StoredCollection) -> [DamagedItem] {
        let results = ItemDocument.decode(Item.self, from: contents.items.map(\.document))
        return contents.damaged + zip(results, contents.items).compactMap { store.fault(of: $0, in: $1) }
    }

    // MARK: - Reading

    func load(_ reply: @escaping SharedReply<Void>) { whenLoaded(reply) {} }

    func canonical(_ id: String) -> String { store.canonicalIdentifier(id) }

    func read(after: String?, limit: Int, among granted: ItemMask, reply: @escaping SharedReply<StorePage>) {
        whenLoaded(reply) { () throws(SharedError) in try page(after: after, limit: limit, among: granted) }
    }

    private func page(after: String?, limit: Int, among granted: ItemMask) throws(SharedError) -> StorePage {
        // An item that is not granted is not to be told from an item that does not exist.
        if let after, !granted.contains(canonical(after)) { throw .pageGone(after: after) }
        let found = store.machine.withLock { machine in
            let start = after.map { machine.contents.position(of: store.canonicalIdentifier($0)).map { $0 + 1 } } ?? 0
            let items = start.map { machine.contents.items(from: $0, limit: granted.isAll ? limit : .max) }
            return (
                version: machine.version, items: items, rest: machine.contents.count - (start ?? 0),
                damaged: machine.contents.damaged.count
            )
        }
        guard let all = found.items else { throw .pageGone(after: after ?? "") }
        let shown = granted.isAll ? all : all.filter { granted.contains($0[keyPath: store.cacheIdentifier]) }
        let rest = granted.isAll ? found.rest : shown.count
        let items = shown.prefix(limit)
        var writer = JSONWriter(capacity: 4_096, includesTransient: false)
        writer.beginObject()
        writer.key("version")
        writer.integer(found.version)
        let end = ItemList.write(items, into: &writer)
        if end > 0, end < rest {
            writer.key("next")
            writer.string(items[end - 1][keyPath: store.cacheIdentifier])
        }
        if found.damaged > 0 {
            writer.key("damaged")
            writer.integer(found.damaged)
        }
        writer.endObject()
        return StorePage(version: found.version, json: writer.bytes)
    }

    func read(_ id: String, reply: @escaping SharedReply<ItemAnswer>) {
        let id = store.canonicalIdentifier(id)
        whenLoaded(reply) { () throws(SharedError) in
            let (item, isDamaged) = store.machine.withLock { machine in
                (machine.contents[id], machine.damagedKeys.contains(ByteText(id)))
            }
            guard let item else { throw isDamaged ? .damagedItem(id) : .noItem(id) }
            return ItemAnswer(item, id: id)
        }
    }

    private func whenLoaded<Value>(
        _ reply: @escaping SharedReply<Value>,
        _ read: @escaping @Sendable () throws(SharedError) -> Value
    ) {
        store.whenLoaded { loaded in
            switch loaded {
            case .success: reply(Result { () throws(SharedError) in try read() })
            case .failure(let error): reply(.failure(SharedError(error)))
            }
        }
    }

    // MARK: - Changing

    func insert(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>) {
        do throws(SharedError) {
            let (items, isSingle) = try self.body.items(body)
            let single = isSingle ? items.first : nil
            perform([.insert(items, after: .nothing)], if: condition(expected), single, reply)
        } catch {
            reply(.failure(error))
        }
    }

    func put(_ body: [UInt8], under id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>)
    {
        let id = store.canonicalIdentifier(id)
        do throws(SharedError) {
            let item = try self.body.item(body, under: id)
            perform([.insert([item], after: .nothing)], if: self.condition(condition, on: id), item, reply)
        } catch {
            reply(.failure(error))
        }
    }

    func remove(_ id: String, if condition: ItemCondition, reply: @escaping SharedReply<StoreAnswer>) {
        let id = store.canonicalIdentifier(id)
        perform([.removeKeys([id], isList: false)], if: self.condition(condition, on: id), nil) { result in
            reply(
                result.flatMap { answer in
                    answer.outcome.removed > 0 ? .success(answer) : .failure(.noItem(id))
                }
            )
        }
    }

    func removeAll(expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>) {
        perform([.removeAll], if: condition(expected), nil, reply)
    }

    func perform(_ body: [UInt8], expected: [UInt64]?, reply: @escaping SharedReply<StoreAnswer>) {
        do throws(SharedError) {
            perform(try self.body.operations(body), if: condition(expected), nil, reply)
        } catch {
            reply(.failure(error))
        }
    }

    private func perform(
        _ steps: [StoreStep<Item>],
        if condition: StoreRequest<Item>.Condition?,
        _ single: Item?,
        _ reply: @escaping SharedReply<StoreAnswer>
    ) {
        store.perform(steps, if: condition) { [identifier = store.cacheIdentifier] result in
            reply(
                result.mapError(SharedError.init).map { outcome in
                    StoreAnswer(
                        outcome: outcome,
                        item: single.map { ItemAnswer($0, id: $0[keyPath: identifier]) }
                    )
                }
            )
        }
    }

    private func condition(_ expected: [UInt64]?) -> StoreRequest<Item>.Condition? {
        guard let expected else { return nil }
        return { _, version in
            if !expected.contains(version) { throw SharedError.moved(version: version, value: nil) }
        }
    }

    private func condition(_ condition: ItemCondition, on id: String) -> StoreRequest<Item>.Condition? {
        if condition.isEmpty { return nil }
        return { contents, _ in
            // A damaged item has no known content, so no condition on the item can be checked.
            if contents.damagedKeys.contains(ByteText(id)) { throw SharedError.damagedItem(id) }
            let current = contents[id].map { ItemAnswer($0, id: id) }
            if !condition.holds(for: current?.tag) { throw SharedError.itemMoved(current) }
        }
    }

    // MARK: - Following

    func makeFeed(wake: @escaping @Sendable () -> Void) -> any SharedFeed { StoreFeed(of: store, wake: wake) }
}
